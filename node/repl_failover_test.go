package node_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// A master hands over to a replica that has everything. Nothing is lost, and nobody needs a full synchronization.
func TestAFailoverHandsEverythingOver(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) (from, to member){
		"ours to ours":   func(t *testing.T) (from, to member) { return newNode(t, "a"), newNode(t, "b") },
		"ours to redis":  func(t *testing.T) (from, to member) { return newNode(t, "a"), redisNode(t) },
		"valkey to ours": func(t *testing.T) (from, to member) { return valkeyNode(t), newNode(t, "b") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := start(t)
			third := newNode(t, "c")
			to.follows(t, from)
			third.follows(t, from)
			changeAll(from.conn, 1)
			host, port, _ := net.SplitHostPort(to.addr)
			writer := redistest.Dial(t, from.addr)
			require.Equal(t, "OK", from.conn.Do("FAILOVER", "TO", host, port, "TIMEOUT", "60000").Str)
			require.NoError(t, writer.Send(resp.AppendRequest(nil, "SET", "k", "v")))
			require.Regexp(t, "^READONLY", writer.Read().Str)
			waitForField(from.conn, "role", "slave")
			waitForField(to.conn, "role", "master")
			changeAll(to.conn, 2)
			requireOneHistory(t, to, from, third)
			require.Equal(t, "no-failover", from.info("master_failover_state"))
			require.Equal(t, "0", to.info("sync_full"))
			require.Equal(t, "1", to.info("sync_partial_ok"))
			require.Equal(t, "2", from.info("sync_full"))
		})
	}
}

// What FAILOVER refuses, it refuses as Redis does.
func TestAFailoverAnswersAsInRedis(t *testing.T) {
	ours, theirs := newNode(t, "ours"), redisNode(t)
	for _, n := range []member{ours, theirs} {
		f := newFollower(t, n.addr)
		f.sync() // it acknowledges nothing more
		n.conn.Do("SET", "k", "v")
	}
	for _, line := range []string{
		"FAILOVER ABORT", "FAILOVER TO", "FAILOVER TO localhost", "FAILOVER TO localhost x", "FAILOVER FORCE",
		"FAILOVER TIMEOUT 0", "FAILOVER TIMEOUT x", "FAILOVER TO 127.0.0.1 1", "FAILOVER FORCE TIMEOUT 10",
		"FAILOVER TO 127.0.0.1 7777 FORCE", "FAILOVER ABORT NOW", "FAILOVER FORCE FORCE", "PSYNC ? -1 FAILOVER",
		"FAILOVER TO 127.0.0.1 7777", "FAILOVER", "REPLICAOF NO ONE", "REPLICAOF 127.0.0.1 1", "PSYNC ? -1",
		"FAILOVER ABORT", "FAILOVER ABORT", "SET k w", "FAILOVER TIMEOUT 3600000", "CLIENT UNPAUSE", "FAILOVER ABORT",
	} {
		want := theirs.conn.Do(strings.Fields(line)...)
		require.Equal(t, want, ours.conn.Do(strings.Fields(line)...), line)
		require.Equal(t, theirs.info("master_failover_state"), ours.info("master_failover_state"), line)
	}
}

// A replica that lacks something keeps the failover waiting. Then the master stays the master, unless FORCE is given.
func TestAFailoverWithoutAReplicaThatHasEverything(t *testing.T) {
	n := newNode(t, "a")
	f := newFollower(t, n.addr)
	f.sync()
	n.conn.Do("SET", "k", "v")
	writer := redistest.Dial(t, n.addr)
	require.Equal(t, "OK", n.conn.Do("FAILOVER", "TIMEOUT", "50").Str)
	require.NoError(t, writer.Send(resp.AppendRequest(nil, "SET", "k", "w")))
	require.Equal(t, "waiting-for-sync", n.info("master_failover_state"))
	require.Equal(t, "OK", writer.Read().Str, "after the pause")
	require.Equal(t, "no-failover", n.info("master_failover_state"))
	require.Equal(t, "master", n.info("role"))

	require.Equal(t, "OK", n.conn.Do("FAILOVER", "TO", "127.0.0.1", "7777", "TIMEOUT", "1", "FORCE").Str)
	waitForField(n.conn, "role", "slave")
	require.Equal(t, "failover-in-progress", n.info("master_failover_state"), "nobody listens there")
	require.Regexp(t, "^READONLY", writer.Do("SET", "k", "x").Str)
	require.Equal(t, "OK", n.conn.Do("FAILOVER", "ABORT").Str)
	require.Equal(t, "OK", writer.Do("SET", "k", "x").Str)
	require.Equal(t, "master", n.info("role"))
}

// A target that refuses leaves the master the master. CLIENT PAUSE has a time of its own.
func TestATargetThatRefusesAFailover(t *testing.T) {
	target, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { target.Close() })
	n := newNode(t, "a")
	f := newFollower(t, n.addr)
	_, port, _ := net.SplitHostPort(target.Addr().String())
	require.Equal(t, "+OK", f.ask("REPLCONF", "listening-port", port))
	require.Equal(t, "+OK", f.ask("REPLCONF", "capa", "eof"))
	words := strings.Fields(f.ask("PSYNC", "?", "-1"))
	f.keys()
	redistest.Until(t, func() bool { return strings.Contains(n.info("slave0"), "state=online") })
	f.send("REPLCONF", "ACK", words[2])
	require.Equal(t, "OK", n.conn.Do("CLIENT", "PAUSE", "3600000", "WRITE").Str)
	require.Equal(t, "OK", n.conn.Do("FAILOVER").Str)
	f.send("REPLCONF", "ACK", n.info("master_repl_offset"))
	link, err := target.Accept()
	require.NoError(t, err)
	_, err = io.WriteString(link, "+PONG\r\n+OK\r\n+OK\r\n-ERR PSYNC FAILOVER replid must match my replid.\r\n")
	require.NoError(t, err)
	waitForField(n.conn, "master_failover_state", "no-failover")
	require.Equal(t, "master", n.info("role"))
	writer := redistest.Dial(t, n.addr)
	require.NoError(t, writer.Send(resp.AppendRequest(nil, "SET", "k", "v")))
	redistest.Until(t, func() bool { return strings.Contains(n.conn.Do("CLIENT", "LIST").Str, " flags=b ") })
	require.Equal(t, "OK", n.conn.Do("CLIENT", "UNPAUSE").Str)
	require.Equal(t, "OK", writer.Read().Str)
}
