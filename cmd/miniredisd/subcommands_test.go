package main

import (
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
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

// A new directive has its help in its row: see internal/config. Nothing in -h is written twice.
func TestHelpListsEveryOptionThatRedisDoesNotHave(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "..", "release", "debian", "miniredisd.1"))
	require.NoError(t, err)
	page := strings.ReplaceAll(string(manual), `\-`, "-")
	table, err := os.ReadFile(filepath.Join("..", "..", "docs", "options.md"))
	require.NoError(t, err)
	p := start(t, "miniredisd", "", "help")
	require.Equal(t, 0, p.exit(), p.errs.String())
	require.NotEmpty(t, config.Own())
	for _, o := range config.Own() {
		require.Regexp(t, `(?m)^ +--`+o.Name+" "+o.Arg+" .*"+regexp.QuoteMeta(o.Help), p.out.String())
		require.Regexp(t, `(?m)^\.BI? "?--`+o.Name+`\b`, page, "the manual page")
		require.Contains(t, string(table), "\n| `--"+o.Name+" ", "docs/options.md")
	}
	for _, c := range subcommands() {
		require.Regexp(t, `(?m)^ +miniredisd `+c.name+".*"+regexp.QuoteMeta(c.summary), p.out.String())
		require.Regexp(t, `(?m)^\.BI? `+c.name+`\b`, page, "the manual page")
		require.Contains(t, string(table), "\n| `"+c.name, "docs/options.md")
	}
	require.Equal(t, strings.Count(p.out.String(), "\n       --"), len(config.Own())+1, "and --port 0")
}

func TestHelpExplainsEverySubcommand(t *testing.T) {
	for _, c := range subcommands() {
		for _, args := range [][]string{{"help", c.name}, {c.name, "-h"}, {c.name, "--help"}} {
			p := start(t, "miniredisd", "", args...)
			require.Equal(t, 0, p.exit(), args)
			require.Empty(t, p.errs.String(), args)
			require.True(t, strings.HasPrefix(p.out.String(), "usage: miniredisd "+c.name), p.out.String())
			require.Contains(t, p.out.String(), c.summary)
			require.Contains(t, p.out.String(), c.more)
		}
	}
	for name, why := range map[string]string{
		"lobster":     "There is no subcommand 'lobster'. miniredisd help lists all of them.\n",
		"Exlpore":     "There is no subcommand 'Exlpore'. Did you mean explore?\n",
		"grade watch": "help expects one subcommand, not 'watch' as well\n",
	} {
		p := start(t, "miniredisd", "", append([]string{"help"}, strings.Fields(name)...)...)
		require.Equal(t, 1, p.exit())
		require.Equal(t, why, p.errs.String())
	}
}

func TestAWordThatIsNeitherAFileNorASubcommandGetsAHint(t *testing.T) {
	for word, want := range map[string]string{
		"lab":     "The lab is an option: start the server with --lab yes, and send LAB HELP.\n",
		"verdikt": "'verdikt' is no subcommand either. Did you mean verdict?\n",
		"lobster": "'lobster' is no subcommand either. miniredisd help lists all of them.\n",
		"./lab":   "",
		"no.conf": "",
	} {
		p := start(t, "miniredisd", "", word)
		require.Equal(t, 1, p.exit())
		require.Contains(t, p.out.String(), "Fatal error, can't open config file '")
		require.Equal(t, want, p.errs.String(), word)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config"), []byte("include nothing"), 0o600))
	p := startIn(t, dir, "miniredisd", "", "config")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), "Fatal error, can't open config file '")
	require.Empty(t, p.errs.String(), "the first argument is a file")
	p = start(t, "redis-server", "", "lab")
	require.Equal(t, 1, p.exit())
	require.Empty(t, p.errs.String(), "redis-server has neither")
	p = start(t, "miniredisd", "", "help", "lab")
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), "--lab yes")
}

func TestADirectiveThatDoesNotExistGetsAHint(t *testing.T) {
	for args, want := range map[string]string{
		"--maxmemry 1mb":     "\nThere is no directive 'maxmemry'. Did you mean 'maxmemory'?\n",
		"--lab-htpp x":       "\nThere is no directive 'lab-htpp'. Did you mean 'lab-http'?\n",
		"--nosuchthing yes":  "\nBad directive or wrong number of arguments\n",
		"--maxmemory nonsen": "\nargument must be a memory value\n",
	} {
		p := start(t, "miniredisd", "", strings.Fields(args)...)
		require.Equal(t, 1, p.exit())
		require.True(t, strings.HasSuffix(p.errs.String(), want), p.errs.String())
		p = start(t, "redis-server", "", strings.Fields(args)...)
		require.Equal(t, 1, p.exit())
		require.NotContains(t, p.errs.String(), "Did you mean")
	}
}

func TestHelpShowsTheWayToAFirstTest(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/lab/first-test.md"))
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(page), "\n\n")
	p := start(t, "miniredisd", "", "help", "first-test")
	require.Equal(t, 0, p.exit())
	require.Equal(t, text, p.out.String())
	require.True(t, strings.HasPrefix(text, "# "), text[:20])
	p = start(t, "miniredisd", "", "help", "frist-test")
	require.Equal(t, 1, p.exit())
	require.Equal(t, "There is no subcommand 'frist-test'. Did you mean first-test?\n", p.errs.String())
}

func TestTheLogSaysWhetherTheLabIsOn(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1")
	p.addr()
	require.Contains(t, p.out.String(), "The lab is off: miniredisd help explains --lab and --watch.")
	p = start(t, "miniredisd", "", "--port", "0", "--bind", "127.0.0.1", "--lab", "yes", "--watch", "127.0.0.1:0")
	p.addr()
	require.Contains(t, p.out.String(), "The lab is on: clients can send LAB HELP.")
	require.Regexp(t, `The loop can be watched at http://127\.0\.0\.1:\d+/`, p.out.String())
	p = start(t, "redis-server", "", "--port", "0", "--bind", "127.0.0.1")
	p.addr()
	require.NotContains(t, p.out.String(), "lab")
}

func TestTheNameOfASentinelStartsNoServer(t *testing.T) {
	for _, name := range []string{"redis-sentinel", "valkey-sentinel"} {
		require.NoError(t, os.Symlink("miniredisd", filepath.Join(bin, name)))
		p := start(t, name, "", "--port", "0")
		require.Equal(t, 1, p.exit())
		require.Equal(t, "Sentinel mode is not supported by miniredisd: connect clients to the server itself\n",
			p.errs.String())
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
