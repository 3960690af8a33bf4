package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/server/persist"
)

const isLoading = "LOADING Redis is loading the dataset in memory"

// slowly makes a server load for as long as a test wants: until CONFIG SET key-load-delay 0.
func slowly(args ...string) []string {
	return append([]string{"--key-load-delay", "8000"}, args...)
}

// startError is why a server does not start.
func startError(t *testing.T, cfg *config.Config) error {
	t.Helper()
	masters, err := node.NewNodes(cfg, func(int) server.Log { return func(byte, string, ...any) {} })
	require.NoError(t, err)
	return masters.Run()
}

// saveMany leaves a file with many keys in dir, and returns their digest.
func saveMany(t *testing.T, dir string, args ...string) (digest string) {
	t.Helper()
	l := born(t, dir, args...)
	c := l.dial()
	storeAll(c, 11, amount.Count(500, 2000))
	c.Do("FUNCTION", "LOAD", exchangeLibrary)
	digest = c.Do("DEBUG", "DIGEST").Str
	if len(args) == 0 {
		require.Equal(t, "OK", c.Do("SAVE").Str)
	}
	l.kill()
	return digest
}

func TestClientsAreServedWhileTheFileIsLoaded(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]struct{ files, more []string }{
		"rdb":      {nil, nil},
		"aof":      {appending(), nil},
		"commands": {appending("--aof-use-rdb-preamble", "no"), nil},
		"queue":    {nil, []string{"--exec", "queue", "--io-threads", "3"}},
		"uring":    {nil, []string{"--multiplexer", "io_uring"}},
		"replica":  {nil, []string{"--replicaof", "127.0.0.1 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			digest := saveMany(t, dir, how.files...)
			l := bornLoading(t, dir, slowly(append(how.files, how.more...)...)...)
			c := l.dial()
			for _, request := range []string{
				"PING", "GET key:1", "SET k v", "EVAL return(1) 0", "DBSIZE", "SAVE", "BGSAVE", "BGREWRITEAOF",
				"CONFIG SET appendonly yes", "CONFIG SET maxmemory 1gb dir /tmp", "DEBUG POPULATE 1", "DEBUG RELOAD",
				"DEBUG LOADAOF", "REPLICAOF 127.0.0.1 1", "PSYNC ? -1",
			} {
				require.Equal(t, isLoading, c.Do(strings.Fields(request)...).Str, request)
			}
			require.Equal(t, []string{"OK", isLoading, "EXECABORT Transaction discarded because of previous errors."},
				send(t, c, "MULTI", "GET k", "EXEC"))
			require.Equal(t, "yes", c.Do("CONFIG", "GET", "rdbchecksum").Elems[1].Str)
			require.Equal(t, "OK", c.Do("CONFIG", "SET", "maxmemory", "1000").Str, "nothing is evicted")
			require.Equal(t, "subscribe", l.dial().Do("SUBSCRIBE", "channel").Elems[0].Str)
			require.Equal(t, "1", infoField(c, "loading"))
			require.NotEqual(t, "0", infoField(c, "loading_start_time"))
			require.NotEqual(t, "0", infoField(c, "loading_total_bytes"))
			require.NotEmpty(t, infoField(c, "loading_eta_seconds"))
			require.Equal(t, "0", infoField(c, "async_loading"))
			require.NotContains(t, c.Do("HELLO").String(), "slave")

			require.Equal(t, "OK", c.Do("CONFIG", "SET", "maxmemory", "0", "key-load-delay", "0").Str)
			redistest.Until(t, func() bool { return infoField(c, "loading") == "0" })
			require.NotContains(t, c.Do("INFO", "persistence").Str, "loading_start_time")
			require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
			require.Equal(t, "0", infoField(c, "evicted_keys"))
			if name == "replica" {
				require.Equal(t, "slave", c.Do("ROLE").Elems[0].Str)
			} else {
				require.Equal(t, int64(1), c.Do("FCALL", "one", "0").Int)
				require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
			}
			l.kill()
		})
	}
}

