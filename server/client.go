package server

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"golang.org/x/sys/unix"
)

// client is a connection and its session: the only place where the two meet.
type client struct {
	ioworkers.Conn
	sess command.Session

	addr, laddr string
	unix        bool
	created     int64 // monotonic ns
	active      int64 // monotonic ns of the last request

	wantsRead  bool // is in Server.reads
	wantsWrite bool // is in Server.writes
	blocked    bool // the socket is full: waits for the reply handler
	closed     bool // is in Server.closing
}

// adopt makes a client of a connected socket.
func (s *Server) adopt(fd int, addr, laddr string, isUnix bool) {
	s.lastID++
	now := s.ex.Clock.Mono()
	c := &client{addr: addr, laddr: laddr, unix: isUnix, created: now, active: now}
	c.FD = fd
	c.sess = command.Session{ID: s.lastID, Proto: 2, User: "default", Authenticated: s.cfg.RequirePass == ""}
	c.Parser.Limits.Unauthenticated = !c.sess.Authenticated
	if err := s.loop.Watch(fd, reactor.Readable, func() { s.wantRead(c) }); err != nil {
		s.log('#', "Error registering fd event for the new client connection: %v", err)
		_ = unix.Close(fd)
		return
	}
	s.clients[c.sess.ID] = c
}

// close has c freed at the end of the pass. Until then its descriptor stays
// open, so that no other client can get the same number within the pass
// (networking.c: freeClientAsync).
func (s *Server) close(c *client) {
	if !c.closed {
		c.closed = true
		s.closing = append(s.closing, c)
	}
}

func (s *Server) free(c *client) {
	s.loop.Unwatch(c.FD, reactor.Readable|reactor.Writable)
	_ = unix.Close(c.FD)
	s.stats.NetIn += c.NetIn
	s.stats.NetOut += c.NetOut
	delete(s.clients, c.sess.ID)
}
