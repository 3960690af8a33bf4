package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnderTheNameOfRedisCLIItSendsOneCommand(t *testing.T) {
	s := start(t, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1", "--save", "")
	locked := start(t, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1", "--save", "", "--requirepass", "secret")
	_, port, _ := strings.Cut(s.addr(), ":")
	_, lockedPort, _ := strings.Cut(locked.addr(), ":")
	for _, name := range []string{"redis-cli", "valkey-cli"} {
		require.NoError(t, os.Symlink("miniredisd", filepath.Join(bin, name)))
	}
	for _, c := range []struct {
		args      []string
		code      int
		out, errs string
	}{
		{[]string{"-p", port, "ping"}, 0, "PONG\n", ""},
		{[]string{"-h", "localhost", "-p", port, "SET", "k", "a b"}, 0, "OK\n", ""},
		{[]string{"-p", port, "GET", "k"}, 0, "a b\n", ""},
		{[]string{"-p", port, "GET", "none"}, 0, "\n", ""},
		{[]string{"-p", port, "STRLEN", "k"}, 0, "3\n", ""},
		{[]string{"-p", port, "EVAL", "return {1,{'x',false},{}}", "0"}, 0, "1\nx\n\n\n", ""},
		{[]string{"-p", port, "NOSUCH"}, 0, "ERR unknown command 'NOSUCH', with args beginning with: \n\n", ""},
		{[]string{"-p", port, "CLIENT", "GETNAME"}, 0, "\n", ""},
		{[]string{"-p", port, "INFO", "replication", "nosuch", "-x"}, 0, "# Replication\n", ""},
		{[]string{"-p", port, "-a", "x", "PING"}, 0, "PONG\n", "AUTH failed: ERR AUTH <password> called"},
		{[]string{"-u", "redis://127.0.0.1:" + port + "/99", "PING"}, 0, "PONG\n", "SELECT 99 failed: ERR DB index"},
		{[]string{"-p", lockedPort, "ping"}, 0, "NOAUTH Authentication required.\n\n", ""},
		{[]string{"-p", lockedPort, "-a", "bad", "ping"}, 0, "NOAUTH", "AUTH failed: WRONGPASS"},
		{[]string{"-p", lockedPort, "-a", "secret", "ping"}, 0, "PONG\n", ""},
		{[]string{"-p", lockedPort, "--user", "default", "--pass", "secret", "ping"}, 0, "PONG\n", ""},
		{[]string{"-u", "redis://default:secret@127.0.0.1:" + lockedPort, "ping"}, 0, "PONG\n", ""},
		{[]string{"-u", "redis://secret@127.0.0.1:" + lockedPort, "ping"}, 0, "PONG\n", ""},
		{[]string{"--no-auth-warning", "-p", lockedPort, "-a", "secret", "ping"}, 0, "PONG\n", ""},
		{[]string{"-p", "1", "ping"}, 1, "", "Could not connect to Redis at 127.0.0.1:1: Connection refused\n"},
		{[]string{"-p", port}, 1, "", "redis-cli: a command such as PING is missing: there is no interactive mode\n"},
		{[]string{"-p", port, "--bigkeys"}, 1, "",
			"redis-cli: there is no option --bigkeys. miniredisd help redis-cli lists them.\n"},
		{[]string{"--cacrt", "x"}, 1, "", "redis-cli: there is no option --cacrt. Did you mean --cacert?\n"},
		{[]string{"-p", lockedPort, "-a", "secret", "shutdown", "nosave"}, 0, "", ""},
	} {
		for _, name := range []string{"redis-cli", "valkey-cli", "miniredisd"} {
			args := c.args
			if name == "miniredisd" {
				args = append([]string{"redis-cli"}, args...)
			}
			if c.args[len(c.args)-1] == "nosave" && name != "redis-cli" {
				continue // it has ended
			}
			p := start(t, name, "", args...)
			require.Equal(t, c.code, p.exit(), args)
			require.True(t, strings.HasPrefix(p.out.String(), c.out), "%v: %q", args, p.out.String())
			require.True(t, strings.HasPrefix(p.errs.String(), c.errs), "%v: %q", args, p.errs.String())
		}
	}
	require.Zero(t, locked.exit())
}

func TestRedisCLISpeaksTLS(t *testing.T) {
	dir := t.TempDir()
	s := start(t, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1", "--lab", "yes", "--lab-tls", dir,
		"--tls-auth-clients", "no")
	s.addr()
	port, err := os.ReadFile(filepath.Join(dir, "port"))
	require.NoError(t, err)
	ask := func(args ...string) *process {
		args = append([]string{"redis-cli", "-p", strings.TrimSpace(string(port))}, args...)
		p := start(t, "miniredisd", "", append(args, "ping")...)
		p.exit()
		return p
	}
	require.Equal(t, "PONG\n", ask("--tls", "--cacert", filepath.Join(dir, "ca.crt")).out.String())
	require.Equal(t, "PONG\n", ask("--tls", "--insecure").out.String())
	require.Contains(t, ask("--tls").errs.String(), "certificate")
	require.Contains(t, ask("--tls", "--cacert", filepath.Join(dir, "port")).errs.String(), "has no certificate")
}
