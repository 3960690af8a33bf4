package node_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

func appending(args ...string) []string {
	return append([]string{"--appendonly", "yes", "--appendfsync", "always"}, args...)
}

// image copies the append only file as it is now, while its server runs. That is what kill -9 leaves.
func image(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(to, "appendonlydir"), os.DirFS(filepath.Join(dir, "appendonlydir"))))
	return to
}

// incr is the path of the last part.
func incr(t *testing.T, dir string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.incr.aof"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	return all[0]
}

func TestEveryAcknowledgedWriteIsInTheAppendOnlyFile(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--exec", "queue"}, {"--io-threads", "3", "--io-threads-do-reads", "yes"}} {
		t.Run(fmt.Sprint(more), func(t *testing.T) {
			dir := t.TempDir()
			l := born(t, dir, appending(more...)...)
			c := l.dial()
			for round := range uint64(3) {
				storeAll(c, round, 200)
				c.Do("FUNCTION", "LOAD", "REPLACE", exchangeLibrary)
				c.Do("SET", "round", fmt.Sprint(round), "PX", "10000000")
				digest := c.Do("DEBUG", "DIGEST").Str
				after := born(t, image(t, dir), appending(more...)...)
				d := after.dial()
				require.Equal(t, digest, d.Do("DEBUG", "DIGEST").Str)
				require.Equal(t, int64(1), d.Do("FCALL", "one", "0").Int)
				require.Positive(t, d.Do("PTTL", "round").Int)
				after.kill()

				if round == 1 {
					require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
					rewritten(t, c)
					require.Equal(t, infoField(c, "aof_base_size"), infoField(c, "aof_current_size"))
				}
				l.kill() // and the same folder again
				l = born(t, dir, appending(more...)...)
				c = l.dial()
				require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
				require.Equal(t, "1", infoField(c, "aof_enabled"))
			}
		})
	}
}

func TestARestartWritesWhatTheOtherPoliciesHaveInTheirBuffer(t *testing.T) {
	for _, policy := range []string{"everysec", "no"} {
		dir := t.TempDir()
		l := born(t, dir, "--appendonly", "yes", "--appendfsync", policy)
		c := l.dial()
		storeAll(c, 1, 100)
		digest := c.Do("DEBUG", "DIGEST").Str
		require.Equal(t, "OK", c.Do("CONFIG", "SET", "appendfsync", "always").Str)
		require.Equal(t, "OK", c.Do("CONFIG", "SET", "appendfsync", policy).Str)
		l.kill()
		require.Contains(t, l.logged(), "Calling fsync() on the AOF file.")
		require.Equal(t, digest, born(t, dir, "--appendonly", "yes").dial().Do("DEBUG", "DIGEST").Str)
	}
}

// A key that is over when its server starts again is over for the commands behind it as well.
func TestWhatHasExpiredDoesNotComeBack(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending("--dialect", "redis-8.0")...)
	c := l.dial()
	c.Do("SADD", "set", "old")
	c.Do("PEXPIRE", "set", "1")
	c.Do("HSET", "hash", "field", "1", "other", "1")
	c.Do("HPEXPIRE", "hash", "1", "FIELDS", "1", "field")
	redistest.Until(t, func() bool { return c.Do("EXISTS", "set").Int == 0 && c.Do("HLEN", "hash").Int == 1 })
	c.Do("SADD", "set", "new")
	c.Do("HINCRBY", "hash", "field", "5")
	c.Do("SET", "persists", "v", "PX", "10000000")
	c.Do("PERSIST", "persists")
	digest := c.Do("DEBUG", "DIGEST").Str
	for range 2 {
		l.kill()
		l = born(t, dir, appending("--dialect", "redis-8.0")...)
		c = l.dial()
		require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
		require.Equal(t, "5", c.Do("HGET", "hash", "field").Str)
		require.Equal(t, int64(-1), c.Do("PTTL", "persists").Int)
	}
}

