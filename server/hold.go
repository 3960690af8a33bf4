package server

import (
	"math"
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/reactor"
)

// A client waits because of CLIENT PAUSE or because its command blocks. A waiting client is not read
// from: what it sends stays in the kernel, until TCP's window closes. Its hang-up is watched for, so
// that nothing is done for a client that has gone. Redis continues to read a blocked client and sees
// the end of its input that way (blocked.c; networking.c: readQueryFromClient).

// hold stops executing c (blocked.c: blockClient): its last command has set Session.Hold.
func (s *Server) hold(c *Client) {
	switch {
	case c.Sess.Hold == command.Postponed:
		c.Unread()
		s.Pausing.postponed = append(s.Pausing.postponed, c)
	case c.Sess.Hold == command.Blocked:
		s.setTimer(c)
	}
	s.Held++
	s.WatchInput(c)
}

// Waiter is a client that waits for the reply to a request.
type Waiter struct {
	By      *Client
	Request int64 // Session.Commands then: the client waits for nothing else
}

// IsOn reports whether the client still waits.
func (w Waiter) IsOn() bool {
	return w.By.Sess.Hold == command.Blocked && w.By.Sess.Commands == w.Request && !w.By.Closed
}

// setTimer sets the timer of a blocked client: it ends the wait, or runs the command again.
func (s *Server) setTimer(c *Client) {
	if c.Timer != nil {
		s.Timers.Cancel(c.Timer)
		c.Timer = nil
	}
	switch w := c.Sess.Wait; {
	case w.Retry > 0 && (w.Deadline == 0 || w.Retry < w.Deadline):
		c.Timer = s.At(w.Retry, func() { s.retry(c) })
	case w.Deadline > 0:
		c.Timer = s.At(w.Deadline, func() { s.Ex.Unblock(&c.Sess, nil) })
	}
}

// retry runs the command of a blocked client again. During CLIENT PAUSE it only keeps its deadline: it runs when the
// pause ends.
func (s *Server) retry(c *Client) {
	defer s.RecoverCommand(nil)
	c.Sess.Wait.Retry = 0
	s.setTimer(c)
	s.Ex.Waiters.Again(&c.Sess)
}

// WatchInput watches c for input. A client that waits, or that gets its last replies later, is
// watched for hang-up only. A client that is closed after its reply is not watched.
func (s *Server) WatchInput(c *Client) {
	last := c.Closed || c.Sess.CloseAfterReply
	switch {
	case c.Muted:
	case last && (c.Closed || !c.Barred()):
		s.Loop.Unwatch(c.FD, reactor.Readable|reactor.HangUp)
	case last || c.Sess.Hold != command.NotHeld:
		s.rearm(c, reactor.Readable, reactor.HangUp, func() { s.hungUp(c) })
	default:
		s.rearm(c, reactor.HangUp, reactor.Readable, c.Readable)
	}
}

// rearm makes the loop wait for mask on c's socket, instead of from.
func (s *Server) rearm(c *Client, from, mask reactor.Mask, handler func()) {
	if err := s.Loop.Rewatch(c.FD, from, mask, handler); err != nil {
		s.CloseClient(c)
	}
}

// hungUp closes a client that has ended its side (networking.c: readQueryFromClient). Describing a client
// takes time, so only a log that shows the line gets it.
func (s *Server) hungUp(c *Client) {
	if s.Cfg.LogLevel == "verbose" || s.Cfg.LogLevel == "debug" {
		s.Log('-', "Client closed connection %s", s.Clients.Describe(c))
	}
	c.EOF = true // a client that waits is not read
	s.Leave(c)
}

// Release ends the wait of c. The pass continues with what c had sent before.
func (s *Server) Release(c *Client) {
	c.Active = s.Now
	s.StopHolding(c)
	if !c.Closed {
		s.WatchInput(c)
		s.Resumed = append(s.Resumed, c)
	}
}

// StopHolding takes back what hold has done, except for watching c's hang-up.
func (s *Server) StopHolding(c *Client) {
	c.Sess.Hold = command.NotHeld
	s.Held--
	if c.Timer != nil {
		s.Timers.Cancel(c.Timer)
		c.Timer = nil
	}
}

