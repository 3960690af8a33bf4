//go:build linux

package reactor

import (
	"container/heap"
	"time"
)

// Timer is a function that runs at a time (ae.h: aeTimeEvent).
type Timer struct {
	at    int64 // ns of the clock its heap goes by
	born  int64 // how many there had been before
	fn    func() time.Duration
	index int // in the heap, -1 when not there
}

// Timers is a heap of timers, by time; the zero value has none. A loop has one that goes
// by its own clock. Whoever has another clock keeps another one, and runs it himself.
//
// Redis keeps an unsorted list and looks through all of it (ae.c:
// usUntilEarliestTimer); it has one or two entries there as here.
type Timers struct {
	heap timerHeap
	born int64
}

// At runs fn at the time at, and again after the time that fn returns, for as long as
// that is positive.
func (ts *Timers) At(at int64, fn func() time.Duration) *Timer {
	t := &Timer{at: at, born: ts.born, fn: fn}
	ts.born++
	heap.Push(&ts.heap, t)
	return t
}

// Cancel takes a timer back; one that has run is no error.
func (ts *Timers) Cancel(t *Timer) {
	if t.index >= 0 {
		heap.Remove(&ts.heap, t.index)
	}
}

// Next is when the next timer is to run.
func (ts *Timers) Next() (at int64, ok bool) {
	if len(ts.heap) == 0 {
		return 0, false
	}
	return ts.heap[0].at, true
}

// Run calls what is due at now. A timer that fires again counts from now, not
// from when it was due: after a long pass there is no burst to catch up.
func (ts *Timers) Run(now int64) {
	for len(ts.heap) > 0 && ts.heap[0].at <= now {
		t := ts.heap[0]
		heap.Pop(&ts.heap)
		if again := t.fn(); again > 0 {
			t.at = now + int64(again)
			heap.Push(&ts.heap, t)
		}
	}
}

// After runs fn once d has passed, and again after the time that fn returns, for
// as long as that is positive.
func (l *Loop) After(d time.Duration, fn func() time.Duration) *Timer {
	return l.At(l.clock()+int64(d), fn)
}

// At is After for a time by the loop's clock.
func (l *Loop) At(at int64, fn func() time.Duration) *Timer { return l.timers.At(at, fn) }

// Cancel takes a timer back; one that has run is no error.
func (l *Loop) Cancel(t *Timer) { l.timers.Cancel(t) }

// timerHeap is for container/heap. Of timers due at one time the oldest comes first: where
// the clock stands still, that is not rare.
type timerHeap []*Timer

func (h timerHeap) Len() int { return len(h) }

// Less serves container/heap.
func (h timerHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].born < h[j].born
}

// Swap serves container/heap.
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push and Pop serve container/heap.
func (h *timerHeap) Push(x any) {
	t := x.(*Timer)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop serves container/heap.
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	t.index = -1
	*h = old[:len(old)-1]
	return t
}
