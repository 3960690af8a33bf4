package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// These tests are about starts that fail, and about commands that the configuration renames.

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	p := start(t, "redis-server", "", "--port", strconv.Itoa(port), "--bind", "127.0.0.1")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), fmt.Sprintf("# Warning: Could not create server TCP listening socket "+
		"127.0.0.1:%d: bind: Address already in use\n", port))
	require.Contains(t, p.out.String(), fmt.Sprintf("# Failed listening on port %d (tcp), aborting.\n", port))
}

func TestUnusableUnixSocket(t *testing.T) {
	p := start(t, "miniredisd", "", "--port", "0", "--unixsocket", "/nonexistent/s")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), "# Failed opening Unix socket: bind: No such file or directory\n")
}

func TestNothingToListenOn(t *testing.T) {
	p := start(t, "miniredisd", "", "--bind", "")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), "# Configured to not listen anywhere, exiting.\n")
}

func TestBadConfigurationLine(t *testing.T) {
	p := start(t, "miniredisd", "# first\nport 1\ntimeout soon\n", "-")
	require.Equal(t, 1, p.exit())
	require.Equal(t, "\n*** FATAL CONFIG FILE ERROR (Redis 7.2.6) ***\nReading the configuration file, at line "+
		"3\n>>> 'timeout soon'\nargument couldn't be parsed into an integer\n", p.errs.String())
}

func TestRenamedCommands(t *testing.T) {
	hash := strings.Repeat("b840FC02d5", 4)
	p := start(t, "miniredisd", "rename-command ping "+hash+"\nrename-command ECHO \"\"\nport 0", "-")
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.port()))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "PING\r\nECHO x\r\n"+hash+"\r\n")
	require.NoError(t, err)
	in := bufio.NewReader(conn)
	for _, want := range []string{"-ERR unknown command 'PING', ", "-ERR unknown command 'ECHO', ", "+PONG"} {
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(line, want), line)
	}
	for line, why := range map[string]string{
		"rename-command nosuch x":     "No such command in rename-command",
		"rename-command get set":      "Target command name already exists",
		"rename-command config|get x": "No such command in rename-command",
	} {
		p := start(t, "miniredisd", "\n"+line, "-")
		require.Equal(t, 1, p.exit())
		require.Contains(t, p.errs.String(), "at line 2\n>>> '"+line+"'\n"+why+"\n")
	}
}

func TestMissingConfigurationFile(t *testing.T) {
	p := start(t, "miniredisd", "", "/nonexistent.conf")
	require.Equal(t, 1, p.exit())
	require.Contains(t, p.out.String(), "# Fatal error, can't open config file '/nonexistent.conf': No such file or "+
		"directory\n")
}
