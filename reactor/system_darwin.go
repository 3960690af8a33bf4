package reactor

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// This file stands in for epoll_linux.go, uring_linux.go, wake_linux.go and runtime_linux.go. Nothing is hidden
// from the scheduler here: a system call of macOS goes through a library.

func newEpoll() (multiplexer, error) {
	return nil, errors.New("macOS has no epoll: use --multiplexer poll or select")
}

func newUring() (multiplexer, error) {
	return nil, errors.New("macOS has no io_uring: use --multiplexer poll or select")
}

// pollHangUp makes poll report a hang-up. macOS has no POLLRDHUP.
const pollHangUp = unix.POLLHUP

// wake makes a loop return from its wait. It is a pipe.
type wake struct{ in, out int }

func newWake() (wake, error) {
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil {
		return wake{}, fmt.Errorf("pipe: %w", err)
	}
	for _, fd := range ends {
		unix.CloseOnExec(fd)
		_ = unix.SetNonblock(fd, true) // fails only for a bad descriptor
	}
	return wake{ends[0], ends[1]}, nil
}

func (w wake) close() {
	_ = unix.Close(w.in)
	_ = unix.Close(w.out)
}

// Dedicated has no effect: there is no hidden wait.
func (l *Loop) Dedicated() {}

func hiddenSleep(d time.Duration) { time.Sleep(d) }

func (l *Loop) yield(int64) {}
