package command

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysOfARequestAreLoadedBeforeItRuns(t *testing.T) {
	d := newDriver()
	for line, want := range map[string]string{
		"GET a":                         "[a]",
		"SET a b PX 1":                  "[a b PX 1]", // a word behind the key may name an element
		"hset h f v":                    "[h f v]",
		"MGET a b c":                    "[a] [b] [c]",
		"MGET a b c d e":                "", // it loads them itself
		"MSET a 1 b 2":                  "[a] [b]",
		"SMOVE a b m":                   "[a] [b]",
		"EVAL script 2 a b x y z":       "[a] [b]",
		"EVAL script 0 x":               "",
		"EVAL script 3 a":               "", // it will be refused
		"EVAL script 1000000000000 a":   "",
		"EVAL script -1 a":              "",
		"ZUNIONSTORE to 2 a b":          "[to] [a] [b]",
		"ZINTER 2 a b WITHSCORES":       "[a] [b]",
		"BLPOP a b 0":                   "[a] [b]",
		"XREAD COUNT 1 STREAMS a 0":     "",
		"SORT a BY b":                   "",
		"OBJECT ENCODING a":             "",
		"SPUBLISH channel message":      "",
		"PUBLISH channel message":       "",
		"UNKNOWN a b":                   "",
		strings.Repeat("x", 100) + " a": "[a]",
	} {
		got := fmt.Sprintf("%s", d.ex.Table.appendWanted(nil, words(line)))
		require.Equal(t, "["+want+"]", got, line)
	}
}

// TestLoadingKeysTakesAnyRequest has requests that their commands refuse: too few arguments, and numbers in all places.
func TestLoadingKeysTakesAnyRequest(t *testing.T) {
	d := newDriver()
	for _, cmd := range d.ex.Table.All() {
		for _, line := range []string{"x", "x y", "1 x", "x 1 y", "2 2 2 2", "x 3 3", "x -2 y z", "1 2 3 4 5 6 7 8 9"} {
			args := append([][]byte{[]byte(cmd.Name)}, words(line)...)
			require.LessOrEqual(t, len(d.ex.Table.appendWanted(nil, args)), fewKeys, "%s %s", cmd.Name, line)
			d.ex.Prefetch(0, [][][]byte{args, args})
			if cmd.ahead == severalKeys {
				(&Call{Cmd: cmd, Args: args, DB: d.ex.KS.DBs[0]}).prefetchMany()
			}
		}
	}
}

func TestCommandsOfManyKeysAnswerInALargeDatabase(t *testing.T) {
	const keys = 10_000
	d := newDriver()
	all := func(name, words string) [][]byte {
		args := [][]byte{[]byte(name)}
		for i := range keys {
			for _, w := range strings.Fields(words) {
				args = append(args, []byte(strings.ReplaceAll(w, "#", fmt.Sprint(i))))
			}
		}
		return args
	}
	reply := func(args [][]byte) string {
		d.w.Buf = d.w.Buf[:0]
		d.ex.Prefetch(0, [][][]byte{args, args})
		d.ex.Do(&d.s, args, &d.w)
		return string(d.w.Buf)
	}
	require.Equal(t, "+OK\r\n", reply(all("MSET", "key# value#")))
	require.Equal(t, ":10000\r\n", reply(all("EXISTS", "key#")))
	mget := all("MGET", "key#")
	require.Equal(t, keys, strings.Count(reply(mget), "\r\nvalue"))
	require.Zero(t, testing.AllocsPerRun(2, func() { reply(mget) })-testing.AllocsPerRun(2, func() { reply(mget[:2]) }))
	require.Equal(t, ":10000\r\n", reply(append(words("HSET hash"), all("", "field# value#")[1:]...)))
	require.Equal(t, keys, strings.Count(reply(append(words("HMGET hash"), all("", "field#")[1:]...)), "\r\nvalue"))
	require.Equal(t, ":10000\r\n", reply(append(words("SADD set"), all("", "member#")[1:]...)))
	require.Equal(t, keys, strings.Count(reply(append(words("SMISMEMBER set"), all("", "member#")[1:]...)), ":1\r\n"))
	require.Equal(t, ":10000\r\n", reply(append(words("ZADD zset"), all("", "# member#")[1:]...)))
	scores := reply(append(words("ZMSCORE zset"), all("", "member#")[1:]...))
	require.Equal(t, keys, bytes.Count([]byte(scores), []byte("$"))-strings.Count(scores, "$-1"))
	require.Equal(t, ":10000\r\n", reply(append(words("HDEL hash"), all("", "field#")[1:]...)))
	require.Equal(t, ":10000\r\n", reply(append(words("SREM set"), all("", "member#")[1:]...)))
	require.Equal(t, ":10000\r\n", reply(append(words("ZREM zset"), all("", "member#")[1:]...)))
	require.Equal(t, ":10000\r\n", reply(all("UNLINK", "key#")))
	require.Zero(t, d.ex.KS.DBs[0].Len())
}
