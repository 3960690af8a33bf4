package node_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// startFields starts a server of each family whose clock stands still, with a hash h: its field a goes after
// 1000 ms, b after 2000, and c stays.
func startFields(t *testing.T, test func(t *testing.T, addr string, c *redistest.Conn)) {
	for _, dialect := range []string{"valkey-9.1", "redis-8.0"} {
		t.Run(dialect, func(t *testing.T) {
			addr, c := startLab(t, "--dialect", dialect)
			ok(t, c, "LAB", "CLOCK", "FREEZE")
			c.Do("HSET", "h", "a", "1", "b", "2", "c", "3")
			require.Equal(t, "[:1]", c.Do("HPEXPIRE", "h", "1000", "FIELDS", "1", "a").String())
			require.Equal(t, "[:1]", c.Do("HEXPIRE", "h", "2", "FIELDS", "1", "b").String())
			test(t, addr, c)
		})
	}
}

func advance(t *testing.T, c *redistest.Conn, ms int) {
	t.Helper()
	c.Do("LAB", "CLOCK", "ADVANCE", strconv.Itoa(ms))
}

func TestAFieldGoesAtItsMillisecond(t *testing.T) {
	startFields(t, func(t *testing.T, _ string, c *redistest.Conn) {
		advance(t, c, 1000)
		require.Equal(t, int64(3), c.Do("HLEN", "h").Int)
		require.Equal(t, "[:0, :1000, :-1]", c.Do("HPTTL", "h", "FIELDS", "3", "a", "b", "c").String())
		advance(t, c, 1)
		require.Equal(t, int64(2), c.Do("HLEN", "h").Int)
		require.Equal(t, "[:-2, :999, :-1]", c.Do("HPTTL", "h", "FIELDS", "3", "a", "b", "c").String())
		require.Equal(t, int64(0), c.Do("HEXISTS", "h", "a").Int)
		require.Equal(t, int64(5), c.Do("HINCRBY", "h", "a", "5").Int, "it begins anew")
		require.Equal(t, "[:-1]", c.Do("HTTL", "h", "FIELDS", "1", "a").String())
		c.Do("HDEL", "h", "a", "c")
		advance(t, c, 1000)
		require.Equal(t, int64(0), c.Do("EXISTS", "h").Int, "the hash goes with its last field")
		require.Equal(t, int64(0), c.Do("DBSIZE").Int)
	})
}

func TestATransactionNoticesThatAFieldHasGone(t *testing.T) {
	startFields(t, func(t *testing.T, addr string, c *redistest.Conn) {
		w := redistest.Dial(t, addr)
		try := func() string {
			w.Do("MULTI")
			w.Do("PING")
			return w.Do("EXEC").String()
		}
		w.Do("WATCH", "h")
		advance(t, c, 1000)
		require.Equal(t, "[+PONG]", try())
		w.Do("WATCH", "h")
		advance(t, c, 1)
		require.NotEqual(t, "[+PONG]", try())
		w.Do("WATCH", "h")
		require.Equal(t, "[+PONG]", try(), "it had gone before")
	})
}

func TestASnapshotKeepsTheExpiryOfFields(t *testing.T) {
	startFields(t, func(t *testing.T, addr string, c *redistest.Conn) {
		ok(t, c, "LAB", "SNAPSHOT", "SAVE", "start")
		c.Do("HPERSIST", "h", "FIELDS", "2", "a", "b")
		c.Do("HDEL", "h", "c")
		advance(t, c, 1001)
		ok(t, c, "LAB", "SNAPSHOT", "RESTORE", "start")
		left := c.Do("HPTTL", "h", "FIELDS", "3", "a", "b", "c").String()
		// A file of Redis has no place for the field, so nothing is written, and nothing is lost.
		valkey := strings.HasSuffix(t.Name(), "valkey-9.1")
		require.Equal(t, valkey, c.Do("DEBUG", "RELOAD").Str == "OK")
		require.Equal(t, left, c.Do("HPTTL", "h", "FIELDS", "3", "a", "b", "c").String())
		advance(t, c, 10_000)
		require.Equal(t, "[:-2, :-2, :-1]", c.Do("HPTTL", "h", "FIELDS", "3", "a", "b", "c").String())
		c.Do("DEL", "h")
		ok(t, c, "LAB", "SNAPSHOT", "RESTORE", "start")
		require.Equal(t, int64(1), c.Do("HEXISTS", "h", "c").Int)
		left = c.Do("HPTTL", "h", "FIELDS", "3", "a", "b", "c").String()
		ok(t, c, "LAB", "CRASH", "LOSE", "NOTHING")
		require.Equal(t, left, redistest.Dial(t, addr).Do("HPTTL", "h", "FIELDS", "3", "a", "b", "c").String())
	})
}

// While clients are paused nothing is deleted, and yet no client sees what is late.
func TestAPauseHidesLateFields(t *testing.T) {
	startFields(t, func(t *testing.T, addr string, c *redistest.Conn) {
		reader := redistest.Dial(t, addr)
		ok(t, c, "CLIENT", "PAUSE", "100000", "WRITE")
		advance(t, c, 1001)
		require.Equal(t, int64(2), reader.Do("HLEN", "h").Int)
		require.True(t, reader.Do("HGET", "h", "a").Null)
		require.Len(t, reader.Do("HGETALL", "h").Elems, 4)
		ok(t, c, "CLIENT", "UNPAUSE")
		require.Equal(t, int64(2), reader.Do("HLEN", "h").Int)
	})
}

// Redis's own form of such a payload was not checked, so nothing of the kind is written or read.
func TestDumpRefusesFieldsThatExpireAsRedis(t *testing.T) {
	c := dialTo(t, "redis-8.0")
	require.Equal(t, int64(1), c.Do("HSETEX", "h", "EX", "100", "FIELDS", "1", "a", "1").Int)
	require.Contains(t, c.Do("DUMP", "h").Str, "is not supported by this server")
	require.Contains(t, c.Do("MIGRATE", "127.0.0.1", "1", "h", "0", "100").Str, "is not supported by this server")
	c.Do("HPERSIST", "h", "FIELDS", "1", "a")
	require.Equal(t, "OK", c.Do("RESTORE", "again", "0", c.Do("DUMP", "h").Str).Str)
}

// The default dialect has none of these commands, and says so as Redis 7.2 does.
func TestTheDefaultDialectDoesNotKnowFieldsThatExpire(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	for _, name := range []string{"HEXPIRE", "HPEXPIRE", "HEXPIREAT", "HPEXPIREAT", "HTTL", "HPTTL", "HEXPIRETIME",
		"HPEXPIRETIME", "HPERSIST", "HGETEX", "HSETEX", "HGETDEL"} {
		require.Contains(t, c.Do(name, "h").Str, "ERR unknown command '"+name+"'")
	}
	older := dialTo(t, "valkey-9.0")
	require.Contains(t, older.Do("HGETDEL", "h", "FIELDS", "1", "a").Str, "unknown command")
	require.Equal(t, "ERR syntax error", older.Do("HSETEX", "h", "NX", "FIELDS", "1", "a", "1").Str)
	require.Contains(t, dialTo(t, "redis-7.4").Do("HSETEX", "h", "FIELDS", "1", "a", "1").Str, "unknown command")
}
