package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
)

// judgedMasters starts masters whose clocks stand at 1700000000000 and whose logs watch every key. The
// connection is to the first one.
func judgedMasters(t *testing.T, n int) (node.Nodes, *redistest.Conn) {
	t.Helper()
	m := startMasters(t, n)
	admin := dialMaster(t, m, 1)
	for _, verb := range []string{"CLOCK FREEZE", "CLOCK SET 1700000000000", "LOG RESET", "LOG WATCH *"} {
		admin.Do(append([]string{"LAB", "ALL"}, strings.Fields(verb)...)...)
	}
	return m, admin
}

// takeLock takes lock:a on one master for a client with that name.
func takeLock(t *testing.T, m node.Nodes, master int, name string) resp.Value {
	t.Helper()
	c := dialMaster(t, m, master)
	c.Do("CLIENT", "SETNAME", name)
	return c.Do("SET", "lock:a", "token-of-"+name, "NX", "PX", "10000")
}

func TestVerdictOfOneHolderIsSafe(t *testing.T) {
	m, admin := judgedMasters(t, 1)
	require.Equal(t, "OK", takeLock(t, m, 1, "alice").Str)
	v := finding(admin.Do("LAB", "VERDICT"))
	require.Len(t, v, 9)
	require.Equal(t, "safe", v["verdict"].Str)
	require.Contains(t, v["text"].Str, "masters: 1, entries: 1, locks: 1, grants: 1\n")
	require.Contains(t, v["text"].Str, "OK: no two holders at one time, and linearizable\n")
	for field, want := range map[string]int64{"masters": 1, "entries": 1, "locks": 1, "grants": 1, "missing": 0} {
		require.Equal(t, want, v[field].Int, field)
	}
	require.Empty(t, v["violations"].Elems)

	require.Equal(t, "no-locks", finding(admin.Do("LAB", "VERDICT", "mutex:*"))["verdict"].Str)
	require.Equal(t, "safe", finding(admin.Do("lab", "verdict", "lock:*"))["verdict"].Str)
}

func TestVerdictJudgesAllMastersTogether(t *testing.T) {
	m, admin := judgedMasters(t, 5)
	for n := 1; n <= 3; n++ {
		takeLock(t, m, n, "alice")
	}
	takeLock(t, m, 4, "bob")
	takeLock(t, m, 5, "bob")
	require.Equal(t, "safe", finding(admin.Do("LAB", "VERDICT"))["verdict"].Str)
	admin.Do("LAB", "MASTER", "3", "CLOCK", "ADVANCE", "10001")
	takeLock(t, m, 3, "bob")

	c := dialMaster(t, m, 4)
	c.Do("HELLO", "3")
	reply := c.Do("LAB", "VERDICT", "lock:*")
	require.Equal(t, byte('%'), reply.Kind, "the reply is in the caller's protocol")
	v := finding(reply)
	require.Equal(t, "two-holders", v["verdict"].Str)
	require.Contains(t, v["text"].Str, "TWO HOLDERS of lock:a\n")
	require.Len(t, v["violations"].Elems, 1)
	f := finding(v["violations"].Elems[0])
	require.Len(t, f, 6)
	require.Equal(t, "lock:a", f["key"].Str)
	require.Zero(t, f["db"].Int)
	require.Contains(t, f["why"].Str, "a majority of the masters granted the lock to a second client")
	require.Contains(t, f["fix"].Str, "let no clock of a master jump")
	require.Contains(t, f["fencing"].Str, "no fencing tokens")
	require.Len(t, f["commands"].Elems, 7)
	require.Equal(t, "master 3, 1700000010001: the lease ended by this master's clock", f["commands"].Elems[3].Str)
	require.Regexp(t, `^master \d, 1700000000000, client \d+ alice: SET lock:a token-of-alice NX PX 10000 -> OK$`,
		f["commands"].Elems[0].Str)
}

func TestVerdictOfAnUnlockByAStranger(t *testing.T) {
	m, admin := judgedMasters(t, 1)
	takeLock(t, m, 1, "alice")
	dialMaster(t, m, 1).Do("DEL", "lock:a")
	v := finding(admin.Do("LAB", "VERDICT"))
	require.Equal(t, "safe", v["verdict"].Str, "nobody else holds it yet")
	takeLock(t, m, 1, "bob")
	v = finding(admin.Do("LAB", "VERDICT"))
	require.Equal(t, "two-holders", v["verdict"].Str)
	require.Len(t, v["violations"].Elems, 1)
}

