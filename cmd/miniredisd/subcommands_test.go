package main

import (
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionIsOneLine(t *testing.T) {
	p := start(t, "miniredisd", "", "version")
	require.Equal(t, 0, p.exit())
	require.Regexp(t, `^miniredisd \d+\.\d+\.\d+ \(commit \S+( with changes)?, go\S+, \w+/\w+\), speaks Redis 7\.2\.6\n$`,
		p.out.String())
	p = start(t, "miniredisd", "", "version", "x")
	require.Equal(t, 1, p.exit())
	require.Equal(t, "version expects nothing after it, not 'x'\n", p.errs.String())
}

func TestAFileNamedLikeASubcommandIsReachable(t *testing.T) {
	for _, c := range []struct{ program, file string }{{"miniredisd", "./version"}, {"redis-server", "version"}} {
		path := filepath.Join(t.TempDir(), "version")
		require.NoError(t, os.WriteFile(path, []byte("port x\n"), 0o600))
		p := startIn(t, filepath.Dir(path), c.program, "", c.file)
		require.Equal(t, 1, p.exit())
		require.Contains(t, p.errs.String(), ">>> 'port x'")
	}
}

func TestOnlyMiniredisdHasSubcommands(t *testing.T) {
	p := start(t, "miniredisd", "", "-h")
	require.Equal(t, 1, p.exit())
	for _, c := range subcommands() {
		require.Contains(t, p.errs.String(), "miniredisd "+c.name)
	}
	p = start(t, "redis-server", "", "-h")
	require.Equal(t, 1, p.exit())
	require.NotContains(t, p.errs.String(), "Subcommands")
}

func TestTheNameOfASentinelStartsNoServer(t *testing.T) {
	for _, name := range []string{"redis-sentinel", "valkey-sentinel"} {
		require.NoError(t, os.Symlink("miniredisd", filepath.Join(bin, name)))
		p := start(t, name, "", "--port", "0")
		require.Equal(t, 1, p.exit())
		require.Equal(t, "Sentinel mode is not supported by miniredisd\n", p.errs.String())
	}
}

func TestHealthAsksAServer(t *testing.T) {
	s := start(t, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1", "--save", "")
	addr := s.addr()
	p := start(t, "miniredisd", "", "health", "redis://"+addr)
	require.Equal(t, 0, p.exit(), p.errs.String())
	require.Equal(t, "PONG\n", p.out.String())

	locked := start(t, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1", "--save", "", "--requirepass", "x")
	p = start(t, "miniredisd", "", "health", "redis://"+locked.addr())
	require.Equal(t, 0, p.exit(), p.errs.String())
	require.Equal(t, "NOAUTH Authentication required.\n", p.out.String())
}

func TestHealthOfNoServerIsAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	free := "redis://" + l.Addr().String()
	require.NoError(t, l.Close())
	withPassword := strings.Replace(free, "//", "//user:secret@", 1)
	for args, why := range map[string]string{
		free:                " does not answer: dial tcp",
		withPassword:        "redis://user:xxxxx@127.0.0.1:",
		"redis://":          " does not answer: it is not a URL",
		"127.0.0.1:6379":    " does not answer: it is not a URL",
		"http://127.0.0.1":  " does not answer: it is not a URL",
		"redis://a redis:b": "health expects one URL, not 'redis:b' as well",
	} {
		p := start(t, "miniredisd", "", append([]string{"health"}, strings.Fields(args)...)...)
		require.Equal(t, 1, p.exit(), args)
		require.Contains(t, p.errs.String(), why)
	}
}

func TestHealthSpeaksTLS(t *testing.T) {
	certified := httptest.NewTLSServer(nil) // for its certificate
	defer certified.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", certified.TLS)
	require.NoError(t, err)
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.ReadFull(conn, make([]byte, len("PING\r\n")))
		_, _ = io.WriteString(conn, "+PONG\r\n")
	}()
	p := start(t, "miniredisd", "", "health", "rediss://"+l.Addr().String())
	require.Equal(t, 0, p.exit(), p.errs.String())
}
