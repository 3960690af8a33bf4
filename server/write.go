package server

import (
	"slices"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/reactor"
)

// The way of replies to the sockets: wantWrite, once a client was executed; write, at the end of the
// pass, for all of them; and replyHandler, in later passes, for a client that reads slower than it
// asks.

// wantWrite queues c for the write phase if it has something to write (networking.c: prepareClientToWrite,
// putClientInPendingWriteQueue). A full socket is left to the reply handler.
func (s *Server) wantWrite(c *client) {
	switch {
	case c.closed || c.muted || c.protected || c.withheld:
	case c.Sendable() > 0:
		if !c.pendingWrite && !c.full {
			c.pendingWrite = true
			s.pendingWrites = append(s.pendingWrites, c)
		}
	case c.sess.CloseAfterReply && c.Drained():
		s.close(c)
	}
}

// unqueue takes c out of the write phase of this pass.
func (s *Server) unqueue(c *client) {
	if c.pendingWrite {
		c.pendingWrite = false
		s.pendingWrites = slices.DeleteFunc(s.pendingWrites, func(w *client) bool { return w == c })
	}
}

// write writes the output of all queued clients (networking.c: handleClientsWithPendingWrites). I/O threads
// may do that; write waits for the last of them.
func (s *Server) write() {
	if len(s.pendingWrites) == 0 {
		return
	}
	begin := s.trace.Mark()
	s.conns = s.conns[:0]
	for _, c := range s.pendingWrites {
		s.conns = append(s.conns, &c.Conn)
	}
	s.stats.Writes += int64(len(s.conns))
	if s.pool.Write(s.conns) {
		s.stats.ThreadedWrites += int64(len(s.conns))
	}
	s.trace.Span(trace.Writing, begin, s.trace.Mark(), len(s.conns))
	for _, c := range s.pendingWrites {
		c.pendingWrite = false
		s.wrote(c)
	}
	clear(s.pendingWrites)
	s.pendingWrites = s.pendingWrites[:0]
}

// wrote follows up on a write. Only a socket that could not take everything is watched for room
// (networking.c: handleClientsWithPendingWrites).
func (s *Server) wrote(c *client) {
	s.countTraffic(c)
	switch {
	case c.closed:
	case c.Lost:
		s.close(c)
	case c.Sendable() > 0:
		if c.full {
			return
		}
		if err := s.Loop.Watch(c.FD, reactor.Writable, func() { s.replyHandler(c) }); err != nil {
			s.close(c)
			return
		}
		c.full = true
	case c.sess.CloseAfterReply && c.Drained():
		s.close(c)
	default:
		if c.full {
			c.full = false
			s.Loop.Unwatch(c.FD, reactor.Writable)
		}
		s.pool.Reclaim(&c.Conn)
	}
	s.grown(c)
}

// replyHandler goes on writing when the socket of a client with much output has room
// (networking.c: sendReplyToClient).
func (s *Server) replyHandler(c *client) {
	if c.protected || s.fatal != nil {
		return
	}
	s.trace.Mark()
	c.Write(s.trace)
	s.stats.Writes++
	s.wrote(c)
}
