package node_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
)

const (
	deleteIfMine  = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end`
	deleteAndTell = `if redis.call('get', KEYS[1]) == ARGV[1] then ` +
		`redis.call('del', KEYS[1]) return redis.call('publish', KEYS[1] .. ':free', '') end return 0`
)

// finding returns one map of LAB DOCTOR by field name.
func finding(v resp.Value) map[string]resp.Value {
	fields := map[string]resp.Value{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		fields[v.Elems[i].Str] = v.Elems[i+1]
	}
	return fields
}

// findings returns one line for each finding: the pattern, the key and the client's name.
func findings(c *redistest.Conn) []string {
	all := []string{}
	for _, v := range c.Do("LAB", "DOCTOR").Elems {
		f := finding(v)
		all = append(all, fmt.Sprintf("%s %s %s", f["pattern"].Str, f["key"].Str, f["name"].Str))
	}
	return all
}

// in returns the unix ms of a moment from now by the clock of this machine.
func in(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).UnixMilli(), 10) }

func TestLabDoctorFindsEachPattern(t *testing.T) {
	for pattern, c := range map[string]struct {
		do   func(admin, a, b *redistest.Conn)
		want []string
	}{
		"SETNX then EXPIRE": {func(admin, a, b *redistest.Conn) {
			a.Do("SETNX", "lock:x", "1")
			a.Do("EXPIRE", "lock:x", "10")
		}, []string{"setnx-then-expire lock:x a"}},
		"no TTL": {func(admin, a, b *redistest.Conn) {
			a.Do("SET", "lock:x", "1", "NX")
			admin.Do("LAB", "CLOCK", "ADVANCE", "1000")
		}, []string{"lock-without-ttl lock:x a"}},
		"GET then DEL": {func(admin, a, b *redistest.Conn) {
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
			a.Do("GET", "lock:x")
			a.Do("DEL", "lock:x")
		}, []string{"get-then-del lock:x a"}},
		"GET then DEL, guarded by WATCH": {func(admin, a, b *redistest.Conn) {
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
			a.Do("WATCH", "lock:x")
			a.Do("GET", "lock:x")
			a.Do("MULTI")
			a.Do("DEL", "lock:x")
			a.Do("EXEC")
		}, nil},
		"DEL of another one's lock": {func(admin, a, b *redistest.Conn) {
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
			admin.Do("LAB", "CLOCK", "ADVANCE", "3001")
			b.Do("SET", "lock:x", "token-b", "NX", "PX", "3000")
			a.Do("DEL", "lock:x")
		}, []string{"not-the-owner lock:x a", "late-unlock lock:x a"}},
		"late unlock": {func(admin, a, b *redistest.Conn) {
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
			admin.Do("LAB", "CLOCK", "ADVANCE", "3001")
			a.Do("EVAL", deleteIfMine, "1", "lock:x", "token-a")
		}, []string{"late-unlock lock:x a"}},
		"unlock in the last moment": {func(admin, a, b *redistest.Conn) {
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
			admin.Do("LAB", "CLOCK", "ADVANCE", "3000")
			a.Do("EVAL", deleteIfMine, "1", "lock:x", "token-a")
		}, nil},
		"script in full": {func(admin, a, b *redistest.Conn) {
			for range 3 {
				a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
				a.Do("EVAL", deleteIfMine, "1", "lock:x", "token-a")
			}
		}, []string{"script-in-full lock:x a"}},
		"polling": {func(admin, a, b *redistest.Conn) {
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
			for range 5 {
				b.Do("SET", "lock:x", "token-b", "NX", "PX", "3000")
			}
			a.Do("EVAL", deleteAndTell, "1", "lock:x", "token-a")
		}, []string{"polling lock:x b"}},
		"polling, but listening": {func(admin, a, b *redistest.Conn) {
			admin.Do("SUBSCRIBE", "lock:x:free")
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
			for range 5 {
				b.Do("SET", "lock:x", "token-b", "NX", "PX", "3000")
			}
			a.Do("EVAL", deleteAndTell, "1", "lock:x", "token-a")
		}, nil},
		"a lock that may be evicted": {func(admin, a, b *redistest.Conn) {
			ok(t, admin, "CONFIG", "SET", "maxmemory", "1gb", "maxmemory-policy", "volatile-lru")
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
		}, []string{"lock-may-be-evicted lock:x "}},
		"no policy evicts it": {func(admin, a, b *redistest.Conn) {
			ok(t, admin, "CONFIG", "SET", "maxmemory", "1gb", "maxmemory-policy", "noeviction")
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
		}, nil},
		"an evicted lock": {func(admin, a, b *redistest.Conn) {
			a.Do("SET", "lock:x", "token-a", "NX", "PX", "3000")
			ok(t, admin, "CONFIG", "SET", "maxmemory", "1", "maxmemory-policy", "allkeys-lru")
			b.Do("GET", "other")
		}, []string{"lock-evicted lock:x "}},
		"a lease by another clock": {func(admin, a, b *redistest.Conn) {
			admin.Do("LAB", "CLOCK", "ADVANCE", "10000")
			a.Do("SET", "lock:x", "token-a", "NX", "PXAT", in(30*time.Second+500*time.Millisecond))
		}, []string{"clock-of-the-client lock:x a"}},
		"a lease that is over at once": {func(admin, a, b *redistest.Conn) {
			a.Do("SET", "lock:x", "token-a", "NX", "PXAT", in(-time.Second))
		}, []string{"clock-of-the-client lock:x a"}},
		"a lease by the server's clock": {func(admin, a, b *redistest.Conn) {
			admin.Do("LAB", "CLOCK", "ADVANCE", "10000")
			a.Do("TIME")
			a.Do("SET", "lock:x", "token-a", "NX", "PXAT", in(40*time.Second))
		}, nil},
		"a delayed job": {func(admin, a, b *redistest.Conn) {
			a.Do("ZADD", "delayed", in(5*time.Second), "job-1")
			admin.Do("LAB", "CLOCK", "ADVANCE", "10000")
			a.Do("ZADD", "delayed", in(5*time.Second), "job-2")
			a.Do("ZADD", "ranking", "4711", "alice")
		}, []string{"clock-of-the-client delayed a"}},
	} {
		t.Run(pattern, func(t *testing.T) {
			addr, admin := startLab(t)
			c.do(admin, dialNamed(t, addr, "a"), dialNamed(t, addr, "b"))
			require.Equal(t, append([]string{}, c.want...), findings(redistest.Dial(t, addr)))
		})
	}
}

func TestLabDoctorFindsTheLockOfAConnectionThatHasEnded(t *testing.T) {
	addr, admin := startLab(t)
	a := dialNamed(t, addr, "a")
	a.Do("SETNX", "lock:x", "1")
	admin.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	require.Equal(t, []string{"owner-gone lock:x a"}, findings(admin))
}

func TestLabDoctorSeesWhatExecRunsAsOneStep(t *testing.T) {
	addr, admin := startLab(t)
	a := dialNamed(t, addr, "a")
	a.Do("MULTI")
	a.Do("SETNX", "lock:x", "1")
	a.Do("EXPIRE", "lock:x", "10")
	a.Do("EXEC")
	require.Empty(t, findings(admin))
}

func TestLabDoctorShowsCommandsAndTimesAndForgetsThemWhenReset(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "LAB", "CLOCK", "SET", "1700000000000")
	a := dialNamed(t, addr, "worker-1")
	a.Do("SETNX", "lock:x", "my token")
	admin.Do("LAB", "CLOCK", "ADVANCE", "7")
	a.Do("EXPIRE", "lock:x", "10")
	f := finding(admin.Do("LAB", "DOCTOR").Elems[0])
	id := a.Do("CLIENT", "ID").Int
	require.Equal(t, id, f["client"].Int)
	require.Equal(t, int64(1700000000007), f["unix-ms"].Int)
	require.Equal(t, int64(1), f["count"].Int)
	require.Equal(t, fmt.Sprintf(`1700000000000 id=%d name=worker-1: SETNX lock:x "my token" -> 1`, id),
		f["commands"].Elems[0].Str)
	require.Equal(t, fmt.Sprintf(`1700000000007 id=%d name=worker-1: EXPIRE lock:x 10 -> 1`, id),
		f["commands"].Elems[1].Str)
	require.Contains(t, f["fix"].Str, "SET key token NX PX")
	ok(t, admin, "lab", "doctor", "reset")
	require.Empty(t, findings(admin))
}

func TestLabDoctorNamesTheArgumentThatIsWrong(t *testing.T) {
	_, admin := startLab(t)
	require.Equal(t, "ERR LAB DOCTOR: expects RESET or nothing, not 'x'", admin.Do("LAB", "DOCTOR", "x").Str)
	require.Equal(t, "ERR LAB DOCTOR RESET: 'y' is one argument too many", admin.Do("LAB", "DOCTOR", "RESET", "y").Str)
}

func TestTheDoctorLogsAPatternOnce(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	addr := startWithLog(t, []string{"--lab", "yes"}, func(level byte, format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		if line := fmt.Sprintf(format, args...); strings.HasPrefix(line, "Lock doctor") {
			lines = append(lines, line)
		}
	})
	a := dialNamed(t, addr, "a")
	for _, key := range []string{"lock:x", "lock:y"} {
		a.Do("SETNX", key, "1")
		a.Do("EXPIRE", key, "10")
	}
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], `setnx-then-expire, key "lock:x", client id=`)
	require.NotContains(t, lines[0], "%!", "a mistake in the format")
}

func TestTheDoctorsOfSeveralMastersFindTwoHoldersOfAMajority(t *testing.T) {
	m := startMasters(t, 5)
	admin := dialMaster(t, m, 1)
	admin.Do("LAB", "ALL", "CLOCK", "FREEZE")
	take := func(token string, masters ...int) {
		for _, n := range masters {
			ok(t, dialMaster(t, m, n), "SET", "lock:x", token, "NX", "PX", "10000")
		}
	}
	take("token-a", 1, 2, 3)
	admin.Do("LAB", "MASTER", "3", "CLOCK", "ADVANCE", "10001")
	take("token-b", 3, 4, 5)
	require.Equal(t, []string{"two-holders lock:x "}, findings(dialMaster(t, m, 5)))
	require.Empty(t, findings(admin), "it is told by the master that made the second majority")
	f := finding(dialMaster(t, m, 5).Do("LAB", "DOCTOR").Elems[0])
	require.Len(t, f["commands"].Elems, 7)
	require.Regexp(t, `^master 3: \d+: the lease ended by this master's clock$`, f["commands"].Elems[3].Str)
}

