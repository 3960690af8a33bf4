package config

import (
	"bufio"
	"bytes"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// redis is a real redis-server on a unix socket.
type redis struct{ *redistest.Conn }

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
	return &redis{redistest.Wrap(t, conn)}
}

// do sends a command and returns the elements of the reply, one a line.
func (r *redis) do(args ...string) []string { return flat(r.Do(args...)) }

func flat(v resp.Value) (all []string) {
	switch v.Kind {
	case '*':
		for _, e := range v.Elems {
			all = append(all, flat(e)...)
		}
		return all
	case ':':
		return []string{strconv.FormatInt(v.Int, 10)}
	}
	return []string{v.Str}
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
