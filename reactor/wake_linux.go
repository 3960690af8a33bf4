package reactor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// pollHangUp makes poll report that the other side has stopped sending.
const pollHangUp = unix.POLLRDHUP

// wake makes a loop return from its wait. It is an eventfd: both ends are the same descriptor.
type wake struct{ in, out int }

func newWake() (wake, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return wake{}, fmt.Errorf("eventfd: %w", err)
	}
	return wake{fd, fd}, nil
}

func (w wake) close() { _ = unix.Close(w.in) }
