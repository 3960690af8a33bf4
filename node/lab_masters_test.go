package node_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// startMasters runs n masters with a lab until the test ends.
func startMasters(t *testing.T, n int, args ...string) node.Nodes {
	t.Helper()
	more := strings.Fields(os.Getenv("MINIREDISD_ARGS"))
	all := []string{"--port", "0", "--bind", "127.0.0.1", "--lab", "yes", "--masters", fmt.Sprint(n), "--maxclients", "50"}
	all = append(all, more...)
	cfg, err := config.Parse(append(all, args...), nil)
	require.NoError(t, err)
	masters, err := node.NewNodes(cfg, func(n int) server.Log {
		return func(_ byte, format string, args ...any) {
			if strings.HasPrefix(format, "Panic") {
				t.Errorf("master %d: "+format, append([]any{n}, args...)...)
			}
		}
	})
	require.NoError(t, err)
	for _, s := range masters {
		if len(more) > 0 {
			s.EagerThreads()
		}
	}
	done := make(chan error)
	go func() { done <- masters.Run() }()
	t.Cleanup(func() {
		masters.Stop()
		require.NoError(t, <-done)
	})
	return masters
}

func dialMaster(t *testing.T, m node.Nodes, n int) *redistest.Conn {
	t.Helper()
	return redistest.Dial(t, fmt.Sprintf("127.0.0.1:%d", m[n-1].Port()))
}

func TestLabVerbsReachOneMasterOrAll(t *testing.T) {
	m := startMasters(t, 3)
	c := dialMaster(t, m, 2)
	all := c.Do("LAB", "ALL", "CLOCK")
	require.Len(t, all.Elems, 3)
	for _, clock := range all.Elems {
		require.Equal(t, "unix-ms", clock.Elems[0].Str)
	}
	require.Equal(t, "unix-ms", c.Do("lab", "master", "3", "clock").Elems[0].Str)
	require.Equal(t, "unix-ms", c.Do("LAB", "MASTER", "2", "CLOCK").Elems[0].Str, "the master itself")
	c.Do("HELLO", "3")
	require.Equal(t, byte('%'), c.Do("LAB", "MASTER", "1", "CLOCK").Kind, "the reply is in the caller's protocol")
}

func TestAllOfOneMasterIsThatMaster(t *testing.T) {
	m := startMasters(t, 1)
	c := dialMaster(t, m, 1)
	require.Len(t, c.Do("LAB", "ALL", "CLOCK").Elems, 1)
	require.Equal(t, "ERR LAB MASTER: there is no master 2, only 1 to 1", c.Do("LAB", "MASTER", "2", "CLOCK").Str)
}

func TestMalformedRelaysNameWhatIsWrong(t *testing.T) {
	m := startMasters(t, 3)
	c := dialMaster(t, m, 1)
	for _, bad := range []struct {
		args []string
		want string
	}{
		{[]string{"ALL"}, "ERR LAB ALL: verb is missing"},
		{[]string{"MASTER", "1"}, "ERR LAB MASTER: verb is missing"},
		{[]string{"MASTER", "x", "CLOCK"}, "ERR LAB MASTER: expects the number of a master, not 'x'"},
		{[]string{"MASTER", "0", "CLOCK"}, "ERR LAB MASTER: there is no master 0, only 1 to 3"},
		{[]string{"MASTER", "4", "CLOCK"}, "ERR LAB MASTER: there is no master 4, only 1 to 3"},
		{[]string{"ALL", "ALL", "CLOCK"}, "ERR LAB ALL: expects a verb for a single master, not 'ALL'"},
		{[]string{"MASTER", "1", "master", "2", "CLOCK"}, "ERR LAB MASTER: expects a verb for a single master, not 'master'"},
		{[]string{"ALL", "NOSUCH"}, "ERR unknown subcommand 'NOSUCH'. Try LAB HELP."},
		{[]string{"ALL", "HELP", "me"}, "ERR wrong number of arguments for 'lab|help' command"},
	} {
		require.Equal(t, bad.want, c.Do(append([]string{"LAB"}, bad.args...)...).Str)
	}
	c.Do("MULTI")
	require.Equal(t, "ERR Command not allowed inside a transaction", c.Do("LAB", "ALL", "CLOCK").Str)
}

