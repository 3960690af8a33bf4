package node_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/lab"
)

// entries returns the log, one line for each entry: client, event, command, key, rule, outcome and
// reply.
func entries(admin *redistest.Conn) (lines []string) {
	for i, e := range admin.Do("LAB", "LOG").Elems {
		if field(e, "seq").Int != int64(i+1) {
			return []string{"entry " + fmt.Sprint(i+1) + " has another number"}
		}
		line := field(e, "name").Str
		for _, name := range []string{"event", "cmd", "key", "by", "outcome", "reply"} {
			line += "|" + field(e, name).Str
		}
		lines = append(lines, line)
	}
	return lines
}

func TestTheLogShowsTheCommandsOnWatchedKeys(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "LAB", "LOG", "WATCH", "lock:*")
	c := redistest.Dial(t, addr)
	c.Do("CLIENT", "SETNAME", "w")
	sha := c.Do("SCRIPT", "LOAD", unlockScript).Str
	pipeline(t, c, "SET lock:a me NX PX 100", "SET other x", "MSET other x lock:b y", "LPUSH lock:a x", "GET lock:a x",
		"MULTI", "GET lock:a", "GET other", "EVALSHA "+sha+" 1 lock:a me", "EXEC",
		"EVALSHA "+sha+" 1 lock:a me", "BLPOP lock:q 0")
	waitForField(admin, "blocked_clients", "1")
	admin.Do("SET", "lock:c", "1", "PX", "10")
	admin.Do("LAB", "CLOCK", "ADVANCE", "11") // a key still exists in its last millisecond
	admin.Do("RPUSH", "lock:q", "x")
	for range 12 {
		c.Read()
	}
	got := entries(admin)
	for i, e := range got { // the entry of the clock itself has a different time in each run
		if strings.HasPrefix(e, "|clock|") {
			got[i] = "|clock"
		}
	}
	require.Equal(t, []string{
		"w|command|SET lock:a me NX PX 100|lock:a||executed|OK",
		"w|command|MSET other x lock:b y|lock:b||executed|OK",
		"w|command|LPUSH lock:a x|lock:a||error|WRONGTYPE Operation against a key holding the wrong kind of value",
		"w|command|GET lock:a|lock:a|exec|executed|me",
		"w|command|GET lock:a|lock:a|" + sha + "|executed|me",
		"w|command|DEL lock:a|lock:a|" + sha + "|executed|1",
		"w|command|EVALSHA " + sha + " 1 lock:a me|lock:a|exec|executed|1",
		"w|command|GET lock:a|lock:a|" + sha + "|executed|(nil)",
		"w|command|EVALSHA " + sha + " 1 lock:a me|lock:a||executed|0",
		"|command|SET lock:c 1 PX 10|lock:c||executed|OK",
		"|clock",
		"|expired||lock:c||executed|",
		"|command|RPUSH lock:q x|lock:q||executed|1",
		"w|command|BLPOP lock:q 0|lock:q||executed|[lock:q x]",
	}, got)

	require.Len(t, admin.Do("LAB", "LOG", "3").Elems, 3)
	require.EqualValues(t, len(got), field(admin.Do("LAB", "LOG", "1").Elems[0], "seq").Int)
	ok(t, admin, "LAB", "LOG", "RESET")
	c.Do("GET", "lock:a")
	want := []string{"|watched||lock:b||executed|", "w|command|GET lock:a|lock:a||executed|(nil)"}
	require.Equal(t, want, entries(admin))
	ok(t, admin, "LAB", "LOG", "UNWATCH", "lock:*")
	c.Do("GET", "lock:a")
	require.Len(t, entries(admin), 3)
	require.Equal(t, "|unwatched||||executed|lock:*", entries(admin)[2])
}

