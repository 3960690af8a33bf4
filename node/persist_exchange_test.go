package node_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

var exchanged = flag.Int("exchange.keys", 3000, "how many random keys go from one server to the other in a file")

// storeAll stores random keys of all types and encodings in several databases.
func storeAll(c *redistest.Conn, seed uint64, keys int) {
	r := rand.New(rand.NewPCG(seed, 3))
	var batch []byte
	n := 0
	send := func(args ...string) {
		batch = resp.AppendRequest(batch, args...)
		n++
	}
	flush := func() {
		_ = c.Send(batch)
		for ; n > 0; n-- {
			c.Read()
		}
		batch = batch[:0]
	}
	for i := range keys {
		key := fmt.Sprint("key:", i)
		send("SELECT", fmt.Sprint(r.IntN(4)))
		send(randomValue(r, key)...)
		switch r.IntN(8) {
		case 0:
			send("PEXPIRE", key, fmt.Sprint(10_000_000+r.IntN(1e6)))
		case 1:
			if i%7 == 0 {
				send("XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
				send("XREADGROUP", "GROUP", "g", "alice", "COUNT", "3", "STREAMS", key, ">")
			}
		}
		if n > 200 {
			flush()
		}
	}
	send("SELECT", "0")
	flush()
}

func randomText(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return fmt.Sprint(r.Int64() >> r.IntN(64))
	case 1:
		return strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(200))
	case 2:
		return fmt.Sprint(float64(r.IntN(1e6)) / 64)
	}
	b := make([]byte, r.IntN(60))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// randomValue is a command that stores one key of any type.
func randomValue(r *rand.Rand, key string) []string {
	most := 8
	switch n := r.IntN(40); { // few collections are large
	case n == 0:
		most = 700
	case n == 1:
		most = 160
	case n < 6:
		most = 40
	}
	elements := 1 + r.IntN(most)
	texts := func(command string, each func() []string) []string {
		args := []string{command, key}
		for range elements {
			args = append(args, each()...)
		}
		return args
	}
	text := func() []string { return []string{randomText(r)} }
	switch r.IntN(8) {
	case 0, 1:
		return []string{"SET", key, strings.Repeat(randomText(r), 1+r.IntN(30))}
	case 2:
		return texts("RPUSH", text)
	case 3:
		return texts("SADD", text)
	case 4:
		return texts("SADD", func() []string { return []string{fmt.Sprint(r.Int64() >> (16 * r.IntN(4)))} })
	case 5:
		return texts("ZADD", func() []string { // 7.0 and 7.2 write these scores alike in a digest
			return []string{fmt.Sprint(float64(r.IntN(2e6)-1e6) / 64), randomText(r)}
		})
	case 6:
		return texts("HSET", func() []string { return []string{randomText(r), randomText(r)} })
	}
	return append([]string{"XADD", key, fmt.Sprintf("%d-%d", 1+r.IntN(1e9), r.IntN(9))},
		texts("", func() []string { return []string{randomText(r), randomText(r)} })[2:]...)
}

const exchangeLibrary = "#!lua name=lib\nredis.register_function('one', function() return 1 end)"

func TestRedissFileIsLoaded(t *testing.T) {
	dir := t.TempDir()
	for _, compress := range []string{"yes", "no"} {
		theirs := redistest.Dial(t, redistest.Start(t, "--dir", dir, "--rdbcompression", compress,
			"--maxmemory-policy", "allkeys-lfu").Addr)
		storeAll(theirs, 5, *exchanged)
		require.Equal(t, "lib", theirs.Do("FUNCTION", "LOAD", exchangeLibrary).Str)
		require.Equal(t, "OK", theirs.Do("SAVE").Str)
		l := born(t, dir)
		ours := l.dial()
		require.Equal(t, theirs.Do("DEBUG", "DIGEST").Str, ours.Do("DEBUG", "DIGEST").Str)
		require.Equal(t, int64(1), ours.Do("FCALL", "one", "0").Int)
		require.NoError(t, os.Remove(filepath.Join(dir, "dump.rdb")))
		l.kill()
	}
}

