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
)

// saved waits for the end of a save in the background.
func saved(t *testing.T, c *redistest.Conn) {
	t.Helper()
	redistest.Until(t, func() bool { return infoField(c, "rdb_bgsave_in_progress") == "0" })
}

// send sends requests in one piece, so one pass executes them.
func send(t *testing.T, c *redistest.Conn, requests ...string) (replies []string) {
	t.Helper()
	_, err := c.Net.Write([]byte(strings.Join(requests, "\r\n") + "\r\n"))
	require.NoError(t, err)
	for range requests {
		replies = append(replies, c.Read().Str)
	}
	return replies
}

// What clients change after BGSAVE has begun is not in the file, whether or not the cursor was there before them.
func TestABackgroundSaveIsTheKeyspaceAtItsBeginning(t *testing.T) {
	for _, exec := range []string{"inline", "queue"} {
		dir := t.TempDir()
		l := born(t, dir, "--exec", exec)
		c := l.dial()
		storeAll(c, 3, amount.Count(1000, 4000))
		c.Do(append([]string{"SADD", "large:set"}, names("member", 20_000)...)...)
		c.Do(append([]string{"RPUSH", "large:list"}, names("", 20_000)...)...)
		c.Do("SET", "long", strings.Repeat("long", 10_000))
		c.Do("FUNCTION", "LOAD", exchangeLibrary)
		digest := c.Do("DEBUG", "DIGEST").Str
		keys := c.Do("DBSIZE").Int
		require.Equal(t, "-1", infoField(c, "rdb_last_bgsave_time_sec"))
		require.Equal(t, "Background saving started", c.Do("BGSAVE").Str)
		var writers sync.WaitGroup
		for i := range uint64(3) {
			w := l.dial()
			writers.Go(func() {
				storeAll(w, 10+i, amount.Count(300, 1000))
				w.Do("SETRANGE", "long", "7", "short")
				w.Do("SADD", "large:set", "newer")
				w.Do("LSET", "large:list", "7", "newer")
				w.Do("SWAPDB", "0", "1")
				w.Do("FLUSHDB")
			})
		}
		writers.Wait()
		saved(t, c)
		require.Equal(t, "ok", infoField(c, "rdb_last_bgsave_status"))
		require.NotEqual(t, "-1", infoField(c, "rdb_last_bgsave_time_sec"))
		require.Equal(t, "-1", infoField(c, "rdb_current_bgsave_time_sec"))
		require.Equal(t, "1", infoField(c, "rdb_saves"))
		require.NotEqual(t, "0", infoField(c, "rdb_changes_since_last_save"), "the later changes are not saved")
		require.Contains(t, l.logged(), "Background saving terminated with success")
		require.Equal(t, []string{"dump.rdb"}, filesIn(t, dir))
		l.kill()

		servers := []string{born(t, dir).addr, redistest.StartValkey(t, "--dir", dir).Addr}
		if !redistest.Older(redistest.Start(t).Version, "7.2") {
			servers = append(servers, redistest.Start(t, "--dir", dir).Addr)
		}
		for _, addr := range servers {
			loaded := redistest.Dial(t, addr)
			require.Equal(t, keys, loaded.Do("DBSIZE").Int)
			require.Equal(t, digest, loaded.Do("DEBUG", "DIGEST").Str)
			require.Equal(t, int64(1), loaded.Do("FCALL", "one", "0").Int)
		}
	}
}

