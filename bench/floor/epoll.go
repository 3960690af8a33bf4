//go:build linux

package main

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loop serves by epoll. It belongs to the goroutine of main.
type loop struct {
	poll, listener int
	way            way
	left           int // looks without sleep that are left
	replies        replies
	events         [1024]unix.EpollEvent
	input          [inputSize]byte
}

// way is how a loop waits and writes.
type way struct {
	looks    int  // how often epoll_wait may find nothing before the loop sleeps; -1 never sleeps
	zerocopy bool // write by send(MSG_ZEROCOPY)
}

// sendBuffer is the room in the kernel for large replies, in bytes.
const sendBuffer = 512 << 10

// yieldEvery is how many passes lie between two calls of Gosched. A loop that never yields is
// interrupted by a signal every 10 ms.
const yieldEvery = 256

func serveEpoll(listener int, r replies, w way) error {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	if w.zerocopy { // a socket has this from its listener; without it the kernel copies in silence
		if err := unix.SetsockoptInt(listener, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1); err != nil {
			return fmt.Errorf("SO_ZEROCOPY: %w", err)
		}
	}
	l := &loop{poll: poll, listener: listener, way: w, left: w.looks, replies: r}
	if err := l.watch(listener); err != nil {
		return err
	}
	for pass := 0; ; pass++ {
		if pass%yieldEvery == 0 {
			runtime.Gosched()
		}
		n, errno := l.wait()
		if errno != 0 && errno != unix.EINTR {
			return fmt.Errorf("epoll_wait: %w", errno)
		}
		for _, e := range l.events[:n] {
			if int(e.Fd) == l.listener {
				l.accept()
				continue
			}
			if l.way.zerocopy && e.Events&unix.EPOLLERR != 0 {
				forgetSent(uintptr(e.Fd))
				if e.Events&unix.EPOLLIN == 0 {
					continue
				}
			}
			l.answer(uintptr(e.Fd))
		}
	}
}

// wait returns without events after a look that found nothing. Events earn the loop its looks again.
func (l *loop) wait() (int, unix.Errno) {
	timeout := 0
	if l.left == 0 {
		timeout = -1
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.poll),
		uintptr(unsafe.Pointer(&l.events[0])), uintptr(len(l.events)), uintptr(timeout), 0, 0)
	switch {
	case errno != 0:
		return 0, errno
	case n > 0:
		l.left = l.way.looks
	case l.left > 0:
		l.left--
	}
	return int(n), 0
}

// answer is one read and one write. A socket that takes less than the whole reply is closed.
func (l *loop) answer(fd uintptr) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&l.input[0])), inputSize)
	if errno != 0 || n == 0 {
		_ = unix.Close(int(fd))
		return
	}
	out := l.replies.to(l.input[:n])
	call, flags := uintptr(unix.SYS_WRITE), uintptr(0)
	if l.way.zerocopy {
		call, flags = unix.SYS_SENDTO, unix.MSG_ZEROCOPY
	}
	sent, _, errno := unix.RawSyscall6(call, fd, uintptr(unsafe.Pointer(&out[0])), uintptr(len(out)), flags, 0, 0)
	if errno != 0 || int(sent) < len(out) {
		_ = unix.Close(int(fd))
	}
}

// forgetSent empties the queue of notes that the kernel no longer needs the bytes of earlier sends. The
// replies never change, so the notes say nothing here. But a full queue makes the next send fail.
func forgetSent(fd uintptr) {
	var control [128]byte
	for {
		m := unix.Msghdr{Control: &control[0]}
		m.SetControllen(len(control))
		_, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&m)), unix.MSG_ERRQUEUE)
		if errno != 0 {
			return
		}
	}
}

func (l *loop) accept() {
	fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		return
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if l.replies.one > largeReply {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer)
	}
	if err := l.watch(fd); err != nil {
		_ = unix.Close(fd)
	}
}

func (l *loop) watch(fd int) error {
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}