// Redis reads version 11 from 7.2 on, and every Valkey does.
func TestOurFileIsLoadedByRedisAndValkey(t *testing.T) {
	dir := t.TempDir()
	for _, compress := range []string{"yes", "no"} {
		l := born(t, dir, "--rdbcompression", compress, "--maxmemory-policy", "allkeys-lru")
		ours := l.dial()
		ours.Do("FLUSHALL")
		ours.Do("FUNCTION", "FLUSH")
		storeAll(ours, 6, *exchanged)
		require.Equal(t, "lib", ours.Do("FUNCTION", "LOAD", exchangeLibrary).Str)
		require.Equal(t, "OK", ours.Do("SAVE").Str)
		servers := []*redistest.Server{redistest.StartValkey(t, "--dir", dir)}
		if !redistest.Older(redistest.Start(t).Version, "7.2") {
			servers = append(servers, redistest.Start(t, "--dir", dir))
		}
		for _, s := range servers {
			theirs := redistest.Dial(t, s.Addr)
			require.Equal(t, ours.Do("DEBUG", "DIGEST").Str, theirs.Do("DEBUG", "DIGEST").Str, s.Version)
			require.Equal(t, int64(1), theirs.Do("FCALL", "one", "0").Int)
		}
		l.kill()
	}
}

// storeTimed stores hashes of which some fields expire, each at a time of its own.
func storeTimed(c *redistest.Conn, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 4))
	for n := range 300 {
		key, fields := fmt.Sprint("timed:", n), 1+r.IntN(5)
		args := []string{"HSETEX", key, "PXAT", fmt.Sprint(4_000_000_000_000 + n), "FIELDS", fmt.Sprint(fields)}
		for i := range fields {
			args = append(args, fmt.Sprint("f", i), randomText(r))
		}
		c.Do(args...)
		if n%2 == 0 {
			c.Do("HSET", key, "stays", randomText(r))
		}
		if n%3 == 0 {
			c.Do("HPEXPIREAT", key, fmt.Sprint(5_000_000_000_000+r.IntN(1e6)), "FIELDS", "1", "f0")
		}
	}
}

// sameTimed compares hashes on two servers, with the expiry of each field. The names begin with prefix.
func sameTimed(t *testing.T, a, b *redistest.Conn, prefix string) {
	t.Helper()
	require.Equal(t, a.Do("DEBUG", "DIGEST").Str, b.Do("DEBUG", "DIGEST").Str)
	for n := range 300 {
		key := fmt.Sprint(prefix, "timed:", n)
		args := []string{"HPEXPIRETIME", key, "FIELDS", "6", "stays", "f0", "f1", "f2", "f3", "f4"}
		require.NotZero(t, a.Do("HLEN", key).Int, key)
		require.Equal(t, a.Do(args...).String(), b.Do(args...).String(), key)
	}
}

func TestFieldsThatExpireGoToValkeyAndBackInAFile(t *testing.T) {
	for _, compress := range []string{"yes", "no"} {
		ourDir, theirDir := t.TempDir(), t.TempDir()
		l := born(t, ourDir, "--dialect", "valkey-9.1", "--rdbcompression", compress)
		ours := l.dial()
		storeTimed(ours, 7)
		require.Equal(t, "OK", ours.Do("SAVE").Str)
		sameTimed(t, ours, redistest.Dial(t, redistest.StartValkey(t, "--dir", ourDir).Addr), "")
		l.kill()

		theirs := redistest.Dial(t, redistest.StartValkey(t, "--dir", theirDir, "--rdbcompression", compress).Addr)
		storeTimed(theirs, 8)
		require.Equal(t, "OK", theirs.Do("SAVE").Str)
		again := born(t, theirDir, "--dialect", "valkey-9.1")
		sameTimed(t, theirs, again.dial(), "")
		again.kill()
	}
}

func TestFieldsThatExpireGoToValkeyAndBackByDump(t *testing.T) {
	theirs := redistest.Dial(t, redistest.StartValkey(t, "--rdbcompression", "no").Addr)
	ours := dialTo(t, "valkey-9.1")
	storeTimed(ours, 9)
	storeTimed(theirs, 9)
	for n := range 300 {
		key := fmt.Sprint("timed:", n)
		mine, other := ours.Do("DUMP", key).Str, theirs.Do("DUMP", key).Str
		require.Len(t, mine, len(other), key)
		require.Equal(t, mine[0], other[0], key)
		require.Equal(t, "OK", ours.Do("RESTORE", "from:"+key, "0", other).Str)
		require.Equal(t, "OK", theirs.Do("RESTORE", "from:"+key, "0", mine).Str)
	}
	sameTimed(t, ours, theirs, "")
	sameTimed(t, ours, theirs, "from:")
}
