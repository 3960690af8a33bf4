package node_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestLabSnapshotNamesTheArgumentThatIsWrong(t *testing.T) {
	_, c := startLab(t)
	for _, bad := range [][2]string{
		{"LOAD x", "ERR LAB SNAPSHOT: expects SAVE, RESTORE, DEL or LIST, not 'LOAD'"},
		{"SAVE", "ERR LAB SNAPSHOT SAVE: name is missing"},
		{"save a b", "ERR LAB SNAPSHOT SAVE: 'b' is one argument too many"},
		{"LIST a", "ERR LAB SNAPSHOT LIST: 'a' is one argument too many"},
		{"RESTORE x", "ERR LAB SNAPSHOT RESTORE: no snapshot is named 'x'"},
		{"DEL x", "ERR LAB SNAPSHOT DEL: no snapshot is named 'x'"},
	} {
		require.Equal(t, bad[1], c.Do(strings.Fields("LAB SNAPSHOT "+bad[0])...).Str)
	}
}

// contents returns every value as one text. The commands below create all types and encodings.
func contents(c *redistest.Conn) string {
	var b strings.Builder
	for _, get := range []string{
		"GET s", "GET n", "LRANGE l 0 -1", "SMEMBERS set", "SMEMBERS ints", "ZRANGE z 0 -1 WITHSCORES", "HGETALL h",
		"XRANGE x - +",
		"XINFO GROUPS x", "XPENDING x g", "PEXPIRETIME s", "PEXPIRETIME h", "FUNCTION LIST WITHCODE", "DBSIZE",
	} {
		b.WriteString(get + ": " + c.Do(strings.Fields(get)...).String() + "\n")
	}
	c.Do("SELECT", "9")
	b.WriteString(c.Do("GET", "s").String())
	c.Do("SELECT", "0")
	return b.String()
}

func TestASnapshotIsRestoredWholeAnyNumberOfTimes(t *testing.T) {
	_, c := startLab(t, "--list-max-listpack-size", "2", "--set-max-listpack-entries", "2")
	for _, set := range []string{
		"SET s text PX 30000", "SET n 12", "RPUSH l a b c d e", "SADD set a b c", "SADD ints 1 2 3", "ZADD z 1 a 2 b",
		"HSET h f v g w", "PEXPIRE h 500",
		"XADD x 1-1 f v", "XADD x 1-2 f v", "XGROUP CREATE x g 0", "XREADGROUP GROUP g me COUNT 1 STREAMS x >",
	} {
		c.Do(strings.Fields(set)...)
	}
	c.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)")
	sha := c.Do("SCRIPT", "LOAD", "return 1").Str
	c.Do("SELECT", "9")
	c.Do("SET", "s", "nine")
	c.Do("SELECT", "0")
	before := contents(c)
	ok(t, c, "LAB", "SNAPSHOT", "SAVE", "start")
	for range 2 {
		for _, change := range []string{
			"APPEND s x", "INCR n", "LSET l 0 z", "LPOP l 2", "SREM set a", "SADD ints word", "ZINCRBY z 5 a",
			"HSET h f other", "PERSIST h",
			"XACK x g 1-1", "XDEL x 1-2", "XGROUP DESTROY x g", "SET new v", "SCRIPT FLUSH", "FUNCTION FLUSH",
		} {
			c.Do(strings.Fields(change)...)
		}
		require.NotEqual(t, before, contents(c))
		ok(t, c, "LAB", "SNAPSHOT", "RESTORE", "start")
		require.Equal(t, before, contents(c))
		require.Equal(t, int64(1), c.Do("EVALSHA", sha, "0").Int)
		require.Equal(t, int64(7), c.Do("FCALL", "f", "0").Int)
	}
	require.Equal(t, int64(1), c.Do("LAB", "CLOCK", "ADVANCE", "501").Int)
	require.Equal(t, int64(1), c.Do("LAB", "CLOCK", "ADVANCE", "29500").Int)
	ok(t, c, "LAB", "SNAPSHOT", "SAVE", "Z")
	require.Equal(t, "Z", c.Do("LAB", "SNAPSHOT", "LIST").Elems[0].Elems[1].Str)
	require.Equal(t, int64(7), c.Do("LAB", "SNAPSHOT", "LIST").Elems[0].Elems[5].Int)
	ok(t, c, "LAB", "SNAPSHOT", "DEL", "Z")
	require.Len(t, c.Do("LAB", "SNAPSHOT", "LIST").Elems, 1)
}

// A snapshot does not contain the lab's time.
func TestDeadlinesOfASnapshotAreTimesAndNotDurations(t *testing.T) {
	_, c := startLab(t)
	begin := labNow(c)
	ok(t, c, "SET", "lock", "v", "PX", "1000")
	ok(t, c, "SET", "long", "v", "PX", "9000")
	ok(t, c, "LAB", "SNAPSHOT", "SAVE", "a")
	require.Equal(t, int64(1), c.Do("LAB", "CLOCK", "ADVANCE", "5000").Int)
	ok(t, c, "LAB", "SNAPSHOT", "RESTORE", "a")
	require.Equal(t, int64(1), c.Do("DBSIZE").Int)
	require.Equal(t, int64(4000), c.Do("PTTL", "long").Int)
	ok(t, c, "LAB", "CLOCK", "SET", strconv.FormatInt(begin, 10))
	ok(t, c, "LAB", "SNAPSHOT", "RESTORE", "a")
	require.Equal(t, int64(1000), c.Do("PTTL", "lock").Int)
	require.Equal(t, int64(2), c.Do("LAB", "CLOCK", "ADVANCE", "9001").Int)
}

func TestARestoredSnapshotReachesBlockedWatchingAndTrackingClients(t *testing.T) {
	addr, admin := startLab(t)
	admin.Do("RPUSH", "q", "x")
	ok(t, admin, "LAB", "SNAPSHOT", "SAVE", "a")
	admin.Do("DEL", "q")
	waits, watches := redistest.Dial(t, addr), redistest.Dial(t, addr)
	sendPending(t, admin, waits, "BLPOP", "q", "0")
	ok(t, watches, "WATCH", "q")
	ok(t, watches, "MULTI")
	watches.Do("PING")
	tracks := redistest.Dial(t, addr)
	tracks.Do("HELLO", "3")
	ok(t, tracks, "CLIENT", "TRACKING", "ON")
	tracks.Do("GET", "other")
	ok(t, admin, "LAB", "SNAPSHOT", "RESTORE", "a")
	require.Equal(t, "x", waits.Read().Elems[1].Str)
	require.Equal(t, "(nil array)", watches.Do("EXEC").String())
	require.Equal(t, "invalidate", tracks.Read().Elems[0].Str)
}