func TestTheLogHasOneEntryForEveryRequestARuleFiredFor(t *testing.T) {
	for _, c := range []struct {
		action string
		want   []string
	}{
		{"DROP-BEFORE", []string{"not executed|"}},
		{"RESET-BEFORE", []string{"not executed|"}},
		{"ERROR 'OOM no'", []string{"not executed|OOM no"}},
		{"DROP-REPLY", []string{"reply lost|OK"}},
		{"RESET-AFTER", []string{"reply lost|OK"}},
		{"SILENT", []string{"reply lost|OK"}},
		{"ERROR-AFTER 'ERR no'", []string{"reply lost|OK"}},
		{"CUT 2", []string{"reply cut|OK"}},
		{"DELAY-REPLY 10", []string{"reply late|OK"}},
		{"DELAY-EXEC 10", []string{"delayed|", "executed|OK"}},
		{"HOLD", []string{"held|", "executed|OK"}},
	} {
		addr, admin := startLab(t)
		rule(t, admin, "r CMD set ACTION "+c.action)
		ok(t, admin, "LAB", "LOG", "WATCH", "lock*") // a watched key adds no second entry
		client := redistest.Dial(t, addr)
		pipeline(t, client, "SET lock v")
		require.Eventually(t, func() bool { return len(entries(admin)) > 0 }, limit, tick)
		admin.Do("LAB", "FAULT", "CLEAR")
		admin.Do("LAB", "CLOCK", "ADVANCE", "10")
		require.Eventually(t, func() bool { return len(entries(admin)) > len(c.want) }, limit, tick) // and the clock entry
		var got []string
		for _, e := range entries(admin) {
			if what, is := strings.CutPrefix(e, "|r|SET lock v|lock||"); is {
				got = append(got, what)
			} else {
				require.True(t, strings.HasPrefix(e, "|clock|"), e)
			}
		}
		require.Equal(t, c.want, got, c.action)
	}
}

func TestTheExportIsTheLogAsJSON(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "LAB", "LOG", "WATCH", "lock*")
	redistest.Dial(t, addr).Do("SET", "lock", "\xff")
	var h lab.History
	require.NoError(t, json.Unmarshal([]byte(admin.Do("LAB", "LOG", "EXPORT").Str), &h))
	require.Equal(t, lab.Format, h.Format)
	require.Equal(t, 1, h.Master)
	require.Equal(t, 1, h.Masters)
	require.Len(t, h.Entries, 1)
	e := h.Entries[0]
	require.Equal(t, labNow(admin), e.Time)
	require.Positive(t, e.Mono)
	require.Equal(t, []string{"SET", "lock", `\xff`}, e.Cmd)
	require.Equal(t, "OK", e.Reply)
}

// Two servers with the same seed give random clients the same replies and write the same log.
func TestTheSameSeedAndRequestsWriteTheSameLog(t *testing.T) {
	first, firstLog := randomLab(t, "7")
	second, secondLog := randomLab(t, "7")
	require.Equal(t, first, second)
	require.Equal(t, firstLog, secondLog)
	for _, want := range []string{`"reply lost"`, `"held"`, `"delayed"`, `"push skipped"`, `"not executed"`, `"expired"`} {
		require.Contains(t, firstLog, want)
	}
	_, otherLog := randomLab(t, "8")
	require.NotEqual(t, firstLog, otherLog)
}

func randomLab(t *testing.T, seed string) (requests, log string) {
	l := startRandomLab(t, seed)
	l.admin.Do("LAB", "LOG", "RESET")
	for _, r := range []string{
		"count CLIENT w? NTH 1000000 ACTION SILENT", // counts all requests and does nothing
		"drop PROB 0.02 CLIENT w? ACTION DROP-REPLY", "reset PROB 0.02 CLIENT w? ACTION RESET-BEFORE",
		"error PROB 0.1 CMD set ACTION ERROR OOM",
		"hold PROB 0.1 CMD evalsha ACTION HOLD", "delay PROB 0.1 CMD get ACTION DELAY-EXEC 5",
		"late PROB 0.1 CLIENT w? ACTION DELAY-REPLY 5",
		"skip PROB 0.5 ACTION SKIP-PUSH",
	} {
		rule(t, l.admin, r)
	}
	for range amount.Count(250, 400) {
		l.step()
	}
	l.admin.Do("LAB", "CLOCK", "ADVANCE", "100")
	return l.requests, l.admin.Do("LAB", "LOG").String()
}

// randomClients is a server with its random clients. Their requests reach the server one after
// another.
type randomClients struct {
	t        *testing.T
	addr     string
	admin    *redistest.Conn
	sha      string
	dice     *rand.Rand
	conns    [4]*redistest.Conn
	ids      [4]string
	sent     int64
	requests string
}

