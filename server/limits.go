package server

import (
	"math"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/config"
)

// clients are the clients of a server, and the limits of what they hold.
type clients struct {
	s       *Server
	ByID    map[int64]*Client
	Order   []*Client // the same clients: Session.Index is a place in it
	checked int       // the place in order that check has reached
	lastID  int64

	buckets      buckets // the clients by their memory, while maxmemory-clients is set
	overSoft     int     // clients whose output is above the soft limit
	mem          int     // bytes that clients held when each was weighed
	limit        int     // maxmemory-clients in bytes, 0 for none
	limitsMemory bool    // maxmemory or maxmemory-clients is set
}

// ownFiles is how many descriptors the server needs for itself (server.h: CONFIG_MIN_RESERVED_FDS).
const ownFiles = 32

// Fit raises the process's limit of open files as far as maxclients needs it. If the
// system refuses, it lowers maxclients (server.c: adjustOpenFilesLimit). It returns false if not
// even one client would fit. Each master of the process gets the same share.
func (cs *clients) Fit() bool {
	shares := uint64(cs.s.NodeCount)
	want := shares * (uint64(cs.s.Cfg.MaxClients) + ownFiles)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		cs.s.Log('#', "Unable to obtain the current NOFILE limit (%v), assuming 1024 "+
			"and setting the max clients configuration accordingly.", err)
		cs.s.Cfg.MaxClients = max(min(cs.s.Cfg.MaxClients, 1024/cs.s.NodeCount-ownFiles), 1)
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
		cs.s.Log('*', "Increased maximum number of open files to %d (it was originally set to %d).", want, limit.Cur)
		return true
	}
	asked := cs.s.Cfg.MaxClients
	best /= shares
	cs.s.Cfg.MaxClients = int(best) - ownFiles
	if best <= ownFiles {
		cs.s.Log('#', "Your current 'ulimit -n' of %d is not enough for the server to start. "+
			"Please increase your open file limit to at least %d. Exiting.", limit.Cur, want)
		return false
	}
	cs.s.Log('#', "You requested maxclients of %d requiring at least %d max file descriptors.", asked, want)
	cs.s.Log('#', "Server can't set maximum open files to %d because of OS error: %v.", want, refusal)
	cs.s.Log('#', "Current maximum open files is %d. maxclients has been reduced to %d "+
		"to compensate for low ulimit. If you need higher maxclients increase 'ulimit -n'.", best, cs.s.Cfg.MaxClients)
	return true
}

const deniedProtected = "-DENIED Redis is running in protected mode because protected mode is enabled " +
	"and no password is set for the default user. " +
	"In this mode connections are only accepted from the loopback interface. If you want to " +
	"connect from external computers to Redis you may adopt one of the following solutions: 1) Just disable " +
	"protected mode sending the command 'CONFIG SET protected-mode no' from the loopback interface by " +
	"connecting to Redis from the same host the server is running, however MAKE SURE Redis is not publicly " +
	"accessible from internet if you do so. Use CONFIG REWRITE to make this change permanent. 2) " +
	"Alternatively you can just disable the protected mode by editing the Redis configuration file, and " +
	"setting the protected mode option to 'no', and then restarting the server. 3) If you started the server " +
	"manually just for testing, restart it with the '--protected-mode no' option. 4) Setup a an " +
	"authentication password for the default user. NOTE: You only need to do one of the above things in order " +
	"for the server to start accepting connections from the outside.\r\n"

