package ioworkers

import "golang.org/x/sys/unix"

// Queues returns the bytes in the socket that wait to be read, and those that the other side has not
// acknowledged (ss: Recv-Q, Send-Q).
func (c *Conn) Queues() (recv, send int) {
	if c.FD < 0 {
		return 0, 0
	}
	recv, _ = unix.IoctlGetInt(c.FD, unix.SIOCINQ) // 0 after an error
	send, _ = unix.IoctlGetInt(c.FD, unix.SIOCOUTQ)
	return recv, send
}
