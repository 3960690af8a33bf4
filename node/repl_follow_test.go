package node_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// A replica of ours and one of Redis answer alike, to everything that a replica refuses or does in another way.
func TestAReplicaAnswersAsRedisDoes(t *testing.T) {
	theirs := redistest.Start(t, "--repl-diskless-sync-delay", "0")
	master := redistest.Dial(t, theirs.Addr)
	master.Do("SET", "key", "value")
	master.Do("SET", "dying", "value", "PX", "1")
	redistest.Until(t, func() bool { return master.Do("EXISTS", "dying").Int == 0 })
	master.Do("FUNCTION", "LOAD", exchangeLibrary)
	ours, _ := replicaOf(t, theirs.Addr)
	oracle := redistest.Start(t)
	other := redistest.Dial(t, oracle.Addr)
	host, port, _ := net.SplitHostPort(theirs.Addr)
	require.Equal(t, "OK", other.Do("REPLICAOF", host, port).Str)
	redistest.Until(t, func() bool { return infoText(other, "replication", "master_link_status") == "up" })

	for _, line := range []string{
		"GET key", "SET key x", "DEL key", "INCR key", "FLUSHALL", "EXPIRE key 10", "GETEX key EX 10", "GETEX key",
		"SPOP s", "PUBLISH c m", "BLPOP l 1", "XREAD COUNT 1 STREAMS s 0", "PFCOUNT key", "SORT key STORE x", "SORT l",
		"MULTI", "GET key", "SET key x", "EXEC", "MULTI", "GET key", "EXEC", "WATCH key", "UNWATCH",
		"EVAL return(redis.call('GET','key')) 0", "EVAL return(redis.call('SET','key','x')) 0",
		"EVAL return(redis.pcall('SET','key','x').err) 0", "EVAL_RO return(redis.call('GET','key')) 0",
		"FCALL one 0", "FCALL_RO one 0", "FUNCTION FLUSH", "FUNCTION STATS", "SCRIPT FLUSH",
		"WAIT 0 1", "WAIT 1 1", "WAIT x y", "WAITAOF 0 0 0", "WAITAOF 1 0 x", "COPY key other", "RESTORE x 0 y",
		"BITFIELD key GET u8 0", "BITFIELD key SET u8 0 1", "REPLICAOF " + host + " " + port, "REPLICAOF a b",
		"REPLICAOF a 70000", "SLAVEOF a -1", "ROLE", "CLIENT KILL TYPE slave", "CONFIG GET replicaof",
		"CONFIG SET replicaof no", "DEBUG DIGEST", "DBSIZE", "TTL dying", "EXISTS dying",
		"CONFIG SET replica-read-only no", "SET key x", "EXPIRE key 100", "GET key", "DEL key",
		"EVAL return(redis.call('SET','key','x')) 0", "CONFIG SET replica-read-only yes", "SET key x",
	} {
		args := strings.Fields(line)
		if args[0] == "WAITAOF" && redistest.Older(oracle.Version, "7.2") {
			continue
		}
		want, got := other.Do(args...), ours.Do(args...)
		if line == "ROLE" || line == "FUNCTION STATS" { // offsets move, engines differ
			want, got = want.Elems[1], got.Elems[1]
		}
		require.Equal(t, want, got, line)
	}
	for _, script := range []string{"#!lua\nreturn 1", "#!lua flags=no-writes\nreturn 1"} {
		require.Equal(t, other.Do("EVAL", script, "0"), ours.Do("EVAL", script, "0"), script)
	}
	for _, field := range []string{"role", "master_host", "master_port", "master_link_status", "master_sync_in_progress",
		"slave_priority", "slave_read_only", "replica_announced", "connected_slaves", "master_replid", "master_replid2",
		"second_repl_offset", "master_failover_state"} {
		require.Equal(t, infoText(other, "replication", field), infoText(ours, "replication", field), field)
	}
	require.Equal(t, "replica", field(ours.Do("HELLO", "3"), "role").Str)
}

// While the link is down, a replica that must not serve stale data answers as Redis does.
func TestAReplicaWithoutItsMasterServesOnlyIfItMay(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	host, port, _ := net.SplitHostPort(closed.Addr().String())
	require.NoError(t, closed.Close())
	args := []string{"--replicaof", host + " " + port, "--replica-serve-stale-data", "no"}
	oracle := redistest.Dial(t, redistest.Start(t, args...).Addr)
	ours := redistest.Dial(t, start(t, args))
	for _, line := range []string{
		"GET key", "SET key x", "PING", "INFO x", "MULTI", "PING", "GET key", "EXEC", "EVAL return(1) 0",
		"EVAL return(redis.call('GET','x')) 0", "EVAL return(redis.call('PING')) 0", "ROLE", "CONFIG GET hz", "SUBSCRIBE c",
		"UNSUBSCRIBE c", "PUBLISH c m", "CONFIG SET replica-serve-stale-data yes", "GET key",
	} {
		want, got := oracle.Do(strings.Fields(line)...), ours.Do(strings.Fields(line)...)
		if line == "ROLE" {
			want, got = want.Elems[0], got.Elems[0]
		}
		require.Equal(t, want, got, line)
	}
	script := "#!lua flags=allow-stale,no-writes\nreturn 1"
	require.Equal(t, oracle.Do("EVAL", script, "0"), ours.Do("EVAL", script, "0"))
}

