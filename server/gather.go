package server

import (
	"time"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// backoff counts how often waiting for more clients was useless.
type backoff struct {
	passes int // passes to go until the next try
	last   int // passes between the last two tries
}

const (
	gatherTime     = 50 * time.Microsecond
	longestBackoff = 1023 // passes
)

// gather waits a moment for more readable clients, if threads would then read them and now would not.
// Under load, a pass with many clients costs main less than many passes with a few clients, which main
// reads and writes itself. A network card moderates its interrupts for the same reason. Redis has
// nothing like it: its threads spin.
//
// Waiting costs little where it does not help: after each useless try, the next one comes after twice
// as many passes.
func (s *Server) gather() {
	switch {
	case len(s.PendingReads) == 0 || !s.Pool.WorthWaiting(len(s.PendingReads)):
		return
	case s.backoff.passes > 0:
		s.backoff.passes--
		return
	}
	begin := s.Trace.Mark()
	if err := s.Loop.HandleReadyAfter(gatherTime); err != nil {
		s.Log('#', "Looking for more clients: %v", err) // the loop meets the error again and ends
	}
	s.Trace.Span(trace.Gather, begin, s.Trace.Mark(), len(s.PendingReads))
	if s.Pool.WorthWaiting(len(s.PendingReads)) {
		s.backoff.last = min(2*s.backoff.last+1, longestBackoff)
		s.backoff.passes = s.backoff.last
		return
	}
	s.backoff.last = 0
}
