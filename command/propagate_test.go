package command

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/clock"
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// listener is a driver whose changes somebody listens to. Unix times in milliseconds are T.
type listener struct {
	*driver
	units []string
}

func newListener(as string) *listener {
	cfg := config.Default()
	cfg.Dialect = as
	l := &listener{driver: &driver{
		s: Session{Authenticated: true, Proto: 2},
		w: resp.Writer{Proto: 2},
	}}
	l.ex = New(cfg, store.NewKeyspace(store.Options{Seed: 1}), clock.New(), &testHost{},
		CommandsOf(dialect.Named(as)))
	heads, moment := regexp.MustCompile(`[*$]\d+\r\n`), regexp.MustCompile(`\b1[789]\d{11}\b`)
	l.ex.Propagation.Listen(func(unit []byte) {
		text := strings.Join(strings.Fields(heads.ReplaceAllString(string(unit), "")), " ")
		l.units = append(l.units, moment.ReplaceAllString(text, "T"))
	})
	return l
}

// run executes a line, whatever it answers, and returns what it propagated.
func (l *listener) run(line string) string {
	l.units = nil
	l.w.Buf = l.w.Buf[:0]
	l.ex.Do(&l.s, words(line), &l.w)
	return strings.Join(l.units, "; ")
}

func (l *listener) requireEach(t *testing.T, table string) {
	for _, row := range strings.Split(strings.TrimSpace(table), "\n") {
		line, want, _ := strings.Cut(row, "=>")
		require.Equal(t, strings.TrimSpace(want), l.run(strings.TrimSpace(line)), "%s: %s", line, l.w.Buf)
	}
}

// The tests of package node compare the commands of Redis 7.2 with a redis-server. These are newer.
func TestNewerCommandsPropagateWhatTheyDid(t *testing.T) {
	l := newListener("redis-8.4")
	l.requireEach(t, `
		HSET h a 1 b 2 c 3                      => SELECT 0 HSET h a 1 b 2 c 3
		HEXPIRE h 100 FIELDS 2 a none           => HPEXPIREAT h T FIELDS 1 a
		HPEXPIREAT h 99999999999999 NX FIELDS 2 a b =>
		HPEXPIREAT h 9999999999999 NX FIELDS 2 a b => HPEXPIREAT h 9999999999999 FIELDS 1 b
		HPERSIST h FIELDS 1 b                   => HPERSIST h FIELDS 1 b
		HINCRBYFLOAT h a 1                      => MULTI HSET h a 2 HPEXPIREAT h T FIELDS 1 a EXEC
		HGETEX h EX 100 FIELDS 2 b none         => HPEXPIREAT h T FIELDS 1 b
		HGETEX h PERSIST FIELDS 1 b             => HGETEX h PERSIST FIELDS 1 b
		HGETEX h FIELDS 1 b                     =>
		HSETEX h FXX EX 100 FIELDS 1 c 4        => HSETEX h PXAT T FIELDS 1 c 4
		HSETEX h FNX FIELDS 1 c 4               =>
		HSETEX h PXAT 1 FIELDS 2 c 4 none 5     => HDEL h c
		HSETEX h PXAT 1 FIELDS 1 none 5         =>
		HPEXPIRE h 0 FIELDS 1 b                 => HDEL h b
		HGETDEL h FIELDS 1 a                    => HGETDEL h FIELDS 1 a
		SET k v                                 => SET k v
		SET k w IFEQ x                          =>
		SET k w IFEQ v EX 100                   => SET k w PXAT T
		SET k get IFEQ w GET                    => SET k get
		SET k x ifeq get get KEEPTTL            => SET k x KEEPTTL
		SET k y IFNE w PXAT 9999999999999       => SET k y PXAT 9999999999999
		SET k w PXAT 9999999999999 GET IFEQ y   => SET k w PXAT 9999999999999
		SET k x IFEQ w PXAT 1                   => SET k x PXAT 1
		SET k w                                 => MULTI DEL k SET k w EXEC
		DELEX k IFEQ x                          =>
		DELEX k IFEQ w                          => DEL k
		MSETEX 2 k v l w                        => MSETEX 2 k v l w
		MSETEX 2 k v l w EX 100                 => MULTI SET k v PXAT T SET l w PXAT T EXEC
	`)
	l = newListener("valkey-9.1")
	l.requireEach(t, `
		SET k v         => SELECT 0 SET k v
		DELIFEQ k x     =>
		DELIFEQ k v     => DEL k
		SET k v         => SET k v
		SET k w IFEQ v PXAT 1 => DEL k
		SET k w IFEQ v  =>
	`)
}

func TestAUnitOfSeveralChangesIsATransaction(t *testing.T) {
	l := newListener(dialect.Default)
	l.requireEach(t, `
		SET k v                 => SELECT 0 SET k v
		GET k                   =>
		INCR k                  =>
		SELECT 3                =>
		SET k 1                 => SELECT 3 SET k 1
		MULTI                   =>
		INCR k                  =>
		LPUSH k x               =>
		SELECT 0                =>
		DEL k                   =>
		EXEC                    => MULTI INCR k SELECT 0 DEL k EXEC
		MULTI                   =>
		GET k                   =>
		EXEC                    =>
		FLUSHALL                => FLUSHALL
		SADD s a b c            => SADD s a b c
		SPOP s 3                => DEL s
	`)
}