// A client that competes for the lock and deletes the lock of another one has made a mistake, even if nobody
// else takes it in time.
func TestVerdictOfAnUnlockByAClientOfTheLock(t *testing.T) {
	m, admin := judgedMasters(t, 1)
	takeLock(t, m, 1, "alice")
	bob := dialMaster(t, m, 1)
	bob.Do("SET", "lock:a", "token-of-bob", "NX", "PX", "10000")
	bob.Do("DEL", "lock:a")
	v := finding(admin.Do("LAB", "VERDICT"))
	require.Equal(t, "not-linearizable", v["verdict"].Str)
	f := finding(v["violations"].Elems[0])
	require.Equal(t, "lock:a", f["key"].Str)
	require.Equal(t, "no order of the operations makes each of them legal", f["why"].Str)
	require.Empty(t, f["commands"].Elems)
}

// All workers share one connection, so a command without a token may come from each of them.
func TestVerdictOfWorkersOnOneConnectionIsUndecidedBecauseOfACommand(t *testing.T) {
	m, admin := judgedMasters(t, 1)
	all := dialMaster(t, m, 1)
	all.Do("SET", "lock:a", "token-1", "NX", "PX", "10000")
	admin.Do("LAB", "CLOCK", "ADVANCE", "10001")
	all.Do("SET", "lock:a", "token-2", "NX", "PX", "10000")
	require.EqualValues(t, 1, all.Do("DEL", "lock:a").Int)
	all.Do("SET", "lock:a", "token-3", "NX", "PX", "10000")
	v := finding(admin.Do("LAB", "VERDICT"))
	require.Equal(t, "undecided", v["verdict"].Str)
	q := finding(v["undecided"].Elems[0])
	require.Equal(t, "lock:a", q["key"].Str)
	require.Contains(t, q["why"].Str, "the judge does not know which holder of lock:a sent it")
	require.Contains(t, q["fix"].Str, "a connection and a name of its own")
	require.Len(t, q["commands"].Elems, 3)
	require.Contains(t, q["commands"].Elems[1].Str, "DEL lock:a -> 1")
}

func TestTheSecondViewOfAVerdictIsAPage(t *testing.T) {
	m, admin := judgedMasters(t, 1)
	page := admin.Do("LAB", "VERDICT", "PAGE").Str
	require.True(t, strings.HasPrefix(strings.ToLower(page), "<!doctype html>"), "with no lock at all")
	takeLock(t, m, 1, "alice")
	page = admin.Do("LAB", "VERDICT", "page", "lock:*").Str
	require.True(t, strings.Contains(page, "acquire lock:a by alice (token-of-alice)"))
}

func TestThePictureOfAVerdictIsAnSVG(t *testing.T) {
	m, admin := judgedMasters(t, 1)
	require.Contains(t, admin.Do("LAB", "VERDICT", "svg").Str, "Nobody took a lock")
	takeLock(t, m, 1, "alice")
	dialMaster(t, m, 1).Do("DEL", "lock:a")
	takeLock(t, m, 1, "bob")
	svg := admin.Do("LAB", "VERDICT", "SVG", "lock:*").Str
	require.True(t, strings.HasPrefix(svg, "<svg "))
	require.Contains(t, svg, "TWO HOLDERS of lock:a")
	require.Contains(t, svg, ">alice</text>")
	require.NotContains(t, admin.Do("LAB", "VERDICT", "SVG", "mutex:*").Str, "alice")
	require.Contains(t, admin.Do("LAB", "VERDICT", "SVG", "lang", "en", "lock:*").Str, "TWO HOLDERS of lock:a")
	require.Contains(t, admin.Do("LAB", "VERDICT", "SVG", "LANG", "zh", "lock:*").Str, "两个持有者：lock:a")
	require.Contains(t, admin.Do("LAB", "VERDICT", "PAGE", "LANG", "zh").Str, "加锁 lock:a")
	require.Contains(t, admin.Do("LAB", "VERDICT", "SVG", "LANG").Str, "Nobody took a lock", "a pattern")
}