func startRandomLab(t *testing.T, seed string) *randomClients {
	l := &randomClients{t: t, dice: rand.New(rand.NewPCG(1, 2))}
	l.addr, l.admin = startLab(t, "--seed", seed)
	ok(t, l.admin, "LAB", "CLOCK", "SET", "1700000000000")
	ok(t, l.admin, "LAB", "LOG", "WATCH", "lock:*")
	l.sha = l.admin.Do("SCRIPT", "LOAD", unlockScript).Str
	return l
}

// state returns the client's line of CLIENT LIST, or "" after it has gone.
func (l *randomClients) state(i int) string { return l.admin.Do("CLIENT", "LIST", "ID", l.ids[i]).Str }

func (l *randomClients) step() {
	i := l.dice.IntN(len(l.conns))
	if l.conns[i] != nil && !strings.Contains(l.state(i), "flags=P ") { // held, or waiting for a late reply
		l.admin.Do("LAB", "CLOCK", "ADVANCE", "5")
		l.admin.Do("LAB", "HOLD", "RELEASE", "hold")
	}
	if l.conns[i] == nil || l.state(i) == "" {
		l.connect(i)
	}
	key := "lock:" + string(rune('a'+l.dice.IntN(3)))
	request := []string{
		"SET " + key + " me NX PX 20", "GET " + key, "EVALSHA " + l.sha + " 1 " + key + " me", "PUBLISH unlock " + key,
		"SRANDMEMBER " + key, "SADD s " + key,
	}[l.dice.IntN(6)]
	pipeline(l.t, l.conns[i], request)
	l.sent++
	require.Eventually(l.t, func() bool {
		return field(l.admin.Do("LAB", "FAULT", "LIST").Elems[0], "matched").Int == l.sent
	}, limit, tick)
	l.requests += fmt.Sprintln(i, request, l.state(i) == "")
}

func (l *randomClients) connect(i int) {
	c := redistest.Dial(l.t, l.addr)
	l.conns[i], l.ids[i] = c, fmt.Sprint(c.Do("CLIENT", "ID").Int)
	c.Do("HELLO", "3")
	c.Do("SUBSCRIBE", "unlock")
	c.Do("CLIENT", "SETNAME", fmt.Sprint("w", i))
}

func TestTheLogShowsTheDatabase(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "LAB", "LOG", "WATCH", "lock:*")
	c := redistest.Dial(t, addr)
	pipeline(t, c, "SET lock:a 1", "SELECT 3", "SET lock:a 1 PX 10", "FLUSHDB", "SET lock:a 1 PX 10")
	for range 5 {
		c.Read()
	}
	ok(t, admin, "LAB", "CLOCK", "FREEZE")
	admin.Do("LAB", "CLOCK", "ADVANCE", "1000")
	var h lab.History
	require.NoError(t, json.Unmarshal([]byte(admin.Do("LAB", "LOG", "EXPORT").Str), &h))
	var got []string
	for i, e := range admin.Do("LAB", "LOG").Elems {
		require.Equal(t, int64(h.Entries[i].DB), field(e, "db").Int)
		got = append(got, fmt.Sprint(h.Entries[i].DB, " ", h.Entries[i].Event, " ", lab.Line(h.Entries[i].Cmd)))
	}
	expired := slices.Index(got, "3 expired ")
	require.Positive(t, expired) // before or after the entry of the clock
	require.Equal(t, []string{
		"0 command SET lock:a 1", "3 command SET lock:a 1 PX 10", "3 command FLUSHDB", "3 command SET lock:a 1 PX 10",
	}, got[:4])
}

func TestTheLogShowsACrashThatLosesNothingAndASnapshotThatIsRestored(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "LAB", "SNAPSHOT", "SAVE", "s")
	ok(t, admin, "LAB", "SNAPSHOT", "RESTORE", "s")
	ok(t, admin, "LAB", "CRASH", "LOSE", "NOTHING")
	admin = redistest.Dial(t, addr)
	ok(t, admin, "LAB", "CRASH")
	require.Equal(t, []string{"|restore||||executed|", "|crash||||executed|keys kept", "|crash||||executed|"},
		entries(redistest.Dial(t, addr)))
}
