package node_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

var (
	halvesCuts  = flag.Int("halves.cuts", amount.Count(8, 40), "how many units are cut by the end of a server")
	halvesSeed  = flag.Int("halves.seed", 0, "the first of their seeds")
	halvesRedis = flag.Int("halves.redis", 4, "how many of them a redis-server runs")
)

// halves is a unit of two halves that do the same to other keys. After its end the keys have both of them or none.
//
//	prepare ──> before ──> start: the unit waits between two of its writes ──> cut or open ──> require
type halves struct {
	round  int
	writes []string // in order: those of the first half, and then those of the second one
	waits  int      // so many come before the wait
	form   string   // eval, function, around or inside
	keeper []string // how the server keeps its data
	before []string
}

// key is a name that no other round uses.
func (h *halves) key(half, name string) string { return fmt.Sprint(half, h.round, name) }

// gate is the channel whose last subscriber leaves for the unit to go on.
func (h *halves) gate() string { return h.key("gate", "") }

// twins are the things that a half does to the key k.
var twins = []string{
	"SET k:new v", "SET k:s w PX 5000000", "INCRBY k:n 7", "DECRBY k:n 100", "APPEND k:s tail", "DEL k:gone",
	"GETDEL k:gone2", "HSET k:h f v", "HDEL k:h old", "HINCRBY k:h n 3", "RPUSH k:l x y", "LPOP k:l", "LREM k:l 0 b",
	"SADD k:set m", "SREM k:set old", "ZADD k:z 1 m", "ZINCRBY k:z 5 old", "XADD k:x 9-9 f v", "XTRIM k:x MAXLEN 0",
	"PEXPIRE k:l 5000000", "PERSIST k:ttl", "RENAME k:from k:to", "COPY k:s k:copied", "SETBIT k:bits 70 1",
	"PFADD k:hll m", "GEOADD k:geo 1 2 m", "SPOP k:popped", "LMOVE k:l k:l2 LEFT RIGHT", "SUNIONSTORE k:union k:set",
	"MOVE k:moved 1", "BITFIELD k:bits SET u8 0 9", "XREADGROUP GROUP g c STREAMS k:x >", "SETRANGE k:s 0 zz",
	"SORT k:l ALPHA STORE k:sorted", "UNLINK k:set",
}

// twinNames are those of the keys that a half may touch.
var twinNames = []string{
	"new", "n", "s", "h", "l", "set", "z", "x", "ttl", "from", "to", "copied", "bits", "hll", "geo", "gone", "gone2",
	"popped", "l2", "union", "moved", "sorted",
}

// prepare makes the keys that a unit changes.
func (h *halves) prepare(t *testing.T, c *redistest.Conn) {
	t.Helper()
	for _, k := range []string{"a", "b"} {
		for _, line := range []string{
			"SET k:s start", "SET k:n 1000", "SET k:gone v", "SET k:gone2 v", "HSET k:h old v n 1", "RPUSH k:l a b c",
			"SADD k:set old", "ZADD k:z 3 old", "XADD k:x 1-1 f v", "XGROUP CREATE k:x g 0", "SET k:ttl v PX 9000000",
			"SET k:from v", "SET k:moved v", "SADD k:popped u",
		} {
			c.Do(strings.Fields(strings.ReplaceAll(line, "k:", h.key(k, ":")))...)
		}
	}
	require.Equal(t, "OK", c.Do("SAVE").Str)
	require.Equal(t, "OK", c.Do("SET", h.key("acknowledged", ""), "v").Str)
	h.before = h.state(c)
}

func newHalves(rng *rand.Rand, round int) *halves {
	h := &halves{
		round: round, form: []string{"eval", "function", "around", "inside"}[rng.IntN(4)],
		keeper: keepers[rng.IntN(len(keepers))],
	}
	var chosen []string
	for _, i := range rng.Perm(len(twins))[:1+rng.IntN(4)] {
		chosen = append(chosen, twins[i])
	}
	for _, k := range []string{"a", "b"} {
		for _, line := range chosen {
			h.writes = append(h.writes, strings.ReplaceAll(line, "k:", h.key(k, ":")))
		}
	}
	h.waits = rng.IntN(len(h.writes) + 1)
	return h
}

