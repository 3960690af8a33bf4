package node_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// numbered returns n names of size bytes.
func numbered(n, size int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%0*d", size, i)
	}
	return names
}

// request sends a command and does not wait for the reply.
func request(t *testing.T, c *redistest.Conn, args ...string) {
	t.Helper()
	require.NoError(t, c.Send(resp.AppendRequest(nil, args...)))
}

// requireInTime calls ok until it returns true.
func requireInTime(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(redistest.Limit); !ok(); {
		require.True(t, time.Now().Before(end), what)
	}
}

// Each row makes the server keep at least a million bytes for a client, and then makes it free
// them.
func TestUsedMemoryCountsAllThatClientsHaveTheServerKeep(t *testing.T) {
	t.Parallel()
	const kept = 1_000_000
	big := strings.Repeat("x", kept)
	type conn = redistest.Conn
	each := func(t *testing.T, c *conn, name string, words []string) {
		request(t, c, append([]string{name}, words...)...)
		for range words {
			c.Read()
		}
	}
	prefixes := func() (args []string) {
		for _, name := range numbered(2000, 500) {
			args = append(args, "PREFIX", name)
		}
		return args
	}
	do := func(args ...string) func(*testing.T, *conn) {
		return func(t *testing.T, c *conn) {
			reply := c.Do(args...)
			require.NotEqual(t, byte('-'), reply.Kind, reply.Str)
		}
	}
	hangUp := func(_ *testing.T, c *conn) { c.Close() }
	for name, row := range map[string]struct{ keep, undo func(*testing.T, *conn) }{
		"channels": {func(t *testing.T, c *conn) { each(t, c, "SUBSCRIBE", numbered(2000, 500)) }, hangUp},
		"patterns": {func(t *testing.T, c *conn) { each(t, c, "PSUBSCRIBE", numbered(2000, 500)) }, hangUp},
		"shard channels": {func(t *testing.T, c *conn) { each(t, c, "SSUBSCRIBE", numbered(2000, 500)) },
			func(t *testing.T, c *conn) { each(t, c, "SUNSUBSCRIBE", numbered(2000, 500)) }},
		"short channels": {func(t *testing.T, c *conn) { each(t, c, "SUBSCRIBE", numbered(10_000, 6)) }, hangUp},
		"watched keys":   {do(append([]string{"WATCH"}, numbered(2000, 500)...)...), do("UNWATCH")},
		"a queue": {func(t *testing.T, c *conn) {
			c.Do("MULTI")
			for range 1000 {
				c.Do("SET", "k", big[:1000])
			}
		}, do("DISCARD")},
		"keys that a client waits for": {func(t *testing.T, c *conn) {
			request(t, c, append(append([]string{"BLPOP"}, numbered(2000, 500)...), "0")...)
		}, hangUp},
		"a name":         {do("CLIENT", "SETNAME", big), do("CLIENT", "SETNAME", "")},
		"a library name": {do("CLIENT", "SETINFO", "LIB-NAME", big), do("CLIENT", "SETINFO", "LIB-NAME", "")},
		"prefixes": {
			do(append([]string{"CLIENT", "TRACKING", "ON", "BCAST"}, prefixes()...)...),
			do("CLIENT", "TRACKING", "OFF")},
		"keys that were read": {func(t *testing.T, c *conn) {
			c.Do("CLIENT", "TRACKING", "ON")
			c.Do(append([]string{"MGET"}, numbered(2000, 500)...)...)
		}, do("FLUSHALL")},
		"a user": {do("ACL", "SETUSER", "u", "~"+big), do("ACL", "DELUSER", "u")},
		"a user's rules": {
			do(append([]string{"ACL", "SETUSER", "u"}, strings.Fields("~"+strings.Join(numbered(2000, 500), " ~"))...)...),
			do("ACL", "DELUSER", "u")},
		"refusals": {func(t *testing.T, c *conn) {
			for i := range 100 {
				c.Do("AUTH", fmt.Sprint(i, big[:10_000]), "wrong")
			}
		}, do("ACL", "LOG", "RESET")},
		"slow commands": {func(t *testing.T, c *conn) {
			c.Do("CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "1000")
			for range 400 {
				c.Do(append([]string{"DEL"}, numbered(40, 100)...)...)
			}
			c.Do("CONFIG", "SET", "slowlog-log-slower-than", "-1")
		}, do("SLOWLOG", "RESET")},
		"a script": {do("SCRIPT", "LOAD", "return '"+big+"'"), do("SCRIPT", "FLUSH")},
		"a library": {
			do("FUNCTION", "LOAD", "#!lua name=lib\nlocal s = '"+big+"' redis.register_function('f', function() return s end)"),
			do("FUNCTION", "FLUSH")},
		"half a value": {func(t *testing.T, c *conn) {
			_ = c.Send([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000001\r\n" + big))
		}, hangUp},
		"half a request of many words": {func(t *testing.T, c *conn) {
			_ = c.Send([]byte("*100000\r\n" + strings.Repeat("$1\r\nx\r\n", 99_999)))
		}, hangUp},
		"replies that nobody reads": {func(t *testing.T, c *conn) {
			c.Do("SET", "k", big)
			for range 40 { // the kernel's buffers hold some
				request(t, c, "GET", "k")
			}
		}, func(t *testing.T, c *conn) {
			for range 40 {
				c.Read()
			}
			c.Do("DEL", "k")
		}},
		"faults": {func(t *testing.T, c *conn) {
			for _, name := range numbered(100, 50) {
				require.Equal(t, "OK", c.Do("LAB", "FAULT", "ADD", name, "KEY", big[:10_000], "ACTION", "ERROR", "ERR no").Str)
			}
		}, do("LAB", "FAULT", "CLEAR")},
		"watched globs of the lab": {do("LAB", "LOG", "WATCH", big), do("LAB", "LOG", "UNWATCH", big)},
		"the lab's log": {func(t *testing.T, c *conn) {
			c.Do("LAB", "LOG", "WATCH", "*")
			_ = c.Send(bytes.Repeat(resp.AppendRequest(nil, "SET", "k", "v"), 6000))
			for range 6000 {
				c.Read()
			}
		}, func(t *testing.T, c *conn) {
			c.Do("LAB", "LOG", "UNWATCH", "*")
			c.Do("LAB", "LOG", "RESET")
		}},
		"consumer groups": {func(t *testing.T, c *conn) {
			for _, name := range numbered(100, 10_000) {
				c.Do("XGROUP", "CREATE", "stream", name, "$", "MKSTREAM")
			}
		}, do("DEL", "stream")},
	} {
		t.Run(name, func(t *testing.T) {
			addr := start(t, []string{"--lab", "yes", "--slowlog-log-slower-than", "-1"}) // SLOWLOG keeps client names
			control, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
			c.Do("EVAL", "return 1", "0") // creates the Lua interpreter
			before := info(t, control, "used_memory")
			row.keep(t, c)
			requireInTime(t, "it is counted", func() bool { return info(t, control, "used_memory") >= before+kept })
			row.undo(t, c)
			requireInTime(t, "it is not counted any more", func() bool {
				return info(t, control, "used_memory") < before+kept/5
			})
		})
	}
}

// Redis frees large values of UNLINK and all values of FLUSHDB ASYNC in the background, but none of
// DEL. The count grows when the background is done.
func TestTheBackgroundFreesWhatItFreesInRedis(t *testing.T) {
	bothServers(t, func(t *testing.T, addr string, _ bool) {
		c := redistest.Dial(t, addr)
		c.Do(append([]string{"SADD", "small"}, numbered(10, 5)...)...)
		c.Do(append([]string{"SADD", "large"}, numbered(600, 5)...)...)
		c.Do(append([]string{"SADD", "other"}, numbered(600, 5)...)...)
		require.Equal(t, int64(2), c.Do("UNLINK", "small", "large").Int)
		require.Equal(t, int64(1), c.Do("DEL", "other").Int)
		ok(t, c, "MSET", "a", "1", "b", "2")
		ok(t, c, "FLUSHDB", "ASYNC")
		requireInTime(t, "all is freed", func() bool { return infoField(c, "lazyfreed_objects") == "3" })
		require.Equal(t, "0", infoField(c, "lazyfree_pending_objects"))
		ok(t, c, "CONFIG", "RESETSTAT")
		require.Equal(t, "0", infoField(c, "lazyfreed_objects"))
	})
}
