// Package glass shows what a server does, point by point, and stops it there. A point is a place in the
// loop of the server: a socket was read, a command is about to run, replies were written.
//
//	main                     io_1                     any other goroutine
//	 │ Lap, Span, Event       │ Lap, Event             │
//	 v                        v                        │
//	[spans]                  [spans]      WriteJSON: a file for Perfetto (chrome.go)
//	 │                        │                        │
//	 └──── events ────┬───────┘                        │
//	                  v                                v
//	                gate <──── Pause, Next, Break, Slow, Continue (step.go)
//	                  │ events, and a snapshot for each stop
//	                  v
//	          subscriptions, recordings ──────────> Subscription.Next, Recording
//
// A nil *Thread records nothing: each point is then one comparison. With a Watch, and nobody who looks, a
// point is one atomic load more. The texts of an event are made only in passes that record details.
//
// Main decides at the begin of each pass what the pass records (BeginPass):
//
//	nothing   nobody looks
//	spans     a trace: one ring of spans for each thread
//	counts    a page looks on and there are more than 200 events a second: ten summaries a second
//	details   every event: somebody steps, a breakpoint waits, a recording runs, or there are few events
//
// Readers get every event while somebody steps, or while there are few. So a breakpoint on a busy server
// sends them summaries and its stops.
//
// A goroutine that stops makes the snapshot itself, before it waits. So a snapshot needs no locks and has
// no races. All threads stop at the same gate: while one stands there, the others wait at their next point.
// The loop never waits for a reader: a slow Subscription loses its oldest messages and is told so.
//
// Redis has nothing like it. perf(1), MONITOR and its latency monitor come closest.
package glass

import (
	"strconv"
	"sync"
	"sync/atomic"
)

// What a pass records: bits of Watch.mode.
const (
	spans   = 1 << iota // into the ring of each thread
	counts              // how often each point is met
	details             // every event
)

// Who needs the events: bits of Watch.live.
const (
	byReader   = 1 << iota // a Subscription
	byRecorder             // a recording
	byGate                 // a step, a breakpoint or slow motion
)

// Options are what a Watch gets from its server. Each function may be nil.
type Options struct {
	Clock func() int64 // monotonic ns; any goroutine may call it
	Hello Hello        // without threads and state, which the Watch knows

	// Snapshot makes the snapshot of a stop on main. Main calls it.
	Snapshot func(e *Event) *Snapshot

	// Summary fills the fields of a summary that only the server knows. Main calls it.
	Summary func(*Summary)

	// Stood is called after a stop of ns nanoseconds of real time, by the goroutine that stood. still
	// is the setting of LAB STEP CLOCK.
	Stood func(ns int64, still bool)

	// Keys returns the keys among the words of a command, for breakpoints.
	Keys func(args [][]byte) [][]byte

	// Name returns the name of a client, for breakpoints. Main calls it, or an I/O thread while main waits.
	Name func(client int64) string

	// Match reports whether s matches a glob.
	Match func(pattern string, s []byte) bool
}

// Watch is what looks at one server.
type Watch struct {
	Options
	since   int64 // the begin of the trace
	born    int64 // the times of events count from here
	threads []*Thread

	mode     atomic.Uint32
	live     atomic.Uint32
	pass     atomic.Int64
	sleeping atomic.Bool

	// turn is the token of the gate: its holder emits an event, and maybe stands still after it.
	turn sync.Mutex

	mu   sync.Mutex // guards all below
	cond *sync.Cond
	seq  int64
	gate gate
	news news
	tape tape

	sums sums // main's alone
}

// New makes a Watch.
func New(o Options) *Watch {
	now := o.Clock()
	w := &Watch{Options: o, since: now, born: now}
	w.cond = sync.NewCond(&w.mu)
	w.gate.still, w.gate.limit = true, defaultLimit
	w.sums.tokens, w.sums.at = eventRate, now
	return w
}

// Thread adds a row. The first is main's. The row "exec" is of an executor with a goroutine of its own.
func (w *Watch) Thread(name string) *Thread {
	t := &Thread{
		w: w, name: name, last: w.since, floor: w.since, number: len(w.names()), id: unlocked + len(w.threads),
	}
	if name == "exec" {
		t.number = -1
	}
	if w.mode.Load()&spans != 0 {
		t.ring = make([]span, 0, ringSize)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.threads = append(w.threads, t)
	return t
}

// StartTrace drops the spans of all threads and keeps those that follow. Main calls it while no other
// thread works.
func (w *Watch) StartTrace() {
	w.since = w.Clock()
	w.mode.Store(w.mode.Load() | spans)
	for _, t := range w.threads {
		t.begin, t.last, t.floor, t.next = 0, w.since, w.since, 0
		t.ring = make([]span, 0, ringSize)
	}
}

// Traced reports whether there is a trace, even if it has ended.
func (w *Watch) Traced() bool { return len(w.threads) > 0 && w.threads[0].ring != nil }

// StopTrace ends the trace. WriteJSON still writes it.
func (w *Watch) StopTrace() { w.mode.Store(w.mode.Load() &^ spans) }

// BeginPass decides what the pass records. Main calls it after epoll_wait, with the monotonic time.
func (w *Watch) BeginPass(now int64) {
	w.pass.Add(1)
	w.sleeping.Store(false)
	before := w.mode.Load()
	mode := before & spans
	live := w.live.Load()
	if live&byReader != 0 {
		mode |= w.sums.begin(now)
	}
	if live&(byGate|byRecorder) != 0 {
		mode |= details
	}
	if mode != before {
		w.mode.Store(mode)
	}
}

// EndPass hands the events of the pass to the readers. Main calls it before epoll_wait.
func (w *Watch) EndPass(now int64) {
	w.sleeping.Store(true)
	if w.live.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.news.readers) > 0 {
		w.summarize(now)
	}
	w.flush()
	if w.gate.steps() {
		w.tellState()
	}
}

// Stepping reports whether somebody steps, so that even a single client should reach the I/O threads. Any
// goroutine may call it.
func (w *Watch) Stepping() bool { return w.live.Load()&byGate != 0 }

// setLive notes who needs the events. The caller holds mu.
func (w *Watch) setLive() {
	live := uint32(0)
	if len(w.news.readers) > 0 {
		live |= byReader
	}
	if w.tape.on {
		live |= byRecorder
	}
	if w.gate.steps() || w.gate.slow > 0 || len(w.gate.breaks) > 0 {
		live |= byGate
	}
	w.live.Store(live)
}

// Hello returns the header of a stream or recording. Any goroutine may call it.
func (w *Watch) Hello() Hello {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hello()
}

func (w *Watch) hello() Hello {
	h := w.Options.Hello
	h.V, h.Points, h.State = 1, points(), w.state()
	h.Threads = w.names()
	return h
}

// names returns main and the I/O threads, in the order of their numbers.
func (w *Watch) names() (names []string) {
	for _, t := range w.threads {
		if t.number >= 0 {
			names = append(names, t.name)
		}
	}
	return names
}

// IOThread is the name of the row of an I/O thread, counted from 1.
func IOThread(n int) string { return "io_" + strconv.Itoa(n) }
