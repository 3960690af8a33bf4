package node_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// With tls-replication the link is one of TLS, also behind a cut, and for a chain.
func TestALinkOverTLS(t *testing.T) {
	t.Parallel()
	master := startTLS(t, chained...)
	file := func(name string) string { return filepath.Join(master.dir, name) }
	host, port, err := net.SplitHostPort(master.addr)
	require.NoError(t, err)
	args := []string{"--tls-replication", "yes", "--tls-ca-cert-file", file("ca.crt"), "--tls-cert-file",
		file("server.crt"), "--tls-key-file", file("server.key"), "--tls-client-cert-file", file("client.crt"),
		"--tls-client-key-file", file("client.key")}
	top := member{"a", master.plain, redistest.Dial(t, master.plain)}
	replica := newNode(t, "b", append(args, "--replicaof", host+" "+port)...)
	storeAll(top.conn, 1, 2000) // more than a socket takes at once
	requireOneHistory(t, top, replica)
	require.Equal(t, int64(1), top.conn.Do("CLIENT", "KILL", "TYPE", "replica").Int)
	changeAll(top.conn, 2)
	requireOneHistory(t, top, replica)
	require.Equal(t, "1", top.info("sync_partial_ok"))
	require.Regexp(t, regexpOfAddr(master.addr), top.conn.Do("CLIENT", "LIST", "TYPE", "replica").Str)
}

func regexpOfAddr(addr string) string { return "laddr=" + strings.ReplaceAll(addr, ".", `\.`) }

// A master without a certificate of a known CA is left, and so is one that does not speak TLS.
func TestALinkOverTLSNeedsTheRightMaster(t *testing.T) {
	t.Parallel()
	own, other := startTLS(t, chained...), startTLS(t, chained...)
	file := func(name string) string { return filepath.Join(own.dir, name) }
	args := []string{"--tls-replication", "yes", "--tls-ca-cert-file", file("ca.crt"), "--tls-cert-file",
		file("server.crt"), "--tls-key-file", file("server.key"), "--repl-timeout", "2"}
	for _, addr := range []string{other.addr, own.plain} {
		log := &lines{}
		c := redistest.Dial(t, startWithLog(t, append(args, "--replicaof", strings.ReplaceAll(addr, ":", " ")), log.add))
		redistest.Until(t, func() bool {
			return strings.Contains(log.String(), "Error condition on socket for SYNC: ") ||
				strings.Contains(log.String(), "Timeout connecting to the MASTER")
		})
		require.Equal(t, "down", infoField(c, "master_link_status"))
		require.Equal(t, "PONG", c.Do("PING").Str)
	}
}

// A replica that has told nothing is not counted, whatever was written before it came.
func TestWhatWasWrittenBeforeAReplicaCameIsNotAcknowledged(t *testing.T) {
	for _, n := range []member{newNode(t, "ours", "--appendonly", "yes"), redisNode(t)} {
		require.Equal(t, "OK", n.conn.Do("CONFIG", "SET", "appendonly", "yes").Str)
		require.Equal(t, "OK", n.conn.Do("SET", "k", "v").Str)
		f := newFollower(t, n.addr)
		require.Equal(t, "+OK", f.ask("REPLCONF", "capa", "eof"))
		f.ask("PSYNC", "?", "-1")
		f.keys()
		redistest.Until(t, func() bool { return strings.Contains(n.info("slave0"), "state=online") })
		require.Equal(t, int64(0), n.conn.Do("WAIT", "1", "10").Int, n.name)
		f.send("REPLCONF", "ACK", "1000")
		require.Equal(t, int64(1), n.conn.Do("WAIT", "1", "20000").Int, n.name)
		require.Equal(t, int64(0), n.conn.Do("WAITAOF", "0", "1", "10").Elems[1].Int, n.name+": it has no file")
		f.send("REPLCONF", "ACK", "1000", "FACK", "1000") // the GETACK of WAIT counts, too
		require.Equal(t, int64(1), n.conn.Do("WAITAOF", "0", "1", "20000").Elems[1].Int, n.name)
	}
}

