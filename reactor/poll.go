//go:build linux

package reactor

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poll waits for events for at most ms milliseconds, without the bookkeeping that
// the runtime does around calls that block.
func (l *Loop) poll(ms int) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epfd),
		uintptr(unsafe.Pointer(&l.fired[0])), uintptr(len(l.fired)), uintptr(ms), 0, 0)
	switch errno {
	case 0:
		return int(n), nil
	case unix.EINTR:
		return 0, nil
	}
	return 0, fmt.Errorf("epoll_wait: %w", errno)
}
