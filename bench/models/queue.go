//go:build linux

package main

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/reactor"
)

// queue is a reactor that executes nothing. A client with input goes through a channel to the
// executor and comes back by Post:
//
//	reactor   epoll_wait ─> read, parse ─┐                    ┌─> write ─> epoll_wait
//	                                     │ requests      Post │
//	executor  parked ────────────────────┴─> execute all ─────┴─> the next, or parked
//
// While the client is on its way, the reactor does not touch it. So it has one owner at any time,
// like a connection that an I/O thread borrows. But I/O threads borrow connections for reading and
// writing only, and main waits for all of them together. Here each client changes its owner twice
// for each batch of commands.
type queue struct {
	edge     edge
	door     door
	requests chan *client
	engine   *engine // the executor's
	ended    chan struct{}
}

// queueLength is the number of clients that may wait for the executor. The reactor waits if the
// queue is full. The executor never waits for the reactor, so they cannot block each other.
const queueLength = 1024

func newQueue(addr string) (*queue, error) {
	loop, err := reactor.New("epoll", clock.New().Mono)
	if err != nil {
		return nil, err
	}
	q := &queue{requests: make(chan *client, queueLength), engine: newEngine(), ended: make(chan struct{})}
	q.edge = edge{loop: loop, submit: func(c *client) { q.requests <- c }}
	q.door, err = openDoor(loop, addr, func(fd int) { q.edge.take(fd) })
	return q, err
}

// run is the reactor's goroutine. It starts the goroutine of the executor.
func (q *queue) run() error {
	go q.execute()
	err := q.edge.loop.Run()
	close(q.requests)
	<-q.ended
	q.door.close()
	q.edge.loop.Close()
	return err
}

// execute is the executor's goroutine. It is locked to its thread, because bench asks for the CPU
// time of that thread.
func (q *queue) execute() {
	runtime.LockOSThread()
	defer close(q.ended)
	q.engine.thread = unix.Gettid()
	for c := range q.requests {
		q.engine.ex.Tick()
		for ok := true; ok; {
			q.executeAll(c)
			select {
			case c, ok = <-q.requests:
			default:
				ok = false
			}
		}
		q.engine.ks.ExpireDue()
	}
}

func (q *queue) executeAll(c *client) {
	if q.engine.executeAll(c) {
		q.edge.loop.Post(c.back)
	}
}

// stop ends run. Another goroutine calls it.
func (q *queue) stop() { q.edge.loop.Post(q.edge.loop.Stop) }

func (q *queue) listens() string { return q.door.addr }