func TestVerdictNamesWhatIsWrongWithItsArguments(t *testing.T) {
	_, admin := judgedMasters(t, 2)
	for args, want := range map[string]string{
		"VERDICT a b":         "ERR LAB VERDICT: 'b' is one argument too many",
		"VERDICT PAGE a b":    "ERR LAB VERDICT: 'b' is one argument too many",
		"VERDICT SVG LANG fr": "ERR LAB VERDICT: the language is en or zh, not 'fr'",
		"VERDICT LANG zh":     "ERR LAB VERDICT: 'zh' is one argument too many",
		"ALL VERDICT":         "ERR LAB ALL: expects a verb for a single master, not 'VERDICT'",
		"MASTER 1 VERDICT x":  "ERR LAB MASTER: expects a verb for a single master, not 'VERDICT'",
	} {
		require.Equal(t, want, admin.Do(append([]string{"LAB"}, strings.Fields(args)...)...).Str)
	}
}

func TestAMasterThatHasEndedHasNoPartInTheVerdict(t *testing.T) {
	m, admin := judgedMasters(t, 3)
	for n := 1; n <= 2; n++ {
		takeLock(t, m, n, "alice")
	}
	require.NoError(t, dialMaster(t, m, 3).Send(resp.AppendRequest(nil, "SHUTDOWN", "NOSAVE")))
	<-m[2].Ended()
	v := finding(admin.Do("LAB", "VERDICT"))
	require.Equal(t, "safe", v["verdict"].Str, v["text"].Str)
	require.EqualValues(t, 3, v["masters"].Int)
}

// So many replies are lost that not every order of the attempts can be tried.
func TestAVerdictMayBeUndecidedAndMayBeLeft(t *testing.T) {
	t.Parallel()
	m, admin := judgedMasters(t, 1)
	admin.Do("LAB", "FAULT", "ADD", "lost", "CMD", "SET", "TIMES", "30", "ACTION", "DROP-REPLY")
	for i := range 30 {
		c := dialMaster(t, m, 1)
		require.NoError(t, c.Send(resp.AppendRequest(nil, "SET", "lock:a", fmt.Sprint("token-", i), "NX", "PX", "1")))
		_, err := c.TryRead()
		require.Error(t, err)
		admin.Do("LAB", "CLOCK", "ADVANCE", "2")
	}
	takeLock(t, m, 1, "bob")
	thief := dialMaster(t, m, 1)
	thief.Do("SET", "lock:a", "token-of-the-thief", "NX", "PX", "10000")
	thief.Do("DEL", "lock:a")
	v := finding(admin.Do("LAB", "VERDICT"))
	require.Equal(t, "undecided", v["verdict"].Str, v["text"].Str)

	leaves := dialMaster(t, m, 1)
	require.NoError(t, leaves.Send(resp.AppendRequest(nil, "LAB", "VERDICT")))
	leaves.Close()
	require.Equal(t, "undecided", finding(admin.Do("LAB", "VERDICT"))["verdict"].Str)
}

// The log has the commands of an EXEC, and not EXEC.
func TestVerdictUnderstandsAReleaseByTransaction(t *testing.T) {
	m, admin := judgedMasters(t, 1)
	a := dialMaster(t, m, 1)
	a.Do("CLIENT", "SETNAME", "a")
	for range 2 {
		require.Equal(t, "OK", a.Do("SET", "lock:a", "token-of-a", "NX", "PX", "10000").Str)
		for _, words := range []string{"WATCH lock:a", "GET lock:a", "MULTI", "DEL lock:a", "PUBLISH lock:a free"} {
			a.Do(strings.Fields(words)...)
		}
		require.Len(t, a.Do("EXEC").Elems, 2)
	}
	require.Equal(t, "OK", takeLock(t, m, 1, "bob").Str)
	v := finding(admin.Do("LAB", "VERDICT"))
	require.Equal(t, "safe", v["verdict"].Str, v["text"].Str)
	require.Equal(t, int64(3), v["grants"].Int)

	a.Do("MULTI")
	a.Do("DEL", "lock:a") // of bob
	a.Do("EXEC")
	takeLock(t, m, 1, "carol")
	require.Equal(t, "two-holders", finding(admin.Do("LAB", "VERDICT"))["verdict"].Str)
}