// An RDB file of Redis has no place for fields that expire. Then the parts stay, and a new one follows.
func TestFieldsThatExpireSurviveInEachDialect(t *testing.T) {
	for _, dialect := range []string{"redis-8.0", "valkey-9.1"} {
		dir := t.TempDir()
		l := born(t, dir, appending("--dialect", dialect)...)
		c := l.dial()
		c.Do("HSET", "h", "a", "1.5", "b", "2")
		c.Do("HEXPIRE", "h", "1000", "FIELDS", "1", "a")
		c.Do("HINCRBYFLOAT", "h", "a", "1")
		c.Do("HSETEX", "h", "EX", "1000", "FIELDS", "1", "c", "3")
		c.Do("HGETEX", "h", "PX", "1000000", "FIELDS", "1", "b")
		for round := range 3 {
			c.Do("SET", "round", fmt.Sprint(round))
			l.kill()
			l = born(t, dir, appending("--dialect", dialect)...)
			c = l.dial()
			require.Equal(t, fmt.Sprint(round), c.Do("GET", "round").Str)
			require.Equal(t, "2.5", c.Do("HGET", "h", "a").Str)
			for _, field := range []string{"a", "b", "c"} {
				require.Positive(t, c.Do("HTTL", "h", "FIELDS", "1", field).Elems[0].Int, "%s %s", dialect, field)
			}
		}
	}
}

func TestRedisAndThisServerStartFromEachOthersFolder(t *testing.T) {
	of7_2(t)
	dir := t.TempDir()
	l := born(t, dir, appending()...)
	c := l.dial()
	storeAll(c, 3, 300)
	digest := c.Do("DEBUG", "DIGEST").Str
	require.Equal(t, "OK", c.Do("FUNCTION", "FLUSH").Str)
	c.Do("FUNCTION", "LOAD", exchangeLibrary)
	folder := image(t, dir)
	l.kill()

	check := exec.Command("redis-check-aof", filepath.Join(folder, "appendonlydir", "appendonly.aof.manifest"))
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "All AOF files and manifest are valid")

	theirs := redistest.Dial(t, of7_2(t, "--appendonly", "yes", "--appendfsync", "no", "--dir", folder).Addr)
	require.Equal(t, digest, theirs.Do("DEBUG", "DIGEST").Str)
	require.Equal(t, int64(1), theirs.Do("FCALL", "one", "0").Int)
	storeAll(theirs, 4, 300)
	theirs.Do("BGREWRITEAOF")
	redistest.Until(t, func() bool { return infoField(theirs, "aof_rewrite_in_progress") == "0" })
	storeAll(theirs, 5, 100)
	digest = theirs.Do("DEBUG", "DIGEST").Str
	again := image(t, folder)
	require.Equal(t, digest, born(t, again, appending()...).dial().Do("DEBUG", "DIGEST").Str)
}

func TestATruncatedTailIsCutOffUnlessAofLoadTruncatedIsNo(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending()...)
	c := l.dial()
	c.Do("SET", "whole", "v")
	c.Do("MULTI")
	c.Do("SET", "half", "v")
	c.Do("INCR", "n")
	c.Do("EXEC")
	l.kill()
	file := incr(t, dir)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	begin := bytes.Index(text, []byte("*1\r\n$5\r\nMULTI"))
	require.Positive(t, begin)
	for size := begin + 1; size < len(text); size += 7 {
		torn := image(t, dir)
		require.NoError(t, os.Truncate(incr(t, torn), int64(size)))
		err := startError(t, configOf(t, torn, appending("--aof-load-truncated", "no")...))
		require.ErrorContains(t, err, "aof-load-truncated is no")
		left, err := os.ReadFile(incr(t, torn))
		require.NoError(t, err)
		require.Equal(t, text[:size], left, "nothing is changed")
		after := born(t, torn, appending()...)
		require.Contains(t, after.logged(), fmt.Sprintf("it is cut off at byte %d", begin))
		d := after.dial()
		require.Equal(t, "v", d.Do("GET", "whole").Str)
		require.Equal(t, int64(0), d.Do("EXISTS", "half", "n").Int, "a transaction is there as a whole or not at all")
		after.kill()
	}
}

