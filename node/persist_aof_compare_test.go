package node_test

import (
	"flag"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/differential"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
)

var appendCount = flag.Int("aof.count", 8000, "of how many random commands the append only files are compared")

// appended returns the commands of the last part in dir. Unix times in milliseconds are T.
func appended(t testing.TB, dir string) (all []string) {
	t.Helper()
	folder := filepath.Join(dir, "appendonlydir")
	m, err := aof.ReadManifest(disk.System{}, filepath.Join(folder, "appendonly.aof.manifest"))
	require.NoError(t, err)
	l := aof.Loading{Part: func(aof.Part, int64) {}, Stamp: func(int64) {}}
	moment := regexp.MustCompile(`\b1[789]\d{11}\b`)
	l.Command = func(argv [][]byte) error {
		words := make([]string, len(argv))
		for i, arg := range argv {
			words[i] = string(arg)
		}
		all = append(all, moment.ReplaceAllString(strings.Join(words, " "), "T"))
		return nil
	}
	require.NoError(t, l.LoadFile(disk.System{}, filepath.Join(folder, m.Incr[len(m.Incr)-1].Name)))
	return all
}

// withoutConsumers drops the consumers that a reading creates. Redis forgets some of them, and this server none.
func withoutConsumers(commands []string) []string {
	commands = slices.DeleteFunc(commands, func(c string) bool {
		return strings.HasPrefix(strings.ToUpper(c), "XGROUP CREATECONSUMER ")
	})
	for i := 0; i+2 < len(commands); i++ { // a transaction of what is left
		switch {
		case commands[i] != "MULTI":
		case commands[i+1] == "EXEC":
			commands = slices.Delete(commands, i, i+2)
		case commands[i+2] == "EXEC":
			commands = slices.Delete(slices.Delete(commands, i+2, i+3), i, i+1)
		}
	}
	return commands
}

// of7_2 starts a redis-server. Versions before 7.2 append some commands differently, and skip the test.
func of7_2(t *testing.T, args ...string) *redistest.Server {
	t.Helper()
	s := redistest.Start(t, args...)
	if redistest.Older(s.Version, "7.2") {
		t.Skipf("redis-server is %s, and 7.2 is compared", s.Version)
	}
	return s
}

// requireAppendedAlike compares the last parts in two folders.
func requireAppendedAlike(t *testing.T, ours, theirs string) {
	t.Helper()
	got, want := withoutConsumers(appended(t, ours)), withoutConsumers(appended(t, theirs))
	for i := range min(len(got), len(want)) {
		require.Equal(t, want[i], got[i], "command %d", i)
	}
	require.Len(t, got, len(want))
}

func TestRandomCommandsAreAppendedAsByRedis(t *testing.T) {
	ours, theirs := t.TempDir(), t.TempDir()
	oracle := of7_2(t, "--appendonly", "yes", "--appendfsync", "no", "--dir", theirs)
	args := append(differential.Args(), "--appendonly", "yes", "--appendfsync", "no")
	l := born(t, ours, args...)
	differential.Run(t, l.addr, oracle, differential.Options{Seed: 1, Count: *appendCount})
	c, o := l.dial(), redistest.Dial(t, oracle.Addr)
	for _, conn := range []*redistest.Conn{c, o} {
		conn.Do("FLUSHALL")
		storeAll(conn, 11, 200)
	}
	digest := o.Do("DEBUG", "DIGEST").Str
	require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
	requireAppendedAlike(t, ours, theirs)
	l.kill()
	require.Equal(t, digest, born(t, ours, args...).dial().Do("DEBUG", "DIGEST").Str)
}

