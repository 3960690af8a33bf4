package node_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// startLab runs a server with a lab. Its clock is frozen.
func startLab(t *testing.T, args ...string) (addr string, admin *redistest.Conn) {
	t.Helper()
	addr = start(t, append([]string{"--lab", "yes", "--notify-keyspace-events", "KEA"}, args...))
	admin = redistest.Dial(t, addr)
	ok(t, admin, "LAB", "CLOCK", "FREEZE")
	return addr, admin
}

func ok(t *testing.T, c *redistest.Conn, args ...string) {
	t.Helper()
	require.Equal(t, "+OK", c.Do(args...).String(), args)
}

func labNow(c *redistest.Conn) int64 { return c.Do("LAB", "CLOCK").Elems[1].Int }

func TestLabIsOffUnlessTheDirectiveSaysYes(t *testing.T) {
	c := redistest.Dial(t, start(t, nil))
	for _, sub := range c.Do("COMMAND", "LIST", "FILTERBY", "PATTERN", "lab|*").Elems {
		if sub.Str == "lab|help" {
			continue
		}
		args := strings.Split(sub.Str, "|")
		for len(args) < 8 {
			if v := c.Do(args...); !strings.HasPrefix(v.Str, "ERR wrong number") {
				require.Equal(t, "ERR LAB is off: start the server with --lab yes", v.Str)
			}
			args = append(args, "x")
		}
	}
	require.Contains(t, c.Do("CONFIG", "SET", "lab", "yes").Str, "immutable")
}

func TestLabClockNamesTheArgumentThatIsWrong(t *testing.T) {
	_, c := startLab(t)
	for _, bad := range [][2]string{
		{"BACK", "ERR LAB CLOCK: expects FREEZE, RUN, ADVANCE, SET, RATE or nothing, not 'BACK'"},
		{"FREEZE now", "ERR LAB CLOCK FREEZE: 'now' is one argument too many"},
		{"run 1", "ERR LAB CLOCK RUN: '1' is one argument too many"},
		{"ADVANCE", "ERR LAB CLOCK ADVANCE: milliseconds is missing"},
		{"ADVANCE 1 2", "ERR LAB CLOCK ADVANCE: '2' is one argument too many"},
		{"ADVANCE -1", "ERR LAB CLOCK ADVANCE: milliseconds expects a number from 0 to <n>, not '-1'"},
		{"ADVANCE 1.5", "ERR LAB CLOCK ADVANCE: milliseconds expects a number from 0 to <n>, not '1.5'"},
		{"ADVANCE 9223372036854775807",
			"ERR LAB CLOCK ADVANCE: milliseconds expects a number from 0 to <n>, not '9223372036854775807'"},
		{"SET", "ERR LAB CLOCK SET: unix-time-milliseconds is missing"},
		{"SET -1", "ERR LAB CLOCK SET: unix-time-milliseconds expects a number from 0 to 6000000000000, not '-1'"},
		{"SET 6000000000001",
			"ERR LAB CLOCK SET: unix-time-milliseconds expects a number from 0 to 6000000000000, not '6000000000001'"},
		{"RATE", "ERR LAB CLOCK RATE: factor is missing"},
		{"RATE 0", "ERR LAB CLOCK RATE: factor expects a number from 0.000001 to 1000000, not '0' (FREEZE stops the time)"},
		{"RATE -1", "ERR LAB CLOCK RATE: factor expects a number from 0.000001 to 1000000, not '-1' (FREEZE stops the time)"},
		{"RATE nan",
			"ERR LAB CLOCK RATE: factor expects a number from 0.000001 to 1000000, not 'nan' (FREEZE stops the time)"},
		{"RATE 1_000",
			"ERR LAB CLOCK RATE: factor expects a number from 0.000001 to 1000000, not '1_000' (FREEZE stops the time)"},
		{"RATE 0x10",
			"ERR LAB CLOCK RATE: factor expects a number from 0.000001 to 1000000, not '0x10' (FREEZE stops the time)"},
		{"RATE +2", "ERR LAB CLOCK RATE: factor expects a number from 0.000001 to 1000000, not '+2' (FREEZE stops the time)"},
		{"RATE inf",
			"ERR LAB CLOCK RATE: factor expects a number from 0.000001 to 1000000, not 'inf' (FREEZE stops the time)"},
		{"RATE 1e7",
			"ERR LAB CLOCK RATE: factor expects a number from 0.000001 to 1000000, not '1e7' (FREEZE stops the time)"},
	} {
		before := labNow(c)
		want := strings.ReplaceAll(bad[1], "<n>", strconv.FormatInt(6e12-1-before, 10))
		require.Equal(t, want, c.Do(strings.Fields("lab clock "+bad[0])...).Str)
		require.Equal(t, before, labNow(c))
	}
	c.Do("MULTI")
	require.Equal(t, "ERR Command not allowed inside a transaction", c.Do("LAB", "CLOCK", "ADVANCE", "1").Str)
}

