package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// These tests start a process, because the limit of open files is one of the process.

// limitFiles lets the server open more files beside those that are open. The kernel limits the
// number of a descriptor, and a new file gets the lowest free number.
func (p *process) limitFiles(more int) {
	p.t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	used := map[string]bool{}
	for _, e := range entries {
		used[e.Name()] = true
	}
	limit := uint64(0)
	for ; more > 0 || used[fmt.Sprint(limit)]; limit++ {
		if !used[fmt.Sprint(limit)] {
			more--
		}
	}
	require.NoError(p.t, unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit}, nil))
}

func (p *process) dial() *redistest.Conn {
	p.t.Helper()
	return redistest.Dial(p.t, fmt.Sprintf("127.0.0.1:%d", p.listening))
}

// clients returns the number of the server's connections.
func clients(c *redistest.Conn) int { return strings.Count(c.Do("CLIENT", "LIST").Str, "\n") }

// Without a free descriptor a new connection waits in the kernel until another connection ends.
// Redis tries again at once. It then logs an error in every pass and uses all of its processor.
func TestWithoutFreeDescriptorsAcceptingPauses(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0")
	p.port()
	first := p.dial()
	first.Do("PING")
	const left = 3
	p.limitFiles(left)
	var others []*redistest.Conn
	for range left {
		c := p.dial()
		require.Equal(t, "PONG", c.Do("PING").Str)
		others = append(others, c)
	}
	late := p.dial()
	require.NoError(t, late.Send([]byte("PING\r\n")))
	p.waitFor("# Accepting client connection: too many open files")
	const passes = 2000
	for range passes {
		require.Equal(t, "PONG", first.Do("PING").Str)
	}
	require.Equal(t, 1+left, clients(first), "the limit does not hold")
	others[0].Close()
	require.Equal(t, "PONG", late.Read().Str)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.Less(t, strings.Count(p.out.String(), "Accepting client connection"), passes/2)
}

func TestTenThousandIdleConnectionsDoNotHoldUpOthers(t *testing.T) {
	const n = 10_000
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Cur < n+200 {
		t.Skipf("%d open files are allowed, too few for %d connections", limit.Cur, n)
	}
	p := start(t, "miniredisd", "", "--port", "0", "--maxclients", fmt.Sprint(n+1))
	p.port()
	busy := p.dial()
	idle := make([]net.Conn, n)
	for i := range idle {
		c, err := net.Dial("tcp", busy.Net.RemoteAddr().String())
		require.NoError(t, err)
		defer c.Close()
		idle[i] = c
		if i%100 == 99 { // before the backlog overflows
			require.Equal(t, "PONG", busy.Do("PING").Str)
		}
	}
	for clients(busy) != n+1 {
	}
	refused := p.dial()
	require.Equal(t, "ERR max number of clients reached", refused.Read().Str)
	_, err := refused.TryRead()
	require.Error(t, err)
	require.Equal(t, "OK", busy.Do("SET", "k", "v").Str)
	for _, c := range idle {
		_, err := c.Write([]byte("GET k\r\n"))
		require.NoError(t, err)
	}
	for _, c := range idle {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(redistest.Limit)))
		var got [7]byte
		_, err := c.Read(got[:])
		require.NoError(t, err)
		require.Equal(t, "$1\r\nv\r\n", string(got[:]))
	}
	for _, c := range idle {
		require.NoError(t, c.Close())
	}
	for clients(busy) != 1 {
	}
}