func TestWhatExpiresOrIsEvictedPropagatesByItself(t *testing.T) {
	l := newListener("redis-8.0")
	require.Equal(t, "SELECT 0 SET a v PXAT T", l.run("SET a v PX 1000"))
	l.run("SET b v PX 1000")
	l.run("HSET h f v g v")
	l.run("HPEXPIRE h 1000 FIELDS 1 f")
	l.ex.KS.Now += 2000
	l.units = nil
	for !l.ex.KS.ExpireDue() {
	}
	require.ElementsMatch(t, []string{"DEL a", "DEL b", "HDEL h f"}, l.units, "no command, no transaction")

	l.run("SET k v")
	l.ex.Cfg.MaxMemory, l.ex.Cfg.MaxMemoryPolicy = 1, "allkeys-random"
	l.ex.Configure()
	l.run("SET other v")
	require.ElementsMatch(t, []string{"DEL k", "DEL h"}, l.units, "the command itself is refused")
}

// One of the directives lazyfree-lazy-* decides about each deletion that is not a command.
func TestTheDirectivesChooseBetweenDelAndUnlink(t *testing.T) {
	for _, row := range []struct {
		directive func(cfg *config.Config) *bool
		delete    func(l *listener)
	}{
		{func(cfg *config.Config) *bool { return &cfg.LazyExpire }, func(l *listener) { l.run("PEXPIREAT k 1") }},
		{func(cfg *config.Config) *bool { return &cfg.LazyExpire }, func(l *listener) { l.run("EXPIRE k -1") }},
		{func(cfg *config.Config) *bool { return &cfg.LazyExpire }, func(l *listener) {
			l.ex.KS.DBs[0].Peek([]byte("k")).SetExpire(1)
			l.run("GET k")
		}},
		{func(cfg *config.Config) *bool { return &cfg.LazyServerDel }, func(l *listener) { l.run("SPOP k 2") }},
		{func(cfg *config.Config) *bool { return &cfg.LazyServerDel }, func(l *listener) {
			payload := rdb.Dump(nil, l.ex.KS.DBs[0].Peek([]byte("k")).Value(), rdb.VersionRead)
			l.units = nil
			l.ex.Do(&l.s, [][]byte{
				[]byte("RESTORE"), []byte("k"), []byte("1"), payload, []byte("REPLACE"), []byte("ABSTTL"),
			}, &l.w)
		}},
		{func(cfg *config.Config) *bool { return &cfg.LazyEviction }, func(l *listener) {
			l.ex.Cfg.MaxMemory, l.ex.Cfg.MaxMemoryPolicy = 1, "allkeys-random"
			l.ex.Configure()
			l.run("SET other v")
		}},
	} {
		for lazy, want := range map[bool]string{false: "DEL k", true: "UNLINK k"} {
			l := newListener(dialect.Default)
			l.run("SADD k a b")
			cfg := l.ex.Cfg
			cfg.LazyExpire, cfg.LazyServerDel, cfg.LazyEviction = !lazy, !lazy, !lazy
			*row.directive(cfg) = lazy
			row.delete(l)
			require.Equal(t, []string{want}, l.units)
		}
	}
}

// DEL and FLUSHALL propagate as they came. INFO counts what Redis would free in another thread.
func TestTheDirectivesOfUsersCountOnly(t *testing.T) {
	l := newListener(dialect.Default)
	l.ex.Cfg.LazyUserDel, l.ex.Cfg.LazyUserFlush = true, true
	members := ""
	for i := range 600 {
		members += " m" + strconv.Itoa(i)
	}
	l.run("SADD k" + members)
	require.Equal(t, "DEL k", l.run("DEL k"))
	require.Equal(t, int64(1), l.ex.KS.Stats.LazyFreed)
	l.run("SET a v")
	require.Equal(t, "FLUSHALL", l.run("FLUSHALL"))
	require.Equal(t, int64(2), l.ex.KS.Stats.LazyFreed)
	l.run("SET a v")
	require.Equal(t, "FLUSHALL SYNC", l.run("FLUSHALL SYNC"))
	require.Equal(t, int64(2), l.ex.KS.Stats.LazyFreed)
}

func TestAKeyThatACommandFindsExpiredGoesFirst(t *testing.T) {
	l := newListener(dialect.Default)
	l.run("SADD s old")
	l.run("PEXPIREAT s " + "99999")
	require.Empty(t, l.run("EXISTS s"), "it was deleted at once")
	l.run("SADD s old")
	l.run("PEXPIRE s 1000000")
	past := l.ex.KS.DBs[0].Peek([]byte("s"))
	past.SetExpire(1)
	require.Equal(t, "MULTI DEL s SADD s new EXEC", l.run("SADD s new"))
}