func TestLabClockRepliesWithTimeFrozenAndRate(t *testing.T) {
	_, c := startLab(t)
	ok(t, c, "LAB", "CLOCK", "SET", "1700000000123")
	ok(t, c, "LAB", "CLOCK", "RATE", "0.5")
	require.Equal(t, `["unix-ms" 1700000000123 "frozen" 1 "rate" "0.5"]`, flat(c.Do("LAB", "CLOCK")))
	require.Equal(t, "[1700000000 123000]", numbers(c.Do("TIME")))
	require.Equal(t, "[1700000000 123000]", numbers(c.Do("EVAL", "return redis.call('TIME')", "0")))
	ok(t, c, "LAB", "CLOCK", "RUN")
	require.Equal(t, int64(0), c.Do("LAB", "CLOCK").Elems[3].Int)
	require.GreaterOrEqual(t, labNow(c), int64(1700000000123))
	c.Do("HELLO", "3")
	require.Equal(t, "%", string(c.Do("LAB", "CLOCK").Kind))
}

func flat(v resp.Value) string {
	var parts []string
	for _, e := range v.Elems {
		parts = append(parts, e.String())
	}
	return "[" + strings.ReplaceAll(strings.ReplaceAll(strings.Join(parts, " "), "$", ""), ":", "") + "]"
}