func TestOnlyOneSaveIsUnderWay(t *testing.T) {
	t.Parallel()
	l := born(t, t.TempDir())
	c := l.dial()
	storeAll(c, 4, 500)
	replies := send(t, c, "BGSAVE", "BGSAVE", "BGSAVE SCHEDULE", "SAVE", "INFO persistence", "LASTSAVE")
	const busy = "ERR Background save already in progress"
	require.Equal(t, []string{"Background saving started", busy, busy, busy}, replies[:4])
	for _, line := range []string{
		"rdb_bgsave_in_progress:1", "rdb_current_bgsave_time_sec:0", "current_save_keys_total:500", "rdb_saves:1",
	} {
		require.Contains(t, replies[4], line+"\r\n")
	}
	saved(t, c)
	require.Equal(t, "0", infoField(c, "rdb_changes_since_last_save"))
	require.Equal(t, "OK", c.Do("SAVE").Str)
	require.Equal(t, "Background saving started", c.Do("BGSAVE", "schedule").Str)
	saved(t, c)

	c.Do("MULTI")
	c.Do("BGSAVE")
	require.Equal(t, "Background saving scheduled", c.Do("EXEC").Elems[0].Str)
	redistest.Until(t, func() bool { return infoField(c, "rdb_saves") == "4" })
	saved(t, c)
	require.Equal(t, "4", infoField(c, "rdb_saves"), "once")
}

func TestSavePointsSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := born(t, dir, "--lab", "yes", "--save", "100 3 1000 1")
	c := l.dial()
	saves := func() string { return infoField(c, "rdb_saves") }
	c.Do("LAB", "CLOCK", "FREEZE")
	c.Do("MSET", "a", "1", "b", "2")
	c.Do("LAB", "CLOCK", "ADVANCE", "900000")
	c.Do("SET", "c", "3")
	redistest.Until(t, func() bool { return saves() == "1" })
	saved(t, c)
	require.Contains(t, l.logged(), "3 changes in 100 seconds. Saving...")
	require.Equal(t, "0", infoField(c, "rdb_changes_since_last_save"))
	c.Do("SET", "d", "4")
	c.Do("LAB", "CLOCK", "ADVANCE", "1001000")
	redistest.Until(t, func() bool { return saves() == "2" })
	saved(t, c)
	require.Contains(t, l.logged(), "1 changes in 1000 seconds. Saving...")

	c.Do("CONFIG", "SET", "save", "5 1")
	require.Equal(t, "5 1", c.Do("CONFIG", "GET", "save").Elems[1].Str)
	c.Do("SET", "e", "5")
	c.Do("LAB", "CLOCK", "ADVANCE", "6000")
	redistest.Until(t, func() bool { return saves() == "3" })
	saved(t, c)
	l.kill()
	require.Equal(t, int64(5), born(t, dir).dial().Do("DBSIZE").Int)
}

// Without save points, a failed BGSAVE refuses nothing.
func TestAFailedSaveStopsWritesIfThereAreSavePoints(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir)
	c := l.dial()
	c.Do("SET", "k", "v")
	inTheWay := filepath.Join(dir, "dump.rdb", "in the way")
	require.NoError(t, os.MkdirAll(inTheWay, 0o700))
	require.Equal(t, "Background saving started", c.Do("BGSAVE").Str)
	saved(t, c)
	require.Equal(t, "err", infoField(c, "rdb_last_bgsave_status"))
	require.Contains(t, l.logged(), "Background saving error")
	require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "save", "3600 1").Str)

	const commands = "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. " +
		"Commands that may modify the data set are disabled, because this instance is configured to report errors during " +
		"writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details " +
		"about the RDB error."
	refused := func() {
		t.Helper()
		require.Equal(t, commands, c.Do("SET", "k", "v").Str)
		require.Equal(t, commands, c.Do("PING").Str)
		require.Equal(t, "v", c.Do("GET", "k").Str)
		require.Equal(t, "v", c.Do("EVAL", "return redis.call('get','k')", "0").Str)
		require.Equal(t, commands, c.Do("EVAL", "#!lua\nreturn 1", "0").Str)
		require.Equal(t, int64(1), c.Do("EVAL", "#!lua flags=no-writes\nreturn 1", "0").Int)
		require.Contains(t, c.Do("EVAL", "return redis.call('set','k','w')", "0").Str, commands)
		c.Do("MULTI")
		require.Equal(t, commands, c.Do("SET", "k", "v").Str)
		require.Contains(t, c.Do("EXEC").Str, "EXECABORT")
	}
	refused()
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "stop-writes-on-bgsave-error", "no").Str)
	require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "stop-writes-on-bgsave-error", "yes").Str)
	refused()
	require.Equal(t, []string{"dump.rdb"}, filesIn(t, dir), "no temporary file is left")

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "dump.rdb")))
	require.Equal(t, "Background saving started", c.Do("BGSAVE").Str)
	saved(t, c)
	require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
	require.Equal(t, "ok", infoField(c, "rdb_last_bgsave_status"))
}

