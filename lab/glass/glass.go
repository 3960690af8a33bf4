// Package glass shows what a server does, point by point, and stops it there. A point is a place in the
// loop of the server: a socket was read, a command is about to run, replies were written.
//
//	Thread.Event of package trace, on main or an I/O thread        any other goroutine
//	 │
//	 v
//	gate <──────────────────────────────── Pause, Next, Break, Slow, Continue (step.go)
//	 │ events, and a snapshot for each stop
//	 v
//	subscriptions, recordings ───────────> Subscription.Next, Recording
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
	"sync"
	"sync/atomic"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// Who needs the events: bits of View.live.
const (
	byReader   = 1 << iota // a Subscription
	byRecorder             // a recording
	byGate                 // a step, a breakpoint or slow motion
)

// Options are what a View gets from its server. Each function may be nil.
type Options struct {
	Hello Hello // without threads and state, which the View knows

	// Snapshot makes the snapshot of a stop on main. Main calls it.
	Snapshot func(e *trace.Event) *Snapshot

	// Summary fills the fields of a summary that only the server knows. Main calls it.
	Summary func(sum *Summary, first bool)

	// Stood is called after a stop of ns nanoseconds of real time, by the goroutine that stood. still
	// is the setting of LAB STEP CLOCK.
	Stood func(ns int64, still bool)

	// Keys returns the keys among the words of a command, for breakpoints.
	Keys func(args [][]byte) [][]byte

	// Name returns the name of a client, for breakpoints. Main calls it, or an I/O thread while main waits.
	Name func(client int64) string

	// Match reports whether s matches a glob.
	Match func(pattern string, s []byte) bool

	// Wake lets the loop make a pass soon. Any goroutine may call it.
	Wake func()
}

// View is what looks at one server.
type View struct {
	Options
	*trace.Recorder
	born int64 // the times of events count from here

	live     atomic.Uint32
	pass     atomic.Int64
	sleeping atomic.Bool
	attended atomic.Bool  // the clock of attend runs
	work     atomic.Value // the string that EndPass got last

	// turn is the token of the gate: its holder emits an event, and maybe stands still after it.
	turn sync.Mutex

	mu   sync.Mutex // guards all below
	cond *sync.Cond
	seq  int64
	gate gate
	news news
	tape tape
	long int64 // the pass that has lasted for patience or longer; it may be over

	sums sums // main uses it; others only with mu, after an event of the pass
}

// New makes a View that gets the events of r.
func New(r *trace.Recorder, o Options) *View {
	now := r.Clock()
	v := &View{Options: o, Recorder: r, born: now}
	r.Emit = v.emit
	v.cond = sync.NewCond(&v.mu)
	v.gate.still, v.gate.limit = true, defaultLimit
	v.sums.tokens, v.sums.at = eventRate, now
	return v
}

// BeginPass decides what the pass records. Main calls it after epoll_wait, with the monotonic time.
func (v *View) BeginPass(now int64) {
	v.pass.Add(1)
	v.sleeping.Store(false)
	before := v.Mode.Load()
	mode := before & trace.Spans
	live := v.live.Load()
	if live&byReader != 0 {
		mode |= v.sums.begin(now)
		v.attend()
	}
	if live&(byGate|byRecorder) != 0 {
		mode |= trace.Details
	}
	if mode != before {
		v.Mode.Store(mode)
	}
}

// EndPass hands the events of the pass to the readers. Main calls it before epoll_wait. work is what the loop does
// between passes, such as "loading", or "" if it waits for events alone.
func (v *View) EndPass(now int64, work string) {
	changed := work != v.working()
	if changed {
		v.work.Store(work)
	}
	v.sleeping.Store(true)
	if v.live.Load() == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.news.readers) > 0 {
		v.summarize(now)
	}
	v.flush()
	if changed || v.gate.steps() || v.long == v.pass.Load() {
		v.tellState()
	}
}

func (v *View) working() string {
	work, _ := v.work.Load().(string)
	return work
}

// Stepping reports whether somebody steps, so that even a single client should reach the I/O threads. Any
// goroutine may call it.
func (v *View) Stepping() bool { return v.live.Load()&byGate != 0 }

// setLive notes who needs the events. The caller holds mu.
func (v *View) setLive() {
	live := uint32(0)
	if len(v.news.readers) > 0 {
		live |= byReader
	}
	if v.tape.on {
		live |= byRecorder
	}
	if v.gate.steps() || v.gate.slow > 0 || len(v.gate.breaks) > 0 {
		live |= byGate
	}
	v.live.Store(live)
}

// Hello returns the header of a stream or recording. Any goroutine may call it.
func (v *View) Hello() Hello {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.hello()
}

func (v *View) hello() Hello {
	h := v.Options.Hello
	h.V, h.Points, h.State = 1, trace.Points(), v.state()
	h.Threads = v.Names()
	return h
}