func TestRelaysNeedThePermissionForWhatTheyRelay(t *testing.T) {
	m := startMasters(t, 2)
	admin := dialMaster(t, m, 1)
	require.Equal(t, "OK", admin.Do("ACL", "SETUSER", "eve", "on", "nopass", "+lab|all", "+lab|master").Str)
	c := dialMaster(t, m, 1)
	require.Equal(t, "OK", c.Do("AUTH", "eve", "x").Str)
	for _, relay := range [][]string{{"LAB", "ALL", "CLOCK"}, {"LAB", "MASTER", "2", "CLOCK"}} {
		require.Equal(t, "NOPERM User eve has no permissions to run the 'lab|clock' command", c.Do(relay...).Str)
	}
	require.Equal(t, "OK", admin.Do("ACL", "SETUSER", "eve", "+lab|clock").Str)
	require.Len(t, c.Do("LAB", "ALL", "CLOCK").Elems, 2)
}

func TestMastersThatAskEachOtherDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	m := startMasters(t, 3)
	var conns []*redistest.Conn
	for range 5 {
		for n := range m {
			conns = append(conns, dialMaster(t, m, n+1))
		}
	}
	const rounds = 200
	for range rounds {
		for _, c := range conns {
			require.NoError(t, c.Send(resp.AppendRequest(resp.AppendRequest(nil, "LAB", "ALL", "CLOCK"), "PING")))
		}
	}
	for range rounds {
		for _, c := range conns {
			require.Len(t, c.Read().Elems, 3)
			require.Equal(t, "PONG", c.Read().Str, "what is sent behind it waits for the answer")
		}
	}
}

func TestAMasterThatHasEndedAnswersWithAnError(t *testing.T) {
	m := startMasters(t, 3)
	gone := dialMaster(t, m, 2)
	require.NoError(t, gone.Send([]byte("SHUTDOWN\r\n")))
	_, err := gone.TryRead()
	require.Error(t, err)
	c := dialMaster(t, m, 3)
	for { // its connections close shortly before the master has ended
		if v := c.Do("LAB", "MASTER", "2", "CLOCK"); v.Kind == '-' {
			require.Equal(t, "ERR LAB: master 2 has ended", v.Str)
			break
		}
	}
	all := c.Do("LAB", "ALL", "CLOCK")
	require.Equal(t, "ERR LAB: master 2 has ended", all.Elems[1].Str)
	require.Equal(t, "unix-ms", all.Elems[2].Elems[0].Str)
}

func TestClientPauseDoesNotHoldTheLab(t *testing.T) {
	m := startMasters(t, 2)
	c := dialMaster(t, m, 1)
	require.Equal(t, "OK", c.Do("CLIENT", "PAUSE", "100000", "ALL").Str)
	require.Len(t, c.Do("LAB", "ALL", "CLOCK").Elems, 2)
	require.Len(t, dialMaster(t, m, 2).Do("LAB", "ALL", "CLOCK").Elems, 2)
}

func TestAProgramAsksItsServerWithoutAConnection(t *testing.T) {
	m := startMasters(t, 2)
	ctx := context.Background()
	clock, err := m[1].Do(ctx, "LAB", "CLOCK")
	require.NoError(t, err)
	require.Equal(t, byte('%'), clock.Kind)
	all, err := m[1].Do(ctx, "LAB", "ALL", "CLOCK")
	require.NoError(t, err)
	require.Len(t, all.Elems, 2)
	_, err = m[1].Do(ctx, "SET", "k", "v")
	require.NoError(t, err)
	require.Equal(t, "v", dialMaster(t, m, 2).Do("GET", "k").Str)
	for _, bad := range []struct {
		args []string
		want string
	}{
		{nil, "ERR syntax error"},
		{[]string{"NOSUCH"}, "ERR unknown command 'NOSUCH', with args beginning with: "},
		{[]string{"LAB", "NOSUCH"}, "ERR unknown subcommand 'NOSUCH'. Try LAB HELP."},
		{[]string{"LAB", "falut"}, "ERR unknown subcommand 'falut'. Did you mean FAULT? Try LAB HELP."},
		{[]string{"SUBSCRIBE", "c"}, "ERR SUBSCRIBE needs a connection"},
		{[]string{"CLIENT", "TRACKING", "ON"}, "ERR CLIENT|TRACKING needs a connection"},
		{[]string{"MULTI"}, "ERR MULTI needs a connection"},
		{[]string{"BLPOP", "k", "0"}, "ERR BLPOP needs a connection"},
		{[]string{"MONITOR"}, "ERR MONITOR needs a connection"},
	} {
		_, err := m[1].Do(ctx, bad.args...)
		require.EqualError(t, err, bad.want)
	}
	require.NotContains(t, dialMaster(t, m, 2).Do("CLIENT", "LIST").Str, "addr=lab")
}

