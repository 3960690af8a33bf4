package node_test

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// infoField returns one field of INFO.
func infoField(c *redistest.Conn, name string) string {
	for _, line := range strings.Split(string(c.Do("INFO", "everything").Str), "\r\n") {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return v
		}
	}
	return ""
}

// waitForField asks until the field of INFO has the value.
func waitForField(c *redistest.Conn, name, want string) {
	c.Until(func() bool { return infoField(c, name) == want })
}

// requireClosed reads until the server closes the connection.
func requireClosed(t *testing.T, c *redistest.Conn) {
	t.Helper()
	for {
		if _, err := c.TryRead(); err != nil {
			var timeout net.Error
			if e, ok := err.(net.Error); ok {
				timeout = e
			}
			require.False(t, timeout != nil && timeout.Timeout(), "the connection is still open")
			return
		}
	}
}

func TestAClientThatNeverReadsIsClosedAtTheHardLimit(t *testing.T) {
	addr := start(t, []string{"--client-output-buffer-limit", "normal", "1mb", "0", "0"})
	other, silent := redistest.Dial(t, addr), redistest.Dial(t, addr)
	other.Do("SET", "big", strings.Repeat("x", 100_000))
	for range 200 {
		if silent.Send([]byte("GET big\r\n")) != nil {
			break // the server has closed the connection
		}
	}
	waitForField(other, "client_output_buffer_limit_disconnections", "1")
	waitForField(other, "connected_clients", "1")
}

func TestAClientAboveTheSoftLimitForTooLongIsClosed(t *testing.T) {
	t.Parallel()
	addr := start(t, []string{"--client-output-buffer-limit", "normal", "0", "1kb", "1"})
	other, silent := redistest.Dial(t, addr), redistest.Dial(t, addr)
	other.Do("SET", "big", strings.Repeat("x", 1_000_000))
	// The replies exceed what the kernel buffers for a client that does not read.
	require.NoError(t, silent.Send([]byte(strings.Repeat("GET big\r\n", 20))))
	waitForField(other, "client_output_buffer_limit_disconnections", "1")
	require.Equal(t, "PONG", string(other.Do("PING").Str))
}

func TestWithoutALimitAClientMayReadAsLateAsItLikes(t *testing.T) {
	addr := start(t, nil)
	other, late := redistest.Dial(t, addr), redistest.Dial(t, addr)
	value := strings.Repeat("x", 1_000_000)
	other.Do("SET", "big", value)
	for range 20 {
		require.NoError(t, late.Send([]byte("GET big\r\n")))
	}
	require.Equal(t, "PONG", string(other.Do("PING").Str))
	for range 20 {
		require.Equal(t, value, string(late.Read().Str))
	}
}

func TestARequestThatOutgrowsTheQueryBufferEndsItsClient(t *testing.T) {
	addr := start(t, []string{"--client-query-buffer-limit", "1mb"})
	other, greedy := redistest.Dial(t, addr), redistest.Dial(t, addr)
	_ = greedy.Send(append([]byte("*2\r\n$3\r\nGET\r\n$10000000\r\n"), make([]byte, 3<<20)...)) // may fail
	requireClosed(t, greedy)
	require.Equal(t, "1", infoField(other, "client_query_buffer_limit_disconnections"))
}

func TestIdleClientsAreClosedButNotMonitors(t *testing.T) {
	t.Parallel() // it waits for a second
	addr := start(t, nil)
	monitor, idle := redistest.Dial(t, addr), redistest.Dial(t, addr)
	monitor.Do("MONITOR")
	idle.Do("CONFIG", "SET", "timeout", "1")
	requireClosed(t, idle)
	require.Equal(t, "PONG", string(monitor.Do("PING").Str))
}

func TestConnectionsBeyondMaxclientsAreRefused(t *testing.T) {
	addr := start(t, []string{"--maxclients", "2"})
	first := redistest.Dial(t, addr)
	first.Do("PING")
	redistest.Dial(t, addr).Do("PING")
	third := redistest.Dial(t, addr)
	require.Equal(t, "ERR max number of clients reached", string(third.Read().Str))
	requireClosed(t, third)
	require.Equal(t, "1", infoField(first, "rejected_connections"))
	require.Equal(t, "OK", string(first.Do("CONFIG", "SET", "maxclients", "3").Str))
	require.Equal(t, "PONG", string(redistest.Dial(t, addr).Do("PING").Str))
}

func TestProtectedModeRefusesOtherMachinesWhileThereIsNoPassword(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	require.NoError(t, err)
	var host string
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			host = ip.IP.String()
		}
	}
	if host == "" {
		t.Skip("this machine has no address but its loopback's")
	}
	_, port, err := net.SplitHostPort(start(t, []string{"--bind", "0.0.0.0"}))
	require.NoError(t, err)
	local := redistest.Dial(t, net.JoinHostPort("127.0.0.1", port))
	remote := redistest.Dial(t, net.JoinHostPort(host, port))
	require.Contains(t, string(remote.Read().Str), "DENIED Redis is running in protected mode")
	requireClosed(t, remote)
	local.Do("CONFIG", "SET", "requirepass", "secret")
	remote = redistest.Dial(t, net.JoinHostPort(host, port))
	require.Equal(t, "NOAUTH Authentication required.", string(remote.Do("PING").Str))
	local.Do("CONFIG", "SET", "requirepass", "", "protected-mode", "no")
	require.Equal(t, "PONG", string(redistest.Dial(t, net.JoinHostPort(host, port)).Do("PING").Str))
}

