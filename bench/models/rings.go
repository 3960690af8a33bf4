//go:build linux

package main

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/reactor"
)

// rings is the model of Valkey 8 (io_threads.c): main owns all clients and the only epoll. It gives
// single jobs, a read or a write of one client, to threads. Each thread has a ring of jobs, and there
// is no lock:
//
//	main       epoll_wait ─> read jobs ─┐   execute who is read ─> write jobs ─┐   collect who is written
//	ring 1                              └─> thread 1: read, parse              └─> thread 1: write
//	ring 2                              └─> thread 2: read, parse              └─> thread 2: write
//
// Main continues while jobs are at work. As long as there are any, it does not sleep. The number of
// threads at work follows the number of events. With few events main does all jobs by itself.
type rings struct {
	edge
	door    door
	engine  *engine
	threads []*ring
	active  int       // threads at work
	next    int       // counts jobs
	started []*client // their jobs are not yet collected
	spare   []*client // the other half of started
}

// job is what a client needs from a thread.
type job uint8

const (
	readJob job = iota
	writeJob
)

// eventsPerThread is how many events of a pass make one more thread work (Valkey's directive
// events-per-io-thread).
const eventsPerThread = 2

// ringSize is the number of jobs that may wait for a thread.
const ringSize = 2048

// ring is the queue of one thread: main pushes, the thread pops.
type ring struct {
	jobs    [ringSize]*client
	_       [64]byte // the two ends are changed by different cores
	pushed  atomic.Uint64
	_       [64]byte
	popped  atomic.Uint64
	_       [64]byte
	parked  atomic.Bool
	wake    chan struct{}
	stopped atomic.Bool
	ended   chan struct{}
}

func newRings(addr string, threads int) (*rings, error) {
	loop, err := reactor.New("epoll", clock.New().Mono)
	if err != nil {
		return nil, err
	}
	r := &rings{engine: newEngine()}
	r.edge = edge{loop: loop, reading: r.startRead, submit: r.leave}
	for range threads {
		r.threads = append(r.threads, &ring{wake: make(chan struct{}, 1), ended: make(chan struct{})})
	}
	loop.AfterSleep(r.count)
	loop.BeforeSleep(r.collect)
	r.door, err = openDoor(loop, addr, r.take)
	return r, err
}

// leave ends the session of a client that has hung up.
func (r *rings) leave(c *client) { r.engine.executeAll(c) }

// count decides how many threads work in this pass (io_threads.c: adjustIOThreadsByEventLoad).
func (r *rings) count() {
	events := 0
	r.loop.Fired(func(int, reactor.Mask) { events++ })
	r.active = min(events/eventsPerThread, len(r.threads))
	r.engine.ex.Tick()
}

// startRead gives a readable client to a thread (io_threads.c: trySendReadToIOThreads), or reads by itself.
func (r *rings) startRead(c *client) { r.start(c, readJob) }

// start does a job, here or in a thread.
func (r *rings) start(c *client, j job) {
	c.away, c.job = true, j
	c.ready.Store(false)
	r.started = append(r.started, c)
	if r.active > 0 {
		r.next++
		if r.threads[r.next%r.active].push(c) {
			return
		}
	}
	c.work()
}

// work does the client's job. Main or a thread calls it.
func (c *client) work() {
	if c.job == readJob {
		c.Read(nil)
	} else {
		c.Write(nil)
	}
	c.ready.Store(true)
}

// collect executes the commands of clients that are read, and settles those that are written (networking.c:
// processIOThreadsReadDone, processIOThreadsWriteDone). It runs before main sleeps.
func (r *rings) collect() time.Duration {
	was := r.started
	r.started = r.spare[:0]
	for _, c := range was {
		switch {
		case !c.ready.Load():
			r.started = append(r.started, c)
		case c.job == readJob:
			r.execute(c)
		default:
			c.away = false
			r.settle(c)
		}
	}
	r.spare = was
	r.engine.ks.ExpireDue()
	if len(r.started) > 0 {
		runtime.Gosched()
		return 0
	}
	return -1
}

// execute runs the commands of a client that a thread has read, and starts the write of the replies.
func (r *rings) execute(c *client) {
	if c.hasCommands() {
		r.pool.LendOutput(&c.Conn)
		r.engine.executeAll(c)
	}
	c.sayWrong()
	if c.Unsent() > 0 && !c.full {
		r.start(c, writeJob)
		return
	}
	c.away = false
	r.settle(c)
}

// push gives a client to the thread. It reports whether there was room.
func (r *ring) push(c *client) bool {
	at := r.pushed.Load()
	if at-r.popped.Load() == ringSize {
		return false
	}
	r.jobs[at%ringSize] = c
	r.pushed.Store(at + 1)
	r.unpark()
	return true
}

func (r *ring) unpark() {
	if r.parked.Load() {
		select {
		case r.wake <- struct{}{}:
		default: // it is woken already
		}
	}
}

// spins is how often a thread looks at its ring before it parks. Valkey's threads look a million times.
const spins = 1000

// run is the goroutine of a thread (io_threads.c: IOThreadMain).
func (r *ring) run() {
	runtime.LockOSThread()
	defer close(r.ended)
	for !r.stopped.Load() {
		at := r.popped.Load()
		if !r.wait(at) {
			continue
		}
		c := r.jobs[at%ringSize]
		r.popped.Store(at + 1)
		c.work()
	}
}

// wait waits until the job number at is there. It reports false if the thread was woken for nothing.
func (r *ring) wait(at uint64) bool {
	for range spins {
		if r.pushed.Load() != at {
			return true
		}
	}
	r.parked.Store(true)
	if r.pushed.Load() == at && !r.stopped.Load() { // main may have pushed before it saw the mark
		<-r.wake
	}
	r.parked.Store(false)
	return r.pushed.Load() != at
}

// run is main's goroutine. It starts those of the threads.
func (r *rings) run() error {
	runtime.LockOSThread()
	r.engine.thread = unix.Gettid()
	for _, t := range r.threads {
		go t.run()
	}
	err := r.loop.Run()
	for _, t := range r.threads {
		t.stopped.Store(true)
		t.unpark()
		<-t.ended
	}
	r.door.close()
	r.loop.Close()
	return err
}

// stop ends run. Another goroutine calls it.
func (r *rings) stop() { r.loop.Post(r.loop.Stop) }

func (r *rings) listens() string { return r.door.addr }