func TestTheDoctorsOfSeveralMastersFindValuesOfAnotherType(t *testing.T) {
	m := startMasters(t, 3)
	for n := 1; n <= 2; n++ {
		c := dialMaster(t, m, n)
		c.Do("SADD", "lock:x", "a")
		require.True(t, c.Do("SET", "lock:x", "token-1", "NX", "PX", "10000").Null)
		c.Do("HELLO", "3")
		require.Equal(t, int64(0), c.Do("SETNX", "lock:x", "token-2").Int)
	}
	require.Empty(t, findings(dialMaster(t, m, 1)))
	require.Equal(t, []string{"no-quorum lock:x "}, findings(dialMaster(t, m, 2)))
	f := finding(dialMaster(t, m, 2).Do("LAB", "DOCTOR").Elems[0])
	require.Contains(t, f["why"].Str, "a value of another type")
	require.Len(t, f["commands"].Elems, 2)
}

// The export of several masters' logs leads to a verdict.
func TestWhatLabLogExportsIsJudged(t *testing.T) {
	for what, jumps := range map[string]bool{"one clock jumps": true, "none does": false} {
		t.Run(what, func(t *testing.T) {
			m := startMasters(t, 5)
			admin := dialMaster(t, m, 1)
			admin.Do("LAB", "ALL", "CLOCK", "FREEZE")
			admin.Do("LAB", "ALL", "LOG", "WATCH", "lock:*")
			alice, bob := holder{t, m, "alice"}, holder{t, m, "bob"}
			require.Equal(t, 3, alice.take(1, 2, 3))
			if jumps {
				admin.Do("LAB", "MASTER", "3", "CLOCK", "ADVANCE", "10001")
			}
			bob.take(3, 4, 5)
			bob.release(3, 4, 5)
			admin.Do("LAB", "ALL", "CLOCK", "ADVANCE", "10001")
			require.Equal(t, 5, bob.take(1, 2, 3, 4, 5))
			bob.release(1, 2, 3, 4, 5)

			var all []lab.History
			for _, v := range admin.Do("LAB", "ALL", "LOG", "EXPORT").Elems {
				histories, err := verdict.Read(strings.NewReader(v.Str))
				require.NoError(t, err)
				all = append(all, histories...)
			}
			require.Len(t, all, 5)
			v, err := verdict.Judge(all)
			require.NoError(t, err)
			require.Equal(t, !jumps, v.OK())
			if jumps {
				require.Len(t, v.TwoHolders, 1)
				require.Equal(t, "lock:x", v.TwoHolders[0].Key)
			}
		})
	}
}

