package claims

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// arrived waits until all bytes that were sent are in the server's socket.
func arrived(conn *net.TCPConn) error {
	raw, err := conn.SyscallConn()
	for unacknowledged := 1; err == nil && unacknowledged > 0; {
		failed := raw.Control(func(fd uintptr) {
			unacknowledged, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_NWRITE)
		})
		err = errors.Join(err, failed)
	}
	return err
}