// IsLoopback reports whether an address with a port is one of this machine only.
func IsLoopback(addr string) bool {
	ap, err := netip.ParseAddrPort(addr)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// SetOutputTrigger finds the smallest output limit of all classes. A client with less output is
// within its limits.
func (cs *clients) SetOutputTrigger() {
	cs.s.Ex.OutputTrigger = math.MaxInt
	for _, l := range cs.s.Cfg.OutputLimits {
		for _, n := range [...]int64{l.Hard, l.Soft} {
			if n > 0 {
				cs.s.Ex.OutputTrigger = min(cs.s.Ex.OutputTrigger, int(n)-1)
			}
		}
	}
}

// OverOutputLimit closes c if its output has grown above a limit of its class. It reports whether
// the output is above a limit (networking.c: closeClientOnOutputBufferLimitReached).
func (cs *clients) OverOutputLimit(c *Client) bool {
	unsent := int64(c.OutputMem())
	limit := cs.outputLimit(c)
	soft := limit.Soft > 0 && unsent >= limit.Soft
	switch {
	case !soft:
		cs.belowSoftLimit(c)
	case c.softSince == 0:
		c.softSince = cs.s.Now
		cs.overSoft++
		soft = false
	default:
		soft = cs.s.Now-c.softSince > limit.SoftSeconds*int64(time.Second)
	}
	if !soft && (limit.Hard == 0 || unsent < limit.Hard) {
		return false
	}
	if !c.Closed {
		cs.s.Log('#', "Client %s scheduled to be closed ASAP for overcoming of output buffer limits.", cs.Describe(c))
		cs.s.Stats.OutputLimitClosed++
		cs.s.CloseClient(c)
	}
	return true
}

// outputLimit is the limit of c in client-output-buffer-limit (networking.c: checkClientOutputBufferLimits).
func (cs *clients) outputLimit(c *Client) config.OutputLimit {
	limit := cs.s.Cfg.OutputLimits[c.Class()]
	if c.Counts != nil && limit.Hard > 0 {
		limit.Hard = max(limit.Hard, c.Counts.LeastLimit())
	}
	return limit
}

// belowSoftLimit notes that the output of c is not above the soft limit.
func (cs *clients) belowSoftLimit(c *Client) {
	if c.softSince != 0 {
		c.softSince = 0
		cs.overSoft--
	}
}

// Class returns the class of c in client-output-buffer-limit.
func (c *Client) Class() int {
	switch {
	case c.Sess.Replica:
		return config.ClassReplica
	case c.Sess.Master:
		return ClassMaster
	case c.Sess.Subscriber:
		return config.ClassPubSub
	}
	return config.ClassNormal
}

// overQueryLimit closes c if it has sent more bytes of an incomplete request, or of a transaction, than
// client-query-buffer-limit allows (networking.c: readQueryFromClient).
func (s *Server) overQueryLimit(c *Client) {
	_, used := c.Buffered()
	if used+c.Parser.Mem()+c.Sess.Tx.Mem() <= int(s.Cfg.QueryBufferLimit) {
		return
	}
	s.Log('#', "Closing client that reached max query buffer length: %s", s.Clients.Describe(c))
	s.Stats.QueryLimitClosed++
	s.CloseClient(c)
}

// limited reports whether time alone takes a client over a limit: of silence, or of output that it
// does not read.
func (cs *clients) limited() bool {
	return cs.s.Cfg.Timeout > 0 || cs.overSoft > 0 || cs.s.Ex.Tracking.OverLimit()
}

// check looks at a part of the clients, at all of them within a second (server.c:
// clientsCron). It closes clients that are idle for too long or above their soft limit for too long.
// It also weighs them.
func (cs *clients) check() {
	if len(cs.Order) == 0 {
		return
	}
	for range min(len(cs.Order), max(len(cs.Order)/int(time.Second/cronPeriod), 5)) {
		cs.checked++
		if cs.checked >= len(cs.Order) {
			cs.checked = 0
		}
		c := cs.Order[cs.checked]
		cs.Weigh(c)
		switch {
		case c.Closed:
		case c.idleTooLong(cs.s.Now, cs.s.Cfg.Timeout):
			cs.s.Log('-', "Closing idle client")
			cs.s.CloseClient(c)
		case c.softSince != 0:
			cs.OverOutputLimit(c)
		}
	}
}

// idleTooLong reports whether c has been silent for longer than timeout allows, in seconds. It
// does not count for clients that wait, monitor, subscribe or replicate.
func (c *Client) idleTooLong(now int64, timeout int) bool {
	if timeout == 0 || c.Sess.Monitor || c.Sess.Subscriber || c.Sess.Replica || c.Sess.Master {
		return false
	}
	asks := c.Sess.Hold == command.NotHeld || c.Sess.Hold == command.Postponed
	return asks && now-c.Active > int64(timeout)*int64(time.Second)
}