// A power cut that comes when a rewrite has just begun tears the old part, and the new one is empty. Redis does not
// load that.
func TestATornPartBeforeAnEmptyOneIsTheEnd(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending()...)
	c := l.dial()
	c.Do("SET", "whole", "v")
	c.Do("SET", "torn", "v")
	l.kill()
	text, err := os.ReadFile(incr(t, dir))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(incr(t, dir), int64(len(text)-3)))
	folder := filepath.Join(dir, "appendonlydir")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "appendonly.aof.2.incr.aof"), nil, 0o600))
	manifest, err := os.OpenFile(filepath.Join(folder, "appendonly.aof.manifest"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = manifest.WriteString("file appendonly.aof.2.incr.aof seq 2 type i\n")
	require.NoError(t, err)
	require.NoError(t, manifest.Close())
	for range 2 { // the second start finds nothing wrong any more
		l = born(t, dir, appending()...)
		c = l.dial()
		require.Equal(t, "v", c.Do("GET", "whole").Str)
		require.Equal(t, int64(0), c.Do("EXISTS", "torn").Int)
		l.kill()
	}
	require.NotContains(t, l.logged(), "cut off")
}

func TestADamagedAppendOnlyFileIsRefusedAndStaysAsItIs(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending()...)
	l.dial().Do("SET", "k", "v")
	l.dial().Do("SET", "k", "w")
	l.kill()
	for _, damage := range []func(text []byte) []byte{
		func(text []byte) []byte { return append([]byte("x"), text...) },
		func(text []byte) []byte { return bytes.Replace(text, []byte("SET"), []byte("XXX"), 1) },
		func(text []byte) []byte { return bytes.Replace(text, []byte("$1\r\n0"), []byte("$3\r\n999"), 1) },
		func(text []byte) []byte { return resp.AppendRequest(text, "SET", "k", "x", "IFEQ", "w") }, // of Valkey
	} {
		hurt := image(t, dir)
		text, err := os.ReadFile(incr(t, hurt))
		require.NoError(t, err)
		bad := damage(bytes.Clone(text))
		require.NotEqual(t, text, bad)
		require.NoError(t, os.WriteFile(incr(t, hurt), bad, 0o600))
		manifest, err := os.ReadFile(filepath.Join(hurt, "appendonlydir", "appendonly.aof.manifest"))
		require.NoError(t, err)
		err = startError(t, configOf(t, hurt, appending()...))
		require.ErrorContains(t, err, "appendonly.aof.1.incr.aof: byte ")
		left, err := os.ReadFile(incr(t, hurt))
		require.NoError(t, err)
		require.Equal(t, bad, left)
		kept, err := os.ReadFile(filepath.Join(hurt, "appendonlydir", "appendonly.aof.manifest"))
		require.NoError(t, err)
		require.Equal(t, manifest, kept)
	}
}

func TestAnAppendOnlyFileBeginsWithWhatAnOlderServerHasLeft(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir)
	c := l.dial()
	storeAll(c, 1, 50)
	digest := c.Do("DEBUG", "DIGEST").Str
	require.Equal(t, "OK", c.Do("SAVE").Str)
	l.kill()
	for range 2 {
		l = born(t, dir, appending()...)
		require.Equal(t, digest, l.dial().Do("DEBUG", "DIGEST").Str)
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "dump.rdb")), "it is not needed any more")
		l.kill()
	}

	dir = t.TempDir()
	single := filepath.Join(dir, "appendonly.aof")
	text := resp.AppendRequest(resp.AppendRequest(nil, "SELECT", "2"), "SET", "old", "v")
	require.NoError(t, os.WriteFile(single, text, 0o600))
	for range 2 {
		l = born(t, dir, appending()...)
		c = l.dial()
		c.Do("SELECT", "2")
		require.Equal(t, "v", c.Do("GET", "old").Str)
		c.Do("SET", "new", "v")
		l.kill()
	}
	require.NoFileExists(t, single)
	kept, err := os.ReadFile(filepath.Join(dir, "appendonlydir", "appendonly.aof"))
	require.NoError(t, err)
	require.Equal(t, text, kept, "it is the base")
}

func TestTwoServersDoNotAppendToOneFolder(t *testing.T) {
	dir := t.TempDir()
	first := born(t, dir, appending()...)
	first.dial().Do("SET", "k", "v")
	require.ErrorContains(t, startError(t, configOf(t, dir, appending()...)), "another server appends to "+dir)
	require.Equal(t, "v", born(t, image(t, dir), appending()...).dial().Do("GET", "k").Str)
	first.kill()
	require.Equal(t, "v", born(t, dir, appending()...).dial().Do("GET", "k").Str)
}

