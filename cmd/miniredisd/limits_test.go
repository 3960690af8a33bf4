package main

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func (p *process) dial() *redistest.Conn {
	p.t.Helper()
	return redistest.Dial(p.t, fmt.Sprintf("127.0.0.1:%d", p.listening))
}

// clients returns the number of the server's connections.
func clients(c *redistest.Conn) int { return strings.Count(c.Do("CLIENT", "LIST").Str, "\n") }

func TestThousandsOfIdleConnectionsDoNotHoldUpOthers(t *testing.T) {
	n := amount.Count(2_000, 10_000)
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Cur < uint64(n)+200 {
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
	redistest.Until(t, func() bool { return clients(busy) == n+1 })
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
	redistest.Until(t, func() bool { return clients(busy) == 1 })
}