// The master says when a key has expired. Until then its replica hides it.
func TestAReplicaHidesWhatHasExpiredAndKeepsIt(t *testing.T) {
	t.Parallel()
	theirs := redistest.Start(t, "--repl-diskless-sync-delay", "0")
	master := redistest.Dial(t, theirs.Addr)
	master.Do("DEBUG", "SET-ACTIVE-EXPIRE", "0")
	replica, _ := replicaOf(t, theirs.Addr)
	master.Do("SET", "gone", "value", "PX", "1")
	master.Do("HSET", "kept", "f", "v")
	caughtUp(t, master, replica)
	redistest.Until(t, func() bool { return replica.Do("GET", "gone").Null })
	require.Equal(t, int64(2), replica.Do("DBSIZE").Int)
	require.Equal(t, int64(0), replica.Do("EXISTS", "gone").Int)
	require.Len(t, replica.Do("KEYS", "*").Elems, 1)
	require.True(t, master.Do("GET", "gone").Null)
	caughtUp(t, master, replica)
	require.Equal(t, int64(1), replica.Do("DBSIZE").Int)
}

// maxmemory is the master's business, unless replica-ignore-maxmemory says no.
func TestAReplicaEvictsNothingByItself(t *testing.T) {
	t.Parallel()
	theirs := redistest.Start(t, "--repl-diskless-sync-delay", "0")
	master := redistest.Dial(t, theirs.Addr)
	replica, _ := replicaOf(t, theirs.Addr, "--maxmemory", "1mb", "--maxmemory-policy", "allkeys-random")
	for i := range 100 {
		master.Do("SET", "key:"+strconv.Itoa(i), strings.Repeat("x", 50_000))
	}
	caughtUp(t, master, replica)
	require.Equal(t, int64(100), replica.Do("DBSIZE").Int)
	require.Equal(t, "OK", replica.Do("CONFIG", "SET", "replica-ignore-maxmemory", "no").Str)
	redistest.Until(t, func() bool { return replica.Do("DBSIZE").Int < 100 })
}

func TestAPromotedReplicaKeepsItsDataAndTheOldID(t *testing.T) {
	theirs := redistest.Start(t, "--repl-diskless-sync-delay", "0")
	master := redistest.Dial(t, theirs.Addr)
	replica, _ := replicaOf(t, theirs.Addr)
	master.Do("SET", "key", "value")
	caughtUp(t, master, replica)
	id := infoText(master, "replication", "master_replid")
	require.Equal(t, id, infoText(replica, "replication", "master_replid"))
	require.Contains(t, replica.Do("CLIENT", "LIST", "TYPE", "master").Str, " flags=M ")

	require.Equal(t, "OK", replica.Do("REPLICAOF", "NO", "ONE").Str)
	require.Equal(t, "master", infoText(replica, "replication", "role"))
	require.Equal(t, id, infoText(replica, "replication", "master_replid2"))
	require.NotEqual(t, id, infoText(replica, "replication", "master_replid"))
	require.Equal(t, "OK", replica.Do("SET", "own", "value", "PX", "1").Str)
	redistest.Until(t, func() bool { return replica.Do("DBSIZE").Int == 1 })
	require.Equal(t, "value", replica.Do("GET", "key").Str)
	require.Empty(t, replica.Do("CLIENT", "LIST", "TYPE", "master").Str)
}

func TestAServerDoesNotFollowItself(t *testing.T) {
	addr := start(t, nil)
	c := redistest.Dial(t, addr)
	_, port, _ := net.SplitHostPort(addr)
	for _, host := range []string{"127.0.0.1", "localhost", "::1"} {
		require.Equal(t, "ERR REPLICAOF refused: this is the server itself", c.Do("REPLICAOF", host, port).Str)
	}
	require.Equal(t, "master", infoText(c, "replication", "role"))
}

