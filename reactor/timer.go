//go:build linux

package reactor

import (
	"container/heap"
	"time"
)

// Timer is a function that runs at a time (ae.h: aeTimeEvent).
type Timer struct {
	at    int64 // monotonic ns
	fn    func() time.Duration
	index int // in the heap, -1 when not there
}

// After runs fn once d has passed, and again after the time that fn returns, for
// as long as that is positive.
func (l *Loop) After(d time.Duration, fn func() time.Duration) *Timer {
	t := &Timer{at: l.clock() + int64(d), fn: fn}
	heap.Push(&l.timers, t)
	return t
}

// Cancel takes a timer back; one that has run is no error.
func (l *Loop) Cancel(t *Timer) {
	if t.index >= 0 {
		heap.Remove(&l.timers, t.index)
	}
}

// timers is a heap by time. Redis keeps an unsorted list and looks through all of
// it (ae.c: usUntilEarliestTimer); it has one or two entries there as here.
type timers []*Timer

func (h timers) next() (at int64, ok bool) {
	if len(h) == 0 {
		return 0, false
	}
	return h[0].at, true
}

// run calls what is due at now. A timer that fires again counts from now, not
// from when it was due: after a long pass there is no burst to catch up.
func (h *timers) run(now int64) {
	for len(*h) > 0 && (*h)[0].at <= now {
		t := (*h)[0]
		heap.Pop(h)
		if again := t.fn(); again > 0 {
			t.at = now + int64(again)
			heap.Push(h, t)
		}
	}
}

func (h timers) Len() int           { return len(h) }
func (h timers) Less(i, j int) bool { return h[i].at < h[j].at }
func (h timers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push and Pop serve container/heap.
func (h *timers) Push(x any) {
	t := x.(*Timer)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop serves container/heap.
func (h *timers) Pop() any {
	old := *h
	t := old[len(old)-1]
	t.index = -1
	*h = old[:len(old)-1]
	return t
}
