package redistest

import (
	"errors"
	"net"
)

// WaitForArrival waits until all bytes that were sent are in the server's socket. On a busy machine they
// may arrive later than a request that another Conn sends afterwards.
func (c *Conn) WaitForArrival() {
	c.t.Helper()
	raw, err := c.Net.(*net.TCPConn).SyscallConn()
	for left := 1; err == nil && left > 0; {
		failed := raw.Control(func(fd uintptr) { left, err = unacknowledged(fd) })
		err = errors.Join(err, failed)
	}
	if err != nil {
		c.t.Fatalf("waiting until the server has what was sent: %v", err)
	}
}