// WAITAOF counts the replicas whose append only file has the write on the disk.
func TestWAITAOFCountsReplicas(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (master, replica member){
		"ours": func(t *testing.T) (master, replica member) {
			return newNode(t, "a"), newNode(t, "b", "--appendonly", "yes", "--appendfsync", "always")
		},
		"ours, every second": func(t *testing.T) (master, replica member) {
			return newNode(t, "a", "--appendonly", "yes"), newNode(t, "b", "--appendonly", "yes")
		},
		"ours behind redis": func(t *testing.T) (master, replica member) {
			return redisNode(t), newNode(t, "b", "--appendonly", "yes")
		},
		"redis behind ours": func(t *testing.T) (master, replica member) {
			return newNode(t, "a", "--appendonly", "yes"), redisNode(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, replica := start(t)
			replica.follows(t, master)
			replica.conn.Do("CONFIG", "SET", "appendonly", "yes")
			redistest.Until(t, func() bool { return replica.info("aof_rewrite_in_progress") == "0" })
			master.conn.Do("SET", "k", "v")
			require.Equal(t, int64(1), master.conn.Do("WAITAOF", "0", "1", "0").Elems[1].Int)
			master.conn.Do("SET", "k", "w")
			master.conn.Do("MULTI")
			master.conn.Do("SET", "k", "x")
			master.conn.Do("WAITAOF", "0", "5", "0")
			require.Equal(t, int64(0), master.conn.Do("EXEC").Elems[1].Elems[1].Int, "it does not wait there")

			replica.conn.Do("CONFIG", "SET", "appendonly", "no")
			master.conn.Do("SET", "k", "y")
			require.Equal(t, int64(0), master.conn.Do("WAITAOF", "0", "1", "10").Elems[1].Int)
			require.Equal(t, int64(1), master.conn.Do("WAIT", "1", "0").Int)
		})
	}
}

const emptyFile = "REDIS0011\xff\x00\x00\x00\x00\x00\x00\x00\x00"

// A master of before Redis 2.8 sends all data, and a stream without offsets.
func TestAMasterThatKnowsOnlySYNC(t *testing.T) {
	old := impostor(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			line, err := in.ReadString('\n')
			switch {
			case err != nil:
				return
			case strings.HasPrefix(line, "PING"):
				fmt.Fprint(c, "+PONG\r\n")
			case strings.HasPrefix(line, "listening-port"), strings.HasPrefix(line, "psync2"),
				strings.HasPrefix(line, "PSYNC"):
				fmt.Fprint(c, "-ERR unknown command\r\n")
			case strings.HasPrefix(line, "SYNC"):
				fmt.Fprint(c, "$"+strconv.Itoa(len(emptyFile))+"\r\n"+emptyFile+"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n")
				_, _ = io.Copy(io.Discard, in)
				return
			}
		}
	})
	replica, last := newNode(t, "b"), newNode(t, "c")
	replica.orders(t, member{addr: old})
	redistest.Until(t, func() bool { return replica.conn.Do("GET", "k").Str == "v" })
	last.follows(t, replica)
	require.Equal(t, "v", last.conn.Do("GET", "k").Str)
}

