package node_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab/labtls"
	"github.com/miniredisd/miniredisd/node"
)

// startBareTLS is startTLS without a lab. A lab copies replies, because its faults change them.
func startBareTLS(t *testing.T, args ...string) *tlsServer {
	t.Helper()
	s := &tlsServer{dir: t.TempDir()}
	require.NoError(t, labtls.Write(s.dir))
	file := func(name string) string { return filepath.Join(s.dir, name) }
	more := strings.Fields(os.Getenv("MINIREDISD_ARGS"))
	line := append(more, "--port", "0", "--bind", "127.0.0.1", "--tls-cert-file", file("server.crt"),
		"--tls-key-file", file("server.key"), "--tls-ca-cert-file", file("ca.crt"))
	cfg, err := config.Parse(append(line, args...), nil)
	require.NoError(t, err)
	cfg.TLSPort = -1
	s.Server, err = node.New(cfg, s.note)
	require.NoError(t, err)
	if len(more) > 0 {
		s.EagerThreads()
	}
	s.addr = s.TLSAddrs()[0]
	s.plain = run(t, s.Server)
	return s
}

// heap returns the bytes of this process that are in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestRepliesThatNobodyReadsAreNotCopiedForTLS(t *testing.T) {
	s := startBareTLS(t)
	admin := redistest.Dial(t, s.plain)
	const times, size = 40, 1 << 20
	old, changed := strings.Repeat("0123456789abcdef", size/16), strings.Repeat("fedcba9876543210", size/16)
	require.Equal(t, "OK", admin.Do("SET", "k", old).Str)
	conns := make([]*redistest.Conn, amount.Count(3, 8))
	for i := range conns {
		conns[i] = s.dial(t)
		require.Equal(t, "PONG", conns[i].Do("PING").Str)
	}
	before := heap()
	for _, c := range conns {
		require.NoError(t, c.Send([]byte(strings.Repeat("GET k\r\n", times))))
	}
	full := func() bool {
		return strings.Count(admin.Do("CLIENT", "LIST").Str, "events=rw") == len(conns)
	}
	redistest.Until(t, full)
	require.Less(t, heap()-before, len(conns)*times*size/20, "replies are copied")
	require.Equal(t, "OK", admin.Do("SET", "k", changed).Str)
	for _, c := range conns {
		require.NoError(t, c.Send([]byte("STRLEN k\r\nGETRANGE k 0 3\r\n")))
	}
	for _, c := range conns {
		for range times {
			require.True(t, old == c.Read().Str)
		}
		require.Equal(t, int64(size), c.Read().Int)
		require.Equal(t, "fedc", c.Read().Str)
	}
}

func TestTheOutputLimitHoldsForTLS(t *testing.T) {
	s := startBareTLS(t, "--client-output-buffer-limit", "normal", "30mb", "0", "0")
	other, silent := redistest.Dial(t, s.plain), s.dial(t)
	other.Do("SET", "big", strings.Repeat("x", 1<<20))
	require.NoError(t, silent.Send([]byte(strings.Repeat("GET big\r\n", 25))))
	require.Equal(t, "PONG", other.Do("PING").Str)
	require.Equal(t, "0", infoField(other, "client_output_buffer_limit_disconnections"))
	_ = silent.Send([]byte(strings.Repeat("GET big\r\n", 40))) // the server may have closed the connection
	waitForField(other, "client_output_buffer_limit_disconnections", "1")
	waitForField(other, "connected_clients", "1")
}
