package node_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// A connection that breaks while keys are sent, or a replica that stays behind, gets what it lacks.
func TestWhoGetsOnlyWhatItLacks(t *testing.T) {
	t.Parallel()
	addr := start(t, []string{"--repl-diskless-sync-delay", "0", "--repl-backlog-size", "16kb"})
	c := redistest.Dial(t, addr)
	f := newFollower(t, addr)
	id, _ := f.sync()
	c.Do("SET", "k", "v")
	const first = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"
	require.Equal(t, first, withoutPings(f.until("v\r\n")))
	f.Close()
	waitForField(c, "connected_slaves", "0")

	again := newFollower(t, addr)
	require.Equal(t, "+OK", again.ask("REPLCONF", "capa", "psync2"))
	require.Equal(t, "+CONTINUE "+id, again.ask("PSYNC", id, "1"))
	require.Equal(t, first, withoutPings(again.until("v\r\n")))
	require.Equal(t, "1", infoField(c, "sync_partial_ok"))

	older := newFollower(t, addr)
	require.Equal(t, "+CONTINUE", older.ask("PSYNC", strings.ToUpper(id), "1"))

	value := strings.Repeat("x", 1000)
	for range 100 {
		c.Do("SET", "k", value)
	}
	again.until(strings.Repeat("x", 1000) + "\r\n")
	older.Close()
	again.Close()
	waitForField(c, "connected_slaves", "0")
	c.Do("SET", "k", value)
	for _, ask := range [][]string{{id, "1"}, {id, "999999999"}, {strings.Repeat("0", 40), "1"}} {
		late := newFollower(t, addr)
		require.Regexp(t, `^\+FULLRESYNC `+id+` \d+$`, late.ask("PSYNC", ask[0], ask[1]))
		late.Close()
	}
	require.Equal(t, "3", infoField(c, "sync_partial_err"))
	require.Equal(t, "4", infoField(c, "sync_full"))
}

// Redis refuses these requests with the same errors.
func TestReplconfAndPsyncAnswerLikeRedis(t *testing.T) {
	oracle := of7_2(t)
	for _, args := range [][]string{
		{"REPLCONF"}, {"REPLCONF", "capa"}, {"REPLCONF", "listening-port", "x"}, {"REPLCONF", "version", "9"},
		{"REPLCONF", "ip-address", strings.Repeat("a", 256)}, {"REPLCONF", "ip-address", "name"},
		{"REPLCONF", "rdb-only", "2"}, {"REPLCONF", "rdb-only", "x"}, {"REPLCONF", "rdb-only", "1"},
		{"REPLCONF", "rdb-filter-only", "keys"}, {"REPLCONF", "rdb-filter-only", "functions"},
		{"REPLCONF", "capa", "dual", "x", "y"}, {"PSYNC", "?", "x"}, {"PSYNC", "?", "-1", "FAILOVER"},
		{"REPLCONF", "rdb-filter-only", "\""}, {"REPLCONF", "rdb-filter-only", "'functions' nosuch"},
		{"REPLCONF", "rdb-filter-only", ""}, {"SYNC"}, {"PSYNC", "?", "-1"},
	} {
		var replies []string
		for _, addr := range []string{start(t, nil), oracle.Addr} {
			c := redistest.Dial(t, addr)
			if c.Do("REPLCONF", "rdb-filter-only", "functions"); args[0] == "PSYNC" && args[2] == "x" {
				c = redistest.Dial(t, addr)
			}
			replies = append(replies, fmt.Sprint(c.Do(args...)))
		}
		require.Equal(t, replies[1], replies[0], "%q", args)
	}
}

