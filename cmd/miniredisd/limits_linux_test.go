package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// This test starts a process, because the limit of open files is one of the process.

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

// maxclients may promise more than the process gets later. A client takes the descriptor of a handshake then.
func TestWithoutFreeDescriptorsHandshakesMakeRoom(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--lab", "yes", "--lab-tls", "certs", "--loglevel", "verbose")
	p.port()
	dir := filepath.Join(p.cmd.Dir, "certs")
	port, err := os.ReadFile(filepath.Join(dir, "port"))
	require.NoError(t, err)
	tlsPort := strings.TrimSpace(string(port))
	require.Equal(t, "PONG", dialLab(t, dir, tlsPort).Do("PING").Str) // opens what the process keeps
	const left = 5
	p.limitFiles(left)
	for range 10 * left {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", tlsPort))
		require.NoError(t, err)
		defer c.Close()
		p.waitFor("Accepted " + c.LocalAddr().String())
	}
	require.Equal(t, "PONG", p.dial().Do("PING").Str)
	require.Equal(t, "PONG", dialLab(t, dir, tlsPort).Do("PING").Str)
	require.NotContains(t, p.out.String(), "too many open files")
}