// holder is a client that takes one lock on several masters.
type holder struct {
	t    *testing.T
	m    node.Nodes
	name string
}

func (h holder) token() string { return "token-1-of-" + h.name }

func (h holder) take(masters ...int) (votes int) {
	for _, n := range masters {
		if dialMaster(h.t, h.m, n).Do("SET", "lock:x", h.token(), "NX", "PX", "10000").Str == "OK" {
			votes++
		}
	}
	return votes
}

func (h holder) release(masters ...int) {
	for _, n := range masters {
		dialMaster(h.t, h.m, n).Do("EVAL", deleteIfMine, "1", "lock:x", h.token())
	}
}

func TestTheExportSeparatesClocksThatAreMovedTogether(t *testing.T) {
	admin := dialMaster(t, startMasters(t, 2), 1)
	admin.Do("LAB", "ALL", "CLOCK", "FREEZE")
	admin.Do("LAB", "ALL", "CLOCK", "ADVANCE", "1000")
	admin.Do("LAB", "MASTER", "1", "CLOCK", "ADVANCE", "1000")
	ok(t, admin, "LAB", "CLOCK", "SET", "1700000000000")
	var h lab.History
	require.NoError(t, json.Unmarshal([]byte(admin.Do("LAB", "LOG", "EXPORT").Str), &h))
	var together []bool
	for _, e := range h.Entries {
		together = append(together, e.Together)
	}
	require.Equal(t, []bool{true, false, false}, together)
}

