package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// rewritten waits for the end of a rewrite.
func rewritten(t *testing.T, c *redistest.Conn) {
	t.Helper()
	redistest.Until(t, func() bool {
		info := c.Do("INFO", "persistence").Str
		return strings.Contains(info, "aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\n")
	})
}

func manifest(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "appendonlydir", "appendonly.aof.manifest"))
	require.NoError(t, err)
	return string(text)
}

// What clients change during a rewrite is in the new part, and what they changed before in the new base.
func TestARewriteLosesNothing(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"always", "everysec", "no"} {
		dir := t.TempDir()
		l := born(t, dir, "--appendonly", "yes", "--appendfsync", policy)
		c := l.dial()
		storeAll(c, 1, amount.Count(500, 2000))
		c.Do("FUNCTION", "LOAD", exchangeLibrary)
		for round := range uint64(3) {
			require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
			var writers sync.WaitGroup
			for i := range uint64(2) {
				w := l.dial()
				writers.Go(func() {
					storeAll(w, 10*round+i, amount.Count(100, 300))
					w.Do("SWAPDB", "0", "1")
					w.Do("FLUSHDB")
				})
			}
			writers.Wait()
			rewritten(t, c)
			require.Equal(t, "ok", infoField(c, "aof_last_bgrewrite_status"))
			n := round + 2
			require.Equal(t, fmt.Sprintf("file appendonly.aof.%d.base.rdb seq %d type b\n"+
				"file appendonly.aof.%d.incr.aof seq %d type i\n", n, n, n, n), manifest(t, dir))
			require.Len(t, filesIn(t, filepath.Join(dir, "appendonlydir")), 3, "the old parts are gone")
		}
		require.Equal(t, "3", infoField(c, "aof_rewrites"))
		digest := c.Do("DEBUG", "DIGEST").Str
		require.Equal(t, "OK", c.Do("DEBUG", "LOADAOF").Str)
		require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
		require.Equal(t, "OK", c.Do("DEBUG", "RELOAD").Str)
		require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
		c.Do("SET", "after", "reload")
		digest = c.Do("DEBUG", "DIGEST").Str
		l.kill()
		c = born(t, dir, "--appendonly", "yes").dial()
		require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
		require.Equal(t, int64(1), c.Do("FCALL", "one", "0").Int)
	}
}

func TestARewriteAndASaveTakeTurns(t *testing.T) {
	t.Parallel()
	l := born(t, t.TempDir(), appending()...)
	c := l.dial()
	storeAll(c, 1, 500)
	require.Equal(t, []string{
		"Background append only file rewriting started",
		"ERR Background append only file rewriting already in progress",
		"ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order to schedule a " +
			"BGSAVE whenever possible.",
		"Background saving scheduled",
	}, send(t, c, "BGREWRITEAOF", "BGREWRITEAOF", "BGSAVE", "BGSAVE SCHEDULE"))
	redistest.Until(t, func() bool { return infoField(c, "rdb_saves") == "1" })
	saved(t, c)
	require.Equal(t, []string{"Background saving started", "Background append only file rewriting scheduled"},
		send(t, c, "BGSAVE", "BGREWRITEAOF"))
	redistest.Until(t, func() bool { return infoField(c, "aof_rewrites") == "2" })
	rewritten(t, c)
	require.Equal(t, "2", infoField(c, "rdb_saves"))
	require.Equal(t, []string{"OK", "QUEUED", ""}, send(t, c, "MULTI", "BGREWRITEAOF", "EXEC"))
	redistest.Until(t, func() bool { return infoField(c, "aof_rewrites") == "3" })
	rewritten(t, c)
	require.Contains(t, l.logged(), "Background AOF rewrite finished successfully")
	require.Equal(t, "5", infoField(c, "total_forks"))
	require.Equal(t, "OK", c.Do("CONFIG", "RESETSTAT").Str)
	require.Equal(t, "0", infoField(c, "total_forks"))
}

func TestTheFileIsRewrittenWhenItHasGrown(t *testing.T) {
	t.Parallel()
	l := born(t, t.TempDir(), appending("--auto-aof-rewrite-min-size", "20kb")...)
	c := l.dial()
	for range 40 {
		c.Do("SET", "k", strings.Repeat("v", 200))
	}
	require.Equal(t, "0", infoField(c, "aof_rewrites"))
	for range 100 {
		c.Do("SET", "k", strings.Repeat("v", 200))
	}
	redistest.Until(t, func() bool { return infoField(c, "aof_rewrites") == "1" })
	rewritten(t, c)
	require.Contains(t, l.logged(), "Starting automatic rewriting of AOF on ")
}

func TestAFailedRewriteLeavesWhatThereIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := born(t, dir, appending()...)
	c := l.dial()
	storeAll(c, 1, 300)
	inTheWay := filepath.Join(dir, "appendonlydir", "appendonly.aof.2.base.rdb")
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "in the way"), 0o700))
	for n := range 2 {
		require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
		rewritten(t, c)
		require.Equal(t, fmt.Sprint(n+1), infoField(c, "aof_rewrites_consecutive_failures"))
		c.Do("SET", "after", fmt.Sprint(n))
	}
	require.Equal(t, "err", infoField(c, "aof_last_bgrewrite_status"))
	require.Equal(t, "file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n"+
		"file appendonly.aof.2.incr.aof seq 2 type i\nfile appendonly.aof.3.incr.aof seq 3 type i\n", manifest(t, dir))
	digest := c.Do("DEBUG", "DIGEST").Str
	require.Equal(t, digest, born(t, image(t, dir), appending()...).dial().Do("DEBUG", "DIGEST").Str)

	require.NoError(t, os.RemoveAll(inTheWay))
	require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
	rewritten(t, c)
	require.Equal(t, "0", infoField(c, "aof_rewrites_consecutive_failures"))
	require.Equal(t, "file appendonly.aof.2.base.rdb seq 2 type b\nfile appendonly.aof.4.incr.aof seq 4 type i\n",
		manifest(t, dir))
	l.kill()
	require.Equal(t, digest, born(t, dir, appending()...).dial().Do("DEBUG", "DIGEST").Str)
}

// Redis waits a minute after three failures, then two, and so on. BGREWRITEAOF does not wait.
func TestAfterThreeFailuresARewriteByItselfWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := born(t, dir, appending("--auto-aof-rewrite-min-size", "1")...)
	c := l.dial()
	inTheWay := filepath.Join(dir, "appendonlydir", "appendonly.aof.2.base.rdb")
	require.NoError(t, os.MkdirAll(filepath.Join(inTheWay, "in the way"), 0o700))
	c.Do("SET", "k", strings.Repeat("v", 1000))
	redistest.Until(t, func() bool { return strings.Contains(l.logged(), "triggered the limit, will retry in 1 minutes") })
	require.Equal(t, "3", infoField(c, "aof_rewrites_consecutive_failures"))
	require.NoError(t, os.RemoveAll(inTheWay))
	require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
	rewritten(t, c)
	require.Equal(t, "ok", infoField(c, "aof_last_bgrewrite_status"))
}

func TestAppendOnlyBeginsAndEndsAtRuntime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := born(t, dir, "--appendfsync", "always")
	c := l.dial()
	storeAll(c, 1, 500)
	for round := range 2 {
		require.Equal(t, "OK", c.Do("CONFIG", "SET", "appendonly", "yes").Str)
		require.Equal(t, "1", infoField(c, "aof_enabled"))
		c.Do("SET", "during", fmt.Sprint(round))
		rewritten(t, c)
		c.Do("SET", "after", fmt.Sprint(round))
		digest := c.Do("DEBUG", "DIGEST").Str
		require.Equal(t, digest, born(t, image(t, dir), appending()...).dial().Do("DEBUG", "DIGEST").Str)

		require.Equal(t, "OK", c.Do("CONFIG", "SET", "appendonly", "no").Str)
		require.Equal(t, "0", infoField(c, "aof_enabled"))
		c.Do("SET", "unseen", "v")
		require.Equal(t, digest, born(t, image(t, dir), appending()...).dial().Do("DEBUG", "DIGEST").Str)
		c.Do("DEL", "unseen")
	}
	require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
	rewritten(t, c)
	require.Equal(t, "file appendonly.aof.3.base.rdb seq 3 type b\n", manifest(t, dir), "nothing is appended")

	require.Equal(t, []string{"Background saving started", "OK", "OK"},
		send(t, c, "BGSAVE", "CONFIG SET appendonly yes", "SET late v"))
	rewritten(t, c)
	c.Do("MULTI")
	c.Do("CONFIG", "SET", "appendonly", "no")
	c.Do("CONFIG", "SET", "appendonly", "yes")
	c.Do("EXEC")
	redistest.Until(t, func() bool { return infoField(c, "aof_rewrites") == "5" })
	rewritten(t, c)
	digest := c.Do("DEBUG", "DIGEST").Str
	l.kill()
	require.Equal(t, digest, born(t, dir, appending()...).dial().Do("DEBUG", "DIGEST").Str)
}

func TestTheFirstBaseMustBeCompleteBeforeTheEnd(t *testing.T) {
	t.Parallel()
	l := born(t, t.TempDir())
	c := l.dial()
	storeAll(c, 1, 2000)
	replies := send(t, c, "CONFIG SET appendonly yes", "SHUTDOWN NOSAVE")
	require.Equal(t, []string{"OK", "ERR Errors trying to SHUTDOWN. Check logs."}, replies)
	require.Contains(t, l.logged(), "Writing initial AOF, can't exit.")
	rewritten(t, c)
	require.NoError(t, c.Send([]byte("BGREWRITEAOF\r\nSHUTDOWN NOSAVE\r\n")))
	l.wait()
	require.Contains(t, l.logged(), "There is a child rewriting the AOF. Killing it!")
}