func TestAStartThatFailsLeavesTheFolderToOthers(t *testing.T) {
	busy, dir := born(t, t.TempDir()), t.TempDir()
	_, port, err := net.SplitHostPort(busy.addr)
	require.NoError(t, err)
	_, err = node.New(configOf(t, dir, appending("--port", port)...), func(byte, string, ...any) {})
	require.Error(t, err)
	require.Equal(t, "OK", born(t, dir, appending()...).dial().Do("SET", "k", "v").Str)
}

func TestWhatAnAppendOnlyFileCannotDoIsRefusedByName(t *testing.T) {
	for args, why := range map[string]string{
		"--lab yes": "appendonly yes with a lab needs --lab-disk yes", "--masters 2": "appendonly yes needs a port",
	} {
		_, err := node.NewNodes(configOf(t, t.TempDir(), appending(strings.Fields(args)...)...),
			func(int) server.Log { return func(byte, string, ...any) {} })
		require.ErrorContains(t, err, why)
	}
	c := born(t, t.TempDir(), appending()...).dial()
	require.Contains(t, c.Do("DEBUG", "RELOAD", "NOSAVE").Str, "not supported by miniredisd with appendonly yes")
	c = born(t, t.TempDir(), "--lab", "yes").dial()
	require.Contains(t, c.Do("BGREWRITEAOF").Str, "ERR Can't execute an AOF background rewriting")
	require.Contains(t, c.Do("CONFIG", "SET", "appendonly", "yes").Str, "Unable to turn on AOF. Check server logs.")
}

// A script that runs for long lets other clients be served. What they hear must be on the disk as well, and of the
// script's own writes nothing is, until it is over.
func TestASlowScriptDoesNotLetRepliesOvertakeTheFsync(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending("--busy-reply-threshold", "1")...)
	c, script := l.dial(), l.dial()
	require.Equal(t, "OK", c.Do("SET", "k", "before").Str)
	require.NoError(t, script.Send(resp.AppendRequest(nil, "EVAL",
		"redis.call('set', 'k', 'half') while redis.call('get', 'k') ~= '' do end", "0")))
	redistest.Until(t, func() bool { return strings.HasPrefix(c.Do("PING").Str, "BUSY") })
	require.Contains(t, c.Do("SET", "other", "v").Str, "BUSY")
	text, err := os.ReadFile(incr(t, dir))
	require.NoError(t, err)
	require.NotContains(t, string(text), "half")
	require.NoError(t, c.Send([]byte("SHUTDOWN NOSAVE\r\n")))
	l.wait()
}

// Eviction and a lower maxmemory after the restart leave what the file says.
func TestEvictedKeysStayAway(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending("--maxmemory-policy", "allkeys-random")...)
	c := l.dial()
	for i := range 200 {
		c.Do("SET", fmt.Sprint("key:", i), strings.Repeat("x", 2000))
	}
	used, err := strconv.Atoi(infoField(c, "used_memory"))
	require.NoError(t, err)
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "maxmemory", strconv.Itoa(used-200_000)).Str)
	redistest.Until(t, func() bool { return infoField(c, "evicted_keys") != "0" })
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "maxmemory", "0").Str)
	digest := c.Do("DEBUG", "DIGEST").Str
	require.Less(t, c.Do("DBSIZE").Int, int64(200))
	l.kill()
	require.Equal(t, digest, born(t, dir, appending()...).dial().Do("DEBUG", "DIGEST").Str)
}

// With always, WAITAOF may answer before the fsync: its reply waits for that. That is over in the middle of a pass when
// the policy changes, or when a rewrite begins and no-appendfsync-on-rewrite is yes.
func TestWaitAOFDoesNotTrustAPolicyThatHasJustChanged(t *testing.T) {
	for _, change := range []string{"CONFIG SET appendfsync everysec", "BGREWRITEAOF", "BGSAVE"} {
		c := born(t, t.TempDir(), appending("--no-appendfsync-on-rewrite", "yes")...).dial()
		for i, before := range []string{"PING", change} {
			require.NoError(t, c.Send([]byte(before+"\r\nSET k v\r\nMULTI\r\nWAITAOF 1 0 0\r\nEXEC\r\n")))
			for range 4 {
				require.NotContains(t, c.Read().Str, "ERR", before)
			}
			require.Equal(t, int64(1-i), c.Read().Elems[0].Elems[0].Int, "after %s", before)
		}
	}
}
