//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/ioworkers"
	"github.com/miniredisd/miniredisd/reactor"
)

// client is a connection. One goroutine at a time owns it: the one of its edge, or the executor's.
type client struct {
	ioworkers.Conn
	session *command.Session // the executor's; nil before the first command
	done    bool             // set by the executor: hang up
	edge    *edge
	back    func() // what the executor posts

	away   bool // at the executor, or at a thread that reads or writes
	paused bool // not watched, because more came in while it was away
	full   bool // the socket takes no more
	closed bool

	job   job // of rings: what a thread does for it
	ready atomic.Bool
}

// edge owns sockets. It reads, parses and writes, and it executes nothing. A client with commands
// goes to submit, which brings it to the executor. The client comes back by answer.
type edge struct {
	loop   *reactor.Loop
	pool   ioworkers.Pool
	submit func(*client) // called by the edge's goroutine
	number int           // among the edges of a server

	reading func(*client) // reads elsewhere; nil means here
}

// take makes a client of a new socket.
func (e *edge) take(fd int) {
	c := &client{edge: e}
	c.FD = fd
	c.back = func() { e.answer(c) }
	e.watch(c)
}

func (e *edge) watch(c *client) {
	if err := e.loop.Watch(c.FD, reactor.Readable, func() { e.read(c) }); err != nil {
		e.hangUp(c)
	}
}

// read is the read handler.
func (e *edge) read(c *client) {
	if e.pauses(c) {
		return
	}
	e.pool.Lend(&c.Conn)
	if e.reading != nil {
		e.reading(c)
		return
	}
	c.Read(nil)
	if c.hasCommands() {
		e.pool.LendOutput(&c.Conn)
		c.away = true
		e.submit(c)
		return
	}
	e.write(c)
}

// pauses reports whether the input of c has to wait. Then it is not asked for again until c is back.
func (e *edge) pauses(c *client) bool {
	if !c.away && !c.full {
		return false
	}
	e.loop.Unwatch(c.FD, reactor.Readable) // its buffers are not ours now; being told again at once would not help
	c.paused = true
	return true
}

func (c *client) hasCommands() bool {
	if c.Next() == nil {
		return false
	}
	c.Unread()
	return true
}

// answer returns a client to its edge.
func (e *edge) answer(c *client) {
	c.away = false
	e.write(c)
}

// write sends the output. Then it closes a client that is at its end, or waits for more input.
func (e *edge) write(c *client) {
	c.sayWrong()
	if c.Unsent() > 0 {
		c.Write(nil)
	}
	e.settle(c)
}

// sayWrong appends the error that ends a broken client.
func (c *client) sayWrong() {
	if c.Wrong != "" && !c.done {
		c.Out.Buf = fmt.Appendf(c.Out.Buf, "-ERR %s\r\n", c.Wrong)
		c.done = true
	}
}

// settle decides what a client waits for after a write.
func (e *edge) settle(c *client) {
	switch {
	case c.Lost || c.EOF || c.ReadErr != 0 || c.done && c.Unsent() == 0:
		e.hangUp(c)
		return
	case c.Unsent() > 0 && !c.full:
		c.full = true
		if err := e.loop.Watch(c.FD, reactor.Writable, func() { e.write(c) }); err != nil {
			e.hangUp(c)
		}
		return
	case c.Unsent() > 0:
		return
	case c.full:
		c.full = false
		e.loop.Unwatch(c.FD, reactor.Writable)
	}
	e.pool.Reclaim(&c.Conn)
	if c.paused {
		c.paused = false
		e.watch(c)
	}
}

// hangUp closes the socket. The executor ends the session.
func (e *edge) hangUp(c *client) {
	e.loop.Unwatch(c.FD, reactor.Readable|reactor.Writable)
	_ = unix.Close(c.FD)
	c.closed = true
	e.submit(c)
}

// door is a socket that listens.
type door struct {
	fd   int
	addr string // listened on
}

// openDoor listens, and passes each new socket to take.
func openDoor(loop *reactor.Loop, addr string, take func(fd int)) (d door, err error) {
	if d.fd, d.addr, err = listen(addr); err != nil {
		return d, fmt.Errorf("listening on %s: %w", addr, err)
	}
	return d, loop.Watch(d.fd, reactor.Readable, func() { d.accept(take) })
}

func (d door) accept(take func(fd int)) {
	for {
		fd, _, err := unix.Accept4(d.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // with no descriptor left it is tried again and again: this is no server to keep
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		take(fd)
	}
}

func (d door) close() { _ = unix.Close(d.fd) }

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