// Clients that wait for a key of a master would wait for ever.
func TestWaitsEndWhenAMasterBecomesAReplica(t *testing.T) {
	theirs := redistest.Start(t)
	host, port, _ := net.SplitHostPort(theirs.Addr)
	addr := start(t, nil)
	waiting, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
	require.NoError(t, waiting.Send(resp.AppendRequest(nil, "BLPOP", "list", "0")))
	redistest.Until(t, func() bool { return strings.Contains(c.Do("CLIENT", "LIST").Str, " flags=b ") })
	require.Equal(t, "OK", c.Do("REPLICAOF", host, port).Str)
	require.Equal(t, "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
		waiting.Read().Str)
	_, err := waiting.TryRead()
	require.ErrorIs(t, err, io.EOF)
}

func TestAPasswordOfTheMasterStandsNowhere(t *testing.T) {
	t.Parallel()
	theirs := redistest.Start(t, "--requirepass", "sesame", "--repl-diskless-sync-delay", "0")
	replica, log := replicaOf(t, theirs.Addr, "--masterauth", "sesame", "--loglevel", "debug")
	watcher := redistest.Dial(t, replica.Net.RemoteAddr().String())
	watcher.Do("MONITOR")
	replica.Do("CONFIG", "SET", "masterauth", "sesame")
	replica.Do("PING")
	for seen := ""; !strings.Contains(seen, "PING"); require.NotContains(t, seen, "sesame") {
		seen = watcher.Read().Str
	}
	require.NotContains(t, log.String(), "sesame")
}

// A replica with an append only file begins it anew with the keys of its master.
func TestTheAppendOnlyFileOfAReplicaHasWhatItsMasterHas(t *testing.T) {
	theirs := redistest.Start(t, "--repl-diskless-sync-delay", "0")
	master := redistest.Dial(t, theirs.Addr)
	storeAll(master, 3, 300)
	dir := t.TempDir()
	l := born(t, dir, "--appendonly", "yes", "--replicaof", strings.ReplaceAll(theirs.Addr, ":", " "))
	replica := l.dial()
	redistest.Until(t, func() bool { return infoText(replica, "replication", "master_link_status") == "up" })
	churn(master, rand.New(rand.NewPCG(1, 1)), 500)
	settle(master)
	overdue := regexp.MustCompile(`expires=[1-9]`)
	redistest.Until(t, func() bool { return !overdue.MatchString(master.Do("INFO", "keyspace").Str) })
	caughtUp(t, master, replica)
	want := master.Do("DEBUG", "DIGEST").Str
	require.Equal(t, want, replica.Do("DEBUG", "DIGEST").Str)
	redistest.Until(t, func() bool { return infoText(replica, "persistence", "aof_rewrite_in_progress") == "0" })
	l.kill()
	require.Equal(t, want, born(t, dir, "--appendonly", "yes").dial().Do("DEBUG", "DIGEST").Str)
}

// impostor accepts one link after the other, and says the same to each.
func impostor(t *testing.T, says func(c net.Conn)) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			says(c)
			c.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}

// greet is the handshake of a master, up to a full synchronization.
func greet(c net.Conn, file string) {
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
			fmt.Fprint(c, "+FULLRESYNC "+strings.Repeat("a", 40)+" 0\r\n"+file)
			return
		}
	}
}

// An impostor costs a line in the log. The old keys stay, or go as the directive says. Clients are served.
func TestAMasterThatSendsNonsenseIsLeft(t *testing.T) {
	t.Parallel()
	empty := "REDIS0011\xff\x00\x00\x00\x00\x00\x00\x00\x00"
	mark := strings.Repeat("m", 40)
	for name, test := range map[string]struct{ file, why string }{
		"garbage in the file":   {"$30\r\n" + strings.Repeat("garbage...", 3), "no RDB file"},
		"a length too long":     {"$26\r\n" + empty + "*1\r\n$4\r\n", "there are bytes behind the end of the file"},
		"a length too short":    {"$10\r\n" + empty, "ends too early"},
		"a file without an end": {"$EOF:" + mark + "\r\n" + empty[:9] + mark, "the end mark is missing"},
		"a huge string": {"$EOF:" + mark + "\r\nREDIS0011\x00\x01k\x81\x0f\xff\xff\xff\xff\xff\xff\xff" + mark,
			"ends too early"},
		"an error":            {"-ERR no space left\r\n", "MASTER aborted replication"},
		"HTTP":                {"HTTP/1.1 200 OK\r\n", "the first byte is not '$'"},
		"garbage in a stream": {"$18\r\n" + empty + "*9999999999\r\n", "invalid multibulk length"},
		"words in a stream":   {"$18\r\n" + empty + "SET inline v\r\n", "Receiving inline protocol from master"},
	} {
		for _, how := range []string{"disabled", "on-empty-db", "swapdb"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				addr := impostor(t, func(c net.Conn) { greet(c, test.file) })
				log := &lines{}
				replica := redistest.Dial(t, startWithLog(t, []string{"--repl-diskless-load", how}, log.add))
				replica.Do("SET", "old", "value")
				host, port, _ := net.SplitHostPort(addr)
				require.Equal(t, "OK", replica.Do("REPLICAOF", host, port).Str)
				redistest.Until(t, func() bool { return strings.Contains(log.String(), test.why) })
				redistest.Until(t, func() bool { return replica.Do("GET", "old").Kind != '-' })
				if strings.Contains(name, "stream") {
					redistest.Until(t, func() bool { return strings.Count(log.String(), "(no cached master)") > 1 })
					require.Zero(t, replica.Do("EXISTS", "inline").Int)
				} else if how == "swapdb" {
					require.Equal(t, "value", replica.Do("GET", "old").Str)
				}
			})
		}
	}
}

