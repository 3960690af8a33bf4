package ioworkers

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/miniredisd/miniredisd/internal/trace"
	"golang.org/x/sys/unix"
)

// phase is what all threads do at the moment (networking.c: io_threads_op).
type phase uint8

const (
	reading phase = iota
	writing
	naming // telling the trace which thread this is
	ending // for good
)

func (ph phase) run(conns []*Conn, t *trace.Thread) {
	for _, c := range conns {
		if ph == reading {
			c.Read(t)
		} else {
			c.Write(t)
		}
	}
}

// thread is one I/O thread. Main fills in what is to be done and rings; from then
// until the join that is the thread's.
type thread struct {
	start bell
	phase phase
	conns []*Conn
	trace *trace.Thread // nil while nothing is recorded
	join  *join

	dedicated bool // see Pool

	_ [64]byte // the next one's bell is rung while this one works
}

// join is where main waits for the threads.
type join struct {
	left atomic.Int32 // threads that are at work
	all  bell         // the last of them rings
}

// perThread is how many connections a thread is woken for: waking it and waiting for it
// is two or three system calls, reading and writing for a connection is one. Redis
// wakes all threads as soon as there are two connections for each (networking.c:
// stopThreadedIOIfNeeded).
const perThread = 8

// Start makes threads-1 threads: the calling one is main, and bound to its goroutine
// like the others from here to Stop. Without reads they do nothing but write.
func (p *Pool) Start(threads int, reads bool) {
	if threads == 1 {
		return
	}
	runtime.LockOSThread()
	preciseTimers(true)
	p.join, p.reads = &join{}, reads
	if p.perThread == 0 {
		p.perThread = perThread
	}
	for i := 1; i < threads; i++ {
		t := &thread{join: p.join, dedicated: p.Dedicated}
		p.threads = append(p.threads, t)
		go t.main(i)
	}
}

// Stop ends the threads and waits for it.
func (p *Pool) Stop() {
	if len(p.threads) == 0 {
		return
	}
	p.ring(p.threads, ending)
	p.threads, p.Active = nil, false
	preciseTimers(false)
	runtime.UnlockOSThread()
}

// Record gives every thread a row of a trace, or takes it back when that is nil. Main's
// is there already.
func (p *Pool) Record(tr *trace.Trace) {
	if len(p.threads) == 0 {
		return
	}
	for i, t := range p.threads {
		t.trace = nil
		if tr != nil {
			t.trace = tr.Thread("io_" + strconv.Itoa(i+1))
		}
	}
	p.Trace.Locked()
	p.ring(p.threads, naming)
}

// Eager has threads woken for a single connection, which does not pay. It is for
// tests, whose few connections would meet no thread otherwise; before Start.
func (p *Pool) Eager() { p.perThread = 1 }

// pays tells whether n connections are enough for waking a thread.
func (p *Pool) pays(n int) bool { return len(p.threads) > 0 && !p.Alone && n >= p.perThread }

// Hopes tells whether a few more connections than n would have threads read, and main
// would not.
func (p *Pool) Hopes(n int) bool { return p.reads && len(p.threads) > 0 && !p.Alone && n < p.perThread }

// share has as many threads as conns are enough for do all of the work, and returns when
// they are done. Main waits, even though it could do a part (networking.c:
// handleClientsWithPendingReadsUsingThreads): its time is what the threads are to save.
func (p *Pool) share(conns []*Conn, ph phase) {
	threads := p.threads[:min(len(p.threads), len(conns)/p.perThread)]
	for _, t := range threads {
		t.conns = t.conns[:0]
	}
	for i, c := range conns {
		t := threads[i%len(threads)]
		t.conns = append(t.conns, c)
	}
	p.ring(threads, ph)
	p.Trace.Lap(trace.Wait, 0, 0, 0)
}

// ring has threads do what they have been given, if ph needs that, and waits for the last.
func (p *Pool) ring(threads []*thread, ph phase) {
	p.join.left.Store(int32(len(threads)))
	for _, t := range threads {
		t.phase = ph
		t.start.ring()
	}
	p.join.all.wait(p.Dedicated)
}

// main is the life of a thread (networking.c: IOThreadMain). It has an operating
// system's thread for itself, which tools show by its name.
func (t *thread) main(id int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before [16]byte
	threadName(unix.PR_GET_NAME, &before)
	defer threadName(unix.PR_SET_NAME, &before)
	var name [16]byte
	copy(name[:], "io_thd_"+strconv.Itoa(id))
	threadName(unix.PR_SET_NAME, &name)
	for ph := reading; ph != ending; {
		t.start.wait(t.dedicated)
		ph = t.phase
		t.work(ph)
		if t.join.left.Add(-1) == 0 {
			t.join.all.ring()
		}
	}
}

func (t *thread) work(ph phase) {
	begin := t.trace.Mark()
	switch ph {
	case reading:
		ph.run(t.conns, t.trace)
		t.trace.Span(trace.Reading, begin, t.trace.Mark(), len(t.conns))
	case writing:
		ph.run(t.conns, t.trace)
		t.trace.Span(trace.Writing, begin, t.trace.Mark(), len(t.conns))
	case naming:
		t.trace.Locked()
	}
}

// threadName is prctl(2), which fails only for a bad pointer.
func threadName(op int, name *[16]byte) {
	_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, uintptr(op), uintptr(unsafe.Pointer(name)), 0)
}

// preciseTimers has the kernel wake the calling thread when its time has come, and not up
// to 50 us later together with others, or takes that back.
func preciseTimers(on bool) {
	slack := uintptr(0) // the default
	if on {
		slack = 1
	}
	_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, slack, 0)
}
