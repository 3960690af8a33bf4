package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// changes returns the entries of the log that have changes, each as its event, command and changes.
func changes(admin *redistest.Conn) (lines []string) {
	for _, e := range admin.Do("LAB", "LOG").Elems {
		if text := field(e, "changes").Str; text != "" {
			lines = append(lines, field(e, "event").Str+" | "+field(e, "cmd").Str+" | "+text)
		}
	}
	return lines
}

// sendEach sends one command after the other.
func sendEach(t *testing.T, c *redistest.Conn, lines ...string) {
	t.Helper()
	for _, line := range lines {
		v := c.Do(strings.Fields(line)...)
		require.NotEqual(t, byte('-'), v.Kind, "%s: %v", line, v)
	}
}

func TestTheLogSaysWhatHappenedToAKey(t *testing.T) {
	for _, c := range []struct {
		name string
		args string
		does []string
		want []string
	}{
		{"a lease", "", []string{"SET lock a NX PX 100", "PEXPIRE lock 200", "PERSIST lock", "GETEX lock PX 50", "GET lock",
			"LAB CLOCK ADVANCE 51"}, []string{
			"command | SET lock a NX PX 100 | lock: absent -> 'a' until +100 ms",
			"command | PEXPIRE lock 200 | lock: 'a' until +100 ms -> 'a' until +200 ms",
			"command | PERSIST lock | lock: 'a' until +200 ms -> 'a'",
			"command | GETEX lock PX 50 | lock: 'a' -> 'a' until +50 ms",
			"expired |  | lock: 'a' until -1 ms -> absent (expired)",
		}},
		{"a field of a hash", "--dialect redis-8.10", []string{
			"HSET lock a 1 b 1", "HPEXPIRE lock 10 FIELDS 1 a", "LAB CLOCK ADVANCE 11",
			"HPEXPIRE lock 10 FIELDS 1 b", "LAB CLOCK ADVANCE 11",
		}, []string{
			"command | HSET lock a 1 b 1 | lock: absent -> hash of 2 {'a': '1', 'b': '1'}",
			"command | HPEXPIRE lock 10 FIELDS 1 a | lock: hash of 2 {'a': '1'} -> hash of 2 {'a': '1' until +10 ms}",
			"hexpired |  | lock: hash of 2 {'a': '1' until -1 ms} -> hash of 1 (expired)",
			"command | HPEXPIRE lock 10 FIELDS 1 b | lock: hash of 1 {'b': '1'} -> hash of 1 {'b': '1' until +10 ms}",
			"expired |  | lock: hash of 1 {'b': '1' until -1 ms} -> absent (expired)",
		}},
		{"a key whose time had come at once", "", []string{"SET lock a", "PEXPIREAT lock 1"}, []string{
			"command | SET lock a | lock: absent -> 'a'", "command | PEXPIREAT lock 1 | lock: 'a' -> absent",
		}},
		{"evicted for memory", "--maxmemory-policy allkeys-random", []string{
			"SET lock a", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0",
		}, []string{"command | SET lock a | lock: absent -> 'a'", "evicted |  | lock: 'a' -> absent (evicted)"}},
		{"evicted by the lab", "", []string{"SET lock a", "LAB EVICT other lock"}, []string{
			"command | SET lock a | lock: absent -> 'a'", "evicted |  | lock: 'a' -> absent (evicted)",
		}},
		{"all keys", "", []string{"SET lock a", "SET other x", "FLUSHALL ASYNC", "SET lock b", "FLUSHDB"}, []string{
			"command | SET lock a | lock: absent -> 'a'", "command | FLUSHALL ASYNC | lock: 'a' -> absent",
			"command | SET lock b | lock: absent -> 'b'", "command | FLUSHDB | lock: 'b' -> absent",
		}},
		{"other databases", "", []string{"SET lock a", "SWAPDB 0 1", "COPY other lock", "SELECT 1", "MOVE lock 2"}, []string{
			"command | SET lock a | lock: absent -> 'a'",
			"command | SWAPDB 0 1 | lock: 'a' -> absent; lock in database 1: absent -> 'a'",
			"command | MOVE lock 2 | lock: 'a' -> absent; lock in database 2: absent -> 'a'",
		}},
		{"names that no argument says", "", []string{
			"SET x a", "RENAME x lock", "RPUSH x 2 1", "SORT x STORE lock",
			"EVAL redis.call('set','lock','b') 0",
		}, []string{
			"command | RENAME x lock | lock: absent -> 'a'",
			"command | SORT x STORE lock | lock: 'a' -> list of 2 {'1', '2'}",
			"command | set lock b | lock: list of 2 {'1', '2'} -> 'b'",
		}},
		{"elements of a list", "", []string{"RPUSH lock a b c", "LMOVE lock lock LEFT RIGHT", "LREM lock 0 b"}, []string{
			"command | RPUSH lock a b c | lock: absent -> list of 3 {'a', 'b', 'c'}",
			"command | LMOVE lock lock LEFT RIGHT | lock: list of 3 {'a'} -> list of 3 {'a'}",
			"command | LREM lock 0 b | lock: list of 3 {'b'} -> list of 2",
		}},
		{"a reload", "", []string{"SET lock a", "DEBUG RELOAD", "DEBUG RELOAD NOSAVE"}, []string{
			"command | SET lock a | lock: absent -> 'a'",
		}},
		{"a snapshot", "", []string{"SET lock a", "LAB SNAPSHOT SAVE s", "SET lock b", "LAB SNAPSHOT RESTORE s"}, []string{
			"command | SET lock a | lock: absent -> 'a'", "command | SET lock b | lock: 'a' -> 'b'",
			"restore |  | lock: 'b' -> 'a' (lost)",
		}},
		{"the beginning", "", []string{"SET lock a PX 100", "LAB LOG RESET", "LAB LOG WATCH l*", "LAB LOG UNWATCH lock",
			"LAB LOG UNWATCH l*", "LAB LOG WATCH lock"}, []string{
			"watched |  | lock: absent -> 'a' until +100 ms", "watched |  | lock: absent -> 'a' until +100 ms",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, admin := startLab(t, append([]string{"--enable-debug-command", "yes"}, strings.Fields(c.args)...)...)
			ok(t, admin, "LAB", "LOG", "WATCH", "lock")
			sendEach(t, admin, c.does...)
			require.Equal(t, c.want, changes(admin))
		})
	}
}