// A master that sends nothing is given up after repl-timeout.
func TestAMasterThatSaysNothingIsLeft(t *testing.T) {
	t.Parallel()
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	for _, says := range []func(net.Conn){silent, func(c net.Conn) { greet(c, ""); silent(c) },
		func(c net.Conn) { greet(c, "$18\r\nREDIS"); silent(c) }} {
		log := &lines{}
		host, port, _ := net.SplitHostPort(impostor(t, says))
		args := []string{"--repl-timeout", "1", "--replicaof", host + " " + port}
		replica := redistest.Dial(t, startWithLog(t, args, log.add))
		redistest.Until(t, func() bool {
			return strings.Contains(log.String(), "Timeout connecting to the MASTER") ||
				strings.Contains(log.String(), "Timeout receiving bulk data from MASTER")
		})
		require.Equal(t, "PONG", replica.Do("PING").Str)
	}
}

// A file without keys that goes on and on takes neither memory nor the time of clients.
func TestAnEndlessFileHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	total := amount.Count(32<<20, 128<<20)
	note := "\xfa\x01a\x41\x00" + strings.Repeat("x", 256)
	endless := func(c net.Conn) {
		greet(c, "$EOF:"+strings.Repeat("m", 40)+"\r\nREDIS0011")
		for range total / len(note) / 100 {
			_, _ = io.WriteString(c, strings.Repeat(note, 100))
		}
	}
	host, port, _ := net.SplitHostPort(impostor(t, endless))
	replica := redistest.Dial(t, start(t, []string{"--repl-diskless-load", "swapdb"}))
	replica.Do("SET", "old", "value")
	before, _ := strconv.Atoi(infoText(replica, "memory", "used_memory"))
	require.Equal(t, "OK", replica.Do("REPLICAOF", host, port).Str)
	redistest.Until(t, func() bool {
		n, _ := strconv.Atoi(infoText(replica, "replication", "master_sync_read_bytes"))
		return n > total/4*3
	})
	after, _ := strconv.Atoi(infoText(replica, "memory", "used_memory"))
	require.Less(t, after, before+(8<<20))
	redistest.Until(t, func() bool { return replica.Do("GET", "old").Str == "value" })
}

// While other databases are filled beside the old ones, what belongs to the files stands still.
func TestLoadingBesideTheOldKeysKeepsTheFiles(t *testing.T) {
	empty := "REDIS0011\xff\x00\x00\x00\x00\x00\x00\x00\x00"
	first, end := true, make(chan struct{})
	host, port, _ := net.SplitHostPort(impostor(t, func(c net.Conn) {
		if first {
			first = false
			greet(c, "$18\r\n"+empty)
			return
		}
		greet(c, "$100\r\nREDIS0011")
		<-end
	}))
	replica := redistest.Dial(t, start(t, []string{"--repl-diskless-load", "swapdb", "--replicaof", host + " " + port}))
	defer close(end)
	redistest.Until(t, func() bool { return infoField(replica, "async_loading") == "1" })
	for _, request := range []string{"CONFIG SET appendonly no", "CONFIG SET dir /tmp", "REPLICAOF NO ONE"} {
		require.Regexp(t, "^LOADING", replica.Do(strings.Fields(request)...).Str, request)
	}
	require.Equal(t, "OK", replica.Do("CONFIG", "SET", "maxmemory", "0").Str)
}

// A replica that keeps its data on the disk leaves no part of a file there.
func TestAFileThatDoesNotComeLeavesNothingOnTheDisk(t *testing.T) {
	t.Parallel()
	dir, end := t.TempDir(), make(chan struct{})
	defer close(end)
	host, port, _ := net.SplitHostPort(impostor(t, func(c net.Conn) {
		greet(c, "$100\r\nREDIS0011")
		<-end // the state that the test waits for must last
	}))
	l := born(t, dir, "--replicaof", host+" "+port)
	replica := l.dial()
	redistest.Until(t, func() bool { return infoText(replica, "replication", "master_sync_in_progress") == "1" })
	replica.Do("REPLICAOF", "NO", "ONE")
	require.Empty(t, filesIn(t, dir))
}
