package server

import (
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// A client that has to wait, because of CLIENT PAUSE or of a command that blocks,
// is not read from: what it sends next stays in the kernel, whose window closes
// in the end. Its hanging up is watched for, so that nothing is done for a client
// that is gone. Redis keeps reading a blocked client, and learns of it that way
// (blocked.c; networking.c: readQueryFromClient).

// hold stops executing c, which has just been asked to wait.
func (s *Server) hold(c *client) {
	if c.sess.Hold == command.Postponed {
		c.Unread()
		s.postponed = append(s.postponed, c)
	}
	s.held++
	if err := s.loop.Watch(c.FD, reactor.HangUp, func() { s.hungUp(c) }); err != nil {
		s.close(c)
		return
	}
	s.loop.Unwatch(c.FD, reactor.Readable)
}

// hungUp frees a client that has ended its side. Its description is costly enough
// not to be made for a log that does not show it.
func (s *Server) hungUp(c *client) {
	if s.cfg.LogLevel == "verbose" || s.cfg.LogLevel == "debug" {
		s.log('-', "Client closed connection %s", s.describe(c))
	}
	s.leave(c)
}

// release lets c go on: with what it had sent before, in this pass still.
func (s *Server) release(c *client) {
	c.sess.Hold = command.NotHeld
	c.onTimeout = nil
	s.held--
	if c.timer != nil {
		s.loop.Cancel(c.timer)
		c.timer = nil
	}
	if c.closed {
		return
	}
	if err := s.loop.Watch(c.FD, reactor.Readable, c.readable); err != nil {
		s.close(c)
		return
	}
	s.loop.Unwatch(c.FD, reactor.HangUp)
	s.resumed = append(s.resumed, c)
}

// block has the client that is being executed wait for its reply. After timeout,
// if that is positive, onTimeout writes one.
func (s *Server) block(timeout time.Duration, onTimeout func(*client)) {
	c := s.running
	c.sess.Hold = command.Blocked
	c.onTimeout = onTimeout
	if timeout > 0 {
		c.timer = s.loop.After(timeout, func() time.Duration {
			s.unblock(c)
			return 0
		})
	}
}

// unblock ends a wait as if its time were over.
func (s *Server) unblock(c *client) {
	c.onTimeout(c)
	s.release(c)
}

// answer writes the late reply of a client that was blocked.
func (s *Server) answer(c *client, reply func(w *resp.Writer)) {
	if c.sess.Replies != command.ReplyOn {
		return
	}
	w := resp.Writer{Proto: c.sess.Proto}
	reply(&w)
	s.push(c, w.Buf)
}

// pause holds commands back for d (CLIENT PAUSE). A pause that is under way is
// never made shorter or weaker.
func (s *Server) pause(kind command.Pause, d time.Duration) {
	s.ex.Pause = max(s.ex.Pause, kind)
	s.pauseEnd = max(s.pauseEnd, s.now+int64(d))
	if s.pauseTimer != nil {
		s.loop.Cancel(s.pauseTimer)
	}
	s.pauseTimer = s.loop.After(time.Duration(s.pauseEnd-s.now), func() time.Duration {
		s.unpause()
		return 0
	})
}

func (s *Server) unpause() {
	if s.pauseTimer != nil {
		s.loop.Cancel(s.pauseTimer)
	}
	s.pauseTimer, s.pauseEnd = nil, 0
	s.ex.Pause = command.PauseNone
	for _, c := range s.postponed {
		if c.sess.Hold == command.Postponed {
			s.release(c)
		}
	}
	clear(s.postponed)
	s.postponed = s.postponed[:0]
}