// ResumeBlocked answers a blocked client and ends its wait (blocked.c: unblockClient).
func (s *Server) ResumeBlocked(c *Client, reply []byte) {
	if c.Internal != nil {
		c.Internal.End(slices.Clone(reply))
		return
	}
	s.Push(c, reply)
	s.Release(c)
}

// pausing holds commands back: CLIENT PAUSE, and what else needs it. Each has an end of its own (networking.c:
// pauseActions).
type pausing struct {
	s         *Server
	by        [pausers]pause
	strongest command.State // of the pauses that are on
	postponed []*Client     // their command waits for the end of the pause
	timer     *reactor.Timer
}

type pause struct {
	kind  command.State // one of command.Pauses, 0 for none
	until int64         // ns, by Clock.Timeline; forever for one that somebody ends
}

// pauser is who holds commands back (server.h: pause_purpose).
type pauser int

const (
	ByClient   pauser = iota // CLIENT PAUSE
	ByFailover               // FAILOVER
	ByShutdown               // a SHUTDOWN that waits for replicas
	pausers
)

// Forever is the end of a pause that somebody ends.
const Forever = math.MaxInt64

// Begin holds commands back until a time. It never makes a pause shorter or weaker that is already on.
func (p *pausing) Begin(by pauser, kind command.State, until int64) {
	on := &p.by[by]
	on.kind, on.until = max(on.kind, kind), max(on.until, until)
	p.apply()
}

// End takes one pause back.
func (p *pausing) End(by pauser) {
	if p.by[by].kind != 0 {
		p.by[by] = pause{}
		p.apply()
	}
}

// EndAll takes all pauses back.
func (p *pausing) EndAll() {
	p.by = [pausers]pause{}
	p.apply()
}

// due ends the pauses whose time is over.
func (p *pausing) due() {
	p.timer = nil
	now := p.s.Ex.Clock.Timeline(p.s.Ex.Now.Mono)
	for i := range p.by {
		if p.by[i].until <= now {
			p.by[i] = pause{}
		}
	}
	p.apply()
}

// apply makes the strongest pause count, and lets go what no pause holds.
func (p *pausing) apply() {
	was, next := p.strongest, int64(Forever)
	p.strongest = 0
	for _, on := range p.by {
		p.strongest = max(p.strongest, on.kind)
		if on.kind != 0 {
			next = min(next, on.until)
		}
	}
	p.s.Ex.Refusals.Set(command.Pauses, false)
	p.s.Ex.Refusals.Set(p.strongest, true)
	if p.timer != nil {
		p.s.Timers.Cancel(p.timer)
		p.timer = nil
	}
	if next != Forever {
		p.timer = p.s.At(next, p.due)
	}
	if p.strongest < was {
		p.resume()
	}
}

// resume executes what was held back. What another pause holds waits again.
func (p *pausing) resume() {
	for _, c := range p.postponed {
		if c.Sess.Hold == command.Postponed {
			p.s.Release(c)
		}
	}
	clear(p.postponed)
	p.postponed = p.postponed[:0]
	if p.s.Running == nil {
		p.s.ServeReady()
	}
}

// ServeReady serves clients that wait for keys, while no command runs (blocked.c: handleClientsBlockedOnKeys):
// keys changed without a command, or a pause is over.
func (s *Server) ServeReady() {
	defer s.RecoverCommand(nil)
	s.Ex.Waiters.ServeReady()
	each(s.Parts.served)
}

// After calls fn when d has passed of the time by which timeouts are counted (Clock.Timeline).
func (s *Server) After(d time.Duration, fn func()) *reactor.Timer {
	return s.At(s.Ex.Clock.Timeline(s.Ex.Now.Mono)+int64(d), fn)
}

// At is After for a time in ns by Clock.Timeline.
func (s *Server) At(when int64, fn func()) *reactor.Timer {
	return s.Timers.At(when, func() time.Duration {
		fn()
		return 0
	})
}

// runDueTimers calls the functions of all timers that are due (ae.c: processTimeEvents; timeout.c:
// handleBlockedClientsTimeout).
func (s *Server) runDueTimers() { s.Timers.Run(s.Ex.Clock.Timeline(s.executing)) }