func TestWhatAReplicaAsksForIsSent(t *testing.T) {
	for _, disk := range []string{"--repl-diskless-sync no", "--repl-diskless-sync-delay 0"} {
		addr := start(t, strings.Fields(disk))
		c := redistest.Dial(t, addr)
		c.Do("SET", "key", "value")
		c.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('one', function() return 1 end)")
		for _, kind := range []struct {
			conf          []string
			keys, library bool
		}{
			{[]string{"rdb-only", "1"}, true, true},
			{[]string{"rdb-only", "1", "capa", "eof"}, true, true},
			{[]string{"rdb-only", "1", "rdb-filter-only", "functions", "capa", "eof"}, false, true},
			{[]string{"rdb-only", "1", "rdb-filter-only", "", "capa", "eof"}, false, false},
		} {
			f := newFollower(t, addr)
			require.Equal(t, "+OK", f.ask(append([]string{"REPLCONF"}, kind.conf...)...))
			f.send("SYNC")
			file := f.keys()
			require.True(t, strings.HasPrefix(file, "REDIS0011"))
			require.Equal(t, kind.keys, strings.Contains(file, "\x03key\x05value"))
			require.Equal(t, kind.library, strings.Contains(file, "register_function"))
			f.ended()
		}
	}
}

// A replica that filters waits for others as long as one that does not.
func TestAFilteredReplicaWaitsForOthers(t *testing.T) {
	t.Parallel()
	addrs := []string{start(t, []string{"--repl-diskless-sync-delay", "1000"})}
	if redistest.Installed() {
		addrs = append(addrs, redistest.Start(t, "--repl-diskless-sync-delay", "1000").Addr)
	}
	for _, addr := range addrs {
		var waiting []*follower
		for _, filter := range []string{"functions", "", "functions"} {
			f := newFollower(t, addr)
			require.Equal(t, "+OK", f.ask("REPLCONF", "rdb-only", "1", "rdb-filter-only", filter, "capa", "eof"))
			f.send("SYNC")
			waiting = append(waiting, f)
		}
		c := redistest.Dial(t, addr)
		c.Do("FUNCTION", "LOAD", "#!lua name=late\nredis.register_function('f', function() end)")
		redistest.Until(t, func() bool { return strings.Count(c.Do("INFO", "replication").Str, "state=wait_bgsave") == 3 })
		ok(t, c, "CONFIG", "SET", "repl-diskless-sync-delay", "0")
		for i, f := range waiting {
			require.Equal(t, i != 1, strings.Contains(f.keys(), "name=late"), "it gets what there is when the delay ends")
			f.ended()
		}
	}
}

// Who takes no stream gets the file, which has the server's own format.
func TestAReplicaGetsAFormatThatItReads(t *testing.T) {
	addr, oracle := besideValkey(t)
	for _, master := range []string{addr, oracle.Addr} {
		c := redistest.Dial(t, master)
		c.Do("CONFIG", "SET", "repl-diskless-sync-delay", "0")
		for _, streams := range []string{"yes", "no"} {
			c.Do("CONFIG", "SET", "repl-diskless-sync", streams)
			for version, head := range map[string]string{"": "REDIS0011", "8.1.0": "REDIS0011", "9.1.2": "VALKEY080"} {
				f := newFollower(t, master)
				require.Equal(t, "+OK", f.ask("REPLCONF", "rdb-only", "1", "capa", "eof"))
				require.True(t, strings.HasPrefix(f.keysFor(version), head), "%s %s %q", master, streams, version)
				f.ended()
				f = newFollower(t, master)
				require.Equal(t, "+OK", f.ask("REPLCONF", "rdb-only", "1"))
				require.True(t, strings.HasPrefix(f.keysFor(version), "VALKEY080"), "%s %s %q", master, streams, version)
				f.ended()
			}
		}
	}
}

// Two that need different formats get one after the other.
func TestReplicasOfTwoFormatsWaitForEachOther(t *testing.T) {
	t.Parallel()
	heads := map[string]string{"8.1.0": "REDIS0011", "9.1.2": "VALKEY080"}
	for _, versions := range [][]string{{"8.1.0", "9.1.2"}, {"9.1.2", "8.1.0"}} {
		addr := start(t, []string{"--dialect", "valkey-9.1", "--repl-diskless-sync", "no", "--rdb-key-save-delay", "100000"})
		redistest.Dial(t, addr).Do("SET", "k", "v")
		var all []*follower
		for _, version := range versions {
			f := newFollower(t, addr)
			require.Equal(t, "+OK", f.ask("REPLCONF", "capa", "eof", "version", version))
			f.send("PSYNC", "?", "-1")
			all = append(all, f)
		}
		for i, f := range all {
			require.Regexp(t, `^\+FULLRESYNC \w{40} \d+$`, f.line())
			require.True(t, strings.HasPrefix(f.keys(), heads[versions[i]]), versions)
			f.ack(0)
		}
	}
}

