package ioworkers

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// phase is what all threads do at the moment (networking.c: io_threads_op).
type phase uint8

const (
	reading phase = iota
	writing
	ending // the thread, for good
)

func (ph phase) run(conns []*Conn) {
	for _, c := range conns {
		if ph == reading {
			c.Read()
		} else {
			c.Write()
		}
	}
}

// thread is one I/O thread. Main fills in what is to be done and rings; from then
// until the join both fields are the thread's.
type thread struct {
	start bell
	phase phase
	conns []*Conn
	join  *join
	_     [64]byte // the next one's bell is rung while this one works
}

// join is where main waits for the threads.
type join struct {
	left atomic.Int32 // threads that are at work
	all  bell         // the last of them rings
}

// defaultLeast is Redis's (networking.c: stopThreadedIOIfNeeded).
const defaultLeast = 2

// Start makes threads-1 threads: main is one itself. Without reads they do nothing
// but write.
func (p *Pool) Start(threads int, reads bool) {
	p.join, p.reads = &join{}, reads && threads > 1
	if p.least == 0 {
		p.least = defaultLeast
	}
	for i := 1; i < threads; i++ {
		t := &thread{join: p.join}
		p.threads = append(p.threads, t)
		go t.main(i)
	}
}

// Stop ends the threads and waits for it.
func (p *Pool) Stop() {
	if len(p.threads) > 0 {
		p.ring(len(p.threads), ending)
		p.join.all.wait()
	}
	p.threads, p.reads, p.Active = nil, false, false
}

// Eager has threads woken for a single connection, which does not pay. It is for
// tests, whose few connections would meet no thread otherwise; before Start.
func (p *Pool) Eager() { p.least = -1 }

// pays tells whether there is enough to do for waking all threads.
func (p *Pool) pays(conns []*Conn) bool {
	return len(p.threads) > 0 && !p.Alone && len(conns) >= max(p.least*(len(p.threads)+1), 1)
}

// share has every thread do its part of conns, main too, and returns when all of
// them are done (networking.c: handleClientsWithPendingReadsUsingThreads).
func (p *Pool) share(conns []*Conn, ph phase) {
	p.own = p.own[:0]
	for _, t := range p.threads {
		t.conns = t.conns[:0]
	}
	k := 0
	for _, c := range conns {
		if k == len(p.threads) {
			p.own = append(p.own, c)
			k = 0
			continue
		}
		p.threads[k].conns = append(p.threads[k].conns, c)
		k++
	}
	p.ring(min(len(conns), len(p.threads)), ph)
	ph.run(p.own)
	p.join.all.wait()
}

func (p *Pool) ring(threads int, ph phase) {
	p.join.left.Store(int32(threads))
	for _, t := range p.threads[:threads] {
		t.phase = ph
		t.start.ring()
	}
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
	for {
		t.start.wait()
		ph := t.phase
		if ph != ending {
			ph.run(t.conns)
		}
		if t.join.left.Add(-1) == 0 {
			t.join.all.ring()
		}
		if ph == ending {
			return
		}
	}
}

// threadName is prctl(2), which fails only for a bad pointer.
func threadName(op int, name *[16]byte) {
	_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, uintptr(op), uintptr(unsafe.Pointer(name)), 0)
}