// harmless are the commands that write, but can neither create a key nor change a string or a hash. A lock is a
// string or a hash.
func harmless() []string {
	return strings.Fields(`blmpop blpop brpop bzmpop bzpopmax bzpopmin linsert lmpop lpop lpushx lrem lset ltrim rpop
		rpushx spop srem xack xackdel xautoclaim xclaim xdel xdelex
		xgroup|createconsumer xgroup|delconsumer xgroup|destroy xgroup|setid xreadgroup
		xsetid xtrim zmpop zpopmax zpopmin zrem zremrangebylex zremrangebyrank zremrangebyscore
		function|delete function|flush function|load function|restore pfdebug`)
}

// A command that can take, renew, release or damage a lock has a row in the doctor's table.
func TestTheDoctorKnowsEveryCommandThatCanChangeALock(t *testing.T) {
	t.Parallel()
	var all []string
	for _, server := range dialect.Names() {
		c := redistest.Dial(t, start(t, []string{"--dialect", server}))
		var listed []string
		for _, name := range c.Do("COMMAND", "LIST").Elems {
			listed = append(listed, name.Str)
		}
		all = append(all, listed...)
		for i, info := range c.Do(append([]string{"COMMAND", "INFO"}, listed...)...).Elems {
			writes := slices.ContainsFunc(info.Elems[2].Elems, func(flag resp.Value) bool { return flag.Str == "write" })
			if writes && !slices.Contains(harmless(), listed[i]) {
				require.Contains(t, doctor.Commands(), listed[i], "it writes: give it a row in lab/doctor/commands.go")
			}
		}
	}
	for _, name := range slices.Concat(doctor.Commands(), harmless()) {
		require.Contains(t, all, name, "there is no such command")
	}
}
