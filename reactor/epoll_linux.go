package reactor

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// epoll waits by epoll(7) (ae_epoll.c). The kernel keeps the set of descriptors, and a wait costs
// what is ready, however many are watched.
type epoll struct {
	fd     int
	events []unix.EpollEvent
}

func newEpoll() (*epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	return &epoll{fd: fd, events: make([]unix.EpollEvent, 1024)}, nil
}

// looked: the kernel keeps a list of those that are ready.
func (e *epoll) looked(ready int) int { return ready }

// calls: epoll_ctl changes the set, each time.
func (e *epoll) calls(waits, changes int64) int64 { return waits + changes }

func (e *epoll) close() { _ = unix.Close(e.fd) }

func (e *epoll) control(fd int, from, to Mask) error {
	op := unix.EPOLL_CTL_MOD
	switch {
	case from == to:
		return nil
	case from == 0:
		op = unix.EPOLL_CTL_ADD
	case to == 0:
		op = unix.EPOLL_CTL_DEL
	}
	ev := unix.EpollEvent{Fd: int32(fd)}
	if to&Readable != 0 {
		ev.Events |= unix.EPOLLIN
	}
	if to&Writable != 0 {
		ev.Events |= unix.EPOLLOUT
	}
	if to&HangUp != 0 {
		ev.Events |= unix.EPOLLRDHUP
	}
	if err := unix.EpollCtl(e.fd, op, fd, &ev); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

// wait waits for at most ms milliseconds and returns the events (ae_epoll.c: aeApiPoll).
func (e *epoll) wait(found []ready, ms int, hidden bool) ([]ready, error) {
	n, err := 0, error(nil)
	if hidden {
		n, err = e.hiddenWait(ms)
	} else {
		n, err = unix.EpollWait(e.fd, e.events, ms)
	}
	if errors.Is(err, unix.EINTR) {
		return found, nil
	}
	if err != nil {
		return found, fmt.Errorf("epoll_wait: %w", err)
	}
	for i := range e.events[:n] {
		ev := &e.events[i]
		r := ready{fd: int(ev.Fd)}
		if ev.Events&unix.EPOLLIN != 0 {
			r.mask |= Readable
		}
		if ev.Events&unix.EPOLLOUT != 0 {
			r.mask |= Writable
		}
		if ev.Events&unix.EPOLLRDHUP != 0 {
			r.mask |= HangUp
		}
		if ev.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			r.mask = everything
		}
		found = append(found, r)
	}
	return found, nil
}

// hiddenWait is epoll_wait, hidden from the scheduler.
func (e *epoll) hiddenWait(ms int) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(e.fd),
		uintptr(unsafe.Pointer(&e.events[0])), uintptr(len(e.events)), uintptr(ms), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
