package reactor

import (
	"container/heap"
	"time"
)

// Timer is a function that runs at a time (ae.h: aeTimeEvent).
type Timer struct {
	at    int64 // ns, by the clock of its Timers
	born  int64 // a serial number
	fn    func() time.Duration
	index int // in the heap, -1 if not there
}

// Timers is a heap of timers, ordered by time. The zero value is empty. A Loop has one for its own
// clock. A second clock, such as the lab's, needs a second Timers, which its owner runs.
//
// Redis keeps an unsorted list and looks through all of it (ae.c: usUntilEarliestTimer). There as
// here it has one or two entries.
type Timers struct {
	heap timerHeap
	born int64
}

// At runs fn at the time at, in nanoseconds. If fn returns a positive duration, it runs again after
// that duration.
func (ts *Timers) At(at int64, fn func() time.Duration) *Timer {
	t := &Timer{at: at, born: ts.born, fn: fn}
	ts.born++
	heap.Push(&ts.heap, t)
	return t
}

// Cancel removes a timer. It does nothing if the timer has run or is already removed.
func (ts *Timers) Cancel(t *Timer) {
	if t.index >= 0 {
		heap.Remove(&ts.heap, t.index)
	}
}

// Next returns the time of the next timer (ae.c: usUntilEarliestTimer). ok is false if there is no timer.
func (ts *Timers) Next() (at int64, ok bool) {
	if len(ts.heap) == 0 {
		return 0, false
	}
	return ts.heap[0].at, true
}

// Run runs every timer that is due at now (ae.c: processTimeEvents). A timer that repeats counts from now and
// not from its due time. So it does not run several times in a row after a long pass.
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

// After runs fn after d. If fn returns a positive duration, it runs again after that duration.
func (l *Loop) After(d time.Duration, fn func() time.Duration) *Timer {
	return l.At(l.clock()+int64(d), fn)
}

// At is After with a time by the loop's clock.
func (l *Loop) At(at int64, fn func() time.Duration) *Timer { return l.timers.At(at, fn) }

// Cancel removes a timer. It does nothing if the timer has run or is already removed.
func (l *Loop) Cancel(t *Timer) { l.timers.Cancel(t) }

// timerHeap implements container/heap. Among timers that are due at the same time, the oldest comes
// first. That is common while the lab's clock stands still.
type timerHeap []*Timer

// Len is for container/heap.
func (h timerHeap) Len() int { return len(h) }

// Less is for container/heap.
func (h timerHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].born < h[j].born
}

// Swap is for container/heap.
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push is for container/heap.
func (h *timerHeap) Push(x any) {
	t := x.(*Timer)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop is for container/heap.
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	t.index = -1
	*h = old[:len(old)-1]
	return t
}
