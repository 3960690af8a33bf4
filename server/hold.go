package server

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/reactor"
)

// A client that has to wait, because of CLIENT PAUSE or of a command that blocks,
// is not read from: what it sends next stays in the kernel, whose window closes
// in the end. Its hanging up is watched for, so that nothing is done for a client
// that is gone. Redis keeps reading a blocked client, and learns of it that way
// (blocked.c; networking.c: readQueryFromClient).

// hold stops executing c, which has just been asked to wait.
func (s *Server) hold(c *client) {
	switch {
	case c.sess.Hold == command.Postponed:
		c.Unread()
		s.postponed = append(s.postponed, c)
	case c.sess.Hold == command.Parked:
		c.Unread()
	case c.sess.Hold == command.Silenced:
	case c.sess.Wait.Deadline > 0:
		c.timer = s.at(c.sess.Wait.Deadline, func() { s.ex.Unblock(&c.sess, nil) })
	}
	s.held++
	s.watchInput(c)
}

// watchInput has the loop look for what c is to be heard of: what it says, or, while it
// waits, that it hangs up.
func (s *Server) watchInput(c *client) {
	switch {
	case c.dark:
	case c.sess.Hold != command.NotHeld || c.sess.CloseAfterReply && c.waits():
		s.watchHangUp(c)
	default:
		if err := s.loop.Rewatch(c.FD, reactor.HangUp, reactor.Readable, c.readable); err != nil {
			s.close(c)
		}
	}
}

// watchHangUp has the loop look for nothing but c's end: what else it says is not read now.
func (s *Server) watchHangUp(c *client) {
	if err := s.loop.Rewatch(c.FD, reactor.Readable, reactor.HangUp, func() { s.hungUp(c) }); err != nil {
		s.close(c)
	}
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
	c.active = s.now
	if c.relay != nil {
		c.relay.callOff()
	}
	s.held--
	if c.timer != nil {
		s.cancel(c.timer)
		c.timer = nil
	}
	if c.closed {
		return
	}
	s.watchInput(c)
	s.resumed = append(s.resumed, c)
}

// resume is the executor's way to a client that was blocked.
func (s *Server) resume(sess *command.Session, reply []byte) {
	c := s.clientOf(sess)
	if c.visit != nil {
		s.endVisit(c.visit, slices.Clone(reply))
		return
	}
	if c.fault != nil && c.fault.rule != nil {
		s.labResume(c, reply)
		return
	}
	s.push(c, reply)
	s.release(c)
}

// pause holds commands back for d (CLIENT PAUSE). A pause that is under way is
// never made shorter or weaker.
func (s *Server) pause(kind command.Pause, d time.Duration) {
	s.ex.Pause = max(s.ex.Pause, kind)
	s.ks.KeepDue = true
	s.pauseEnd = max(s.pauseEnd, s.ex.Clock.Timeline(s.ex.LastEnd())+int64(d))
	if s.pauseTimer != nil {
		s.cancel(s.pauseTimer)
	}
	s.pauseTimer = s.at(s.pauseEnd, s.unpause)
}

func (s *Server) unpause() {
	if s.pauseTimer != nil {
		s.cancel(s.pauseTimer)
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

// serveReady is for the keys that have changed, or may be served again, while no
// command runs.
func (s *Server) serveReady() {
	defer s.recoverCommand(nil)
	s.ex.ServeReady()
}

// after has fn called when d has passed of the time that timeouts are counted in: of the
// lab's, if there is one.
func (s *Server) after(d time.Duration, fn func()) *reactor.Timer {
	return s.at(s.ex.Clock.Timeline(s.ex.LastEnd())+int64(d), fn)
}

// at is after for a time in ns, by Clock.Timeline.
func (s *Server) at(when int64, fn func()) *reactor.Timer {
	once := func() time.Duration {
		fn()
		return 0
	}
	if s.lab != nil {
		return s.lab.timers.At(when, once)
	}
	return s.loop.At(when, once)
}

// cancel takes back what at and after have returned.
func (s *Server) cancel(t *reactor.Timer) {
	if s.lab != nil {
		s.lab.timers.Cancel(t)
	} else {
		s.loop.Cancel(t)
	}
}