func TestTheLogSaysWhatABlockedClientHasTaken(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "LAB", "LOG", "WATCH", "jobs")
	c := redistest.Dial(t, addr)
	pipeline(t, c, "BLMOVE jobs done LEFT LEFT 0")
	redistest.Until(t, func() bool { return infoField(admin, "blocked_clients") == "1" })
	admin.Do("RPUSH", "jobs", "a", "b")
	require.Equal(t, "a", c.Read().Str)
	require.Equal(t, []string{
		"command | RPUSH jobs a b | jobs: absent -> list of 2 {'a', 'b'}",
		"command | BLMOVE jobs done LEFT LEFT 0 | jobs: list of 2 {'a'} -> list of 1",
	}, changes(admin))
}

func TestTheLogSaysWhatACommandHasChangedBeforeItBlocks(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "LAB", "LOG", "WATCH", "jobs")
	ok(t, admin, "XGROUP", "CREATE", "jobs", "g", "$", "MKSTREAM")
	c := redistest.Dial(t, addr)
	pipeline(t, c, "XREADGROUP GROUP g c BLOCK 0 STREAMS jobs >")
	redistest.Until(t, func() bool { return len(changes(admin)) == 2 })
	require.Contains(t, changes(admin)[1], "command | XREADGROUP GROUP g c BLOCK 0 STREAMS jobs > | jobs: stream of 0 -> "+
		"stream of 0 {'consumer g c'")
	require.Equal(t, "held", field(admin.Do("LAB", "LOG", "1").Elems[0], "outcome").Str)
	admin.Do("XADD", "jobs", "1-1", "f", "v")
	require.NotEmpty(t, c.Read().Elems)
	require.Contains(t, changes(admin)[3], "'pending g 1-1': 'c at ")
}

func TestTheLogSaysWhatMIGRATEHasTakenAway(t *testing.T) {
	addr, admin := startLab(t)
	_, from := startLab(t)
	ok(t, admin, "LAB", "LOG", "WATCH", "lock")
	ok(t, from, "LAB", "LOG", "WATCH", "lock")
	ok(t, from, "SET", "lock", "a")
	require.Equal(t, "+OK", migrateTo(from, addr, "lock", "0").String())
	require.Equal(t, "command | MIGRATE", changes(from)[1][:len("command | MIGRATE")])
	require.Contains(t, changes(from)[1], "| lock: 'a' -> absent")
	require.Contains(t, changes(admin)[0], "| lock: absent -> 'a'")
}

func TestTheLogSaysWhatACrashHasLost(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "LAB", "LOG", "WATCH", "lock")
	sendEach(t, admin, "SET lock a", "SET other b")
	crash(t, admin)
	admin = redistest.Dial(t, addr)
	require.Equal(t, []string{
		"command | SET lock a | lock: absent -> 'a'", "crash |  | lock: 'a' -> absent (lost)",
	}, changes(admin))
	ok(t, admin, "SET", "lock", "b")
	crash(t, admin, "LOSE", "NOTHING")
	admin = redistest.Dial(t, addr)
	ok(t, admin, "SET", "lock", "c")
	require.Equal(t, []string{
		"command | SET lock b | lock: absent -> 'b'", "command | SET lock c | lock: 'b' -> 'c'",
	}, changes(admin)[2:])
}

