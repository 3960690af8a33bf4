package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// commands are the arguments of a server whose base is made of commands.
func commands(args ...string) []string {
	return appending(append(args, "--aof-use-rdb-preamble", "no")...)
}

// storeGroups stores streams with everything that a stream can have.
func storeGroups(t *testing.T, c *redistest.Conn) {
	t.Helper()
	for _, line := range []string{
		"XADD plain 1-1 f v g w", "XADD plain 1-2 f v g w", "XADD plain 2-0 other field", "XDEL plain 2-0",
		"XGROUP CREATE plain first 0", "XREADGROUP GROUP first alice COUNT 1 STREAMS plain >",
		"XREADGROUP GROUP first bob STREAMS plain >", "XGROUP CREATECONSUMER plain first idle",
		"XGROUP CREATE plain second 1-1 ENTRIESREAD 1", "XSETID plain 9-9 ENTRIESADDED 7 MAXDELETEDID 3-3",
		"XGROUP CREATE empty g $ MKSTREAM", "XADD emptied 5-5 f v", "XDEL emptied 5-5",
		"XADD lost 1-1 f v", "XADD lost 1-2 f v", "XGROUP CREATE lost g 0", "XREADGROUP GROUP g c STREAMS lost >",
		"XDEL lost 1-1", "PEXPIREAT lost 4000000000000", "SET empty: v", "PEXPIREAT empty: 4000000000001",
		"ZADD infinite inf a -inf b 1e-300 c 0.1 d -0 e",
	} {
		require.NotContains(t, c.Do(strings.Fields(line)...).Str, "ERR", line)
	}
}

// describeGroups is what DEBUG DIGEST leaves out.
func describeGroups(c *redistest.Conn) string {
	var all strings.Builder
	for _, key := range []string{"plain", "empty", "emptied", "lost"} {
		all.WriteString(c.Do("XINFO", "STREAM", key).String() + c.Do("XINFO", "GROUPS", key).String())
		for _, group := range []string{"first", "second", "g"} {
			all.WriteString(c.Do("XPENDING", key, group).String())
		}
		all.WriteString(c.Do("PEXPIRETIME", key).String())
	}
	for i := range 5 {
		all.WriteString(c.Do("ZRANGE", "infinite", string(rune('0'+i)), string(rune('0'+i)), "WITHSCORES").String())
	}
	return all.String()
}

func TestABaseOfCommandsHasEverything(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, commands("--aof-timestamp-enabled", "yes")...)
	c := l.dial()
	storeAll(c, 4, *exchanged)
	storeGroups(t, c)
	c.Do("FUNCTION", "LOAD", exchangeLibrary)
	digest, groups := c.Do("DEBUG", "DIGEST").Str, describeGroups(c)
	require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
	rewritten(t, c)
	require.Equal(t, "file appendonly.aof.2.base.aof seq 2 type b\nfile appendonly.aof.2.incr.aof seq 2 type i\n",
		manifest(t, dir))
	text, err := os.ReadFile(filepath.Join(dir, "appendonlydir", "appendonly.aof.2.base.aof"))
	require.NoError(t, err)
	require.Regexp(t, `^#TS:\d+\r\n\*3\r\n\$8\r\nFUNCTION\r\n\$4\r\nLOAD\r\n`, string(text[:60]))
	require.Equal(t, 1, strings.Count(string(text), "RESTORE"), "the stream with a pending entry without a message")
	l.kill()
	for range 2 { // the first one is what a crash leaves of a new server, the second one begins behind a rewrite
		l = born(t, dir, commands()...)
		c = l.dial()
		require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
		require.Equal(t, groups, describeGroups(c))
		require.Equal(t, int64(1), c.Do("FCALL", "one", "0").Int)
		require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
		rewritten(t, c)
		l.kill()
	}

	theirs := redistest.Dial(t, of7_2(t, "--dir", dir, "--appendonly", "yes", "--aof-use-rdb-preamble", "no").Addr)
	require.Equal(t, digest, theirs.Do("DEBUG", "DIGEST").Str)
	require.Equal(t, groups, describeGroups(theirs))
	require.Equal(t, int64(1), theirs.Do("FCALL", "one", "0").Int)
}

// The first base of a folder, made at the start, is made of commands, too. The two forms take turns.
func TestTheFormOfTheBaseIsADirective(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir)
	c := l.dial()
	storeAll(c, 4, 200)
	digest := c.Do("DEBUG", "DIGEST").Str
	require.Equal(t, "OK", c.Do("SAVE").Str)
	l.kill()
	l = born(t, dir, commands()...)
	c = l.dial()
	require.Contains(t, manifest(t, dir), "appendonly.aof.1.base.aof")
	require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
	for _, form := range []string{"2.base.rdb", "3.base.aof"} {
		c.Do("CONFIG", "SET", "aof-use-rdb-preamble", map[bool]string{true: "yes", false: "no"}[form[0] == '2'])
		c.Do("BGREWRITEAOF")
		rewritten(t, c)
		require.Contains(t, manifest(t, dir), form)
		require.Equal(t, "OK", c.Do("DEBUG", "LOADAOF").Str)
		require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
	}
	l.kill()
}

// An RDB file of Redis has no place for fields that expire, but commands have.
func TestABaseOfCommandsHasFieldsThatExpire(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"redis-8.0", "valkey-9.1"} {
		dir := t.TempDir()
		l := born(t, dir, commands("--dialect", dialect)...)
		c := l.dial()
		storeTimed(c, 7)
		digest, times := c.Do("DEBUG", "DIGEST").Str, c.Do("HPEXPIRETIME", "timed:0", "FIELDS", "2", "f0", "stays").String()
		require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
		rewritten(t, c)
		require.Equal(t, "ok", infoField(c, "aof_last_bgrewrite_status"))
		l.kill()
		c = born(t, dir, commands("--dialect", dialect)...).dial()
		require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
		require.Equal(t, times, c.Do("HPEXPIRETIME", "timed:0", "FIELDS", "2", "f0", "stays").String())
	}
}
