package reactor

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poll asks epoll without waiting. A raw system call spares the runtime's
// bookkeeping around calls that might block; this one cannot.
func (l *Loop) poll() (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epfd),
		uintptr(unsafe.Pointer(&l.fired[0])), uintptr(len(l.fired)), 0, 0, 0)
	switch errno {
	case 0:
		return int(n), nil
	case unix.EINTR:
		return 0, nil
	}
	return 0, fmt.Errorf("epoll_wait: %w", errno)
}
