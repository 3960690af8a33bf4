package claims

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// arrived waits until all bytes that were sent are in the server's socket. On a busy machine loopback
// delivers them later than write(2) returns.
func arrived(conn *net.TCPConn) error {
	raw, err := conn.SyscallConn()
	for unacknowledged := 1; err == nil && unacknowledged > 0; {
		failed := raw.Control(func(fd uintptr) { unacknowledged, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
		err = errors.Join(err, failed)
	}
	return err
}
