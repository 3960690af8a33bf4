package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

const (
	isBusy  = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	endless = "while true do end"
)

// busyLab starts a lab whose server is busy with a script. admin has sent LAB before the script
// began, other has not.
func busyLab(t *testing.T) (addr string, admin, script, other *redistest.Conn) {
	t.Helper()
	addr, admin = startLab(t, "--busy-reply-threshold", "10")
	ok(t, admin, "LAB", "SNAPSHOT", "SAVE", "before")
	rule(t, admin, "old CMD get ACTION HOLD")
	script, other = startBusyScript(t, addr, endless)
	return addr, admin, script, other
}

// endBusy kills the script. The script's client gets that error and nothing else.
func endBusy(t *testing.T, script, other *redistest.Conn) {
	t.Helper()
	require.Equal(t, "OK", other.Do("SCRIPT", "KILL").Str)
	require.True(t, strings.HasPrefix(script.Read().Str, killed))
}

func TestLabVerbsThatLeaveTheKeysAloneAreAnsweredWhileAScriptRuns(t *testing.T) {
	_, admin, script, other := busyLab(t)
	for _, verb := range [][2]string{
		{"LOG WATCH k*", "+OK"}, {"LOG RESET", "+OK"}, {"LOG", "[]"}, {"LOG 3", "[]"}, {"LOG UNWATCH k*", "+OK"},
		{"FAULT ADD slow CMD set ACTION HOLD", "+OK"}, {"FAULT DEL old", "+OK"},
		{"HOLD LIST", "[]"}, {"HOLD RELEASE slow", ":0"}, {"FAULT CLEAR", "+OK"}, {"FAULT LIST", "[]"},
		{"LISTEN OFF", "+OK"}, {"LISTEN ON", "+OK"}, {"BLACKHOLE ON", "+OK"}, {"BLACKHOLE OFF", "+OK"},
		{"PARTITION CLIENT x ON", "+OK"}, {"PARTITION CLIENT x OFF", "+OK"}, {"PARTITION LIST", "[]"},
		{"SNAPSHOT DEL before", "+OK"}, {"SNAPSHOT LIST", "[]"},
		{"DOCTOR", "[]"}, {"DOCTOR RESET", "+OK"},
	} {
		require.Equal(t, verb[1], admin.Do(line("LAB "+verb[0])...).String(), verb[0])
	}
	require.Len(t, admin.Do("LAB", "CLOCK").Elems, 6)
	require.Contains(t, admin.Do("LAB", "LOG", "EXPORT").Str, `"entries":[]`)
	require.Equal(t, "LAB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:", admin.Do("LAB", "HELP").Elems[0].Str)
	require.Equal(t, "ERR LAB FAULT DEL: there is no rule 'none'", admin.Do("LAB", "FAULT", "DEL", "none").Str)
	endBusy(t, script, other)
}

// A refused verb has no effect, neither at once nor after the script.
func TestLabVerbsThatAScriptWouldNoticeAreRefusedWhileItRuns(t *testing.T) {
	addr, admin, script, other := busyLab(t)
	now := labNow(admin)
	for _, verb := range []string{
		"CLOCK FREEZE", "CLOCK RUN", "CLOCK ADVANCE 1000", "CLOCK SET 1", "CLOCK RATE 2", "CRASH",
		"CRASH DOWN 1 LOSE NOTHING", "SNAPSHOT SAVE a", "SNAPSHOT RESTORE before", "RESET", "RESET AT 1",
	} {
		require.Equal(t, isBusy, admin.Do(line("LAB "+verb)...).Str, verb)
	}
	endBusy(t, script, other)
	require.Equal(t, now, labNow(admin))
	require.Equal(t, int64(1), admin.Do("LAB", "CLOCK").Elems[3].Int)
	require.Len(t, admin.Do("LAB", "SNAPSHOT", "LIST").Elems, 1)
	require.Equal(t, "PONG", redistest.Dial(t, addr).Do("PING").Str)
}

func TestCommandInfoMarksTheLabVerbsThatAreAnsweredWhileAScriptRuns(t *testing.T) {
	_, c := startLab(t)
	for verb, busy := range map[string]bool{"log": true, "clock": true, "master": true, "help": true, "crash": false} {
		require.Equal(t, busy, strings.Contains(c.Do("COMMAND", "INFO", "lab|"+verb).String(), "allow_busy"), verb)
	}
}

// A held request gets no BUSY error. A released one does.
func TestRequestsAreHeldAndReleasedWhileAScriptRuns(t *testing.T) {
	addr, admin, script, other := busyLab(t)
	rule(t, admin, "slow CMD set ACTION HOLD")
	first, second := redistest.Dial(t, addr), redistest.Dial(t, addr)
	pipeline(t, admin, "LAB HOLD WAIT slow 0 2")
	pipeline(t, first, "SET k first")
	waitParked(t, other, "slow")
	pipeline(t, second, "SET k second")
	require.Equal(t, "SET k second", field(admin.Read(), "cmd").Str)
	require.Equal(t, int64(1), admin.Do("LAB", "HOLD", "RELEASE", "slow", "1").Int)
	require.Equal(t, isBusy, first.Read().Str)
	endBusy(t, script, other)
	require.Equal(t, int64(1), admin.Do("LAB", "HOLD", "RELEASE", "slow").Int)
	require.Equal(t, "OK", second.Read().Str)
	require.Equal(t, "second", admin.Do("GET", "k").Str)
}

