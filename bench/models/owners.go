//go:build linux

package main

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/reactor"
)

// owners is the model of Redis 8 (iothread.c): each thread owns clients for their whole life and has
// an event loop of its own. Main accepts and executes:
//
//	thread 1   epoll_wait ─> read, parse ─┐ at the end of a pass:     ┌─> write ─> epoll_wait
//	thread 2   epoll_wait ─> read, parse ─┤ one list, one wake        │ one wake for each thread
//	main       epoll_wait ────────────────┴─> execute the whole list ─┘
//
// There is no barrier: main executes the clients of one thread while another thread reads. And there is
// a queue: the list of clients whose commands are parsed and wait for main.
type owners struct {
	main    *reactor.Loop
	door    door
	threads []*owner
	next    int     // the thread of the next client
	engine  *engine // main's

	mu      sync.Mutex // guards waiting
	waiting []*client  // for main
	taken   []*client  // the other half of waiting: main's
}

// owner is a thread with clients of its own.
type owner struct {
	edge
	of      *owners
	parsed  []*client // in this pass, not yet sent to main
	replies []*client // main's: executed, not yet sent back
	ended   chan error
}

func newOwners(addr string, threads int) (*owners, error) {
	now := clock.New().Mono
	main, err := reactor.New("epoll", now)
	if err != nil {
		return nil, err
	}
	o := &owners{main: main, engine: newEngine()}
	for i := range threads {
		loop, err := reactor.New("epoll", now)
		if err != nil {
			return nil, err
		}
		t := &owner{of: o, ended: make(chan error, 1)}
		t.edge = edge{loop: loop, number: i, submit: func(c *client) { t.parsed = append(t.parsed, c) }}
		loop.BeforeSleep(t.hand)
		o.threads = append(o.threads, t)
	}
	o.door, err = openDoor(main, addr, o.assign)
	return o, err
}

// assign gives a new socket to a thread, for good (iothread.c: assignClientToIOThread).
func (o *owners) assign(fd int) {
	t := o.threads[o.next%len(o.threads)]
	o.next++
	t.loop.Post(func() { t.take(fd) })
}

// hand sends the clients that have commands to main, at the end of a pass (iothread.c:
// sendPendingClientsToMainThreadIfNeeded).
func (t *owner) hand() time.Duration {
	if len(t.parsed) == 0 {
		return -1
	}
	o := t.of
	o.mu.Lock()
	first := len(o.waiting) == 0
	o.waiting = append(o.waiting, t.parsed...)
	o.mu.Unlock()
	t.parsed = t.parsed[:0]
	if first {
		o.main.Post(o.execute)
	}
	return -1
}

// execute runs the commands of all waiting clients, and sends the clients back (iothread.c:
// processClientsFromIOThread). Main calls it.
func (o *owners) execute() {
	o.mu.Lock()
	o.waiting, o.taken = o.taken[:0], o.waiting
	o.mu.Unlock()
	o.engine.ex.Tick()
	for _, c := range o.taken {
		if o.engine.executeAll(c) {
			t := o.threads[c.edge.number]
			t.replies = append(t.replies, c)
		}
	}
	o.engine.ks.ExpireDue()
	for _, t := range o.threads {
		if len(t.replies) > 0 {
			answered := t.replies
			t.replies = nil // the thread has the list now
			t.loop.Post(func() {
				for _, c := range answered {
					t.answer(c)
				}
			})
		}
	}
}

// run is main's goroutine. It starts those of the threads.
func (o *owners) run() error {
	runtime.LockOSThread()
	o.engine.thread = unix.Gettid()
	for _, t := range o.threads {
		go func() {
			runtime.LockOSThread()
			t.ended <- t.loop.Run()
		}()
	}
	err := o.main.Run()
	for _, t := range o.threads {
		t.loop.Post(t.loop.Stop)
		err = errors.Join(err, <-t.ended)
		t.loop.Close()
	}
	o.door.close()
	o.main.Close()
	return err
}

// stop ends run. Another goroutine calls it.
func (o *owners) stop() { o.main.Post(o.main.Stop) }

func (o *owners) listens() string { return o.door.addr }
