package server

import (
	"math"
	"net/netip"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
	"golang.org/x/sys/unix"
)

// ownFiles are the descriptors the server needs besides those of its clients
// (server.h: CONFIG_MIN_RESERVED_FDS).
const ownFiles = 32

// fitMaxClients raises the process's limit of open files to what maxclients
// needs, or lowers maxclients to what can be had (server.c: adjustOpenFilesLimit).
// It returns false when not even one client would fit. Masters have their shares of it.
func (s *Server) fitMaxClients() bool {
	shares := uint64(s.masters)
	want := shares * (uint64(s.cfg.MaxClients) + ownFiles)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		s.log('#', "Unable to obtain the current NOFILE limit (%v), assuming 1024 and setting the max clients configuration accordingly.", err)
		s.cfg.MaxClients = max(min(s.cfg.MaxClients, 1024/s.masters-ownFiles), 1)
		return true
	}
	if limit.Cur >= want {
		return true
	}
	best := want
	var refusal error
	for ; best > limit.Cur; best -= min(best, 16) {
		refusal = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: best, Max: max(best, limit.Max)})
		if refusal == nil {
			break
		}
	}
	if best = max(best, limit.Cur); best >= want {
		s.log('*', "Increased maximum number of open files to %d (it was originally set to %d).", want, limit.Cur)
		return true
	}
	asked := s.cfg.MaxClients
	best /= shares
	s.cfg.MaxClients = int(best) - ownFiles
	if best <= ownFiles {
		s.log('#', "Your current 'ulimit -n' of %d is not enough for the server to start. Please increase your open file limit to at least %d. Exiting.", limit.Cur, want)
		return false
	}
	s.log('#', "You requested maxclients of %d requiring at least %d max file descriptors.", asked, want)
	s.log('#', "Server can't set maximum open files to %d because of OS error: %v.", want, refusal)
	s.log('#', "Current maximum open files is %d. maxclients has been reduced to %d to compensate for low ulimit. If you need higher maxclients increase 'ulimit -n'.", best, s.cfg.MaxClients)
	return true
}

const deniedProtected = "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. In this mode connections are only accepted from the loopback interface. If you want to connect from external computers to Redis you may adopt one of the following solutions: 1) Just disable protected mode sending the command 'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the same host the server is running, however MAKE SURE Redis is not publicly accessible from internet if you do so. Use CONFIG REWRITE to make this change permanent. 2) Alternatively you can just disable the protected mode by editing the Redis configuration file, and setting the protected mode option to 'no', and then restarting the server. 3) If you started the server manually just for testing, restart it with the '--protected-mode no' option. 4) Setup a an authentication password for the default user. NOTE: You only need to do one of the above things in order for the server to start accepting connections from the outside.\r\n"

func isLoopback(addr string) bool {
	ap, err := netip.ParseAddrPort(addr)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// setOutputTrigger finds the smallest limit of all: below it no client needs a
// closer look.
func (s *Server) setOutputTrigger() {
	s.ex.OutputTrigger = math.MaxInt
	for _, l := range s.cfg.OutputLimits {
		for _, n := range [...]int64{l.Hard, l.Soft} {
			if n > 0 {
				s.ex.OutputTrigger = min(s.ex.OutputTrigger, int(n)-1)
			}
		}
	}
}

// overOutputLimit closes c when it does not take its replies fast enough
// (networking.c: closeClientOnOutputBufferLimitReached). What the lab keeps back counts as well.
func (s *Server) overOutputLimit(c *client, unsent int) bool {
	unsent += c.fault.mem()
	limit := s.cfg.OutputLimits[s.class(c)]
	soft := limit.Soft > 0 && int64(unsent) >= limit.Soft
	switch {
	case !soft:
		c.softSince = 0
	case c.softSince == 0:
		c.softSince = s.now
		soft = false
	default:
		soft = s.now-c.softSince > limit.SoftSeconds*int64(time.Second)
	}
	if !soft && (limit.Hard == 0 || int64(unsent) < limit.Hard) {
		return false
	}
	if !c.closed {
		s.log('#', "Client %s scheduled to be closed ASAP for overcoming of output buffer limits.", s.describe(c))
		s.stats.OutputLimitClosed++
		s.close(c)
	}
	return true
}

// class is the row of client-output-buffer-limit that counts for c.
func (s *Server) class(c *client) int {
	if c.sess.Subscriber {
		return config.ClassPubSub
	}
	return config.ClassNormal
}

// overQueryLimit closes c when it has sent more than a server should keep for a
// request that is not complete, or for a transaction.
func (s *Server) overQueryLimit(c *client) {
	_, used := c.Buffered()
	if used+c.Parser.Mem()+c.sess.Tx.Mem() <= int(s.cfg.QueryBufferLimit) {
		return
	}
	s.log('#', "Closing client that reached max query buffer length: %s", s.describe(c))
	s.stats.QueryLimitClosed++
	s.close(c)
}

// limited tells whether there is a bound that clients reach by doing nothing:
// being silent too long, or not reading what they asked for, which the lab may keep from them.
func (s *Server) limited() bool {
	if s.lab != nil {
		if _, waits := s.lab.timers.Next(); waits {
			return true
		}
	}
	return s.cfg.Timeout > 0 || s.fullClients > 0 || s.ex.OverTracked()
}

// checkClients looks at a part of the clients, all of them within a second
// (server.c: clientsCron), for those that are idle too long or have been above
// their soft limit too long without asking for more. It also weighs them.
func (s *Server) checkClients() {
	if len(s.order) == 0 {
		return
	}
	for range min(len(s.order), max(len(s.order)/int(time.Second/cronPeriod), 5)) {
		s.checked++
		if s.checked >= len(s.order) {
			s.checked = 0
		}
		c := s.order[s.checked]
		s.weigh(c)
		idle := s.now - c.active
		switch {
		case c.closed:
		case s.cfg.Timeout > 0 && (c.sess.Hold == command.NotHeld || c.sess.Hold == command.Postponed) && !c.sess.Monitor && !c.sess.Subscriber && idle > int64(s.cfg.Timeout)*int64(time.Second):
			s.log('-', "Closing idle client")
			s.close(c)
		case c.softSince != 0:
			s.overOutputLimit(c, c.Unsent())
		}
	}
}