// All replicas that wait get one snapshot.
func TestReplicasThatWaitShareASnapshot(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"--repl-diskless-sync-delay 1000 --repl-diskless-sync-max-replicas 5", "--repl-diskless-sync-delay 1",
	} {
		log := &panics{}
		addr := startWithLog(t, strings.Fields(args), log.write)
		c := redistest.Dial(t, addr)
		storeAll(c, 1, 300)
		var all []*follower
		for range 5 {
			f := newFollower(t, addr)
			require.Equal(t, "+OK", f.ask("REPLCONF", "capa", "eof"))
			f.send("PSYNC", "?", "-1")
			all = append(all, f)
		}
		file := ""
		for _, f := range all {
			require.Regexp(t, `^\+FULLRESYNC \w{40} \d+$`, f.line())
			keys := f.keys()
			require.Equal(t, max(file, keys), keys)
			file = keys
			f.ack(0)
		}
		c.Do("SET", "end", "v")
		for _, f := range all {
			require.Contains(t, f.until("end\r\n$1\r\nv\r\n"), "SELECT")
		}
		require.Equal(t, "5", infoField(c, "sync_full"))
	}
}

// A lab's disk has written a file as soon as the writing begins. A stream does not use it, and waits for replicas.
func TestAFullSynchronizationFromADiskOfTheLab(t *testing.T) {
	t.Parallel()
	for _, diskless := range []string{"yes", "no"} {
		addr := start(t, []string{"--lab", "yes", "--lab-disk", "yes", "--repl-diskless-sync", diskless,
			"--repl-diskless-sync-delay", "0"})
		c := redistest.Dial(t, addr)
		noise := make([]byte, 2<<20) // more than a stream keeps for who does not read
		rand.NewChaCha8([32]byte{}).Read(noise)
		require.Equal(t, "OK", c.Do("SET", "k", string(noise)).Str)
		for range 2 {
			newFollower(t, addr).sync()
		}
		c.Do("LAB", "DISK", "FAIL", "WRITE", "ENOSPC")
		if f := newFollower(t, addr); diskless == "no" {
			require.Regexp(t, "^.FULLRESYNC ", f.ask("PSYNC", "?", "-1"))
			_, err := f.r.ReadByte()
			require.ErrorIs(t, err, io.EOF)
		}
	}
}

// A replica that reads nothing loses its connection, and the memory is given back.
func TestAReplicaThatNeverReadsIsClosedAtItsLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"replica 4mb 0 0", "replica 0 2mb 1"} {
		args := append([]string{"--repl-diskless-sync-delay", "0", "--client-output-buffer-limit"}, strings.Fields(limit)...)
		addr := start(t, args)
		c := redistest.Dial(t, addr)
		f := newFollower(t, addr)
		f.sync()
		value := strings.Repeat("x", 100_000)
		redistest.Until(t, func() bool {
			c.Do("SET", "k", value)
			return infoField(c, "connected_slaves") == "0"
		})
		require.Equal(t, "1", infoField(c, "client_output_buffer_limit_disconnections"))
		c.Do("SET", "k", value)
		size, err := strconv.Atoi(infoField(c, "mem_total_replication_buffers"))
		require.NoError(t, err)
		require.Less(t, size, 3<<20)
	}
}

func TestWaitCountsTheReplicasThatHaveTheWrites(t *testing.T) {
	addr := start(t, []string{"--repl-diskless-sync-delay", "0"})
	c, other := redistest.Dial(t, addr), redistest.Dial(t, addr)
	require.Equal(t, int64(0), c.Do("WAIT", "0", "0").Int)
	require.Equal(t, int64(0), c.Do("WAIT", "1", "1").Int)
	a, b := newFollower(t, addr), newFollower(t, addr)
	a.sync()
	b.sync()
	c.Do("SET", "k", "v")
	ask := "*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n"
	require.NoError(t, c.Send([]byte("WAIT 2 0\r\nPING\r\n")))
	at := len(a.until(ask))
	b.until(ask)
	a.ack(at - len(ask))
	require.Equal(t, int64(2), other.Do("WAIT", "0", "0").Int, "it has written nothing")
	require.Equal(t, "1", infoField(other, "blocked_clients"))
	b.ack(1 << 40)
	require.Equal(t, int64(2), c.Read().Int)
	require.Equal(t, "PONG", c.Read().Str)
	c.Do("SET", "k", "v")
	require.Equal(t, int64(1), c.Do("WAIT", "2", "1").Int)
	c.Do("MULTI")
	c.Do("SET", "k", "v")
	c.Do("WAIT", "2", "0")
	require.Equal(t, int64(1), c.Do("EXEC").Elems[1].Int, "a transaction does not wait")
	require.NoError(t, c.Send([]byte("WAIT 3 0\r\n")))
	waitUntilBlocked(t, other)
	id := strings.TrimPrefix(strings.Fields(other.Do("CLIENT", "LIST").Str)[0], "id=")
	require.Equal(t, int64(1), other.Do("CLIENT", "UNBLOCK", id).Int)
	require.Equal(t, int64(1), c.Read().Int)
}