func TestABrowserIsCutOffWithoutAnAnswer(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	addr := startWithLog(t, nil, func(_ byte, format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, fmt.Sprintf(format, args...))
	})
	for _, request := range []string{"POST / HTTP/1.1\r\n", "Host: localhost\r\n"} {
		c := redistest.Dial(t, addr)
		require.NoError(t, c.Send([]byte(request+"SET k v\r\n")))
		_, err := c.TryRead()
		require.Error(t, err)
	}
	require.Equal(t, "0", string(redistest.Dial(t, addr).Do("EXISTS", "k").String()[1:]))
	mu.Lock()
	defer mu.Unlock()
	require.Regexp(t, regexp.MustCompile("Possible SECURITY ATTACK detected"), strings.Join(lines, "\n"))
	require.Equal(t, 1, strings.Count(strings.Join(lines, "\n"), "Possible SECURITY ATTACK"), "logged once a minute")
}

func TestAHalfClosedConnectionThatWaitsIsGivenUp(t *testing.T) {
	addr := start(t, nil)
	other := redistest.Dial(t, addr)
	for _, request := range []string{"WAIT 1 0\r\n", "SET k v\r\n"} {
		other.Do("CLIENT", "PAUSE", "100000", "WRITE")
		c := redistest.Dial(t, addr)
		require.NoError(t, c.Send([]byte(request)))
		waitForField(other, "blocked_clients", "1")
		require.NoError(t, c.Net.(*net.TCPConn).CloseWrite())
		requireClosed(t, c)
		waitForField(other, "blocked_clients", "0")
		other.Do("CLIENT", "UNPAUSE")
	}
	require.Equal(t, int64(0), other.Do("EXISTS", "k").Int, "what a client that hung up has waited to do is not done")
}

func TestAReplyWhoseLengthTheClientChoosesEndsWithTheConnection(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"HRANDFIELD hash -999999999", "SRANDMEMBER set -999999999", "ZRANDMEMBER zset -999999999",
	} {
		t.Run(command, func(t *testing.T) {
			addr := start(t, []string{"--client-output-buffer-limit", "normal", "1mb", "0", "0"})
			other, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
			other.Do("HSET", "hash", "field", "value")
			other.Do("SADD", "set", "member")
			other.Do("ZADD", "zset", "1", "member")
			require.NoError(t, c.Send(resp.AppendRequest(nil, strings.Fields(command)...)))
			requireClosed(t, c)
			require.Equal(t, "1", infoField(other, "client_output_buffer_limit_disconnections"))
		})
	}
}

// No output limit holds here: there is none, a script has none, and the lab's own requests have none.
func TestAReplyWhoseLengthTheClientChoosesHasALength(t *testing.T) {
	addr := start(t, []string{"--lab", "yes"})
	c := redistest.Dial(t, addr)
	c.Do("HSET", "hash", "field", strings.Repeat("v", 1000))
	c.Do("SADD", "set", strings.Repeat("m", 1000))
	c.Do("ZADD", "zset", "1", strings.Repeat("m", 1000))
	const long = "the reply would be longer than proto-max-bulk-len, which is "
	for _, words := range []string{
		"HRANDFIELD hash -2147483649", "HRANDFIELD hash -4000000000000000000 WITHVALUES",
		"SRANDMEMBER set -9223372036854775807", "ZRANDMEMBER zset -9223372036854775807",
		"ZRANDMEMBER zset -4000000000000000000 WITHSCORES",
	} {
		require.Equal(t, "ERR "+long+"536870912 bytes", c.Do(strings.Fields(words)...).Str, words)
		script := "return redis.pcall('" + strings.Join(strings.Fields(words), "','") + "')"
		require.Equal(t, "ERR "+long+"536870912 bytes", c.Do("EVAL", script, "0").Str, words)
		require.Equal(t, "OK", c.Do("MULTI").Str)
		c.Do(strings.Fields(words)...)
		c.Do("PING")
		both := c.Do("EXEC").Elems
		require.Contains(t, both[0].Str, long)
		require.Equal(t, "PONG", both[1].Str)
	}
	require.Len(t, c.Do("SRANDMEMBER", "set", "-5000").Elems, 5000)

	c.Do("CONFIG", "SET", "proto-max-bulk-len", "1mb", "client-output-buffer-limit", "normal 1gb 0 0")
	for _, words := range []string{
		"HRANDFIELD hash -2000 WITHVALUES", "SRANDMEMBER set -2000", "ZRANDMEMBER zset -2000",
	} {
		require.Equal(t, "ERR "+long+"1048576 bytes", c.Do(strings.Fields(words)...).Str, words)
	}
	require.Len(t, c.Do("SRANDMEMBER", "set", "-1000").Elems, 1000)
	require.Equal(t, "PONG", c.Do("PING").Str)
}

func TestAServerWithATimeLimitForClientsIsIdle(t *testing.T) {
	t.Parallel()
	s := plainServer(t, func(byte, string, ...any) {}, "--timeout", "300")
	idle := make(chan int, 1)
	s.Idle = func(used int) {
		select {
		case idle <- used:
		default:
		}
	}
	c := redistest.Dial(t, run(t, s))
	c.Do("SET", "k", strings.Repeat("x", 1_000_000))
	for used := range idle {
		if used > 1_000_000 {
			return
		}
	}
}
