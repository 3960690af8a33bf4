package limits

import (
	"errors"
	"runtime"
	"runtime/metrics"
	"time"
)

// loadLimit is how long the text of a library may run (function_lua.c: LOAD_TIMEOUT_MS).
const loadLimit = 500 * time.Millisecond

const (
	instructionsPerLook = 64      // between two looks at the clock
	workPerLook         = 4096    // units of work between two looks, see Tick
	BytesPerUnit        = 64      // a unit of work is one element of a table or this many bytes
	pollInterval        = 1000000 // nanoseconds between two polls
)

// ErrMemory ends a script that takes too much memory.
var ErrMemory = errors.New("not enough memory")

// Options are the bounds of a script, and what Limits asks while it runs.
type Options struct {
	Clock func() int64                  // a monotonic clock in nanoseconds
	Poll  func(ran time.Duration) error // asked every millisecond; an error ends the script
	Held  func() int64                  // bytes of the data set, which are not the script's

	Budget   int64 // bytes a script may hold
	MaxBulk  int64 // longest string a script may build, in bytes
	MaxSteps int64 // steps of pattern matching in one script
}

// Limits counts what a script does and takes. See the package comment.
type Limits struct {
	o       Options
	closed  chan struct{}
	over    error
	left    int // instructions until the next look
	work    int // units of work until the next look
	started int64
	polled  int64
	Loading bool // the text of a library runs, which has a limit of its own and no Poll
	steps   int64
	alloc   int64 // bytes charged since the heap was measured
	base    int64 // heap without the data set when the script started; -1 when not measured
	Heavy   bool  // the script has taken an eighth of the budget

	collected int64 // bytes held after the last collection of this script
	sample    []metrics.Sample
}

// Init sets the bounds.
func (l *Limits) Init(o Options) {
	l.o = o
	l.closed = make(chan struct{})
	close(l.closed)
	l.sample = []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
}

// Begin starts counting for a script.
func (l *Limits) Begin() {
	l.over, l.left, l.work, l.Heavy = nil, instructionsPerLook, workPerLook, false
	l.steps, l.alloc, l.base, l.started, l.collected = 0, 0, -1, 0, 0
}

// Done is called before each instruction. The instruction runs when Done returns nil.
func (l *Limits) Done() <-chan struct{} {
	if l.left--; l.left > 0 {
		return nil
	}
	return l.look()
}

// look asks whether the script has to end. It returns what Done returns.
func (l *Limits) look() <-chan struct{} {
	if l.over == nil {
		l.left = instructionsPerLook
		l.poll()
	}
	if l.over != nil {
		l.left = 0
		return l.closed
	}
	return nil
}

// Tick counts n units of work. Every library function calls it, so that each looks at the clock,
// with or without a context. The caller raises the error; a pcall that catches it raises it again.
func (l *Limits) Tick(n int) error {
	if l.work -= n; l.work > 0 {
		return nil
	}
	l.work = workPerLook
	if l.look(); l.over != nil {
		l.work = 0
	}
	return l.over
}

// poll looks at the clock. Once a millisecond it calls Options.Poll and measures the heap.
func (l *Limits) poll() {
	now := l.o.Clock()
	if l.started == 0 {
		l.started, l.polled = now, now
		if l.base < 0 {
			l.base = l.heap()
		}
		return
	}
	if now-l.polled < pollInterval {
		return
	}
	l.polled = now
	if l.over = l.ask(time.Duration(now - l.started)); l.over == nil {
		l.weigh(0)
	}
}

// ask returns the error of a script that has run for too long.
func (l *Limits) ask(ran time.Duration) error {
	switch {
	case l.Loading && ran > loadLimit:
		return errors.New("FUNCTION LOAD timeout")
	case l.Loading || l.o.Poll == nil:
		return nil
	}
	return l.o.Poll(ran)
}

// heap returns the bytes of objects that are alive or not collected yet, without the data set.
func (l *Limits) heap() int64 {
	metrics.Read(l.sample)
	n := int64(l.sample[0].Value.Uint64())
	if l.o.Held != nil {
		n -= l.o.Held()
	}
	return n
}

// weigh compares the heap and the bytes about to be taken with the budget. A heap above the budget
// may be garbage, so weigh starts a collection. The next collection waits for another eighth of the
// budget: a script close to its budget must not collect at every look.
func (l *Limits) weigh(more int64) {
	l.alloc = 0
	if l.base < 0 {
		l.base = l.heap()
	}
	used := l.heap() - l.base + more
	l.Heavy = l.Heavy || used > l.o.Budget/8
	if used <= l.o.Budget || used <= l.collected+l.o.Budget/8 {
		return
	}
	runtime.GC()
	l.collected = l.heap() - l.base + more
	if l.collected > l.o.Budget {
		l.over = ErrMemory
	}
}

// Charge counts n bytes before they are taken in one step, and ticks for them. The caller raises
// the error.
func (l *Limits) Charge(n int) error {
	if int64(n) > l.Longest() {
		return ErrMemory
	}
	if l.alloc += int64(n); l.alloc > min(8<<20, l.o.Budget/8) && l.over == nil {
		l.weigh(int64(n))
	}
	if l.over != nil {
		l.work = 0
	}
	return l.Tick(1 + n/BytesPerUnit)
}

// Step counts n steps of pattern matching. The caller raises the error.
func (l *Limits) Step(n int) error {
	l.steps += int64(n)
	if l.steps > l.o.MaxSteps {
		return errors.New("pattern too complex")
	}
	return l.Tick(n)
}

// Err, Deadline and Value complete the context.
func (l *Limits) Err() error                  { return l.over }
func (l *Limits) Deadline() (time.Time, bool) { return time.Time{}, false }
func (l *Limits) Value(any) any               { return nil }

// Over returns why the script has to end, or nil.
func (l *Limits) Over() error { return l.over }

// Longest is the length in bytes of the longest string that a script may build.
func (l *Limits) Longest() int64 { return min(l.o.MaxBulk, l.o.Budget) }

// Weigh measures the heap before the script runs.
func (l *Limits) Weigh() { l.base = l.heap() }