func numbers(v resp.Value) string {
	var parts []string
	for _, e := range v.Elems {
		parts = append(parts, e.Str)
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// A key still exists in its last millisecond, as in Redis.
func TestAKeyGoesWhenItsLastMillisecondHasPassed(t *testing.T) {
	_, c := startLab(t)
	ok(t, c, "SET", "lock", "v", "PX", "30000")
	require.Equal(t, int64(0), c.Do("LAB", "CLOCK", "ADVANCE", "29999").Int)
	require.Equal(t, int64(1), c.Do("PTTL", "lock").Int)
	require.Equal(t, int64(0), c.Do("LAB", "CLOCK", "ADVANCE", "1").Int)
	require.Equal(t, int64(0), c.Do("PTTL", "lock").Int)
	require.Equal(t, int64(1), c.Do("EXISTS", "lock").Int)
	require.Equal(t, int64(1), c.Do("LAB", "CLOCK", "ADVANCE", "1").Int)
	require.Equal(t, int64(0), c.Do("EXISTS", "lock").Int)
}

// Expired events, timeouts of blocked clients and their next requests happen in the order of their
// deadlines, all before the reply to ADVANCE.
func TestAdvancePassesEveryDeadlineInOrder(t *testing.T) {
	addr, admin := startLab(t)
	sub := redistest.Dial(t, addr)
	sub.Do("PSUBSCRIBE", "__keyevent@*__:expired", "__keyevent@0__:set")
	sub.Read()
	c := redistest.Dial(t, addr)
	sendPending(t, admin, c, "BLPOP", "q", "0.15")
	set := resp.AppendRequest(nil, "SET", "behind", "v", "PX", "60")
	require.NoError(t, c.Send(resp.AppendRequest(set, "TIME")))
	sendPending(t, admin, redistest.Dial(t, addr), "XREAD", "BLOCK", "100", "STREAMS", "s", "0")
	admin.Do("SELECT", "3")
	ok(t, admin, "SET", "b", "v", "PX", "200")
	ok(t, admin, "SET", "d", "v", "PX", "230")
	admin.Do("SELECT", "0")
	begin := labNow(admin)
	ok(t, admin, "SET", "c", "v", "PX", "220")
	ok(t, admin, "SET", "a", "v", "PX", "100")
	require.Equal(t, int64(5), admin.Do("LAB", "CLOCK", "ADVANCE", "1000").Int)
	var seen []string
	for range 8 {
		seen = append(seen, sub.Read().Elems[3].Str)
	}
	require.Equal(t, []string{"c", "a", "a", "behind", "b", "behind", "c", "d"}, seen)
	require.Equal(t, "(nil array)", c.Read().String())
	require.Equal(t, "+OK", c.Read().String())
	at := c.Read().Elems
	require.Equal(t, strconv.FormatInt((begin+150)*1000, 10), at[0].Str+strings.Repeat("0", 6-len(at[1].Str))+at[1].Str)
	require.Equal(t, begin+1000, labNow(admin))
}

func TestTimeoutsOfWaitersAreInTheTimeOfTheLab(t *testing.T) {
	addr, admin := startLab(t)
	for _, wait := range [][]string{
		{"BLPOP", "q", "1"}, {"BLMOVE", "q", "r", "LEFT", "LEFT", "1"}, {"BZPOPMIN", "z", "1"},
		{"XREAD", "BLOCK", "1000", "STREAMS", "s", "$"}, {"WAIT", "1", "1000"},
	} {
		c := redistest.Dial(t, addr)
		sendPending(t, admin, c, wait...)
		admin.Do("LAB", "CLOCK", "ADVANCE", "999")
		require.Equal(t, "1", infoField(admin, "blocked_clients"), wait)
		admin.Do("LAB", "CLOCK", "ADVANCE", "1")
		require.Equal(t, "0", infoField(admin, "blocked_clients"), wait)
		c.Read()
	}
}

func TestAPauseEndsInTheTimeOfTheLab(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "SET", "k", "v", "PX", "50")
	ok(t, admin, "CLIENT", "PAUSE", "100", "ALL")
	c := redistest.Dial(t, addr)
	require.NoError(t, c.Send(resp.AppendRequest(nil, "PTTL", "k")))
	require.Equal(t, int64(0), admin.Do("LAB", "CLOCK", "ADVANCE", "99").Int) // nothing expires in a pause
	require.Equal(t, int64(1), admin.Do("LAB", "CLOCK", "ADVANCE", "1").Int)
	require.Equal(t, int64(-2), c.Read().Int)
	require.Equal(t, int64(0), admin.Do("EXISTS", "k").Int)
}

func TestAClockSetBackMakesLeasesLonger(t *testing.T) {
	addr, admin := startLab(t)
	begin := labNow(admin)
	ok(t, admin, "SET", "lock", "v", "PX", "10000")
	ok(t, admin, "SET", "long", "v", "PX", "100000000")
	c := redistest.Dial(t, addr)
	sendPending(t, admin, c, "BLPOP", "q", "10")
	ok(t, admin, "LAB", "CLOCK", "SET", strconv.FormatInt(begin-3_600_000, 10))
	require.Equal(t, int64(3_610_000), admin.Do("PTTL", "lock").Int)
	require.Equal(t, int64(0), admin.Do("LAB", "CLOCK", "ADVANCE", "3609999").Int)
	require.Equal(t, "1", infoField(admin, "blocked_clients"))
	require.Equal(t, int64(1), admin.Do("LAB", "CLOCK", "ADVANCE", "2").Int)
	require.Equal(t, "(nil array)", c.Read().String())
	ok(t, admin, "LAB", "CLOCK", "SET", strconv.FormatInt(begin+100_000_001, 10))
	require.Equal(t, int64(0), admin.Do("DBSIZE").Int)
}

func TestAFastClockExpiresAtItsRate(t *testing.T) {
	addr, admin := startLab(t)
	sub := redistest.Dial(t, addr)
	sub.Do("SUBSCRIBE", "__keyevent@0__:expired", "__keyevent@0__:del")
	sub.Read()
	c := redistest.Dial(t, addr)
	ok(t, admin, "SET", "second", "v", "EX", "3600")
	ok(t, admin, "SET", "first", "v", "EX", "1800")
	sendPending(t, admin, c, "BLPOP", "q", "2000")
	require.NoError(t, c.Send(resp.AppendRequest(nil, "DEL", "second")))
	ok(t, admin, "LAB", "CLOCK", "RATE", "1000000")
	ok(t, admin, "LAB", "CLOCK", "RUN")
	require.Equal(t, "first", sub.Read().Elems[2].Str)
	second := sub.Read() // c stops waiting between the two deadlines, and then sends DEL
	require.Equal(t, "__keyevent@0__:del", second.Elems[1].Str)
}

// A connection may send the next ADVANCE before the reply to the last one.
func TestAdvancesInAPipelineAreDoneOneAfterAnother(t *testing.T) {
	_, c := startLab(t)
	begin := labNow(c)
	var out []byte
	for range 3 {
		out = resp.AppendRequest(out, "SET", "k", "v", "PX", "10")
		out = resp.AppendRequest(out, "LAB", "CLOCK", "ADVANCE", "10")
		out = resp.AppendRequest(out, "EXISTS", "k")
		out = resp.AppendRequest(out, "LAB", "CLOCK", "ADVANCE", "1")
	}
	require.NoError(t, c.Send(out))
	for range 3 {
		require.Equal(t, "+OK", c.Read().String())
		require.Equal(t, int64(0), c.Read().Int)
		require.Equal(t, int64(1), c.Read().Int)
		require.Equal(t, int64(1), c.Read().Int)
	}
	require.Equal(t, begin+33, labNow(c))
}

func TestAdvanceExpiresMoreKeysThanOnePassWould(t *testing.T) {
	_, c := startLab(t)
	each(t, c, []string{"SET", "%", "v", "PX", "50"}, names("k", 25_000))
	require.Equal(t, int64(25_000), c.Do("LAB", "CLOCK", "ADVANCE", "51").Int)
	require.Equal(t, int64(0), c.Do("DBSIZE").Int)
}

// Deadlines of keys in any database and of blocked clients come in order.
func TestDeadlinesComeInOrderHoweverTheyLie(t *testing.T) {
	addr, admin := startLab(t)
	sub := redistest.Dial(t, addr)
	sub.Do("PSUBSCRIBE", "__keyevent@*__:expired", "woken")
	sub.Read()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3 {
		const keys, waiters = 300, 20
		for i := range keys {
			at := strconv.Itoa(10 * (1 + rng.IntN(100_000))) // the key goes one millisecond after that
			admin.Do("SELECT", strconv.Itoa(rng.IntN(16)))
			admin.Do("SET", at+":"+strconv.Itoa(i), "v", "PX", at)
		}
		for i := range waiters {
			at := 1 + rng.IntN(1_000_000)
			c := redistest.Dial(t, addr)
			sendPending(t, admin, c, "BLPOP", "q", strconv.FormatFloat(float64(at)/1000, 'f', 3, 64))
			require.NoError(t, c.Send(resp.AppendRequest(nil, "PUBLISH", "woken", strconv.Itoa(at)+":"+strconv.Itoa(i))))
		}
		total := int64(0)
		for _, ms := range []string{"1", "0", "255", "256", "65536", "999999"} {
			total += admin.Do("LAB", "CLOCK", "ADVANCE", ms).Int
		}
		require.Equal(t, int64(keys), total)
		last := 0
		for range keys + waiters {
			at, _, _ := strings.Cut(sub.Read().Elems[3].Str, ":")
			n, err := strconv.Atoi(at)
			require.NoError(t, err)
			require.GreaterOrEqual(t, n, last)
			last = n
		}
	}
}

// DEBUG SET-ACTIVE-EXPIRE 0 works as in Redis: the key goes at the next access.
func TestAdvanceLeavesKeysToTheNextAccessWithoutActiveExpiry(t *testing.T) {
	_, admin := startLab(t)
	ok(t, admin, "DEBUG", "SET-ACTIVE-EXPIRE", "0")
	ok(t, admin, "SET", "lock", "v", "PX", "10")
	require.Equal(t, int64(0), admin.Do("LAB", "CLOCK", "ADVANCE", "1000").Int)
	require.Equal(t, int64(1), admin.Do("DBSIZE").Int)
	require.Equal(t, int64(-2), admin.Do("PTTL", "lock").Int)
	require.Equal(t, int64(0), admin.Do("DBSIZE").Int)
}

func TestIdleTimeIsNeverNegativeWhenTheClockIsSetBack(t *testing.T) {
	_, c := startLab(t)
	ok(t, c, "LAB", "CLOCK", "SET", "1700000000000")
	ok(t, c, "SET", "k", "v")
	c.Do("XADD", "s", "*", "f", "v")
	ok(t, c, "LAB", "CLOCK", "SET", "1600000000000")
	require.GreaterOrEqual(t, c.Do("OBJECT", "IDLETIME", "k").Int, int64(0))
	require.Equal(t, "1700000000000-1", c.Do("XADD", "s", "*", "f", "v").Str)
}

func TestTheTimeOfALabHasAnEnd(t *testing.T) {
	const end = 6_000_000_000_000
	addr, admin := startLab(t)
	other := redistest.Dial(t, addr)
	left := strconv.FormatInt(end-labNow(admin)-2000, 10)
	pipeline(t, other, "BLPOP none 1", "LAB CLOCK ADVANCE "+left) // asks while the admin advances
	waitForField(admin, "blocked_clients", "1")
	require.Zero(t, admin.Do("LAB", "CLOCK", "ADVANCE", left).Int)
	require.True(t, other.Read().Null)
	require.Equal(t, ":0", other.Read().String())
	require.EqualValues(t, end, labNow(admin))
	require.Equal(t, ":0", admin.Do("LAB", "CLOCK", "ADVANCE", "0").String())
	require.Equal(t, "ERR LAB CLOCK ADVANCE: milliseconds expects a number from 0 to 0, not '1'",
		admin.Do("LAB", "CLOCK", "ADVANCE", "1").Str)
	ok(t, admin, "LAB", "CLOCK", "SET", "1700000000000")
}