// state has each key as bytes, those of the first half and then those of the second one.
func (h *halves) state(c *redistest.Conn) (all []string) {
	for _, k := range []string{"a", "b"} {
		for _, name := range twinNames {
			key := h.key(k, ":"+name)
			value := "none"
			if v := c.Do("DUMP", key); !v.Null {
				value = v.Str
			}
			all = append(all, fmt.Sprint(c.Do("PTTL", key).Int > 0, value))
		}
	}
	return all
}

// differs says which half differs from what was there before.
func (h *halves) differs(now []string) (first, second bool) {
	for i := range now {
		if now[i] != h.before[i] {
			first, second = first || i < len(twinNames), second || i >= len(twinNames)
		}
	}
	return first, second
}

func calls(writes []string) string {
	var lua strings.Builder
	for _, line := range writes {
		fmt.Fprintf(&lua, "redis.call('%s') ", strings.Join(strings.Fields(line), "','"))
	}
	return lua.String()
}

// requests are what the client of the unit sends.
func (h *halves) requests() (all [][]string) {
	wait := "redis.call('PUBLISH', 'gate', '') repeat until redis.call('PUBSUB', 'NUMSUB', 'gate')[2] == 0 "
	wait = strings.ReplaceAll(wait, "gate", h.gate())
	first, second := h.writes[:h.waits], h.writes[h.waits:]
	script := calls(first) + wait + calls(second)
	switch h.form {
	case "eval":
		return [][]string{{"EVAL", script, "0"}}
	case "function":
		library := "#!lua name=lib\nredis.register_function('f', function() " + script + " end)"
		return [][]string{{"FUNCTION", "LOAD", "REPLACE", library}, {"FCALL", "f", "0"}}
	}
	all = [][]string{{"MULTI"}}
	if h.form == "inside" { // all writes are the script's
		return append(all, []string{"EVAL", script, "0"}, []string{"GET", "x"}, []string{"EXEC"})
	}
	for _, line := range first {
		all = append(all, strings.Fields(line))
	}
	all = append(all, []string{"EVAL", wait, "0"})
	for _, line := range second {
		all = append(all, strings.Fields(line))
	}
	return append(all, []string{"EXEC"})
}

func (h *halves) bytes() (all []byte) {
	for _, r := range h.requests() {
		all = resp.AppendRequest(all, r...)
	}
	return all
}

// start begins the unit. When it returns, the unit waits, and others are served.
func (h *halves) start(t *testing.T, addr string) (gate *redistest.Conn) {
	t.Helper()
	unit, gate := redistest.Dial(t, addr), redistest.Dial(t, addr)
	h.prepare(t, unit)
	gate.Do("HELLO", "3")
	gate.Do("SUBSCRIBE", h.gate())
	require.NoError(t, unit.Send(h.bytes()))
	h.isBusy(t, gate)
	return gate
}

// isBusy waits until others are served in the middle of the unit.
func (h *halves) isBusy(t *testing.T, gate *redistest.Conn) {
	t.Helper()
	require.Equal(t, "message", gate.Read().Elems[0].Str)
	redistest.Until(t, func() bool { return strings.HasPrefix(gate.Do("PING").Str, "BUSY ") })
}

// requireWhole requires both halves, or none.
func (h *halves) requireWhole(t *testing.T, c *redistest.Conn) (done bool) {
	t.Helper()
	first, second := h.differs(h.state(c))
	require.Equal(t, first, second, "half of %v", h.requests())
	return first
}

// ending ends a server while a unit waits. It reports whether the unit was cut.
type ending struct {
	name  string
	saves bool // what is acknowledged, also without an append only file
	end   func(t *testing.T, l *life, gate *redistest.Conn, h *halves) (cut bool)
}

