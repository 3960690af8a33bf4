package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// commands returns the names of the commands in a trace.
func commands(t *testing.T, path string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct {
		TraceEvents []struct {
			Name string
			Pid  int
		}
	}
	require.NoError(t, json.Unmarshal(text, &file))
	for _, e := range file.TraceEvents {
		if e.Pid == 1 && strings.ToUpper(e.Name) == e.Name {
			names = append(names, e.Name)
		}
	}
	return names
}

func TestATraceIsWrittenAtASignalAndAtTheEnd(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--trace", "trace.json")
	addr, path := net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port())), filepath.Join(p.cmd.Dir, "trace.json")
	ping(t, "tcp", addr)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGUSR1))
	p.waitFor("Trace written to trace.json")
	require.Equal(t, []string{"PING"}, commands(t, path))
	ping(t, "tcp", addr)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.Equal(t, []string{"PING", "PING"}, commands(t, path))
}

func TestTheSignalForATraceWithoutOneIsLogged(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0")
	p.port()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGUSR1))
	p.waitFor("# No trace is written: start the server with --trace PATH")
}