// A link that is closed in the middle of a transaction executes nothing more, also if the rest has come already. The
// next one asks for the whole transaction.
func TestAClosedLinkExecutesNoRestOfATransaction(t *testing.T) {
	requests := func(lines ...string) (all string) {
		for _, line := range lines {
			all += string(resp.AppendRequest(nil, strings.Fields(line)...))
		}
		return all
	}
	before, head, rest := requests("SET a 1"), requests("MULTI", "SET b 1"), requests("SET c 1", "EXEC", "SET d 1")
	more, asked := make(chan string, 1), make(chan string, 9)
	defer close(more)
	master := impostor(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			line, err := in.ReadString('\n')
			switch {
			case err != nil:
				return
			case strings.HasPrefix(line, "PING"):
				fmt.Fprint(c, "+PONG\r\n")
			case strings.HasPrefix(line, "listening-port"), strings.HasPrefix(line, "psync2"):
				fmt.Fprint(c, "+OK\r\n")
			case strings.HasPrefix(line, "PSYNC"):
				for range 4 { // "$40", ID, "$2", offset
					line, _ = in.ReadString('\n')
				}
				if asked <- strings.TrimSpace(line); len(asked) == 1 {
					fmt.Fprintf(c, "+FULLRESYNC %040d 0\r\n$%d\r\n%s%s", 1, len(emptyFile), emptyFile, before+head)
					fmt.Fprint(c, <-more)
				}
			}
		}
	})
	replica := newNode(t, "b")
	replica.orders(t, member{addr: master})
	waitForField(replica.conn, "slave_read_repl_offset", strconv.Itoa(len(before+head)))
	require.Equal(t, "OK", replica.conn.Do("CLIENT", "PAUSE", "3600000", "WRITE").Str)
	more <- rest
	waitForField(replica.conn, "slave_read_repl_offset", strconv.Itoa(len(before+head+rest)))
	require.NoError(t, replica.conn.Send([]byte("CLIENT UNPAUSE\r\nCLIENT KILL TYPE master\r\n")))
	require.Equal(t, "OK", replica.conn.Read().Str)
	require.Equal(t, int64(1), replica.conn.Read().Int)
	<-asked
	require.Equal(t, strconv.Itoa(len(before)+1), <-asked)
	require.Equal(t, int64(1), replica.conn.Do("EXISTS", "a", "b", "c", "d").Int)
}

// A writable replica deletes the keys to which its clients have given a time. Those of the master wait for it.
func TestKeysOfClientsExpireOnAWritableReplica(t *testing.T) {
	t.Parallel()
	master, replica := newNode(t, "a"), newNode(t, "b", "--replica-read-only", "no")
	replica.follows(t, master)
	master.conn.Do("DEBUG", "SET-ACTIVE-EXPIRE", "0")
	master.conn.Do("SET", "dying", "v", "PX", "1")
	caughtUp(t, master.conn, replica.conn)
	replica.conn.Do("SET", "own", "v", "PX", "1")
	replica.conn.Do("EVAL", "redis.call('SET', KEYS[1], 'v', 'PX', 1)", "1", "scripted")
	replica.conn.Do("SET", "kept", "v", "PX", "1000000")
	replica.conn.Do("SET", "kept", "v")
	redistest.Until(t, func() bool { return replica.conn.Do("DBSIZE").Int == 2 })
	require.Equal(t, "2", replica.info("expired_keys"))
	waitForField(replica.conn, "slave_expires_tracked_keys", "0")
}

// A pause on a replica keeps changes of the master from being executed. They are read, as INFO shows.
func TestAPausedReplicaReadsAhead(t *testing.T) {
	t.Parallel()
	master, replica := newNode(t, "a"), newNode(t, "b")
	replica.follows(t, master)
	before := replica.info("slave_repl_offset")
	require.Equal(t, "OK", replica.conn.Do("CLIENT", "PAUSE", "3600000", "WRITE").Str)
	master.conn.Do("SET", "k", "v")
	waitForField(replica.conn, "slave_read_repl_offset", master.info("master_repl_offset"))
	require.Equal(t, before, replica.info("slave_repl_offset"))
	require.True(t, replica.conn.Do("GET", "k").Null)
	storeAll(master.conn, 1, 2000) // more than is read
	require.Equal(t, "OK", replica.conn.Do("CLIENT", "UNPAUSE").Str)
	requireOneHistory(t, master, replica)
}