func TestFlushallAbortsASave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := born(t, dir)
	c := l.dial()
	storeAll(c, 5, 3000)
	replies := send(t, c, "BGSAVE", "FLUSHALL", "INFO persistence")
	require.Equal(t, []string{"Background saving started", "OK"}, replies[:2])
	require.Contains(t, replies[2], "rdb_bgsave_in_progress:1", "its end comes with a later pass")
	saved(t, c)
	require.Contains(t, l.logged(), "Background saving aborted")
	require.Equal(t, "ok", infoField(c, "rdb_last_bgsave_status"))
	require.Empty(t, filesIn(t, dir))

	storeAll(c, 5, 3000)
	c.Do("CONFIG", "SET", "save", "3600 1")
	require.Equal(t, []string{"Background saving started", "OK"}, send(t, c, "BGSAVE", "FLUSHALL"))
	require.Equal(t, []string{"dump.rdb"}, filesIn(t, dir), "the empty keyspace is saved at once")
	require.Equal(t, "0", infoField(c, "rdb_changes_since_last_save"))
	l.kill()
	require.Equal(t, int64(0), born(t, dir).dial().Do("DBSIZE").Int)
}

func TestAReloadOrTheEndAbortsASave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := born(t, dir)
	c := l.dial()
	storeAll(c, 6, 3000)
	digest := c.Do("DEBUG", "DIGEST").Str
	require.Equal(t, []string{"Background saving started", "OK"}, send(t, c, "BGSAVE", "DEBUG RELOAD"))
	require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
	require.Equal(t, "0", infoField(c, "rdb_bgsave_in_progress"))

	for _, end := range []string{"SHUTDOWN SAVE", "SHUTDOWN NOSAVE", ""} {
		c.Do("SET", "last", "word "+end)
		_, err := fmt.Fprintf(c.Net, "BGSAVE\r\n%s\r\n", end)
		require.NoError(t, err)
		require.Equal(t, "Background saving started", c.Read().Str)
		if end == "" {
			l.kill()
		} else {
			l.wait()
			require.Contains(t, l.logged(), "A save in the background is in progress. Aborting it!")
		}
		require.Equal(t, []string{"dump.rdb"}, filesIn(t, dir))
		l = born(t, dir)
		c = l.dial()
		if end == "SHUTDOWN SAVE" {
			require.Equal(t, "word "+end, c.Do("GET", "last").Str)
		}
		require.GreaterOrEqual(t, c.Do("DBSIZE").Int, int64(400))
	}
}

func TestACrashOfTheLabAbortsASave(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, "--lab", "yes")
	c := l.dial()
	storeAll(c, 7, 2000)
	send(t, c, "BGSAVE", "LAB CRASH")
	redistest.Until(t, func() bool { return strings.Contains(l.logged(), "the server has started again") })
	require.NotContains(t, l.logged(), "Background saving error")
	c = l.dial()
	require.Equal(t, "0", infoField(c, "rdb_bgsave_in_progress"))
	c.Do("SET", "k", "v")
	require.Equal(t, "Background saving started", c.Do("BGSAVE").Str)
	saved(t, c)
	require.Equal(t, []string{"dump.rdb"}, filesIn(t, dir))
}
