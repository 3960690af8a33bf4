//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
	"golang.org/x/sys/unix"
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
	loop     *reactor.Loop
	listenFD int
	addr     string         // listened on
	pool     ioworkers.Pool // the reactor's
	requests chan *client
	engine   *engine // the executor's
	ended    chan struct{}
}

type client struct {
	ioworkers.Conn
	session *command.Session // the executor's; nil before the first command
	done    bool             // set by the executor: hang up
	back    func()           // what the executor posts

	away   bool // at the executor
	paused bool // not watched, because more came in while it was away
	full   bool // the socket takes no more
	closed bool
}

// queueLength is the number of clients that may wait for the executor. The reactor waits if the
// queue is full. The executor never waits for the reactor, so they cannot block each other.
const queueLength = 1024

func newQueue(addr string) (*queue, error) {
	loop, err := reactor.New("epoll", clock.New().Mono)
	if err != nil {
		return nil, err
	}
	q := &queue{loop: loop, requests: make(chan *client, queueLength), engine: newEngine(), ended: make(chan struct{})}
	if q.listenFD, q.addr, err = listen(addr); err != nil {
		loop.Close()
		return nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	return q, loop.Watch(q.listenFD, reactor.Readable, q.accept)
}

// run is the reactor's goroutine. It starts the goroutine of the executor.
func (q *queue) run() error {
	go q.execute()
	err := q.loop.Run()
	close(q.requests)
	<-q.ended
	_ = unix.Close(q.listenFD)
	q.loop.Close()
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
	if c.session == nil {
		c.session = q.engine.session()
	}
	if c.closed {
		q.engine.ex.Leave(c.session)
		return
	}
	for args := c.Next(); args != nil && !c.done; args = c.Next() {
		c.Out.Buf = q.engine.execute(c.session, args, c.Out.Buf)
		c.done = gone(c.session)
	}
	q.loop.Post(c.back)
}

func (q *queue) accept() {
	for {
		fd, _, err := unix.Accept4(q.listenFD, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // with no descriptor left it is tried again and again: this is no server to keep
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		c := &client{}
		c.FD = fd
		c.back = func() { q.answer(c) }
		q.watch(c)
	}
}

func (q *queue) watch(c *client) {
	if err := q.loop.Watch(c.FD, reactor.Readable, func() { q.read(c) }); err != nil {
		q.hangUp(c)
	}
}

// read is the read handler.
func (q *queue) read(c *client) {
	if c.away || c.full { // its buffers are not ours now; being told again at once would not help
		q.loop.Unwatch(c.FD, reactor.Readable)
		c.paused = true
		return
	}
	q.pool.Lend(&c.Conn)
	c.Read(nil)
	if c.Next() != nil {
		c.Unread()
		q.pool.LendOutput(&c.Conn)
		c.away = true
		q.requests <- c
		return
	}
	q.write(c)
}

// answer returns a client to the reactor.
func (q *queue) answer(c *client) {
	c.away = false
	q.write(c)
}

// write sends the output. Then it closes a client that is at its end, or waits for more input.
func (q *queue) write(c *client) {
	if c.Wrong != "" && !c.done {
		c.Out.Buf = fmt.Appendf(c.Out.Buf, "-ERR %s\r\n", c.Wrong)
		c.done = true
	}
	if c.Unsent() > 0 {
		c.Write(nil)
	}
	switch {
	case c.Lost || c.EOF || c.ReadErr != 0 || c.done && c.Unsent() == 0:
		q.hangUp(c)
		return
	case c.Unsent() > 0 && !c.full:
		c.full = true
		if err := q.loop.Watch(c.FD, reactor.Writable, func() { q.write(c) }); err != nil {
			q.hangUp(c)
		}
		return
	case c.Unsent() > 0:
		return
	case c.full:
		c.full = false
		q.loop.Unwatch(c.FD, reactor.Writable)
	}
	q.pool.Reclaim(&c.Conn)
	if c.paused {
		c.paused = false
		q.watch(c)
	}
}

// hangUp closes the socket. The executor ends the session.
func (q *queue) hangUp(c *client) {
	q.loop.Unwatch(c.FD, reactor.Readable|reactor.Writable)
	_ = unix.Close(c.FD)
	c.closed = true
	q.requests <- c
}

// stop ends run. Another goroutine calls it.
func (q *queue) stop() { q.loop.Post(q.loop.Stop) }

// listen opens a socket without package net, which would add it to the runtime's own epoll.
func listen(addr string) (fd int, bound string, err error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return 0, "", err
	}
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, "", err
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	sa := &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	if err := errors.Join(unix.Bind(fd, sa), unix.Listen(fd, 511)); err != nil {
		return 0, "", errors.Join(err, unix.Close(fd))
	}
	if got, err := unix.Getsockname(fd); err == nil {
		at = netip.AddrPortFrom(at.Addr(), uint16(got.(*unix.SockaddrInet4).Port))
	}
	return fd, at.String(), nil
}
