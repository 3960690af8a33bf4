package server

import (
	"time"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// lull keeps account of how often waiting for more clients was in vain.
type lull struct {
	passes int // to go without another try
	last   int // passes that were left out before the last try
}

const (
	gatherTime  = 50 * time.Microsecond
	longestLull = 1023 // passes
)

// gather waits a moment for more clients when too few have sent something for threads to
// be woken. Under load a pass of many costs main less than many passes of a few, which it
// would have to read and write itself: at pipeline 1 that is nearly all it does. A network
// card moderates its interrupts for the same reason; Redis has nothing like it, its threads
// spin.
//
// Where it does not help it does not hurt: each time that still too few have come, the next
// try is put off for twice as many passes.
func (s *Server) gather() {
	switch {
	case len(s.pendingReads) == 0 || !s.pool.WorthWaiting(len(s.pendingReads)):
		return
	case s.lull.passes > 0:
		s.lull.passes--
		return
	}
	begin := s.trace.Mark()
	if err := s.loop.HandleReadyAfter(gatherTime); err != nil {
		s.log('#', "Looking for more clients: %v", err) // the loop meets it again, and ends
	}
	s.trace.Span(trace.Gather, begin, s.trace.Mark(), len(s.pendingReads))
	if s.pool.WorthWaiting(len(s.pendingReads)) {
		s.lull.last = min(2*s.lull.last+1, longestLull)
		s.lull.passes = s.lull.last
		return
	}
	s.lull.last = 0
}