func TestWritesNeedAsManyReplicasAsConfigured(t *testing.T) {
	addr := start(t, []string{"--repl-diskless-sync-delay", "0", "--min-replicas-to-write", "1"})
	c := redistest.Dial(t, addr)
	const refused = "NOREPLICAS Not enough good replicas to write."
	require.Equal(t, refused, c.Do("SET", "k", "v").Str)
	require.Contains(t, c.Do("EVAL", "return redis.call('set', 'k', 'v')", "0").Str, refused[:10])
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "min-replicas-to-write", "0").Str)
	require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
	c.Do("CONFIG", "SET", "min-replicas-to-write", "1")
	f := newFollower(t, addr)
	f.sync()
	require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
	require.Equal(t, "1", infoField(c, "min_slaves_good_slaves"))
	f.Close()
	redistest.Until(t, func() bool { return c.Do("SET", "k", "v").Str == refused })
	require.Equal(t, "v", c.Do("GET", "k").Str)
}

// A client that replicates is of its own kind.
func TestAReplicaIsAKindOfClient(t *testing.T) {
	t.Parallel()
	addr := start(t, []string{"--repl-diskless-sync-delay", "0"})
	c := redistest.Dial(t, addr)
	f := newFollower(t, addr)
	_, offset := f.sync()
	waitForField(c, "connected_clients", "1")
	require.Contains(t, c.Do("CLIENT", "LIST", "TYPE", "replica").Str, " flags=S ")
	require.NotContains(t, c.Do("CLIENT", "LIST", "TYPE", "normal").Str, " flags=S ")
	f.ack(offset)
	redistest.Until(t, func() bool { return strings.Contains(infoField(c, "slave0"), ",offset="+fmt.Sprint(offset)) })
	require.Regexp(t, `^ip=127\.0\.0\.1,port=7777,state=online,offset=\d+,lag=\d$`, infoField(c, "slave0"))
	role := c.Do("ROLE").Elems
	require.Equal(t, "master", role[0].Str)
	require.Equal(t, "7777", role[2].Elems[0].Elems[1].Str)
	f.send("PING")
	f.ended() // a replica gets no replies
	waitForField(c, "connected_slaves", "0")

	f = newFollower(t, addr)
	f.sync()
	require.Equal(t, int64(1), c.Do("CLIENT", "KILL", "TYPE", "replica").Int)
	f.ended()

	silent := redistest.Dial(t, start(t, []string{"--repl-diskless-sync-delay", "0", "--repl-timeout", "1"}))
	f = newFollower(t, silent.Conn.Net.RemoteAddr().String())
	f.sync()
	f.ended()
}

func TestTheBacklogIsFreedWithoutReplicas(t *testing.T) {
	t.Parallel()
	addr := start(t, []string{"--repl-diskless-sync-delay", "0", "--repl-backlog-ttl", "1"})
	c := redistest.Dial(t, addr)
	f := newFollower(t, addr)
	id, _ := f.sync()
	require.Equal(t, id, infoField(c, "master_replid"))
	f.Close()
	waitForField(c, "repl_backlog_active", "0")
	require.NotEqual(t, id, infoField(c, "master_replid"))
	f = newFollower(t, addr)
	f.sync()
	c.Do("SET", "k", "v")
	require.Contains(t, f.until("v\r\n"), "SELECT")
}
