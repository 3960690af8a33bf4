package server

import (
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"golang.org/x/sys/unix"
)

// client is a connection and its session: the only place where the two meet.
type client struct {
	ioworkers.Conn
	sess command.Session

	laddr   string // our side
	unix    bool
	created int64 // monotonic ns
	active  int64 // monotonic ns of the last request

	weight int   // bytes of memory, when it was weighed
	place  place // among those that may be evicted

	softSince int64 // monotonic ns since which output is above the soft limit, 0 if it is not

	readable func()         // readHandler for this client, made once
	timer    *reactor.Timer // of what it is blocked in, if that times out
	visit    *visit         // that this is, if it has no connection
	relay    *relay         // that it waits for, if it does
	fault    *fault         // what the lab does to it; nil before the first time

	pendingRead  bool // is in Server.pendingReads
	pendingWrite bool // is in Server.pendingWrites
	full         bool // the socket takes no more: waits for the reply handler
	closed       bool // is in Server.closing
	dark         bool // is neither read from nor written to (lab_net.go)
	control      bool // has used LAB: what is done to others must not keep it from undoing that
}

// adopt makes a client of a connected socket.
func (s *Server) adopt(fd int, addr, laddr string, isUnix bool) *client {
	s.lastID++
	c := &client{laddr: laddr, unix: isUnix, created: s.now, active: s.now}
	c.FD, c.ID = fd, s.lastID
	c.sess = command.Session{
		ID: s.lastID, Index: len(s.order), Addr: addr, Local: isUnix || isLoopback(addr),
		Proto: 2,
	}
	s.ex.Anonymous(&c.sess)
	c.Parser.Limits.Unauthenticated = s.ex.MustAuthenticate(&c.sess)
	c.Parser.Limits.MaxBulk = int(s.cfg.ProtoMaxBulkLen)
	c.readable = func() { s.readHandler(c) }
	if err := s.loop.Watch(fd, reactor.Readable, c.readable); err != nil {
		s.log('#', "Error registering fd event for the new client connection: %v", err)
		_ = unix.Close(fd)
		return nil
	}
	s.clients[c.sess.ID] = c
	s.order = append(s.order, c)
	if s.lab != nil {
		s.limitGhosts()
	}
	s.weigh(c)
	s.trace.Lap(trace.Accept, c.ID, 0, 0)
	return c
}

// close has c freed at the end of the pass. Until then its descriptor stays
// open, so that no other client can get the same number within the pass
// (networking.c: freeClientAsync).
func (s *Server) close(c *client) {
	switch {
	case c.visit != nil:
		s.endVisit(c.visit, errorReply(errVisitOver))
	case !c.closed:
		c.closed = true
		s.weigh(c)
		s.ex.StopWaiting(&c.sess)
		s.closing = append(s.closing, c)
	}
}

// free undoes adopt, and takes c out of everything that knows it
// (networking.c: freeClient).
func (s *Server) free(c *client) {
	s.loop.Unwatch(c.FD, reactor.Readable|reactor.Writable|reactor.HangUp)
	if s.lab != nil {
		s.labGone(c)
		s.labHangUp(c)
	} else {
		_ = unix.Close(c.FD)
	}
	if c.timer != nil {
		s.cancel(c.timer)
	}
	if c.relay != nil {
		c.relay.callOff()
	}
	if c.sess.Hold != command.NotHeld {
		s.held--
		s.postponed = slices.DeleteFunc(s.postponed, func(p *client) bool { return p == c })
	}
	if c.full {
		s.fullClients--
	}
	s.countTraffic(c)
	s.clientMem -= c.weight
	c.leaveBucket()
	s.ex.Leave(&c.sess)
	s.doctorLeft(&c.sess)
	if c.sess.Monitor {
		s.leaveMonitors(c)
	}
	last := s.order[len(s.order)-1]
	last.sess.Index = c.sess.Index
	s.order[c.sess.Index] = last
	s.order[len(s.order)-1] = nil
	s.order = s.order[:len(s.order)-1]
	delete(s.clients, c.sess.ID)
}

// push appends bytes that are no answer to what c has sent: a monitor's line, a
// message. The output of the client that is being executed is in the server's
// writer for that time, not in its connection.
func (s *Server) push(c *client, b []byte) {
	switch {
	case c.closed || c.sess.CloseAfterReply || c.sess.Hold == command.Silenced:
	case c == s.running:
		s.w.Buf = append(s.w.Buf, b...)
	case c == s.aside.c:
		s.aside.late = append(s.aside.late, b...)
	case c.waits():
		c.fault.keep(b)
		s.limitKept(c, c.Unsent())
	default:
		s.send(c, b)
	}
	s.grown(c)
}

// send has b written to a client that is not being executed.
func (s *Server) send(c *client, b []byte) {
	s.pool.LendOutput(&c.Conn)
	c.Out = append(c.Out, b...)
	if n := c.Unsent(); n+c.fault.mem() > s.ex.OutputTrigger && s.overOutputLimit(c, n) {
		return
	}
	s.wantWrite(c)
}

// leave closes c and forgets at once what it listened to, so that messages of this
// pass no longer count it.
func (s *Server) leave(c *client) {
	s.ex.Leave(&c.sess)
	s.close(c)
}
