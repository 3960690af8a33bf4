package node_test

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// A client library reconnects if it notices the closed connection before it sends. Otherwise its
// request fails.
func TestConnectionsAreClosedBeforeTheReplyToClientKill(t *testing.T) {
	addr := start(t, nil)
	c := redistest.Dial(t, addr)
	require.True(t, established(t, c))
	for range 100 {
		victim := redistest.Dial(t, addr)
		victim.Do("PING")
		require.Equal(t, int64(1), c.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Int)
		n, err := peek(t, victim)
		if err == unix.EAGAIN { // on a busy machine the FIN may still be on its way
			require.False(t, established(t, victim), "the server had not closed it")
			continue
		}
		require.NoError(t, err)
		require.Zero(t, n, "the end of the input")
	}
}

// established reports whether the server's end of c is open. That end is on this machine too.
func established(t *testing.T, c *redistest.Conn) bool {
	t.Helper()
	needProc(t)
	all, err := os.ReadFile("/proc/net/tcp")
	require.NoError(t, err)
	port := func(a net.Addr) string { return fmt.Sprintf(":%04X ", a.(*net.TCPAddr).Port) }
	const state = "01 "
	return regexp.MustCompile(port(c.Net.RemoteAddr()) + `\w+` + port(c.Net.LocalAddr()) + state).Match(all)
}

// peek returns how many bytes have arrived, without waiting for them.
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