func TestAServerThatHasEndedAnswersItsProgram(t *testing.T) {
	s := newServer(t, func(byte, string, ...any) {}, "--lab", "yes")
	done := make(chan error)
	go func() { done <- s.Run() }()
	s.Stop()
	require.NoError(t, <-done)
	_, err := s.Do(context.Background(), "LAB", "CLOCK")
	require.EqualError(t, err, "ERR LAB: master 1 has ended")
}

func TestACallToAServerThatDoesNotRunYetCanBeCanceled(t *testing.T) {
	s := newServer(t, func(byte, string, ...any) {}, "--lab", "yes")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Do(ctx, "SET", "k", "v")
	require.ErrorIs(t, err, context.Canceled)
	run(t, s)
	n, err := s.Do(context.Background(), "DBSIZE")
	require.NoError(t, err)
	require.Equal(t, int64(1), n.Int, "the canceled request is executed all the same")
}

func TestAdvanceReachesAllMastersBeforeItReplies(t *testing.T) {
	m := startMasters(t, 3)
	admin := dialMaster(t, m, 1)
	require.Equal(t, `[+OK, +OK, +OK]`, admin.Do("LAB", "ALL", "CLOCK", "FREEZE").String())
	for n := range m {
		ok(t, dialMaster(t, m, n+1), "SET", "lock", "v", "PX", "1000")
	}
	require.Equal(t, "[:0, :0, :0]", admin.Do("LAB", "ALL", "CLOCK", "ADVANCE", "1000").String())
	require.Equal(t, ":1", admin.Do("LAB", "MASTER", "3", "CLOCK", "ADVANCE", "1").String())
	for n, want := range []int64{1, 1, 0} {
		require.Equal(t, want, dialMaster(t, m, n+1).Do("EXISTS", "lock").Int, n+1)
	}
	require.Equal(t, "[:1, :1, :0]", admin.Do("LAB", "ALL", "CLOCK", "ADVANCE", "1").String())
	expired, err := m[0].Do(context.Background(), "LAB", "CLOCK", "ADVANCE", "1")
	require.NoError(t, err)
	require.Equal(t, int64(0), expired.Int)
}

// waitOnMaster2 makes c wait until master 2 holds a client, and returns the ID of c. No client is
// held yet.
func waitOnMaster2(t *testing.T, m node.Nodes, c *redistest.Conn) (id string) {
	t.Helper()
	id = fmt.Sprint(c.Do("CLIENT", "ID").Int)
	require.NoError(t, c.Send(resp.AppendRequest(nil, "LAB", "MASTER", "2", "HOLD", "WAIT", "pause", "0")))
	home := dialMaster(t, m, 1)
	redistest.Until(t, func() bool { return infoField(home, "blocked_clients") == "1" })
	return id
}

func startHolding(t *testing.T) node.Nodes {
	t.Helper()
	m := startMasters(t, 2)
	ok(t, dialMaster(t, m, 2), "LAB", "FAULT", "ADD", "pause", "CMD", "GET", "ACTION", "HOLD")
	return m
}

func TestAWaitForAnotherMasterEndsWhenAClientIsHeld(t *testing.T) {
	m := startHolding(t)
	c := dialMaster(t, m, 1)
	waitOnMaster2(t, m, c)
	far := dialMaster(t, m, 2)
	require.NoError(t, far.Send(resp.AppendRequest(nil, "GET", "lock")))
	held := c.Read()
	require.Equal(t, "GET lock", held.Elems[7].Str)
	require.Equal(t, int64(1), c.Do("LAB", "MASTER", "2", "HOLD", "RELEASE", "pause").Int)
	require.True(t, far.Read().Null)
}

func TestAWaitForAnotherMasterCanBeUnblocked(t *testing.T) {
	m := startHolding(t)
	c, admin := dialMaster(t, m, 1), dialMaster(t, m, 1)
	id := waitOnMaster2(t, m, c)
	require.Equal(t, int64(1), admin.Do("CLIENT", "UNBLOCK", id).Int)
	require.Equal(t, "(nil array)", c.Read().String())
	waitOnMaster2(t, m, c)
	require.Equal(t, int64(1), admin.Do("CLIENT", "UNBLOCK", id, "ERROR").Int)
	require.Equal(t, "UNBLOCKED client unblocked via CLIENT UNBLOCK", c.Read().Str)
	far := dialMaster(t, m, 2)
	require.NoError(t, far.Send(resp.AppendRequest(nil, "GET", "lock")))
	require.Equal(t, "GET lock", admin.Do("LAB", "MASTER", "2", "HOLD", "WAIT", "pause", "0").Elems[7].Str)
	require.Equal(t, "PONG", c.Do("PING").Str, "the late answer is ignored")
}

