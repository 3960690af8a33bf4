package node_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// The stream has the bytes of Redis's stream, so offsets mean the same.
func TestTheStreamHasTheBytesOfRedis(t *testing.T) {
	args := []string{"--repl-diskless-sync-delay", "0", "--enable-debug-command", "yes"}
	oracle := of7_2(t, args...)
	var streams []string
	for _, addr := range []string{start(t, args), oracle.Addr} {
		f := newFollower(t, addr)
		_, offset := f.sync()
		require.Equal(t, 0, offset)
		sendEachCommand(t, addr)
		c := redistest.Dial(t, addr)
		c.Do("PUBLISH", "channel", "message")
		c.Do("SPUBLISH", "channel", "message")
		c.Do("MULTI")
		c.Do("PUBLISH", "channel", "message")
		c.Do("SET", "k", "v")
		c.Do("EXEC")
		c.Do("SELECT", "15")
		c.Do("PUBLISH", "channel", "message")
		c.Do("SET", "k", "v")
		c.Do("WAIT", "1", "1")
		stream := f.until("*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n")
		streams = append(streams, withoutPings(stream))
		require.Equal(t, fmt.Sprint(len(stream)), infoField(c, "master_repl_offset"))
		require.Equal(t, "1", infoField(c, "repl_backlog_first_byte_offset"))
		require.Equal(t, fmt.Sprint(len(stream)), infoField(c, "repl_backlog_histlen"))
	}
	moment := regexp.MustCompile(`\b1[789]\d{11}\b`)
	for i, s := range streams {
		commands := strings.Split(moment.ReplaceAllString(s, "T"), "\r\n*")
		streams[i] = strings.Join(withoutConsumersRaw(commands), "\n")
	}
	require.Equal(t, streams[1], streams[0])
}

// withoutConsumersRaw drops the consumers that a reading creates. Redis forgets some of them, and this server none.
func withoutConsumersRaw(commands []string) (all []string) {
	head := regexp.MustCompile(`[*$]?\d+\r\n`)
	for _, c := range commands {
		all = append(all, strings.Join(strings.Fields(head.ReplaceAllString(c, " ")), " "))
	}
	return withoutConsumers(all)
}

// replicate makes a real server a replica of ours, and waits until it has all keys.
func replicate(t *testing.T, of string, replica *redistest.Server) *redistest.Conn {
	t.Helper()
	c := redistest.Dial(t, replica.Addr)
	host, port, err := net.SplitHostPort(of)
	require.NoError(t, err)
	c.Do("CONFIG", "SET", "repl-timeout", "600")
	require.Equal(t, "OK", c.Do("REPLICAOF", host, port).Str)
	waitForField(c, "master_link_status", "up")
	return c
}

// requireSameData waits until both have the same offset and the same data. Keys whose time is over go at any moment,
// and the replica hears of it later.
func requireSameData(t *testing.T, master, replica *redistest.Conn) {
	t.Helper()
	redistest.Until(t, func() bool {
		return infoField(master, "master_repl_offset") == infoField(replica, "slave_repl_offset") &&
			master.Do("DEBUG", "DIGEST").Str == replica.Do("DEBUG", "DIGEST").Str
	})
}

// changeAll changes keys of all types, by chance, in scripts and transactions.
func changeAll(c *redistest.Conn, seed uint64) {
	storeAll(c, seed, 400)
	for i := range 20 {
		key := fmt.Sprint("churn:", seed, ":", i)
		c.Do("SADD", key+"s", "1", "2", "3", "4", "5", "6", "7")
		c.Do("SPOP", key+"s", "3")
		c.Do("SET", key+"e", "v", "PX", "1")
		c.Do("EVAL", "for i = 1, 3 do redis.call('incr', KEYS[1]) end redis.call('expire', KEYS[1], 1000)", "1", key)
		c.Do("MULTI")
		c.Do("INCRBYFLOAT", key+"f", "0.1")
		c.Do("SELECT", fmt.Sprint(i%5))
		c.Do("RPUSH", key+"l", "a", "b")
		c.Do("RPOPLPUSH", key+"l", key+"m")
		c.Do("XADD", key+"x", "*", "f", "v")
		c.Do("EXEC")
		c.Do("SELECT", "0")
	}
}