func TestAWaitForAHeldClientTimesOutWhileAScriptRuns(t *testing.T) {
	addr, admin, script, other := busyLab(t)
	fresh := redistest.Dial(t, addr)
	for range 3 {
		require.True(t, admin.Do("LAB", "HOLD", "WAIT", "old", "1").Null)
		require.True(t, fresh.Do("LAB", "HOLD", "WAIT", "old", "2").Null)
	}
	pipeline(t, admin, "LAB HOLD WAIT old 1")
	endBusy(t, script, other)
	require.True(t, admin.Read().Null)
	require.Equal(t, "PONG", admin.Do("PING").Str)
}

// The reply comes before the script ends, so that a test with one connection can go on and kill the
// script.
func TestReleaseOfAScriptThatDoesNotEndIsAnsweredWhenTheServerIsBusy(t *testing.T) {
	addr, admin := startLab(t, "--busy-reply-threshold", "10")
	rule(t, admin, "slow CMD eval ACTION HOLD")
	script, next := redistest.Dial(t, addr), redistest.Dial(t, addr)
	pipeline(t, script, "EVAL '"+endless+"' 0")
	waitParked(t, admin, "slow")
	pipeline(t, next, "EVAL 'return 1' 0")
	require.Len(t, admin.Do("LAB", "HOLD", "WAIT", "slow", "0", "2").Elems, 10)
	require.Equal(t, int64(2), admin.Do("LAB", "HOLD", "RELEASE", "slow").Int)
	require.Equal(t, isBusy, next.Read().Str, "its turn came in the middle of the script")
	endBusy(t, script, admin)
}

// While others are served, the output of the script's client is kept apart from its connection.
func TestAPartitionMayBeginAndEndDuringAScript(t *testing.T) {
	for _, light := range []string{"in the middle", "afterwards"} {
		t.Run(light, func(t *testing.T) {
			addr, admin := startLab(t, "--busy-reply-threshold", "10")
			script, other := redistest.Dial(t, addr), redistest.Dial(t, addr)
			other.Do("LAB", "CLOCK")
			pipeline(t, script, "CLIENT SETNAME far", "ECHO before", "EVAL '"+endless+"' 0", "ECHO after")
			redistest.Until(t, func() bool { return strings.HasPrefix(other.Do("PING").Str, "BUSY ") })
			ok(t, admin, "LAB", "PARTITION", "CLIENT", "far", "ON")
			for range 3 {
				ok(t, admin, "LAB", "BLACKHOLE", "ON")
				ok(t, admin, "LAB", "BLACKHOLE", "OFF")
			}
			if light == "in the middle" {
				ok(t, admin, "LAB", "PARTITION", "CLIENT", "far", "OFF")
			}
			require.Equal(t, "OK", other.Do("SCRIPT", "KILL").Str)
			require.Equal(t, "PONG", admin.Do("PING").Str)
			if light == "afterwards" {
				requireSilence(t, script, admin)
				ok(t, admin, "LAB", "PARTITION", "CLIENT", "far", "OFF")
			}
			require.Equal(t, "+OK", script.Read().String())
			require.Equal(t, "before", script.Read().Str)
			require.True(t, strings.HasPrefix(script.Read().Str, killed))
			require.Equal(t, "after", script.Read().Str)
			require.Equal(t, "PONG", script.Do("PING").Str)
		})
	}
}

func TestMastersAskABusyOneWhatItAnswersWhileAScriptRuns(t *testing.T) {
	m := startMasters(t, 3, "--busy-reply-threshold", "10")
	far, near := dialMaster(t, m, 1), dialMaster(t, m, 2)
	far.Do("LAB", "ALL", "CLOCK", "FREEZE")
	script, other := startBusyScript(t, near.Net.RemoteAddr().String(), endless)
	for who, c := range map[string]*redistest.Conn{"another master": far, "the busy one": near} {
		require.Equal(t, "[+OK, +OK, +OK]", c.Do("LAB", "ALL", "FAULT", "CLEAR").String(), who)
		require.Equal(t, "[:0, -"+isBusy+", :0]", c.Do("LAB", "ALL", "CLOCK", "ADVANCE", "1").String(), who)
		require.Equal(t, isBusy, c.Do("LAB", "MASTER", "2", "CRASH").Str, who)
		require.Len(t, c.Do("LAB", "MASTER", "2", "LOG").Elems, 0, who)
		require.Equal(t, "OK", c.Do("LAB", "MASTER", "3", "CRASH").Str, who)
	}
	_, err := m.Do(t.Context(), 2, "LAB", "CLOCK", "FREEZE")
	require.EqualError(t, err, isBusy)
	v, err := m.Do(t.Context(), 2, "LAB", "CLOCK")
	require.NoError(t, err)
	require.Len(t, v.Elems, 6)
	endBusy(t, script, other)
	require.Equal(t, "OK", far.Do("LAB", "MASTER", "2", "CLOCK", "FREEZE").Str)
}
