package ioworkers

import (
	"sync"

	"golang.org/x/sys/unix"
)

// This file is what macOS needs instead of runtime_linux.go. There are no raw system calls, and a
// channel stands in for the futex.

func read(fd int, p []byte) (int, unix.Errno) { return result(unix.Read(fd, p)) }

func write(fd int, p []byte) (int, unix.Errno) { return result(unix.Write(fd, p)) }

func writev(fd int, pieces [][]byte) (int, unix.Errno) { return result(unix.Writev(fd, pieces)) }

func result(n int, err error) (int, unix.Errno) {
	errno, _ := err.(unix.Errno) // errors.As would allocate
	return n, errno
}

// sleeper has room for one wake that nobody has taken.
type sleeper struct {
	once  sync.Once
	woken chan struct{}
}

func (s *sleeper) room() chan struct{} {
	s.once.Do(func() { s.woken = make(chan struct{}, 1) })
	return s.woken
}

// sleep blocks until another thread calls wake.
func (b *bell) sleep() { <-b.room() }

// sleepBriefly is sleep: nothing can be hidden from the scheduler here.
func (b *bell) sleepBriefly() (timedOut bool) {
	b.sleep()
	return false
}

// wake ends the sleep of one thread. It never blocks.
func (b *bell) wake() {
	select {
	case b.room() <- struct{}{}:
	default:
	}
}

// preciseTimers has no effect: macOS has no timer slack that a thread can set.
func preciseTimers(bool) {}

// nameThread has no effect: on macOS only a C library names threads.
func nameThread(string) (undo func()) { return func() {} }

// Queues returns the bytes in the socket that wait to be read, and those that the other side has not
// acknowledged.
func (c *Conn) Queues() (recv, send int) {
	if c.FD < 0 {
		return 0, 0
	}
	recv, _ = unix.GetsockoptInt(c.FD, unix.SOL_SOCKET, unix.SO_NREAD) // 0 after an error
	send, _ = unix.GetsockoptInt(c.FD, unix.SOL_SOCKET, unix.SO_NWRITE)
	return recv, send
}