var endings = []ending{
	{"SIGTERM", true, signal(false)},
	{"SIGINT", true, signal(true)},
	{"NOSAVE", false, shutDown("NOSAVE")},
	{"NOW", false, shutDown("NOSAVE", "NOW")},
	{"FORCE", false, shutDown("FORCE", "NOSAVE")},
	{"abort", false, func(t *testing.T, l *life, gate *redistest.Conn, h *halves) bool {
		require.True(t, strings.HasPrefix(gate.Do("SHUTDOWN", "SAVE").Str, "BUSY "))
		require.True(t, strings.HasPrefix(gate.Do("SHUTDOWN").Str, "BUSY "))
		if h.waitsForSave() {
			l.masters.Terminate(false)
			for gate.Do("SHUTDOWN", "ABORT").Str != "OK" { // until the signal has arrived
			}
		}
		return shutDown("NOSAVE")(t, l, gate, h)
	}},
	{"Stop", false, func(_ *testing.T, l *life, _ *redistest.Conn, _ *halves) bool {
		l.kill()
		return true
	}},
	{"no end", false, func(_ *testing.T, _ *life, gate *redistest.Conn, _ *halves) bool {
		gate.Do("RESET")
		gate.Do("PING") // the unit has ended
		return false
	}},
}

func shutDown(words ...string) func(*testing.T, *life, *redistest.Conn, *halves) bool {
	return func(t *testing.T, l *life, gate *redistest.Conn, _ *halves) bool {
		require.NoError(t, gate.Send(resp.AppendRequest(nil, append([]string{"SHUTDOWN"}, words...)...)))
		l.wait()
		return true
	}
}

// waitsForSave reports whether a signal has to wait: there are save points, and the unit has changed something.
func (h *halves) waitsForSave() bool { return slices.Contains(h.keeper, "--save") && h.waits > 0 }

func (h *halves) appends() bool { return slices.Contains(h.keeper, "--appendonly") }

func signal(interrupt bool) func(*testing.T, *life, *redistest.Conn, *halves) bool {
	return func(t *testing.T, l *life, gate *redistest.Conn, h *halves) (cut bool) {
		l.masters.Terminate(interrupt)
		if h.waitsForSave() {
			redistest.Until(t, func() bool { return strings.Contains(l.logged(), "Waiting for a script") })
			require.True(t, strings.HasPrefix(gate.Do("PING").Str, "BUSY "))
			require.NoError(t, gate.Send(resp.AppendRequest(nil, "RESET")))
		}
		l.wait()
		return !h.waitsForSave()
	}
}

var keepers = [][]string{
	{"--appendonly", "yes", "--appendfsync", "always"},
	{"--appendonly", "yes", "--appendfsync", "everysec"},
	{"--save", "3600 1"},
	{"--save", "3600 1", "--appendonly", "yes", "--appendfsync", "everysec"},
}

// A unit is cut anywhere, by any end of a server. What the server keeps in its files and on a replica has all of the
// unit or nothing. What others were told before is there.
func TestNoHalfOfATransactionOutlivesItsServer(t *testing.T) {
	t.Parallel()
	for round := range *halvesCuts {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(*halvesSeed+round), 38))
			h := newHalves(rng, round)
			end := endings[rng.IntN(len(endings))]
			args := append([]string{"--busy-reply-threshold", "1", "--repl-diskless-sync-delay", "0"}, h.keeper...)
			dir := t.TempDir()
			master := born(t, dir, args...)
			var replica *life
			if rng.IntN(3) == 0 {
				_, port, _ := strings.Cut(master.addr, ":")
				replica = born(t, t.TempDir(), "--replicaof", "127.0.0.1 "+port)
				caughtUp(t, master.dial(), replica.dial())
			}
			gate := h.start(t, master.addr)
			if h.appends() && rng.IntN(4) == 0 { // as kill -9 leaves it
				require.False(t, h.requireWhole(t, born(t, image(t, dir), args...).dial()))
			}
			cut := end.end(t, master, gate, h)
			t.Log(h.requests(), h.keeper, end.name, cut)
			master.kill()

			after := born(t, dir, args...).dial()
			require.Equal(t, h.appends() && !cut || !cut && end.saves, h.requireWhole(t, after))
			if h.appends() || end.saves {
				require.Equal(t, "v", after.Do("GET", h.key("acknowledged", "")).Str)
			}
			if replica != nil {
				c := replica.dial()
				has := h.requireWhole(t, c)
				require.False(t, cut && has)
				require.Equal(t, "OK", c.Do("REPLICAOF", "NO", "ONE").Str)
				require.Equal(t, has, h.requireWhole(t, c))
			}
		})
	}
}

