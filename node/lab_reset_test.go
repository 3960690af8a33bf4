package node_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestLabResetUndoesEverySettingOfTheLab(t *testing.T) {
	addr, admin := startLab(t)
	far := redistest.Dial(t, addr)
	far.Do("CLIENT", "SETNAME", "far")
	far.Do("SETNX", "lock:order", "token-1")
	far.Do("EXPIRE", "lock:order", "30")
	require.Len(t, admin.Do("LAB", "DOCTOR").Elems, 1)
	for _, verb := range []string{
		"CLOCK RATE 5", "CLOCK ADVANCE 1000", "SNAPSHOT SAVE clean", "FAULT ADD a ACTION SILENT",
		"FAULT ADD b CMD GET ACTION HOLD", "LOG WATCH *",
		"PARTITION CLIENT f* ON", "PARTITION CLIENT far ON", "BLACKHOLE ON", "LISTEN OFF", "CLOCK SET 1",
	} {
		require.NotEqual(t, byte('-'), admin.Do(line("LAB "+verb)...).Kind, verb)
	}
	pipeline(t, far, "SET k v")

	ok(t, admin, "LAB", "RESET")
	require.Equal(t, "+OK", far.Read().String())
	clock := admin.Do("LAB", "CLOCK")
	require.InDelta(t, time.Now().UnixMilli(), field(clock, "unix-ms").Int, 60_000)
	require.Equal(t, int64(0), field(clock, "frozen").Int)
	require.Equal(t, "1", field(clock, "rate").Str)
	require.Equal(t, "v", redistest.Dial(t, addr).Do("GET", "k").Str)
	for _, verb := range []string{"FAULT LIST", "HOLD LIST", "PARTITION LIST", "LOG", "DOCTOR"} {
		require.Equal(t, "[]", admin.Do(line("LAB "+verb)...).String(), verb)
	}
	require.Equal(t, "token-1", admin.Do("GET", "lock:order").Str, "keys stay")
	require.Len(t, admin.Do("LAB", "SNAPSHOT", "LIST").Elems, 1)
}

func TestLabResetNamesTheArgumentThatIsWrong(t *testing.T) {
	_, admin := startLab(t)
	now := labNow(admin)
	for _, bad := range [][2]string{
		{"RESET now", "ERR LAB RESET: expects AT or nothing, not 'now'"},
		{"RESET AT", "ERR LAB RESET AT: unix-time-milliseconds is missing"},
		{"RESET AT 1_0", "ERR LAB RESET AT: unix-time-milliseconds expects a number from 0 to 6000000000000, not '1_0'"},
		{"RESET AT -1", "ERR LAB RESET AT: unix-time-milliseconds expects a number from 0 to 6000000000000, not '-1'"},
		{"RESET AT 1 2", "ERR LAB RESET AT: '2' is one argument too many"},
	} {
		require.Equal(t, bad[1], admin.Do(line("LAB "+bad[0])...).Str)
	}
	require.Equal(t, now, labNow(admin))
}

func TestLabResetAtStopsTheClockThere(t *testing.T) {
	for _, from := range []string{"1600000000000", "1800000000000"} {
		_, admin := startLab(t)
		ok(t, admin, "LAB", "CLOCK", "SET", from)
		ok(t, admin, "LAB", "CLOCK", "RUN")
		ok(t, admin, "SET", "k", "v", "PX", "1000000")
		ok(t, admin, "LAB", "LOG", "WATCH", "*")
		ok(t, admin, "LAB", "RESET", "AT", "1700000000000")
		require.Equal(t, `["unix-ms", :1700000000000, "frozen", :1, "rate", "1"]`, admin.Do("LAB", "CLOCK").String())
		require.Equal(t, "[]", admin.Do("LAB", "LOG").String())
		require.Equal(t, from > "17", admin.Do("EXISTS", "k").Int == 1, "it is as for LAB CLOCK SET")
	}
}

