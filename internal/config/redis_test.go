package config

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// redis is a real redis-server on a unix socket.
type redis struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func startRedis(t *testing.T, args ...string) *redis {
	t.Helper()
	redistest.Require(t)
	socket := filepath.Join(t.TempDir(), "s")
	cmd := exec.Command("redis-server", append(args, "--port", "0", "--unixsocket", socket)...)
	cmd.Dir = t.TempDir()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "ready to accept connections") {
	}
	conn, err := net.Dial("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &redis{t, conn, bufio.NewReader(conn)}
}

// do sends a command and returns the elements of the reply, one a line.
func (r *redis) do(args ...string) []string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	_, err := r.conn.Write(b.Bytes())
	require.NoError(r.t, err)
	return r.reply()
}

func (r *redis) reply() []string {
	line, err := r.in.ReadString('\n')
	require.NoError(r.t, err)
	line = strings.TrimSuffix(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '*':
		var all []string
		for range n {
			all = append(all, r.reply()...)
		}
		return all
	case '$':
		text := make([]byte, n+2)
		_, err := io.ReadFull(r.in, text)
		require.NoError(r.t, err)
		return []string{string(text[:n])}
	}
	return []string{line[1:]}
}

// refusedBy returns what redis-server prints on standard error for a command line, with this server's
// version in place of its own.
func refusedBy(t *testing.T, dir string, args ...string) string {
	t.Helper()
	redistest.Require(t)
	cmd := exec.Command("redis-server", args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	require.Error(t, cmd.Run(), "redis-server accepts %q", args)
	return strings.Replace(errs.String(), "Redis 7.0.15", "Redis "+RedisVersion, 1)
}