func TestHistoryStaysAsLongAsAutomaticRemovalIsOff(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending("--aof-disable-auto-gc", "yes")...)
	c := l.dial()
	for range 2 {
		c.Do("BGREWRITEAOF")
		rewritten(t, c)
	}
	require.Equal(t, "file appendonly.aof.3.base.rdb seq 3 type b\nfile appendonly.aof.2.incr.aof seq 2 type h\n"+
		"file appendonly.aof.2.base.rdb seq 2 type h\nfile appendonly.aof.1.incr.aof seq 1 type h\n"+
		"file appendonly.aof.1.base.rdb seq 1 type h\nfile appendonly.aof.3.incr.aof seq 3 type i\n", manifest(t, dir))
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "aof-disable-auto-gc", "no").Str)
	require.Equal(t, "file appendonly.aof.3.base.rdb seq 3 type b\nfile appendonly.aof.3.incr.aof seq 3 type i\n",
		manifest(t, dir))
	require.Len(t, filesIn(t, filepath.Join(dir, "appendonlydir")), 3)
}

func TestWhatIsAppendedHasItsTime(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending("--lab", "no", "--aof-timestamp-enabled", "yes")...)
	c := l.dial()
	c.Do("SET", "k", "v")
	c.Do("SET", "k", "w")
	text, err := os.ReadFile(incr(t, dir))
	require.NoError(t, err)
	require.Regexp(t, `^#TS:\d{10}\r\n\*2\r\n\$6\r\nSELECT`, string(text))
	digest := c.Do("DEBUG", "DIGEST").Str
	l.kill()
	require.Equal(t, digest, born(t, dir, appending()...).dial().Do("DEBUG", "DIGEST").Str)
}

func TestWaitAOFWaitsForTheFsync(t *testing.T) {
	t.Parallel()
	l := born(t, t.TempDir(), appending()...)
	c := l.dial()
	acked := func(args ...string) int64 {
		t.Helper()
		return c.Do(append([]string{"WAITAOF"}, args...)...).Elems[0].Int
	}
	for _, policy := range []string{"always", "everysec"} {
		require.Equal(t, "OK", c.Do("CONFIG", "SET", "appendfsync", policy).Str)
		for range 3 {
			c.Do("SET", "k", "v")
			require.Equal(t, int64(1), acked("1", "0", "0"), policy)
		}
	}
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "appendfsync", "no").Str)
	c.Do("SET", "k", "v")
	require.Equal(t, int64(0), acked("1", "0", "5"), "nobody fsyncs")
	require.Equal(t, int64(0), acked("0", "0", "0"))
	c.Do("MULTI")
	c.Do("WAITAOF", "1", "0", "0")
	require.Equal(t, int64(0), c.Do("EXEC").Elems[0].Elems[0].Int)
	require.NoError(t, c.Send(resp.AppendRequest(nil, "WAITAOF", "1", "0", "0")))
	other := l.dial()
	redistest.Until(t, func() bool { return infoField(other, "blocked_clients") == "1" })
	require.Equal(t, "OK", other.Do("CONFIG", "SET", "appendfsync", "always").Str)
	require.Equal(t, int64(1), c.Read().Elems[0].Int)

	require.Equal(t, "OK", c.Do("CONFIG", "SET", "appendfsync", "no").Str)
	c.Do("SET", "k", "v")
	require.NoError(t, c.Send(resp.AppendRequest(nil, "WAITAOF", "1", "0", "0")))
	redistest.Until(t, func() bool { return infoField(other, "blocked_clients") == "1" })
	require.Equal(t, "OK", other.Do("CONFIG", "SET", "appendonly", "no").Str)
	const off = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
	require.Equal(t, off, c.Read().Str)
	require.Equal(t, off, c.Do("WAITAOF", "1", "0", "0").Str)
}

// The base of Redis has no place for fields that expire. The log names the hash, and the old parts stay.
func TestARewriteFailsAtFieldsThatExpireAsRedis(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending("--dialect", "redis-8.0")...)
	c := l.dial()
	c.Do("HSET", "h", "f", "v")
	c.Do("HPEXPIRE", "h", "1000000", "FIELDS", "1", "f")
	require.Equal(t, "Background append only file rewriting started", c.Do("BGREWRITEAOF").Str)
	rewritten(t, c)
	require.Equal(t, "err", infoField(c, "aof_last_bgrewrite_status"))
	require.Contains(t, l.logged(), "fields of the hash 'h' expire, and version 11 of the format has no place for that")
	digest := c.Do("DEBUG", "DIGEST").Str
	l.kill()
	require.Equal(t, digest, born(t, dir, appending("--dialect", "redis-8.0")...).dial().Do("DEBUG", "DIGEST").Str)
}
