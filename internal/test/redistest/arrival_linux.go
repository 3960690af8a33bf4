package redistest

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// WaitForArrival waits until all bytes that were sent are in the server's socket. On a busy machine they
// may arrive later than a request that another Conn sends afterwards.
func (c *Conn) WaitForArrival() {
	c.t.Helper()
	raw, err := c.Net.(*net.TCPConn).SyscallConn()
	for unacknowledged := 1; err == nil && unacknowledged > 0; {
		failed := raw.Control(func(fd uintptr) { unacknowledged, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
		err = errors.Join(err, failed)
	}
	if err != nil {
		c.t.Fatalf("waiting until the server has what was sent: %v", err)
	}
}
