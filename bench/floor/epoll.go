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
	timeout        int // of epoll_wait, ms; -1 waits for ever
	replies        replies
	events         [1024]unix.EpollEvent
	input          [inputSize]byte
}

// yieldEvery is how many passes lie between two calls of Gosched. A loop that never yields is
// interrupted by a signal every 10 ms.
const yieldEvery = 256

func serveEpoll(listener int, r replies, timeout int) error {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	l := &loop{poll: poll, listener: listener, timeout: timeout, replies: r}
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
			} else {
				l.answer(uintptr(e.Fd))
			}
		}
	}
}

func (l *loop) wait() (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.poll),
		uintptr(unsafe.Pointer(&l.events[0])), uintptr(len(l.events)), uintptr(l.timeout), 0, 0)
	if errno != 0 {
		return 0, errno
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
	sent, _, errno := unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&out[0])), uintptr(len(out)))
	if errno != 0 || int(sent) < len(out) {
		_ = unix.Close(int(fd))
	}
}

func (l *loop) accept() {
	fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		return
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err := l.watch(fd); err != nil {
		_ = unix.Close(fd)
	}
}

func (l *loop) watch(fd int) error {
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}