// The keys of each sequence are what its commands have made, whatever they were.
func TestWhatRandomCommandsLeaveIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		oracle  *redistest.Server
		options func(seed uint64) differential.Options
		args    []string
	}{
		{redistest.Start(t), func(seed uint64) differential.Options {
			return differential.Options{Seed: seed, Count: 130}
		}, nil},
		{redistest.StartValkey(t), func(seed uint64) differential.Options {
			return differential.Newer(seed, 130)
		}, []string{"--dialect", "valkey-9.1"}},
	} {
		args := append(append(differential.Args(), "--appendonly", "yes", "--appendfsync", "no"), kind.args...)
		for seed := range uint64(20) {
			dir := t.TempDir()
			l := born(t, dir, args...)
			differential.Run(t, l.addr, kind.oracle, kind.options(seed))
			digest := l.dial().Do("DEBUG", "DIGEST").Str
			l.kill()
			l = born(t, dir, args...)
			require.Equal(t, digest, l.dial().Do("DEBUG", "DIGEST").Str, "seed %d", seed)
			l.kill()
		}
	}
}

// Results of chance are left out: each SPOP takes the only member, or all.
func TestEachCommandIsAppendedAsByRedis(t *testing.T) {
	ours, theirs := t.TempDir(), t.TempDir()
	oracle := of7_2(t, "--appendonly", "yes", "--appendfsync", "no", "--dir", theirs)
	l := born(t, ours, "--appendonly", "yes", "--appendfsync", "no")
	for _, addr := range []string{l.addr, oracle.Addr} {
		sendEachCommand(t, addr)
	}
	requireAppendedAlike(t, ours, theirs)
}

// sendEachCommand sends each command that propagates.
func sendEachCommand(t *testing.T, addr string) {
	t.Helper()
	c := redistest.Dial(t, addr)
	for _, line := range strings.Split(strings.TrimSpace(appendedLines), "\n") {
		c.Do(strings.Fields(line)...)
	}
	blocked := redistest.Dial(t, addr)
	for _, line := range []string{
		"BLPOP q 0", "BRPOP q 0", "BLMOVE q r LEFT RIGHT 0", "BRPOPLPUSH q r 0", "BLMPOP 0 2 p q LEFT COUNT 3",
	} {
		require.NoError(t, blocked.Send([]byte(line+"\r\n")))
		waitUntilBlocked(t, c)
		c.Do("RPUSH", "q", "a", "b")
		blocked.Read()
		c.Do("DEL", "q")
	}
	for _, line := range []string{"BZPOPMIN z 0", "BZPOPMAX z 0", "BZMPOP 0 1 z MAX COUNT 9"} {
		require.NoError(t, blocked.Send([]byte(line+"\r\n")))
		waitUntilBlocked(t, c)
		c.Do("ZADD", "z", "1", "a", "2", "b")
		blocked.Read()
		c.Do("DEL", "z")
	}
	c.Do("EVAL", "redis.call('set', 'a', '1') redis.call('incr', 'a') return redis.call('get', 'a')", "0")
	c.Do("EVAL", "redis.call('select', '5') redis.call('set', 'a', '1') return redis.pcall('lpush', 'a', 'x')", "0")
	c.Do("FUNCTION", "LOAD", "#!lua name=lib\n"+
		"redis.register_function('f', function(k) return redis.call('set', k[1], 1) end)")
	c.Do("FCALL", "f", "1", "key")
	c.Do("FUNCTION", "FLUSH")
	const dump = "\x00\xc0\x01\n\x00&x\xe7\xb6\xd1\x01\x11\xfc" // of 1
	c.Do("RESTORE", "new", "0", dump)
	c.Do("RESTORE", "new", "100000", dump, "REPLACE")
	c.Do("RESTORE", "new", "1", dump, "REPLACE", "ABSTTL")
	c.Do("DEBUG", "SET-ACTIVE-EXPIRE", "0")
	c.Do("SET", "late", "v", "PX", "1")
	redistest.Until(t, func() bool { return c.Do("GET", "late").Kind == '$' && c.Do("EXISTS", "late").Int == 0 })
	c.Do("SET", "end", "v")
}

