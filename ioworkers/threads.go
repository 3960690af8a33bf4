package ioworkers

import (
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/miniredisd/miniredisd/internal/trace"
)

// phase is the job of all threads between a ring and the join (networking.c: io_threads_op).
type phase uint8

const (
	reading phase = iota
	writing
	naming // each thread tells the trace its id
	ending // each thread ends for good
)

// run does the work of a phase for these connections (networking.c: IOThreadMain).
func (ph phase) run(conns []*Conn, t *trace.Thread) {
	for _, c := range conns {
		if ph == reading {
			c.Read(t)
		} else {
			c.Write(t)
		}
	}
}

// thread is one I/O thread. Main sets phase and conns and rings. From the ring until the join, the
// fields and the connections belong to the thread.
type thread struct {
	start bell
	phase phase
	conns []*Conn
	trace *trace.Thread // nil while nothing is recorded
	join  *join

	dedicated bool // see Pool.Dedicated

	_ [64]byte // keeps the next thread's bell out of this thread's cache line
}

// join is where main waits for the threads.
type join struct {
	left atomic.Int32 // threads that still work
	last int          // the number of the thread that rang, counted from 1
	all  bell         // the last thread rings it
}

// perThread is the number of connections that pay for waking a thread. Waking it and waiting for it
// takes two or three system calls. Reading or writing a connection takes one. Redis wakes all
// threads as soon as there are two connections for each (networking.c: stopThreadedIOIfNeeded).
const perThread = 8

// Start makes threads-1 threads, as io-threads counts main as one. It locks the calling goroutine,
// which is main, to its operating-system thread until Stop. Without reads the threads only write.
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

// Stop ends the threads and returns when they have ended their work. A second Stop does nothing.
func (p *Pool) Stop() {
	if len(p.threads) == 0 {
		return
	}
	p.ring(p.threads, ending)
	p.threads, p.Active = nil, false
	preciseTimers(false)
	runtime.UnlockOSThread()
}

// Record gives every thread a row of r, or no row if r is nil. The caller sets Trace, main's row,
// before.
func (p *Pool) Record(r *trace.Recorder) {
	if len(p.threads) == 0 {
		return
	}
	for i, t := range p.threads {
		t.trace = nil
		if r != nil {
			t.trace = r.Thread(trace.IOThread(i + 1))
		}
	}
	p.Trace.Locked()
	p.ring(p.threads, naming)
}

// Eager wakes a thread even for a single connection, which does not pay. Tests use it, because
// their few connections would never reach a thread. Call it before Start.
func (p *Pool) Eager() { p.perThread = 1 }

// pays reports whether n connections are enough to wake a thread (networking.c: stopThreadedIOIfNeeded).
func (p *Pool) pays(n int) bool {
	return len(p.threads) > 0 && !p.Alone && (n >= p.perThread || p.Stepping)
}

// WorthWaiting reports whether threads could read if there were more readable connections than n.
func (p *Pool) WorthWaiting(n int) bool {
	return p.reads && len(p.threads) > 0 && !p.Alone && n < p.perThread
}

// share deals conns out to as many threads as they pay for, and returns when all threads are done.
// In Redis main takes a share (networking.c: handleClientsWithPendingReadsUsingThreads). Here main
// sleeps meanwhile: the threads are there to save main's processor time.
func (p *Pool) share(conns []*Conn, ph phase) {
	each := p.perThread
	if p.Stepping {
		each = 1
	}
	threads := p.threads[:min(len(p.threads), len(conns)/each)]
	for _, t := range threads {
		t.conns = t.conns[:0]
	}
	for i, c := range conns {
		t := threads[i%len(threads)]
		t.conns = append(t.conns, c)
	}
	if p.Trace.Detailed() {
		p.showLent(threads, ph)
	}
	p.ring(threads, ph)
	p.Trace.Lap(trace.Wait, 0, 0, 0)
	if p.Trace.Detailed() {
		p.Trace.Event(trace.Event{Point: trace.Joined, Client: 0, A: int64(len(conns)), Dur: p.Trace.Took(),
			Thread: p.join.last}, nil)
	}
}

// ring starts phase ph on threads and waits for the last of them.
func (p *Pool) ring(threads []*thread, ph phase) {
	p.join.left.Store(int32(len(threads)))
	for _, t := range threads {
		t.phase = ph
		t.start.ring()
	}
	p.join.all.wait(p.Dedicated)
}

// main is the life of a thread (networking.c: IOThreadMain). It locks its goroutine to an
// operating-system thread and names that thread, so that top -H shows it.
func (t *thread) main(id int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer nameThread("io_thd_" + strconv.Itoa(id))()
	for ph := reading; ph != ending; {
		t.start.wait(t.dedicated)
		ph = t.phase
		t.work(ph)
		if t.join.left.Add(-1) == 0 {
			t.join.last = id
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
