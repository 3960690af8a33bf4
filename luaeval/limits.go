package luaeval

import (
	"errors"
	"runtime"
	"runtime/metrics"
	"time"
)

const (
	instructionsPerLook = 64      // between two looks at the clock
	workPerLook         = 4096    // units of work in library functions, see tick
	bytesPerUnit        = 64      // a unit of work is an element of a table, or so many bytes
	pollInterval        = 1000000 // nanoseconds between two polls
)

var errMemory = errors.New("not enough memory")

// limits ends scripts that run on or grow. It is the context.Context of the state: gopher-lua asks Done before every
// instruction, on the goroutine that runs the script, which makes Done the hook that Redis sets by lua_sethook.
//
// Once over, it stays over: Done's channel is closed, so whatever pcall catches, the next instruction fails again.
type limits struct {
	o       *Options
	closed  chan struct{}
	over    error
	left    int // instructions until the next look
	work    int // units of work until the next look
	started int64
	polled  int64
	loading bool // the text of a library runs, which others do not wait for
	steps   int64
	alloc   int64 // bytes counted since the heap was looked at
	base    int64 // heap and data set when the script started
	heavy   bool  // it has taken a good part of the budget

	collected int64 // bytes held after the last collection of this script
	sample    []metrics.Sample
}

func (l *limits) init(o *Options) {
	l.o = o
	l.closed = make(chan struct{})
	close(l.closed)
	l.sample = []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
}

func (l *limits) begin() {
	l.over, l.left, l.work, l.heavy = nil, instructionsPerLook, workPerLook, false
	l.steps, l.alloc, l.base, l.started, l.collected = 0, 0, -1, 0, 0
}

// Done is asked before each instruction. A nil channel lets it run.
func (l *limits) Done() <-chan struct{} {
	if l.left--; l.left > 0 {
		return nil
	}
	return l.look()
}

func (l *limits) look() <-chan struct{} {
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

// tick counts n units of work. Every library function calls it, so that none runs long without a look at the clock, with a
// context or without. The error is to be raised; pcall raises it again.
func (l *limits) tick(n int) error {
	if l.work -= n; l.work > 0 {
		return nil
	}
	l.work = workPerLook
	if l.look(); l.over != nil {
		l.work = 0
	}
	return l.over
}

// poll looks at the clock, and every millisecond at everything else.
func (l *limits) poll() {
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

// ask returns why a script that ran so long has to end.
func (l *limits) ask(ran time.Duration) error {
	switch {
	case l.loading && ran > loadLimit:
		return errors.New("FUNCTION LOAD timeout")
	case l.loading || l.o.Poll == nil:
		return nil
	}
	return l.o.Poll(ran)
}

// heap is the memory that is the script's to use: live or not yet collected, without the data set.
func (l *limits) heap() int64 {
	metrics.Read(l.sample)
	n := int64(l.sample[0].Value.Uint64())
	if l.o.Held != nil {
		n -= l.o.Held()
	}
	return n
}

// weigh compares the heap, with more bytes about to be taken, with the budget. What looks too much may be garbage: only a
// collection tells. The next one waits until an eighth of the budget has been taken since: a script that lives close below its
// budget would else collect at every look.
func (l *limits) weigh(more int64) {
	l.alloc = 0
	if l.base < 0 {
		l.base = l.heap()
	}
	used := l.heap() - l.base + more
	l.heavy = l.heavy || used > l.o.Budget/8
	if used <= l.o.Budget || used <= l.collected+l.o.Budget/8 {
		return
	}
	runtime.GC()
	l.collected = l.heap() - l.base + more
	if l.collected > l.o.Budget {
		l.over = errMemory
	}
}

// charge is called before n bytes are made in one step, which no instruction count would notice. It ticks as well.
func (l *limits) charge(n int) error {
	if int64(n) > l.o.MaxBulk || int64(n) > l.o.Budget {
		return errMemory
	}
	if l.alloc += int64(n); l.alloc > min(8<<20, l.o.Budget/8) && l.over == nil {
		l.weigh(int64(n))
	}
	if l.over != nil {
		l.work = 0
	}
	return l.tick(1 + n/bytesPerUnit)
}

// step counts n steps of pattern matching.
func (l *limits) step(n int) error {
	l.steps += int64(n)
	if l.steps > l.o.MaxSteps {
		return errors.New("pattern too complex")
	}
	return l.tick(n)
}

func (l *limits) Err() error                  { return l.over }
func (l *limits) Deadline() (time.Time, bool) { return time.Time{}, false }
func (l *limits) Value(any) any               { return nil }
