// Package trace records what the goroutines of a server do: spans of time, and the points of the loop that
// they meet. The core calls nothing else for that.
//
//	main                     io_1
//	 │ Lap, Span, Event       │ Lap, Event
//	 v                        v
//	Thread                   Thread        a row: only its own goroutine calls it
//	 │     │                  │     │
//	 │   [spans]              │   [spans] ───> Recorder.WriteJSON: a file for Perfetto (chrome.go)
//	 v                        v
//	Recorder.Emit            Recorder.Emit  package glass: it shows the event, and may stop the goroutine
//
// A nil *Thread records nothing: each point is then one comparison. With a Recorder that records nothing, a
// point is one atomic load more. The texts of an event are made only in passes that record details.
//
// Redis has nothing like it. perf(1) and its latency monitor come closest.
package trace

import (
	"strconv"
	"sync"
	"sync/atomic"
)

// What a pass records: the bits of Recorder.Mode.
const (
	Spans   = 1 << iota // into the ring of each thread
	Counts              // how often each point is met
	Details             // every event
)

// Recorder has the rows of one server.
type Recorder struct {
	Clock func() int64 // monotonic ns; any goroutine may call it

	// Mode has the bits of what is recorded now. Main changes it while no other thread works.
	Mode atomic.Uint32

	// Emit gets each event while Mode has Details, from the goroutine of its thread. whole says that the
	// thread owns the whole server, as main does. part describes the event's client. part may be nil.
	Emit func(e *Event, whole bool, part func() Client)

	since int64 // the begin of the trace

	mu      sync.Mutex // guards threads while a row is added
	threads []*Thread
}

// New makes a Recorder that records nothing yet.
func New(clock func() int64) *Recorder { return &Recorder{Clock: clock, since: clock()} }

// Thread adds a row. The first is main's. The row "exec" is of an executor with a goroutine of its own.
func (r *Recorder) Thread(name string) *Thread {
	t := &Thread{
		r: r, name: name, last: r.since, floor: r.since, number: len(r.Names()), id: unlocked + len(r.threads),
	}
	if name == "exec" {
		t.number = -1
	}
	if r.Mode.Load()&Spans != 0 {
		t.ring = make([]span, 0, ringSize)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.threads = append(r.threads, t)
	return t
}

// Start drops the spans of all threads and keeps those that follow. Main calls it while no other thread
// works.
func (r *Recorder) Start() {
	r.since = r.Clock()
	r.Mode.Store(r.Mode.Load() | Spans)
	for _, t := range r.threads {
		t.begin, t.last, t.floor, t.next = 0, r.since, r.since, 0
		t.ring, t.keys = make([]span, 0, ringSize), nil
	}
}

// Stop ends the trace. WriteJSON still writes it.
func (r *Recorder) Stop() { r.Mode.Store(r.Mode.Load() &^ Spans) }

// Traced reports whether there is a trace, even if it has ended.
func (r *Recorder) Traced() bool { return len(r.threads) > 0 && r.threads[0].ring != nil }

// Names returns main and the I/O threads, in the order of their numbers. Any goroutine may call it.
func (r *Recorder) Names() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.threads {
		if t.number >= 0 {
			names = append(names, t.name)
		}
	}
	return names
}

// Totals adds up how often the threads have met each kind, and for how many ns. They must be at rest.
func (r *Recorder) Totals() (all, ns [Kinds]int64) {
	for _, t := range r.threads {
		for k := range Kinds {
			all[k] += t.counts[k]
			ns[k] += t.ns[k]
		}
	}
	return all, ns
}

// IOThread is the name of the row of an I/O thread, counted from 1.
func IOThread(n int) string { return "io_" + strconv.Itoa(n) }