func TestTheLogSaysWhatADiskHasLost(t *testing.T) {
	addr, admin := startLab(t, "--lab-disk", "yes", "--appendonly", "yes", "--appendfsync", "no")
	ok(t, admin, "LAB", "LOG", "WATCH", "*")
	sendEach(t, admin, "SADD changed a b", "SET gone a PX 50", "SET kept a", "SET later a", "PEXPIRE later 1000",
		"SET back a", "BGREWRITEAOF")
	redistest.Until(t, func() bool { return infoField(admin, "aof_rewrite_in_progress") == "0" })
	sendEach(t, admin, "SREM changed b", "SADD changed c", "DEL back", "PEXPIRE later 2000", "SET new a", "LAB LOG RESET")
	crash(t, admin, "LOSE", "UNSYNCED")
	admin = redistest.Dial(t, addr)
	require.ElementsMatch(t, []string{
		"watched |  | changed: absent -> set of 2 {'a', 'c'}; gone: absent -> 'a' until +50 ms; kept: absent -> 'a'; " +
			"later: absent -> 'a' until +2000 ms; new: absent -> 'a'",
		"disk |  | changed: set of 2 {'c'} -> set of 2 {'b'} (lost)",
		"disk |  | later: 'a' until +2000 ms -> 'a' until +1000 ms (lost)",
		"disk |  | new: 'a' -> absent (lost)",
		"disk |  | back: absent -> 'a' (lost)",
	}, changes(admin))
	admin.Do("LAB", "CLOCK", "ADVANCE", "51")
	all := changes(admin)
	require.Equal(t, "expired |  | gone: 'a' until -1 ms -> absent (expired)", all[len(all)-1])
}

func TestTheLogOfAReplicaSaysWhatTheStreamHasChanged(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 1)
	ok(t, n.c[0], "LAB", "LOG", "WATCH", "lock", "AS", "MUTEX")
	sendEach(t, n.c[0], "SET lock a NX PX 30000", "MULTI", "SET other x", "PEXPIRE lock 60000", "EXEC")
	n.same(0)
	want := []string{"lock: absent -> 'a' until", "lock: 'a' until"}
	for i, line := range changes(n.c[1]) {
		require.Contains(t, line, "applied |  | "+want[i])
	}
	require.Len(t, changes(n.c[1]), 2)
	require.Contains(t, n.c[1].Do("LAB", "LOG", "EXPORT").Str, `"watched":[{"pattern":"lock","as":"MUTEX"}]`)

	n.failover(0)
	n.role(1, "master")
	n.role(0, "slave")
	require.Equal(t, int64(1), n.c[1].Do("DEL", "lock").Int)
	n.same(1)
	all := changes(n.c[1])
	require.Contains(t, all[len(all)-1], "command | DEL lock | lock: 'a' until")
	all = changes(n.c[0])
	require.Contains(t, all[len(all)-1], "applied |  | lock: 'a' until")
	require.True(t, strings.HasSuffix(all[len(all)-1], "-> absent"))
}

func TestAWatchedPatternSaysWhatItsKeysAre(t *testing.T) {
	_, admin := startLab(t)
	watch := func(words string) string {
		return admin.Do(append([]string{"LAB", "LOG", "WATCH", "sem"}, strings.Fields(words)...)...).Str
	}
	for words, why := range map[string]string{
		"IS MUTEX":              "expects AS, not 'IS'",
		"AS":                    "AS expects MUTEX, REENTRANT, RW, FAIR, SEMAPHORE or QUEUE",
		"AS LOCK":               "AS expects MUTEX, REENTRANT, RW, FAIR, SEMAPHORE or QUEUE, not 'LOCK'",
		"AS SEMAPHORE":          "SEMAPHORE expects the number of holders that it may have",
		"AS SEMAPHORE 0":        "SEMAPHORE expects a number of holders from 1 to 1048576, not '0'",
		"AS SEMAPHORE many":     "SEMAPHORE expects a number of holders from 1 to 1048576, not 'many'",
		"AS MUTEX 1":            "'1' is one argument too many",
		"AS SEMAPHORE 3 please": "'please' is one argument too many",
	} {
		require.Equal(t, "ERR LAB LOG WATCH: "+why, watch(words))
	}
	require.Equal(t, "OK", watch("as mutex"))
	require.Equal(t, "OK", watch("AS Semaphore 3"))
	require.Contains(t, admin.Do("LAB", "LOG", "EXPORT").Str,
		`"watched":[{"pattern":"sem","as":"SEMAPHORE","holders":3}]`)
	require.Equal(t, "OK", watch(""))
	require.Contains(t, admin.Do("LAB", "LOG", "EXPORT").Str, `"watched":[{"pattern":"sem"}]`)
}