// A command that panics leaves the unit and the next commands as they should be.
func TestAPanicEndsTheUnit(t *testing.T) {
	l := newListener(dialect.Default)
	row := l.ex.Table.Lookup(words("getset k v"))
	do := row.Do
	defer func() { row.Do = do }()
	row.Do = func(c *Call) error {
		c.Propagate([]byte("SET"), []byte("done"), []byte("v"))
		panic("a bug")
	}
	require.Panics(t, func() { l.run("GETSET k v") })
	l.ex.Abandon()
	require.Equal(t, []string{"SELECT 0 SET done v"}, l.units)
	require.Equal(t, "SET k v", l.run("SET k v"))
}

func TestARenamedCommandPropagatesUnderItsOwnName(t *testing.T) {
	l := newListener(dialect.Default)
	for from, to := range map[string]string{"set": "put", "del": "", "blmove": "x", "xgroup": "groups", "xadd": "log"} {
		require.NoError(t, l.ex.Table.Rename(from, to))
	}
	l.requireEach(t, `
		PUT k v                                 => SELECT 0 set k v
		PUT k v EX 100                          => SET k v PXAT T
		EXPIRE k 0                              => DEL k
		LPUSH l a                               => lpush l a
		X l l LEFT RIGHT 0                      => LMOVE l l LEFT RIGHT
		LOG s 1-1 f v                           => xadd s 1-1 f v
		GROUPS CREATE s g 0                     => xgroup CREATE s g 0
	`)
	r := l.ex.StartReplay()
	for _, line := range []string{"SET k v", "DEL k", "XGROUP DESTROY s g", "PUT k w"} {
		require.NoError(t, r.Do(words(line)), line)
	}
	require.ErrorContains(t, r.Do(words("NONE")), "Unknown command")
	r.End()
	require.Zero(t, r.Failed)
	require.Empty(t, l.run("GET k"))
	require.Contains(t, string(l.w.Buf), "w")
}

func TestNobodyIsToldOnceNobodyListens(t *testing.T) {
	l := newListener(dialect.Default)
	l.ex.Propagation.Listen(nil)
	require.Empty(t, l.run("SPOP s"))
	require.Empty(t, l.run("SET k v EX 100"))
}

func TestAReplayKeepsWhatIsOverdue(t *testing.T) {
	d := newDriver()
	r := d.ex.StartReplay()
	for _, line := range []string{
		"SET k v PXAT 1", "RENAME k l", "APPEND l w", "PERSIST l", "SET gone v PXAT 1",
		"MULTI", "INCR n", "INCR n", "EXEC",
	} {
		require.NoError(t, r.Do(words(line)))
	}
	require.ErrorContains(t, r.Do(words("NONE k")), "Unknown command 'NONE'")
	require.ErrorContains(t, r.Do(words("GET")), "wrong number of arguments")
	require.NoError(t, r.Do(words("LPUSH l x")), "it answers with an error, as it did")
	require.Equal(t, int64(1), r.Failed)
	require.NoError(t, r.Do(words("MULTI")))
	require.NoError(t, r.Do(words("INCR n")))
	r.End()
	require.Equal(t, "vw", d.do(t, "GET l").Str)
	require.Equal(t, "2", d.do(t, "GET n").Str, "a transaction without EXEC has no effect")
	require.Equal(t, int64(0), d.do(t, "EXISTS gone").Int)
}

func TestASelectOfAMissingDatabaseEndsAReplay(t *testing.T) {
	r := newDriver().ex.StartReplay()
	require.ErrorContains(t, r.Do(words("SELECT 99")), "DB index is out of range")
}

// Nobody has named the keys that these commands find expired, so each is a unit of its own.
func TestKeysThatAScanFindsExpiredAreNoTransaction(t *testing.T) {
	l := newListener("redis-7.2")
	for _, lines := range []struct{ command, want string }{
		{"SCAN 0", `DEL [ab]; DEL [ab]`},
		{"RANDOMKEY", `DEL [ab]; DEL [ab]`},
		{"EVAL return(redis.call('SCAN',0)) 0", `MULTI DEL [ab] DEL [ab] EXEC`},
	} {
		l.run("MSET a 1 b 2")
		l.run("PEXPIRE a 1")
		l.run("PEXPIRE b 1")
		for due := l.ex.KS.Now + 2; l.ex.KS.Now < due; {
			l.ex.Tick()
		}
		require.Regexp(t, "^"+lines.want+"$", l.run(lines.command))
	}
}

func TestOnlyReplicasHearOfMessages(t *testing.T) {
	l := newListener("redis-7.2")
	var replicas string
	l.ex.Propagation.Replicate(func(unit []byte) { replicas += string(unit) })
	require.Equal(t, "SELECT 0 SET k v", l.run("SET k v"))
	require.Empty(t, l.run("PUBLISH c m"))
	l.ex.Propagation.Reselect()
	require.Equal(t, "SET k w", l.run("SET k w"))
	l.ex.Propagation.Replicate(nil)
	require.Equal(t, "SET k x", l.run("SET k x"))
	const selected = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"
	require.Equal(t, selected+"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"+
		"*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$1\r\nm\r\n"+
		selected+"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nw\r\n", replicas)
}
