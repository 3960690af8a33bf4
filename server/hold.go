package server

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/reactor"
)

// A client waits because of CLIENT PAUSE or because its command blocks. A waiting client is not read
// from: what it sends stays in the kernel, until TCP's window closes. Its hang-up is watched for, so
// that nothing is done for a client that has gone. Redis goes on reading a blocked client and sees
// the end of its input that way (blocked.c; networking.c: readQueryFromClient).

// hold stops executing c: its last command has set Session.Hold.
func (s *Server) hold(c *client) {
	switch {
	case c.sess.Hold == command.Postponed:
		c.Unread()
		s.postponed = append(s.postponed, c)
	case c.sess.Hold == command.Blocked && c.sess.Wait.Deadline > 0:
		c.timer = s.at(c.sess.Wait.Deadline, func() { s.ex.Unblock(&c.sess, nil) })
	}
	s.held++
	s.watchInput(c)
}

// watchInput watches c for input. A client that waits, or that gets its last replies later, is
// watched for hang-up only. A client that is closed after its reply is not watched.
func (s *Server) watchInput(c *client) {
	last := c.closed || c.sess.CloseAfterReply
	switch {
	case c.muted:
	case last && (c.closed || !c.Barred()):
		s.loop.Unwatch(c.FD, reactor.Readable|reactor.HangUp)
	case last || c.sess.Hold != command.NotHeld:
		s.watch(c, reactor.Readable, reactor.HangUp, func() { s.hungUp(c) })
	default:
		s.watch(c, reactor.HangUp, reactor.Readable, c.readable)
	}
}

// watch takes back what c was watched for and watches it for mask.
func (s *Server) watch(c *client, from, mask reactor.Mask, handler func()) {
	if err := s.loop.Rewatch(c.FD, from, mask, handler); err != nil {
		s.close(c)
	}
}

// hungUp closes a client that has ended its side. Describing a client takes time, so only a log
// that shows the line gets it.
func (s *Server) hungUp(c *client) {
	if s.cfg.LogLevel == "verbose" || s.cfg.LogLevel == "debug" {
		s.log('-', "Client closed connection %s", s.describe(c))
	}
	s.leave(c)
}

// release ends the wait of c. The pass goes on with what c had sent before.
func (s *Server) release(c *client) {
	c.active = s.now
	s.stopHolding(c)
	if !c.closed {
		s.watchInput(c)
		s.resumed = append(s.resumed, c)
	}
}

// stopHolding takes back what hold has done, except for watching c's hang-up.
func (s *Server) stopHolding(c *client) {
	c.sess.Hold = command.NotHeld
	s.held--
	if c.timer != nil {
		s.timers.Cancel(c.timer)
		c.timer = nil
	}
}

// resume is the executor's way to a client that was blocked.
func (s *Server) resume(sess *command.Session, reply []byte) {
	c := s.clientOf(sess)
	if c.internal != nil {
		c.internal.end(slices.Clone(reply))
		return
	}
	s.push(c, reply)
	s.release(c)
}

// pause holds commands back for d (CLIENT PAUSE). It never makes a pause shorter or weaker that is
// already on.
func (s *Server) pause(kind command.Pause, d time.Duration) {
	s.ex.Pause = max(s.ex.Pause, kind)
	s.ks.KeepDue = true
	s.pauseEnd = max(s.pauseEnd, s.ex.Clock.Timeline(s.ex.Now.Mono)+int64(d))
	if s.pauseTimer != nil {
		s.timers.Cancel(s.pauseTimer)
	}
	s.pauseTimer = s.at(s.pauseEnd, s.unpause)
}

func (s *Server) unpause() {
	if s.pauseTimer != nil {
		s.timers.Cancel(s.pauseTimer)
	}
	s.pauseTimer, s.pauseEnd = nil, 0
	s.ex.Pause = command.PauseNone
	s.ks.KeepDue = false
	for _, c := range s.postponed {
		if c.sess.Hold == command.Postponed {
			s.release(c)
		}
	}
	clear(s.postponed)
	s.postponed = s.postponed[:0]
	if s.running == nil {
		s.serveReady()
	}
}

// serveReady serves clients that wait for keys, while no command runs: keys changed without a
// command, or a pause is over.
func (s *Server) serveReady() {
	defer s.recoverCommand(nil)
	s.ex.Waiters.ServeReady()
}

// after calls fn when d has passed of the time by which timeouts are counted (Clock.Timeline).
func (s *Server) after(d time.Duration, fn func()) *reactor.Timer {
	return s.at(s.ex.Clock.Timeline(s.ex.Now.Mono)+int64(d), fn)
}

// at is after for a time in ns by Clock.Timeline.
func (s *Server) at(when int64, fn func()) *reactor.Timer {
	return s.timers.At(when, func() time.Duration {
		fn()
		return 0
	})
}

// runDueTimers calls the functions of all timers that are due.
func (s *Server) runDueTimers() { s.timers.Run(s.ex.Clock.Timeline(s.executing)) }