func TestARealReplicaGetsTheSameData(t *testing.T) {
	t.Parallel()
	newer := func(t testing.TB, args ...string) *redistest.Server { return of7_2(t.(*testing.T), args...) }
	for _, kind := range []struct {
		name    string
		start   func(t testing.TB, args ...string) *redistest.Server
		replica []string
		ours    []string
	}{
		{"redis", newer, nil, []string{"--repl-diskless-sync-delay", "0"}},
		{"redis gets a file", newer, nil, []string{"--repl-diskless-sync", "no"}},
		{"valkey", redistest.StartValkey, nil, []string{"--repl-diskless-sync-delay", "0"}},
		{"valkey gets a file", redistest.StartValkey, nil, []string{"--repl-diskless-sync", "no"}},
		{"valkey loads from its socket", redistest.StartValkey, []string{"--repl-diskless-load", "swapdb"},
			[]string{"--repl-diskless-sync-delay", "0", "--exec", "queue"}},
		{"threads", redistest.StartValkey, nil, []string{"--repl-diskless-sync-delay", "0", "--io-threads", "3"}},
		{"poll", redistest.StartValkey, nil, []string{"--repl-diskless-sync-delay", "0", "--multiplexer", "poll"}},
		{"append only file", redistest.StartValkey, nil, []string{"--repl-diskless-sync-delay", "0", "--appendonly", "yes"}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			addr := start(t, append(kind.ours, "--enable-debug-command", "yes"))
			c := redistest.Dial(t, addr)
			changeAll(c, 1)
			c.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('one', function() return 1 end)")
			replica := replicate(t, addr, kind.start(t, kind.replica...))
			for seed := range uint64(4) {
				changeAll(c, 2+seed)
				require.Equal(t, int64(1), c.Do("CLIENT", "KILL", "TYPE", "replica").Int)
				changeAll(c, 100+seed)
				waitForField(replica, "master_link_status", "up")
			}
			c.Do("SET", "k", "v")
			require.Equal(t, int64(1), c.Do("WAIT", "1", "0").Int)
			redistest.Until(t, func() bool { return len(c.Do("KEYS", "churn:*e").Elems) == 0 })
			requireSameData(t, c, replica)
			require.Equal(t, "1", infoField(c, "sync_full"))
			require.Equal(t, "4", infoField(c, "sync_partial_ok"))
			require.Len(t, replica.Do("FUNCTION", "LIST").Elems, 1)
		})
	}
}

// The tools of Redis that behave as replicas.
func TestRedisCliAsAReplica(t *testing.T) {
	t.Parallel()
	redistest.Need(t, "redis-cli")
	addr := start(t, []string{"--repl-diskless-sync-delay", "0"})
	c := redistest.Dial(t, addr)
	c.Do("SET", "key", "value")
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "all.rdb")
	out, err := exec.Command("redis-cli", "-p", port, "--rdb", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	keys, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(keys), "\x03key\x05value")

	cli := exec.Command("redis-cli", "-p", port, "--replica")
	stream, err := cli.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cli.Start())
	t.Cleanup(func() {
		_ = cli.Process.Kill()
		_ = cli.Wait()
	})
	redistest.Until(t, func() bool { return strings.Contains(infoField(c, "slave0"), "state=online") })
	c.Do("SET", "key", "newer")
	lines := bufio.NewScanner(stream)
	for lines.Scan() && !strings.Contains(lines.Text(), `"SET","key","newer"`) {
	}
	require.NoError(t, lines.Err())
	require.Contains(t, lines.Text(), `"SET","key","newer"`)
}