// A server that ends while it loads has a part of the keys: it saves nothing.
func TestAServerEndsWhileItLoads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	saveMany(t, dir)
	whole, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	require.NoError(t, err)
	ends := map[string]func(l *life){
		"stop":     func(l *life) { l.masters.Stop() },
		"SIGTERM":  func(l *life) { l.masters.Terminate(false) },
		"SHUTDOWN": func(l *life) { _, _ = l.dial().Conn.Do("SHUTDOWN", "SAVE") },
	}
	for name, end := range ends {
		for _, more := range [][]string{nil, {"--exec", "queue", "--io-threads", "2"}, {"--multiplexer", "io_uring"}} {
			l := bornLoading(t, dir, slowly(append(more, "--save", "60", "1")...)...)
			require.Equal(t, isLoading, l.dial().Do("PING").Str)
			end(l)
			l.wait()
			after, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
			require.NoError(t, err)
			require.True(t, string(whole) == string(after), "%s %v", name, more)
			require.Equal(t, []string{"dump.rdb"}, filesIn(t, dir))
		}
	}
}

func TestADamagedFileEndsAServerThatServesAlready(t *testing.T) {
	t.Parallel()
	for _, files := range [][]string{nil, appending()} {
		dir := t.TempDir()
		saveMany(t, dir, files...)
		path := filepath.Join(dir, "dump.rdb")
		if files != nil {
			path = incr(t, dir)
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		copy(text[len(text)-200:], strings.Repeat("\xff", 100))
		require.NoError(t, os.WriteFile(path, text, 0o600))
		l := bornLoading(t, dir, slowly(files...)...)
		c := l.dial()
		require.Equal(t, isLoading, c.Do("PING").Str)
		require.Equal(t, "OK", c.Do("CONFIG", "SET", "key-load-delay", "0").Str)
		err = <-l.ended
		require.ErrorAs(t, err, new(*persist.LoadError))
		require.ErrorContains(t, err, path+": byte ")
		l.ended <- nil
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, string(text) == string(after))
	}
}

func TestOthersAreServedDuringDebugReloadAndLoadAOF(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--exec", "queue"}} {
		dir := t.TempDir()
		digest := saveMany(t, dir, appending()...)
		l := born(t, dir, appending(more...)...)
		c, other := l.dial(), l.dial()
		for _, word := range []string{"RELOAD", "LOADAOF", "RELOAD"} {
			require.Equal(t, "OK", other.Do("CONFIG", "SET", "key-load-delay", "2000").Str)
			require.NoError(t, c.Send([]byte("DEBUG "+word+"\r\nDEBUG DIGEST\r\n")))
			redistest.Until(t, func() bool { return other.Do("GET", "key:1").Str == isLoading })
			require.Equal(t, isLoading, other.Do("DEBUG", "RELOAD").Str)
			require.Equal(t, isLoading, l.dial().Do("SET", "k", "v").Str)
			require.Equal(t, "OK", other.Do("CONFIG", "SET", "key-load-delay", "0").Str)
			require.Equal(t, "OK", c.Read().Str, word)
			require.Equal(t, digest, c.Read().Str, word)
			require.Equal(t, int64(1), other.Do("FCALL", "one", "0").Int)
		}
		require.Equal(t, []string{"OK", "QUEUED", "QUEUED", ""}, send(t, c, "MULTI", "DEBUG RELOAD", "DEBUG DIGEST", "EXEC"))
		require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
		l.kill()
		require.Equal(t, digest, born(t, dir, appending()...).dial().Do("DEBUG", "DIGEST").Str)
	}
}

// A replica that waits for all keys does not get those of a half-loaded file.
func TestAReplicaWaitsForTheEndOfAReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	digest := saveMany(t, dir)
	l := born(t, dir, "--repl-diskless-sync-delay", "1", "--save", "")
	c, other := l.dial(), l.dial()
	require.Equal(t, "OK", other.Do("CONFIG", "SET", "key-load-delay", "20000").Str)
	f := newFollower(t, l.addr)
	require.Equal(t, "+OK", f.ask("REPLCONF", "capa", "eof"))
	f.send("PSYNC", "?", "-1")
	redistest.Until(t, func() bool { return infoField(other, "connected_slaves") == "1" })
	require.NoError(t, c.Send([]byte("DEBUG RELOAD NOSAVE\r\n")))
	redistest.Until(t, func() bool { return other.Do("PING").Str == isLoading })
	require.Equal(t, "\n\n", f.bytes(2), "a second each")
	require.Equal(t, isLoading, other.Do("PING").Str)
	require.Equal(t, "OK", other.Do("CONFIG", "SET", "key-load-delay", "0").Str)
	require.Regexp(t, `^\+FULLRESYNC `, f.line())
	copied := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(copied, "dump.rdb"), []byte(f.keys()), 0o600))
	require.Equal(t, digest, born(t, copied).dial().Do("DEBUG", "DIGEST").Str)
}

