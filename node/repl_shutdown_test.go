package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// lagging returns two connections that wait in SHUTDOWN, because a replica has not told that it has everything, and one
// whose write is held back.
func lagging(t *testing.T, n member) (f *follower, ends []*redistest.Conn, writer *redistest.Conn) {
	f = newFollower(t, n.addr)
	f.sync()
	redistest.Until(t, func() bool { return strings.Contains(n.info("slave0"), "state=online") })
	n.conn.Do("SET", "k", "v")
	for range 2 {
		c := redistest.Dial(t, n.addr)
		require.NoError(t, c.Send(resp.AppendRequest(nil, "SHUTDOWN", "NOSAVE")))
		ends = append(ends, c)
	}
	waitForField(n.conn, "blocked_clients", "2")
	writer = redistest.Dial(t, n.addr)
	require.NoError(t, writer.Send(resp.AppendRequest(nil, "SET", "k", "w")))
	f.until(getAck)
	return f, ends, writer
}

const getAck = "*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n"

// A server that ends waits until its replica has everything. Redis does the same.
func TestAShutdownWaitsForReplicas(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) member{
		"ours":  func(t *testing.T) member { return newNode(t, "ours") },
		"queue": func(t *testing.T) member { return newNode(t, "ours", "--exec", "queue") },
		"redis": redisNode,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t)
			f, ends, writer := lagging(t, n)
			require.NotEmpty(t, n.info("shutdown_in_milliseconds"))
			f.send("REPLCONF", "ACK", n.info("master_repl_offset"))
			for _, c := range append(ends, writer) {
				_, err := c.TryRead()
				require.Error(t, err, "the server has ended, and the write was not executed")
			}
		})
	}
}

// SHUTDOWN ABORT makes the server go on, and what was held back is executed.
func TestAShutdownThatWaitsIsAborted(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) member{
		"ours":  func(t *testing.T) member { return newNode(t, "ours") },
		"redis": redisNode,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t)
			_, ends, writer := lagging(t, n)
			require.Equal(t, "OK", n.conn.Do("SHUTDOWN", "ABORT").Str)
			for _, c := range ends {
				require.Equal(t, "ERR Errors trying to SHUTDOWN. Check logs.", c.Read().Str)
			}
			require.Equal(t, "OK", writer.Read().Str)
			require.Equal(t, "ERR No shutdown in progress.", n.conn.Do("SHUTDOWN", "ABORT").Str)
			require.Empty(t, n.info("shutdown_in_milliseconds"))
		})
	}
}

// NOW and a timeout of 0 wait for nobody.
func TestAShutdownThatWaitsForNobody(t *testing.T) {
	for _, request := range [][]string{{"SHUTDOWN", "NOW"}, {"SHUTDOWN"}} {
		n := newNode(t, "ours")
		newFollower(t, n.addr).sync()
		n.conn.Do("SET", "k", "v")
		if len(request) == 1 {
			require.Equal(t, "OK", n.conn.Do("CONFIG", "SET", "shutdown-timeout", "0").Str)
		}
		require.NoError(t, n.conn.Send(resp.AppendRequest(nil, request...)))
		_, err := n.conn.TryRead()
		require.Error(t, err)
	}
}

// A replica that is asked to end, and has a replica that lags, adds nothing to the stream of its master.
func TestAShutdownOfAReplicaLeavesTheStreamAsItIs(t *testing.T) {
	top, middle := newNode(t, "a"), newNode(t, "b")
	middle.follows(t, top)
	newFollower(t, middle.addr).sync() // it acknowledges nothing more
	top.conn.Do("SET", "k", "v")
	requireOneHistory(t, top, middle)
	require.NoError(t, redistest.Dial(t, middle.addr).Send([]byte("SHUTDOWN NOSAVE\r\n")))
	redistest.Until(t, func() bool { return middle.info("shutdown_in_milliseconds") != "" })
	require.Equal(t, "OK", middle.conn.Do("SHUTDOWN", "ABORT").Str)
	top.conn.Do("SET", "k", "w")
	requireOneHistory(t, top, middle)
}
