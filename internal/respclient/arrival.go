package respclient

import (
	"errors"
	"fmt"
	"net"
)

// Arrive waits until all that was sent is in the server's socket. On a busy machine loopback delivers bytes
// later than write(2) returns, and so after a request that another connection sends next.
func (c *Conn) Arrive() error {
	tcp, ok := c.Net.(*net.TCPConn)
	if !ok {
		return fmt.Errorf("only TCP tells what has arrived, not %T", c.Net)
	}
	raw, err := tcp.SyscallConn()
	for left := 1; err == nil && left > 0; {
		failed := raw.Control(func(fd uintptr) { left, err = unacknowledged(fd) })
		err = errors.Join(err, failed)
	}
	return err
}
