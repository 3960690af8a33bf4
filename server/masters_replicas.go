package server

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/reactor"
)

// Replicas in the process are servers like all others. They follow their master as a replica in another process does,
// but the link is a pair of sockets instead of a connection to an address. So it also works in a bubble, and the master
// knows who is there.
//
//	replica                                        master
//	following.connectTo ── an end, in a post ─────> takeLink: a client like any other
//	       └── PING, REPLCONF, PSYNC ... ────────>
//	       <── +FULLRESYNC, keys, stream ─────────

// prepareToReplicate changes what would be a nuisance inside of one process. Each server may become a master or a
// replica, so all get the same.
func prepareToReplicate(own *config.Config, number int) {
	if own.ReplDisklessDelay == 5 { // the default: it waits for more replicas
		own.ReplDisklessDelay = 0
	}
	if own.ReplDisklessLoad == "disabled" { // the default: all keys go through a file first
		own.ReplDisklessLoad = "swapdb"
	}
	if own.MasterAuth == "" {
		own.MasterAuth = own.RequirePass
	}
	if own.MasterOf(number) != number {
		own.ReplicaOf = ""
	}
}

// becomeNeighbours lets the loops of a bubble look at the sockets between them.
func (m Masters) becomeNeighbours() {
	for _, s := range m {
		if s.bubble == nil {
			return
		}
		var others []*reactor.Bubble
		for _, other := range m {
			if other != s {
				others = append(others, other.bubble)
			}
		}
		s.bubble.Neighbours(others)
	}
}

// follow makes the replicas of the process follow their masters. Their links begin with Run.
func (m Masters) follow() error {
	for _, s := range m {
		if s.group == s.number {
			continue
		}
		s.cfg.ReplicaOf = fmt.Sprintf("%s %d", peerHost, m[s.group-1].port)
		if err := s.follow.start(); err != nil {
			return err
		}
		if s.lab != nil {
			s.lab.keepConfig()
		}
	}
	return nil
}

// peerAt returns another server of the process, nil if none has this address. In a bubble nothing else can be reached.
func (s *Server) peerAt(host string, port int) *Server {
	if s.bubble == nil && host != peerHost && host != "localhost" && host != "::1" {
		return nil
	}
	for _, other := range s.peers {
		if other.port == port && other != s && port > 0 {
			return other
		}
	}
	return nil
}

// dialPeer returns what connects to the server of the process with this address, nil if there is none.
func (s *Server) dialPeer(host string, port int) (dial func() (*link, error)) {
	to := s.peerAt(host, port)
	if to == nil {
		return nil
	}
	return func() (*link, error) { return s.follow.connectTo(to) }
}

// connectTo connects to another server of the process. That takes its end in its next pass.
func (f *following) connectTo(to *Server) (*link, error) {
	if to.inbox.hasEnded() {
		return nil, unix.ECONNREFUSED
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	for _, fd := range ends {
		unix.CloseOnExec(fd)
		_ = unix.SetNonblock(fd, true)
	}
	l := &link{fd: ends[0], addr: to.peerAddr(), heard: f.s.now, chunk: make([]byte, linkChunk)}
	if err := f.s.loop.Watch(l.fd, reactor.Writable, func() { l.ready = true }); err != nil {
		_ = unix.Close(ends[0])
		_ = unix.Close(ends[1])
		return nil, err
	}
	from, taken := f.s, false
	v := &internalRequest{errand: func(v *internalRequest) {
		taken = to.takeLink(ends[1], from)
		v.end(nil)
	}}
	v.done = func([]byte) {
		if taken {
			return
		}
		_ = unix.Close(ends[1])
		from.inbox.post(func() {
			if from.follow.link == l {
				from.follow.fail('#', "Error condition on socket for SYNC: Connection refused")
			}
		})
	}
	v.sendTo(to)
	return l, nil
}

// takeLink makes a client of the end of a link. It reports whether this server takes connections.
func (s *Server) takeLink(fd int, from *Server) bool {
	if len(s.listeners.all) == 0 || !s.clients.hasPlace() {
		return false
	}
	s.stats.Connections++
	if c := s.adopt(fd, from.peerAddr(), s.peerAddr(), true); c != nil {
		labOf(c).link, c.sess.Name = from, s.link.name("replica", from.port)
		s.link.begun(c)
	}
	return true
}