// The commands of the file are not new, so replicas do not get them again.
func TestDebugLoadAOFTellsReplicasNothing(t *testing.T) {
	top, replica := newNode(t, "a", "--appendonly", "yes", "--aof-use-rdb-preamble", "no"), newNode(t, "b")
	replica.follows(t, top)
	for range 3 {
		top.conn.Do("INCR", "n")
		top.conn.Do("EVAL", "redis.call('incr', 'm') redis.call('rpush', 'l', 'x')", "0")
	}
	require.Equal(t, "OK", top.conn.Do("DEBUG", "LOADAOF").Str)
	top.conn.Do("INCR", "n")
	requireOneHistory(t, top, replica)
	require.Equal(t, "4", replica.conn.Do("GET", "n").Str)
}

// Who has asked for a reload may leave before its end, and so may the server.
func TestAReloadGoesOnWithoutItsClient(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	digest := saveMany(t, dir)
	l := born(t, dir)
	other := l.dial()
	for _, end := range []string{"CLIENT KILL ID %d", "CLIENT UNBLOCK %d"} {
		c := l.dial()
		id := c.Do("CLIENT", "ID").Int
		require.Equal(t, "OK", other.Do("CONFIG", "SET", "key-load-delay", "2000").Str)
		require.NoError(t, c.Send([]byte("DEBUG RELOAD NOSAVE\r\n")))
		redistest.Until(t, func() bool { return other.Do("PING").Str == isLoading })
		require.Equal(t, int64(1), other.Do(strings.Fields(fmt.Sprintf(end, id))...).Int)
		require.Equal(t, "OK", other.Do("CONFIG", "SET", "key-load-delay", "0").Str)
		redistest.Until(t, func() bool { return other.Do("PING").Str == "PONG" })
		require.Equal(t, digest, other.Do("DEBUG", "DIGEST").Str)
	}
	require.Equal(t, "OK", other.Do("CONFIG", "SET", "key-load-delay", "2000").Str)
	require.NoError(t, l.dial().Send([]byte("DEBUG RELOAD NOSAVE\r\n")))
	redistest.Until(t, func() bool { return other.Do("PING").Str == isLoading })
	l.kill()
}

// Redis 6 and older append scripts as they came. A slow one serves other clients while it is executed again.
func TestASlowScriptOfAnOldFileIsExecutedAgain(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--exec", "queue"}} {
		dir := t.TempDir()
		const script = "redis.call('set', KEYS[1], 'y') while redis.call('incr', 'n') < 100000 do end"
		text := resp.AppendRequest(resp.AppendRequest(nil, "EVAL", script, "1", "x"), "SET", "after", "v")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "appendonly.aof"), text, 0o600))
		l := born(t, dir, appending(append(more, "--busy-reply-threshold", "1")...)...)
		require.Contains(t, l.logged(), "Slow script detected")
		c, other := l.dial(), l.dial()
		require.Equal(t, "y", c.Do("GET", "x").Str)
		require.Equal(t, "v", c.Do("GET", "after").Str)
		require.Equal(t, "100000", c.Do("GET", "n").Str)
		require.NoError(t, c.Send([]byte("DEBUG LOADAOF\r\n")))
		redistest.Until(t, func() bool {
			reply := other.Do("PING").Str
			require.Contains(t, []string{"PONG", isLoading}, reply)
			return reply == isLoading
		})
		require.Equal(t, "OK", c.Read().Str)
		l.kill()
	}
}

func TestDebugAOFFlushSleepComesBeforeTheWrite(t *testing.T) {
	dir := t.TempDir()
	c := born(t, dir, appending()...).dial()
	require.Equal(t, "OK", c.Do("DEBUG", "AOF-FLUSH-SLEEP", "20000").Str)
	text, err := os.ReadFile(incr(t, dir))
	require.NoError(t, err)
	begin := time.Now()
	require.Equal(t, "OK", c.Do("SET", "k", "v").Str)
	require.GreaterOrEqual(t, time.Since(begin), 20*time.Millisecond)
	after, err := os.ReadFile(incr(t, dir))
	require.NoError(t, err)
	require.Greater(t, len(after), len(text))
	require.Contains(t, c.Do("DEBUG", "AOF-FLUSH-SLEEP", "-1").Str, "ERR")
}