// redis-server cuts a script by SHUTDOWN NOSAVE, and waits for it on SIGTERM.
func TestRedisKeepsNoHalfOfATransaction(t *testing.T) {
	for round := range *halvesRedis {
		rng := rand.New(rand.NewPCG(uint64(*halvesSeed+round), 38))
		h := newHalves(rng, round)
		dir := t.TempDir()
		args := append([]string{"--busy-reply-threshold", "1", "--dir", dir}, h.keeper...)
		redis := of7_2(t, args...)
		pid, err := strconv.Atoi(infoField(redistest.Dial(t, redis.Addr), "process_id"))
		require.NoError(t, err)
		gate, cut := h.start(t, redis.Addr), rng.IntN(2) == 0
		if cut {
			require.NoError(t, gate.Send(resp.AppendRequest(nil, "SHUTDOWN", "NOSAVE")))
		} else {
			require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
			require.True(t, strings.HasPrefix(gate.Do("PING").Str, "BUSY "))
			require.NoError(t, gate.Send(resp.AppendRequest(nil, "RESET")))
		}
		for {
			if _, err := gate.TryRead(); err != nil {
				break
			}
		}
		after := redistest.Dial(t, of7_2(t, args...).Addr)
		require.Equal(t, !cut, h.requireWhole(t, after), "%v", h.keeper)
	}
}

// Who waits for a key that a script has filled gets nothing of it if the script is cut.
func TestABlockedClientGetsNothingOfAScriptThatIsCut(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, appending("--busy-reply-threshold", "1")...)
	waits := l.dial()
	sendPending(t, l.dial(), waits, "BLPOP", "q", "0")
	_, other := startBusyScript(t, l.addr, "redis.call('RPUSH', 'q', 'half') while true do end")
	require.NoError(t, other.Send(resp.AppendRequest(nil, "SHUTDOWN", "NOSAVE")))
	_, err := waits.TryRead()
	require.Error(t, err)
	l.wait()
	require.Zero(t, born(t, dir, appending()...).dial().Do("DBSIZE").Int)
}

// FLUSHALL saves the empty keyspace, but not in the middle of a script that continues.
func TestAFlushInsideOfAScriptSavesWhenThatHasEnded(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--save", "3600 1", "--busy-reply-threshold", "1"}
	l := born(t, dir, args...)
	c := l.dial()
	c.Do("SET", "old", "v")
	require.Equal(t, "OK", c.Do("SAVE").Str)
	_, other := startBusyScript(t, l.addr, "redis.call('FLUSHALL') while true do end")
	require.NoError(t, other.Send(resp.AppendRequest(nil, "SHUTDOWN", "NOSAVE")))
	l.wait()
	l = born(t, dir, args...)
	c = l.dial()
	require.Equal(t, "v", c.Do("GET", "old").Str)
	c.Do("EVAL", "redis.call('FLUSHALL') redis.call('SET', 'new', 'v')", "0")
	l.kill()
	c = born(t, dir, args...).dial()
	require.Equal(t, int64(1), c.Do("EXISTS", "old", "new").Int)
	require.Equal(t, "v", c.Do("GET", "new").Str)
}
