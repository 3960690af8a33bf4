package server

import (
	"slices"

	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/reactor"
)

// The way of replies to the sockets: WantWrite, once a client was executed; WriteClients, at the
// end of the pass, for all of them; and replyHandler, in later passes, for a client that reads slower than it
// asks.

// WantWrite queues c for the write phase if it has something to write (networking.c: prepareClientToWrite,
// putClientInPendingWriteQueue). A full socket is left to the reply handler.
func (s *Server) WantWrite(c *Client) {
	switch {
	case c.Closed || c.Muted || c.Protected || c.Withheld:
	case c.Sendable() > 0:
		if !c.pendingWrite && !c.Full {
			c.pendingWrite = true
			s.PendingWrites = append(s.PendingWrites, c)
		}
	case c.Sess.CloseAfterReply && c.Drained():
		s.CloseClient(c)
	}
}

// Unqueue takes c out of the write phase of this pass.
func (s *Server) Unqueue(c *Client) {
	if c.pendingWrite {
		c.pendingWrite = false
		s.PendingWrites = slices.DeleteFunc(s.PendingWrites, func(w *Client) bool { return w == c })
	}
}

// WriteClients writes the output of all queued clients (networking.c: handleClientsWithPendingWrites). I/O threads
// may do that; it waits for the last of them.
func (s *Server) WriteClients() {
	if len(s.PendingWrites) == 0 {
		return
	}
	begin := s.Trace.Mark()
	s.conns = s.conns[:0]
	for _, c := range s.PendingWrites {
		s.conns = append(s.conns, &c.Conn)
	}
	s.Stats.Writes += int64(len(s.conns))
	if s.Pool.Write(s.conns) {
		s.Stats.ThreadedWrites += int64(len(s.conns))
	}
	s.Trace.Span(trace.Writing, begin, s.Trace.Mark(), len(s.conns))
	for _, c := range s.PendingWrites {
		c.pendingWrite = false
		s.wrote(c)
	}
	clear(s.PendingWrites)
	s.PendingWrites = s.PendingWrites[:0]
}

// wrote follows up on a write. A client with unsent output is watched for room: its socket may be full, or it had more
// than one write may send
// (networking.c: handleClientsWithPendingWrites).
func (s *Server) wrote(c *Client) {
	s.CountTraffic(c)
	switch {
	case c.Closed:
	case c.Lost:
		s.CloseClient(c)
	case c.Sendable() > 0:
		if c.Full {
			return
		}
		if err := s.Loop.Watch(c.FD, reactor.Writable, func() { s.replyHandler(c) }); err != nil {
			s.CloseClient(c)
			return
		}
		c.Full = true
	case c.Sess.CloseAfterReply && c.Drained():
		s.CloseClient(c)
	default:
		if c.Full {
			c.Full = false
			s.Loop.Unwatch(c.FD, reactor.Writable)
		}
		s.Pool.Reclaim(&c.Conn)
	}
	s.grown(c)
}

// replyHandler continues to write when the socket of a client with much output has room
// (networking.c: sendReplyToClient).
func (s *Server) replyHandler(c *Client) {
	if c.Protected || s.Fatal != nil {
		return
	}
	s.Trace.Mark()
	c.Write(s.Trace)
	s.Stats.Writes++
	s.wrote(c)
}
