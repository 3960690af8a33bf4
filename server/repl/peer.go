package repl

import (
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/server"
)

// Replicas in the process are servers like all others. They follow their master as a replica in another process does,
// but the link is a pair of sockets instead of a connection to an address. So it also works in a bubble, and the master
// knows who is there.
//
//	replica                                        master
//	following.connectTo ── an end, in a post ─────> takeLink: a client like any other
//	       └── PING, REPLCONF, PSYNC ... ────────>
//	       <── +FULLRESYNC, keys, stream ─────────

// PeerAt returns another server of the process, nil if none has this address. In a bubble nothing else can be reached.
func PeerAt(s *Role, host string, port int) *Role {
	if s.Bubble == nil && host != server.PeerHost && host != "localhost" && host != "::1" {
		return nil
	}
	for _, other := range s.Peers {
		if other.PeerPort == port && other != s && port > 0 {
			return other
		}
	}
	return nil
}

// connectTo connects to another server of the process. That takes its end in its next pass.
func (f *following) connectTo(to *Role) (*link, error) {
	if to.Inbox.HasEnded() {
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
	l := &link{FD: ends[0], addr: to.PeerAddr(), heard: f.s.Now, chunk: make([]byte, linkChunk)}
	if err := f.s.Loop.Watch(l.FD, reactor.Writable, func() { l.ready = true }); err != nil {
		_ = unix.Close(ends[0])
		_ = unix.Close(ends[1])
		return nil, err
	}
	from, taken := f.s, false
	v := &server.InternalRequest{Errand: func(v *server.InternalRequest) {
		taken = takeLink(to, ends[1], from)
		v.End(nil)
	}}
	v.Done = func([]byte) {
		if taken {
			return
		}
		_ = unix.Close(ends[1])
		from.Inbox.Post(func() {
			if from.Follow.Link == l {
				from.Follow.fail('#', "Error condition on socket for SYNC: Connection refused")
			}
		})
	}
	v.SendTo(to.Server)
	return l, nil
}

// takeLink makes a client of the end of a link. It reports whether server to takes connections.
func takeLink(to *Role, fd int, from *Role) bool {
	if len(to.Listeners.All) == 0 || !to.Clients.HasPlace() {
		return false
	}
	to.Stats.Connections++
	if c := to.Adopt(fd, from.PeerAddr(), to.PeerAddr(), true); c != nil {
		c.Attach(peerKey{}, from)
		c.Sess.Name = to.Link.Name("replica", from.PeerPort)
		to.Link.Begun(c)
	}
	return true
}

// peerKey is where a client keeps the server of this process that it is a link of.
type peerKey struct{}

// PeerOf returns the replica of this process that c is the link of, nil for none.
func PeerOf(c *server.Client) *Role {
	from, _ := c.Attached(peerKey{}).(*Role)
	return from
}