// waitUntilBlocked waits until a client blocks.
func waitUntilBlocked(t *testing.T, c *redistest.Conn) {
	t.Helper()
	redistest.Until(t, func() bool { return infoField(c, "blocked_clients") == "1" })
}

const appendedLines = `
SET a 1
SET a 1 EX 1000
SET a 1 PX 1000000
SET a 1 EXAT 99999999999
SET a 1 PXAT 99999999999999
SET a 2 NX
SET a 2 XX GET KEEPTTL
SET a 2 GET EX 100
SETEX a 100 v
PSETEX a 100000 v
SETNX a v
SETNX b v
GETSET b w
GETDEL b
GETDEL b
SET n 10
GETEX n
GETEX n EX 100
GETEX n PXAT 99999999999999
GETEX n PERSIST
GETEX n PERSIST
GETEX n EXAT 1
INCRBYFLOAT f 0.1
INCRBYFLOAT f 3.0e3
HINCRBYFLOAT h f 1.5
HINCRBY h f 0
HSET h g 3
HINCRBY h g 4
SET e v
EXPIRE e 100
EXPIRE e 200 GT
EXPIRE e 10 GT
PEXPIRE e 100000 XX
EXPIREAT e 99999999999
PEXPIREAT e 99999999999999
PERSIST e
PERSIST e
EXPIRE e -1
SET e v
EXPIREAT e 1
SADD s one
SPOP s
SADD s one
SPOP s 5
SADD s one two
SPOP s 0
LPUSH l a b c
LMPOP 2 x l RIGHT COUNT 2
LMPOP 1 l LEFT
RPUSH l a b
LMOVE l m LEFT RIGHT
RPOPLPUSH l m
BLMOVE m l LEFT RIGHT 0
BRPOPLPUSH l m 0
BLPOP x m 0
ZADD z 1 a 2 b 3 c
ZMPOP 1 z MAX COUNT 2
BZPOPMIN z 0
GEOADD g 13.361389 38.115556 Palermo
GEOADD g CH 13.361389 38.115556 Palermo
GEORADIUS g 15 37 200 km STORE near
XADD st * f v
XADD st 99999999999999-1 f v
XADD st 99999999999999-* f v
XADD st MINID ~ 5 LIMIT 10 99999999999999-* f v
XADD st MAXLEN ~ 1 99999999999999-* f v
XADD st MAXLEN 2 99999999999999-* f v
XTRIM st MAXLEN ~ 1
XTRIM st MAXLEN 1
XGROUP CREATE st gr 0
XREADGROUP GROUP gr alice STREAMS st >
XREADGROUP GROUP gr alice STREAMS st 0
XADD st 99999999999999-* f v
XREADGROUP GROUP gr bob NOACK STREAMS st >
XCLAIM st gr bob 0 99999999999999-5 JUSTID
XCLAIM st gr bob 0 0-1 LASTID 99999999999999-9
XAUTOCLAIM st gr alice 0 0
XDEL st 99999999999999-5
XAUTOCLAIM st gr bob 0 0
XACK st gr 99999999999999-5
XSETID st 99999999999999-20
XGROUP SETID st gr $
XGROUP DESTROY st gr
SELECT 3
SET a 1
MULTI
INCR a
SELECT 4
INCR a
GET a
EXEC
MULTI
GET a
EXEC
MULTI
INCR a
EXEC
SELECT 0
MOVE a 7
COPY h h2 DB 2
RENAME h h3
SORT l STORE sorted
PFADD p a b c
PFCOUNT p
PFMERGE p2 p
SETRANGE a 2 x
SETBIT bits 7 1
BITOP NOT bits2 bits
BITFIELD bits SET u8 0 5
SWAPDB 0 1
FLUSHDB
FLUSHDB
DEL none
LPUSH wrong a
INCR wrong
FLUSHALL ASYNC
SET end v
`