func TestAClientMayLeaveDuringAWaitForAnotherMaster(t *testing.T) {
	m := startHolding(t)
	c := dialMaster(t, m, 1)
	waitOnMaster2(t, m, c)
	c.Close()
	home := dialMaster(t, m, 1)
	redistest.Until(t, func() bool { return infoField(home, "blocked_clients") == "0" })
	far := dialMaster(t, m, 2)
	require.NoError(t, far.Send(resp.AppendRequest(nil, "GET", "lock")))
	require.Equal(t, "GET lock", dialMaster(t, m, 2).Do("LAB", "HOLD", "WAIT", "pause", "0").Elems[7].Str)
}

func TestAMasterThatEndsAnswersItsCallers(t *testing.T) {
	m := startHolding(t)
	c := dialMaster(t, m, 1)
	waitOnMaster2(t, m, c)
	m[1].Stop()
	require.Equal(t, "ERR LAB: master 2 has ended", c.Read().Str)
}

func TestAProgramMayGiveUpWaiting(t *testing.T) {
	m := startHolding(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := m[1].Do(ctx, "LAB", "HOLD", "WAIT", "pause", "0")
		done <- err
	}()
	_, err := m[1].Do(context.Background(), "LAB", "CLOCK")
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	far := dialMaster(t, m, 2)
	require.NoError(t, far.Send(resp.AppendRequest(nil, "GET", "lock")))
	held, err := m[1].Do(context.Background(), "LAB", "HOLD", "WAIT", "pause", "0")
	require.NoError(t, err)
	require.Equal(t, "GET lock", held.Elems[7].Str)
}

// Only the caller of a crash gets a reply, whichever master it asks.
func TestEveryMasterCrashesAndTheCallerIsTold(t *testing.T) {
	m := startMasters(t, 3)
	admin, other := dialMaster(t, m, 2), dialMaster(t, m, 2)
	ok(t, other, "SET", "lock", "v")
	require.Equal(t, "[+OK, +OK, +OK]", admin.Do("LAB", "ALL", "CRASH").String())
	_, err := admin.TryRead()
	require.Error(t, err)
	_, err = other.TryRead()
	require.Error(t, err)
	for n := range m {
		require.Equal(t, int64(0), dialMaster(t, m, n+1).Do("DBSIZE").Int)
	}
	require.Equal(t, "+OK", dialMaster(t, m, 1).Do("LAB", "MASTER", "3", "CRASH", "DOWN", "60000").String())
	_, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", m[2].Port()))
	require.Error(t, err)
	admin = dialMaster(t, m, 1)
	require.Equal(t, "unix-ms", admin.Do("LAB", "MASTER", "3", "CLOCK").Elems[0].Str, "it answers while it is down")
	require.Equal(t, ":0", admin.Do("LAB", "MASTER", "3", "CLOCK", "ADVANCE", "60000").String())
	require.Equal(t, "PONG", dialMaster(t, m, 3).Do("PING").Str)
}

func TestAScriptWithoutAConnectionKeepsTheOthersServed(t *testing.T) {
	m := startMasters(t, 2, "--busy-reply-threshold", "1")
	ctx := context.Background()
	done := make(chan error)
	go func() {
		_, err := m[0].Do(ctx, "EVAL", "while true do end", "0")
		done <- err
	}()
	c := dialMaster(t, m, 1)
	redistest.Until(t, func() bool { return c.Do("PING").Kind == '-' })
	_, err := m[0].Do(ctx, "GET", "k")
	require.EqualError(t, err, isBusy)
	far := dialMaster(t, m, 2).Do("LAB", "ALL", "CLOCK")
	require.Equal(t, "unix-ms", far.Elems[0].Elems[0].Str)
	require.Equal(t, "unix-ms", far.Elems[1].Elems[0].Str)
	require.Equal(t, "OK", c.Do("SCRIPT", "KILL").Str)
	require.ErrorContains(t, <-done, "Script killed by user with SCRIPT KILL")
}