// The clock was a year ahead and is set back. No timer may wait for that year again.
func TestLabResetLeavesNoClientWaiting(t *testing.T) {
	addr, admin := startLab(t)
	admin.Do("LAB", "CLOCK", "ADVANCE", "31536000000")
	rule(t, admin, "hold CMD set ACTION HOLD")
	rule(t, admin, "later CMD append ACTION DELAY-EXEC 1000")
	rule(t, admin, "late CMD incr ACTION DELAY-REPLY 1000")
	rule(t, admin, "lost CMD blpop ACTION DROP-REPLY")
	rule(t, admin, "push CMD message ACTION DELAY-PUSH 1000")
	ok(t, admin, "LAB", "LOG", "WATCH", "*")
	requests := []string{"SET a 1", "APPEND b 2", "INCR c", "BLPOP d 1", "SUBSCRIBE e"}
	conns := make([]*redistest.Conn, len(requests))
	for i, r := range requests {
		conns[i] = redistest.Dial(t, addr)
		pipeline(t, conns[i], r)
	}
	waitParked(t, admin, "hold")
	require.Equal(t, "e", conns[4].Read().Elems[1].Str)
	redistest.Until(t, func() bool {
		log := admin.Do("LAB", "LOG").String()
		return strings.Contains(log, `"delayed"`) && strings.Contains(log, `"reply late"`)
	})
	redistest.Until(t, func() bool { return field(admin.Do("LAB", "FAULT", "LIST").Elems[3], "fired").Int == 1 })
	require.Equal(t, int64(1), admin.Do("PUBLISH", "e", "free").Int)
	paused := redistest.Dial(t, addr)
	ok(t, paused, "CLIENT", "PAUSE", "1000", "WRITE")
	sendPending(t, admin, paused, "DEL", "c")
	waitFor := redistest.Dial(t, addr)
	pipeline(t, waitFor, "LAB HOLD WAIT late 0", "LAB HOLD WAIT hold 0 2")
	require.Contains(t, waitFor.Read().Str, "does not hold")
	runPasses(admin)

	ok(t, admin, "LAB", "RESET")
	require.Equal(t, "[]", admin.Do("LAB", "LOG").String())
	require.Equal(t, "[1, 2, (nil)]", unquoted(admin.Do("MGET", "a", "b", "c").String()))
	require.Equal(t, "+OK", conns[0].Read().String())
	require.Equal(t, ":1", conns[1].Read().String())
	require.Equal(t, ":1", conns[2].Read().String())
	require.True(t, conns[3].Read().Null)
	require.Equal(t, "free", conns[4].Read().Elems[2].Str)
	require.Equal(t, ":1", paused.Read().String())
	require.True(t, waitFor.Read().Null)
	require.Equal(t, "0", infoField(admin, "blocked_clients"))
	for _, c := range conns[:4] {
		require.Equal(t, "+OK", c.Do("SET", "a", "x").String())
	}
}

// unquoted returns a reply without its quotes.
func unquoted(s string) string { return strings.ReplaceAll(s, `"`, "") }

// A client that disconnects while it is held appears in no log of the next test.
func TestLabResetForgetsHeldClientsThatHungUp(t *testing.T) {
	addr, admin := startLab(t)
	for range 20 {
		rule(t, admin, "hold CMD get ACTION HOLD")
		held := redistest.Dial(t, addr)
		pipeline(t, held, "GET k")
		waitParked(t, admin, "hold")
		held.Close()
		ok(t, admin, "LAB", "RESET")
		require.Equal(t, "[]", admin.Do("LAB", "LOG").String())
	}
}

func TestLabAllResetStartsCrashedMasters(t *testing.T) {
	m := startMasters(t, 3)
	c := dialMaster(t, m, 1)
	c.Do("LAB", "ALL", "CLOCK", "FREEZE")
	ok(t, c, "LAB", "MASTER", "2", "CRASH", "DOWN", "100000")
	ok(t, c, "LAB", "MASTER", "3", "LISTEN", "OFF")
	require.Equal(t, "[+OK, +OK, +OK]", c.Do("LAB", "ALL", "RESET").String())
	for n := range m {
		require.Equal(t, "PONG", dialMaster(t, m, n+1).Do("PING").Str)
	}
	for _, clock := range c.Do("LAB", "ALL", "CLOCK").Elems {
		require.Equal(t, int64(0), field(clock, "frozen").Int)
	}
}

// Randomness begins again as well: chances of rules, SPOP, and random numbers of scripts.
func TestAfterLabResetTheSameRequestsWriteTheSameLog(t *testing.T) {
	addr, admin := startLab(t, "--seed", "7")
	c := redistest.Dial(t, addr)
	run := func() string {
		ok(t, admin, "LAB", "RESET", "AT", "1700000000000")
		ok(t, admin, "FLUSHALL")
		ok(t, admin, "LAB", "LOG", "WATCH", "*")
		rule(t, admin, "error PROB 0.3 CMD get ACTION ERROR OOM")
		for range 30 {
			c.Do("GET", "lock:order")
			c.Do("SADD", "owners", "a", "b", "c", "d", "e", "f", "g")
			c.Do("SPOP", "owners")
			c.Do("EVAL", "return redis.call('set', KEYS[1], math.random(1000000), 'PX', 3)", "1", "lock:order")
			admin.Do("LAB", "CLOCK", "ADVANCE", "1")
		}
		return admin.Do("LAB", "LOG").String()
	}
	first := run()
	require.Contains(t, first, `"error"`)
	c.Do("SRANDMEMBER", "owners")
	c.Do("EVAL", "return math.random()", "0")
	admin.Do("LAB", "CLOCK", "RUN")
	require.Equal(t, first, run())
}
