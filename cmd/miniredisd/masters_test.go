package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// masterPorts waits until the process serves and returns the ports in its port file.
func masterPorts(p *process) []string {
	p.t.Helper()
	p.waitFor("Ready to accept connections")
	text, err := os.ReadFile(filepath.Join(p.cmd.Dir, "ports"))
	require.NoError(p.t, err)
	return strings.Fields(string(text))
}

func dialPort(t *testing.T, port string) *redistest.Conn {
	t.Helper()
	return redistest.Dial(t, net.JoinHostPort("127.0.0.1", port))
}

func TestMastersShareAProcessAndNothingElse(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--port-file", "ports", "--masters", "5", "--seed", "7")
	ports := masterPorts(p)
	require.Len(t, ports, 5)
	ids := map[string]bool{}
	for i, port := range ports {
		c := dialPort(t, port)
		require.Equal(t, int64(0), c.Do("DBSIZE").Int, "the key of another master is here")
		require.Equal(t, "OK", c.Do("SET", "lock", port).Str)
		require.Equal(t, "OK", c.Do("CONFIG", "SET", "maxmemory", fmt.Sprint(1000000*(i+1))).Str)
		require.Equal(t, fmt.Sprint(7+i), c.Do("CONFIG", "GET", "seed").Elems[1].Str)
		require.Equal(t, port, c.Do("CONFIG", "GET", "port").Elems[1].Str)
		for _, line := range strings.Fields(c.Do("INFO", "server").Str) {
			if strings.HasPrefix(line, "run_id:") {
				ids[line] = true
			}
		}
	}
	require.Len(t, ids, 5)
	require.LessOrEqual(t, strings.Count(p.out.String(), "maxclients has been reduced"), 1, "once for all")
	for i, port := range ports {
		c := dialPort(t, port)
		require.Equal(t, port, c.Do("GET", "lock").Str)
		require.Equal(t, fmt.Sprint(1000000*(i+1)), c.Do("CONFIG", "GET", "maxmemory").Elems[1].Str)
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.Equal(t, 5, strings.Count(p.out.String(), "This master has ended"))
	require.NoFileExists(t, filepath.Join(p.cmd.Dir, "ports"))
}

// freeRange returns the first of n ports in a row that are free now. It stays below the range from
// which the kernel chooses ports for other programs.
func freeRange(t *testing.T, n int) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		if isFree(port, n) {
			return port
		}
	}
	require.FailNow(t, "no range of free ports")
	return 0
}

func isFree(port, n int) bool {
	for i := range n {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+i)))
		if err != nil {
			return false
		}
		defer l.Close()
	}
	return true
}

func TestMastersListenOnPortsInARow(t *testing.T) {
	port := freeRange(t, 3)
	p := start(t, "miniredisd", "", "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--port-file", "ports",
		"--masters", "3")
	require.Equal(t, []string{strconv.Itoa(port), strconv.Itoa(port + 1), strconv.Itoa(port + 2)}, masterPorts(p))
	for i := range 3 {
		require.Contains(t, p.out.String(), fmt.Sprintf("[master %d] Running mode=standalone, port=%d.", i+1, port+i))
	}
}

func TestEitherAllMastersListenOrNone(t *testing.T) {
	port := freeRange(t, 3)
	taken, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+2)))
	require.NoError(t, err)
	defer taken.Close()
	p := start(t, "miniredisd", "", "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--port-file", "ports",
		"--masters", "3")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), fmt.Sprintf("Failed listening on port %d (tcp), aborting.", port+2))
	require.NotContains(t, p.out.String(), "Running mode")
	require.NoFileExists(t, filepath.Join(p.cmd.Dir, "ports"))
}

func TestShutdownEndsOneMasterAndTheLastOneTheProcess(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--port-file", "ports", "--masters", "2")
	ports := masterPorts(p)
	require.NoError(t, dialPort(t, ports[0]).Send([]byte("SHUTDOWN\r\n")))
	p.waitFor("[master 1] This master has ended")
	_, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", ports[0]))
	require.Error(t, err)
	other := dialPort(t, ports[1])
	require.Equal(t, "PONG", other.Do("PING").Str)
	require.NoError(t, other.Send([]byte("SHUTDOWN\r\n")))
	require.Equal(t, 0, p.exit())
}

func TestEachMasterLogsAtItsOwnLevel(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--port-file", "ports", "--masters", "2")
	ports := masterPorts(p)
	talkative := dialPort(t, ports[1])
	require.Equal(t, "OK", talkative.Do("CONFIG", "SET", "loglevel", "verbose").Str)
	dialPort(t, ports[0]).Do("PING")
	dialPort(t, ports[1]).Do("PING")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.exit())
	require.Contains(t, p.out.String(), "- [master 2] Accepted 127.0.0.1:")
	require.NotContains(t, p.out.String(), "- [master 1] Accepted")
}

func TestOptionsThatMastersCannotShareAreRefused(t *testing.T) {
	for args, why := range map[string]string{
		"--unixsocket s":   "unixsocket is one socket and cannot be shared by 3 masters",
		"--trace t.json":   "trace records one server, not 3 masters: use DEBUG TRACE on the one to look at",
		"--port 65534":     "3 masters from port 65534 on would need ports above 65535",
		"--aclfile nosuch": "Aborting Redis startup because of ACL errors",
	} {
		p := start(t, "miniredisd", "", strings.Fields("--masters 3 --port 0 "+args)...)
		require.Equal(t, 1, p.exit(), args)
		require.Contains(t, p.out.String(), why)
	}
	p := start(t, "miniredisd", "", "--masters", "0")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.errs.String(), "argument must be between 1 and 1000 inclusive")
}

func TestOneMasterDoesNotRewriteTheFileOfAll(t *testing.T) {
	file := filepath.Join(t.TempDir(), "redis.conf")
	require.NoError(t, os.WriteFile(file, []byte("masters 2\nport 0\nport-file ports\n"), 0o600))
	p := start(t, "miniredisd", "", file)
	c := dialPort(t, masterPorts(p)[1])
	require.Equal(t, "ERR 2 masters share the configuration file, so none of them can rewrite it",
		c.Do("CONFIG", "REWRITE").Str)
}
