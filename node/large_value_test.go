package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// The replies to large strings refer to the stored bytes. Each row changes these bytes before the reply is
// sent, in the same pipeline.
func TestALargeReplyIsTheStringAtItsTime(t *testing.T) {
	t.Parallel()
	const size = 3_000_000
	old := strings.Repeat("o", size)
	for name, change := range map[string][]string{
		"set":       {"SET", "k", strings.Repeat("n", size)},
		"setrange":  {"SETRANGE", "k", "10", "new"},
		"setbit":    {"SETBIT", "k", "10", "0"},
		"bitfield":  {"BITFIELD", "k", "SET", "u8", "#5", "1"},
		"append":    {"APPEND", "k", "new"},
		"getset":    {"GETSET", "k", "new"},
		"delete":    {"DEL", "k"},
		"flush":     {"FLUSHALL"},
		"copy over": {"COPY", "other", "k", "REPLACE"},
	} {
		for mode, begin := range map[string]func(*testing.T) string{
			"main":    func(t *testing.T) string { return start(t, nil) },
			"threads": func(t *testing.T) string { return startThreads(t, true) },
		} {
			t.Run(name+" "+mode, func(t *testing.T) {
				c := redistest.Dial(t, begin(t))
				c.Do("SET", "k", old)
				c.Do("SET", "other", "x")
				var pipeline []byte
				for _, request := range [][]string{{"GET", "k"}, {"GETRANGE", "k", "0", "99999"}, change, {"ECHO", "end"}} {
					pipeline = resp.AppendRequest(pipeline, request...)
				}
				require.NoError(t, c.Send(pipeline))
				require.True(t, c.Read().Str == old)
				require.True(t, c.Read().Str == old[:100_000])
				c.Read()
				require.Equal(t, "end", c.Read().Str)
			})
		}
	}
}

func TestSuppressedLargeRepliesLeaveNothing(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	c.Do("SET", "k", strings.Repeat("x", 100_000))
	request(t, c, "CLIENT", "REPLY", "SKIP")
	request(t, c, "GET", "k")
	require.Equal(t, "here", c.Do("ECHO", "here").Str)
	c.Do("MULTI")
	c.Do("MGET", "k", "none", "k")
	c.Do("GET", "k")
	r := c.Do("EXEC")
	require.Len(t, r.Elems[0].Elems[2].Str, 100_000)
	require.Len(t, r.Elems[1].Str, 100_000)
}

func TestALargeValueIsStoredAsItWasSent(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	old, young := strings.Repeat("o", 300_000), strings.Repeat("y", 300_000)
	for name, set := range map[string][]string{
		"set":    {"SET", "k", old},
		"expiry": {"SET", "k", old, "EX", "1000"},
		"setex":  {"SETEX", "k", "1000", old},
		"getset": {"GETSET", "k", old},
		"mset":   {"MSET", "k", old, "k2", old},
	} {
		t.Run(name, func(t *testing.T) {
			c.Do("FLUSHALL")
			pipeline := resp.AppendRequest(nil, set...)
			for _, more := range [][]string{
				{"SET", "other", young}, {"SETRANGE", "other", "7", "z"}, {"GET", "k"}, {"TTL", "k"},
			} {
				pipeline = resp.AppendRequest(pipeline, more...)
			}
			require.NoError(t, c.Send(pipeline))
			for range 3 {
				c.Read()
			}
			require.True(t, c.Read().Str == old)
			require.Equal(t, name == "expiry" || name == "setex", c.Read().Int > 0)
			require.True(t, c.Do("GET", "other").Str == young[:7]+"z"+young[8:])
			require.Equal(t, "raw", c.Do("OBJECT", "ENCODING", "k").Str)
		})
	}
}

func TestAScriptMayStoreALargeArgumentTwice(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	big := strings.Repeat("x", 300_000)
	c.Do("EVAL", `redis.call("set", "a", ARGV[1]) redis.call("setrange", "a", 0, "y") redis.call("set", "b", ARGV[1])`,
		"0", big)
	require.True(t, c.Do("GET", "b").Str == big)
	require.True(t, c.Do("GET", "a").Str == "y"+big[1:])
}

func TestAQueuedLargeValueIsStored(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	big := strings.Repeat("x", 300_000)
	c.Do("MULTI")
	c.Do("SET", "k", big)
	c.Do("SET", "k2", big[1:])
	c.Do("EXEC")
	require.True(t, c.Do("GET", "k").Str == big)
	require.True(t, c.Do("GET", "k2").Str == big[1:])
}

func TestAValueOfMegabytesGrowsInPlace(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	big := strings.Repeat("x", 3<<20)
	var pipeline []byte
	for _, r := range [][]string{
		{"SET", "k", big}, {"SET", "other", "value"}, {"APPEND", "k", "appended"}, {"GET", "other"},
		{"SETRANGE", "k", fmt.Sprint(len(big) + 20), "end"}, {"APPEND", "k", big}, {"GET", "k"},
	} {
		pipeline = resp.AppendRequest(pipeline, r...)
	}
	require.NoError(t, c.Send(pipeline))
	for range 3 {
		c.Read()
	}
	require.Equal(t, "value", c.Read().Str)
	c.Read()
	c.Read()
	require.True(t, c.Read().Str == big+"appended"+strings.Repeat("\x00", 12)+"end"+big)
}
