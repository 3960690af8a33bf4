package rlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinesHaveTheShapeOfRedis(t *testing.T) {
	var out bytes.Buffer
	l := New(&out)
	l.Log('*', "Ready to accept connections %s", "tcp")
	l.SetRole(Master)
	l.Log('#', "%d%% full", 100)
	l.Signal("Received SIGTERM scheduling shutdown...")
	stamp := `\d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d\.\d{3}`
	require.Regexp(t, fmt.Sprintf(`^%d:C %s \* Ready to accept connections tcp\n`+
		`%[1]d:M %[2]s # 100%% full\n`+
		`%[1]d:signal-handler \(\d+\) Received SIGTERM scheduling shutdown\.\.\.\n$`, os.Getpid(), stamp), out.String())
}

func TestLevelsBelowTheOneSetAreSilent(t *testing.T) {
	for level, want := range map[string]string{"debug": ".-*#", "verbose": "-*#", "notice": "*#", "warning": "#",
		"nothing": ""} {
		var out bytes.Buffer
		l := New(&out)
		l.SetLevel(level)
		for _, c := range []byte(levels) {
			l.Log(c, "x")
		}
		got := ""
		for line := range strings.Lines(out.String()) {
			got += line[len(line)-4 : len(line)-3]
		}
		require.Equal(t, want, got, level)
	}
}

func TestLogFileMayBeRotated(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	l := New(os.Stdout)
	l.SetFile(path)
	l.Log('*', "one")
	require.NoError(t, os.Rename(path, path+".1"))
	l.Log('*', "two")
	for name, want := range map[string]string{"log.1": "one\n", "log": "two\n"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(string(text), "* "+want))
		require.Equal(t, 1, strings.Count(string(text), "\n"))
	}
}

func TestGoroutinesDoNotMixTheirLines(t *testing.T) {
	var out bytes.Buffer
	l := New(&out)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				l.Log('*', "abc")
			}
		})
	}
	wg.Wait()
	require.Equal(t, 400, strings.Count(out.String(), "* abc\n"))
}

func TestNamedLoggersShareThePlaceAndNotTheLevel(t *testing.T) {
	var out bytes.Buffer
	l := New(&out)
	named := l.Named("master 2")
	l.SetRole(Master)
	named.SetLevel("warning")
	named.Log('*', "not shown")
	named.Log('#', "shown")
	l.Log('*', "shown as well")
	require.Regexp(t, `^\d+:M .* # \[master 2\] shown\n\d+:M .* \* shown as well\n$`, out.String())
}
