package server_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/redistest"
)

// A client library that notices the end of its connection before it sends makes a new one, and fails otherwise.
func TestWhoHasTheReplyToClientKillFindsTheConnectionsClosed(t *testing.T) {
	addr := start(t, nil)
	c := redistest.Dial(t, addr)
	for range 100 {
		victim := redistest.Dial(t, addr)
		victim.Do("PING")
		require.Equal(t, int64(1), c.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Int)
		n, err := peek(t, victim)
		require.NoError(t, err)
		require.Zero(t, n, "the end of the input")
	}
}

// peek looks what has arrived, without waiting for it.
func peek(t *testing.T, c *redistest.Conn) (n int, err error) {
	raw, failed := c.Net.(syscall.Conn).SyscallConn()
	require.NoError(t, failed)
	failed = raw.Read(func(fd uintptr) bool {
		n, _, err = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		return true
	})
	require.NoError(t, failed)
	return n, err
}
