package node_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// field returns one field of a map that came over RESP2.
func field(v resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if v.Elems[i].Str == name {
			return v.Elems[i+1]
		}
	}
	return resp.Value{}
}

func TestAHeldRequestGoesOnWhenItIsReleased(t *testing.T) {
	addr, admin := startLab(t)
	client := redistest.Dial(t, addr)
	client.Do("CLIENT", "SETNAME", "worker")
	id := client.Do("CLIENT", "ID").Int
	rule(t, admin, "slow CMD set KEY lock:* ACTION HOLD")
	pipeline(t, client, "PING", "SET lock:a 'a token'", "GET lock:a")
	v := waitParked(t, admin, "slow")
	require.Equal(t, id, field(v, "client").Int)
	require.Equal(t, "worker", field(v, "name").Str)
	require.Equal(t, "slow", field(v, "rule").Str)
	require.Equal(t, `SET lock:a "a token"`, field(v, "cmd").Str)
	require.Equal(t, "lock:a", field(v, "key").Str)
	require.Equal(t, v, admin.Do("LAB", "HOLD", "LIST").Elems[0])
	require.Contains(t, admin.Do("CLIENT", "LIST", "ID", fmt.Sprint(id)).Str, "flags=b ")
	requireBytes(t, client, "+PONG\r\n")
	require.EqualValues(t, 0, admin.Do("EXISTS", "lock:a").Int)
	require.EqualValues(t, 0, admin.Do("CLIENT", "UNBLOCK", fmt.Sprint(id)).Int, "it is not blocked by a command")

	require.EqualValues(t, 1, admin.Do("LAB", "HOLD", "RELEASE", "slow").Int)
	require.Equal(t, "+OK", client.Read().String())
	require.Equal(t, "a token", client.Read().Str)
	require.Empty(t, admin.Do("LAB", "HOLD", "LIST").Elems)
	require.EqualValues(t, 0, admin.Do("LAB", "HOLD", "RELEASE", "slow").Int)
}

// A held client delays no other client: neither those of other rules nor those of the same pass.
func TestAHeldClientDelaysNoOther(t *testing.T) {
	for _, action := range []string{"HOLD", "DELAY-EXEC 1000", "DELAY-REPLY 1000", "SILENT"} {
		addr, admin := startLab(t)
		rule(t, admin, "r CLIENT slow-* CMD get ACTION "+action)
		slow, fast := dialMany(t, addr, 10), dialMany(t, addr, 10)
		for i, c := range slow {
			c.Do("CLIENT", "SETNAME", fmt.Sprint("slow-", i))
		}
		for round := range 5 {
			for i := range slow {
				if round == 0 {
					pipeline(t, slow[i], "GET a")
				}
				pipeline(t, fast[i], "INCR a", "PUBLISH c x")
			}
			for _, c := range fast {
				require.Positive(t, c.Read().Int)
				c.Read()
			}
		}
		for _, c := range slow {
			requireSilence(t, c, admin)
		}
	}
}

func TestHeldClientsAreReleasedInTheirOrder(t *testing.T) {
	addr, admin := startLab(t)
	rule(t, admin, "slow CMD rpush ACTION HOLD")
	conns := dialMany(t, addr, 3)
	for i, c := range conns {
		pipeline(t, c, fmt.Sprint("RPUSH q ", i))
		v := admin.Do("LAB", "HOLD", "WAIT", "slow", "0", fmt.Sprint(i+1))
		require.Equal(t, fmt.Sprint("RPUSH q ", i), field(v, "cmd").Str)
	}
	require.EqualValues(t, 3, field(admin.Do("LAB", "FAULT", "LIST").Elems[0], "held").Int)
	require.EqualValues(t, 2, admin.Do("LAB", "HOLD", "RELEASE", "slow", "2").Int)
	require.EqualValues(t, 1, conns[0].Read().Int)
	require.EqualValues(t, 2, conns[1].Read().Int)
	require.EqualValues(t, 1, admin.Do("LAB", "HOLD", "RELEASE", "slow", "2").Int)
	require.EqualValues(t, 3, conns[2].Read().Int)
}

func TestAClientThatGoesWhileItIsHeldHasNotBeenExecuted(t *testing.T) {
	for _, action := range []string{"HOLD", "DELAY-EXEC 100"} {
		for _, how := range []string{"hangs up", "is killed"} {
			addr, admin := startLab(t)
			client := redistest.Dial(t, addr)
			id := fmt.Sprint(client.Do("CLIENT", "ID").Int)
			rule(t, admin, "r CMD set ACTION "+action)
			pipeline(t, client, "SET a 1")
			waitForBlocked(t, admin)
			if how == "hangs up" {
				client.Close()
			} else {
				require.EqualValues(t, 1, admin.Do("CLIENT", "KILL", "ID", id).Int)
			}
			require.Eventually(t, func() bool { return admin.Do("CLIENT", "LIST", "ID", id).Str == "" }, limit, tick)
			admin.Do("LAB", "CLOCK", "ADVANCE", "200")
			require.Empty(t, admin.Do("LAB", "HOLD", "LIST").Elems)
			require.EqualValues(t, 0, admin.Do("EXISTS", "a").Int)
			require.Contains(t, admin.Do("INFO", "clients").Str, "blocked_clients:0")
			require.Contains(t, admin.Do("LAB", "LOG", "2").String(), `"not executed"`)
		}
	}
}

func TestARemovedRuleHoldsNoClient(t *testing.T) {
	for _, verb := range []string{"LAB FAULT DEL slow", "LAB FAULT CLEAR"} {
		addr, admin := startLab(t)
		client, waiter := redistest.Dial(t, addr), redistest.Dial(t, addr)
		rule(t, admin, "slow CMD set ACTION HOLD")
		pipeline(t, client, "SET a 1")
		waitParked(t, admin, "slow")
		pipeline(t, waiter, "LAB HOLD WAIT slow 0 2")
		waitForField(admin, "blocked_clients", "2")
		ok(t, admin, line(verb)...)
		require.Equal(t, "+OK", client.Read().String())
		require.Equal(t, "(nil array)", waiter.Read().String())
		require.Equal(t, "+OK", client.Do("SET", "a", "2").String())
	}
}

func TestHoldWaitEndsByItsTimeOrByUnblock(t *testing.T) {
	addr, admin := startLab(t)
	waiter := redistest.Dial(t, addr)
	rule(t, admin, "slow CMD set ACTION HOLD")
	require.Equal(t, "(nil array)", waiter.Do("LAB", "HOLD", "WAIT", "slow", "1").String(),
		"in real time: the lab's stands still")
	id := fmt.Sprint(waiter.Do("CLIENT", "ID").Int)
	waiter.Do("HELLO", "3")
	pipeline(t, waiter, "LAB HOLD WAIT slow 0")
	require.Eventually(t, func() bool { return admin.Do("CLIENT", "UNBLOCK", id).Int == 1 }, limit, tick)
	require.Equal(t, "(null)", waiter.Read().String())
	pipeline(t, waiter, "LAB HOLD WAIT slow 0")
	client := redistest.Dial(t, addr)
	pipeline(t, client, "SET a 1")
	require.Equal(t, "slow", waiter.Read().Elems[5].Str)
}

// A client that sends LAB must stay able to end what it has begun.
func TestAConnectionThatHasUsedLabIsNeverHeld(t *testing.T) {
	_, admin := startLab(t)
	rule(t, admin, "all ACTION HOLD")
	ok(t, admin, "SET", "a", "1")
	rule(t, admin, "other ACTION ERROR FAULT")
	require.Equal(t, "-FAULT", admin.Do("SET", "a", "1").String(), "the other actions are harmless to it")
	ok(t, admin, "LAB", "FAULT", "CLEAR")
}

// A test may send LAB through the connection pool of the client under test. It may then use the
// very connection that it wants to hold.
func TestHoldWaitReportsTheConnectionThatIsNeverHeld(t *testing.T) {
	addr, admin := startLab(t)
	rule(t, admin, "slow CMD set ACTION HOLD")
	ok(t, admin, "SET", "a", "1")
	require.Equal(t, fmt.Sprintf("-ERR LAB HOLD WAIT: the rule 'slow' has met only client %d, which has sent LAB: "+
		"such a connection is never held; send LAB over a connection of its own", admin.Do("CLIENT", "ID").Int),
		admin.Do("LAB", "HOLD", "WAIT", "slow", "1").String())
	pipeline(t, redistest.Dial(t, addr), "SET a 1")
	waitParked(t, admin, "slow")
	require.EqualValues(t, 1, admin.Do("LAB", "HOLD", "RELEASE", "slow").Int)
	require.Equal(t, "(nil array)", admin.Do("LAB", "HOLD", "WAIT", "slow", "1").String(), "others come by as well")
}

func TestEveryMalformedCallIsToldWhichArgumentIsWrong(t *testing.T) {
	_, admin := startLab(t)
	rule(t, admin, "r ACTION HOLD CMD set")
	rule(t, admin, "e ACTION SILENT CMD set")
	id := admin.Do("CLIENT", "ID").Int
	for _, c := range [][2]string{
		{"FAULT", "ERR LAB FAULT: expects ADD, DEL, CLEAR or LIST"},
		{"FAULT put", "ERR LAB FAULT: expects ADD, DEL, CLEAR or LIST, not 'put'"},
		{"FAULT ADD", "ERR LAB FAULT ADD: a name is missing"},
		{"FAULT ADD x NTH 0 ACTION HOLD", "ERR LAB FAULT ADD: NTH expects a number of at least 1, not '0'"},
		{"FAULT ADD r ACTION HOLD", "ERR LAB FAULT ADD: the rule 'r' already exists"},
		{"FAULT ADD x CMD foo ACTION HOLD",
			"ERR LAB FAULT ADD: CMD expects the name of a command, or name|subcommand, not 'foo'"},
		{"FAULT ADD x CMD client|foo ACTION HOLD",
			"ERR LAB FAULT ADD: CMD expects the name of a command, or name|subcommand, not 'client|foo'"},
		{"FAULT ADD x CMD set| ACTION HOLD",
			"ERR LAB FAULT ADD: CMD expects the name of a command, or name|subcommand, not 'set|'"},
		{"FAULT ADD x CMD lab|clock ACTION HOLD",
			"ERR LAB FAULT ADD: CMD lab|clock never matches: rules do not apply to LAB"},
		{fmt.Sprintf("FAULT ADD x CLIENT %d ACTION HOLD", id),
			fmt.Sprintf("ERR LAB FAULT ADD: CLIENT %d is this connection: ACTION HOLD would hold it for ever", id)},
		{"FAULT DEL", "ERR LAB FAULT DEL: name is missing"},
		{"FAULT DEL q", "ERR LAB FAULT DEL: there is no rule 'q'"},
		{"FAULT DEL r e", "ERR LAB FAULT DEL: 'e' is one argument too many"},
		{"FAULT CLEAR r", "ERR LAB FAULT CLEAR: 'r' is one argument too many"},
		{"FAULT LIST r", "ERR LAB FAULT LIST: 'r' is one argument too many"},
		{"HOLD r", "ERR LAB HOLD: expects WAIT, RELEASE or LIST, not 'r'"},
		{"HOLD WAIT r", "ERR LAB HOLD WAIT: timeout-milliseconds is missing"},
		{"HOLD WAIT q 1", "ERR LAB HOLD WAIT: there is no rule 'q'"},
		{"HOLD WAIT e 1", "ERR LAB HOLD WAIT: the rule 'e' does not hold: its ACTION is SILENT"},
		{"HOLD WAIT r soon", "ERR LAB HOLD WAIT: timeout-milliseconds expects a number from 0 to 3153600000000, not 'soon'"},
		{"HOLD WAIT r -1", "ERR LAB HOLD WAIT: timeout-milliseconds expects a number from 0 to 3153600000000, not '-1'"},
		{"HOLD WAIT r 1 0", "ERR LAB HOLD WAIT: clients expects a number from 1 to 3153600000000, not '0'"},
		{"HOLD WAIT r 1 2 3", "ERR LAB HOLD WAIT: '3' is one argument too many"},
		{"HOLD RELEASE", "ERR LAB HOLD RELEASE: name is missing"},
		{"HOLD RELEASE q", "ERR LAB HOLD RELEASE: there is no rule 'q'"},
		{"HOLD RELEASE e", "ERR LAB HOLD RELEASE: the rule 'e' does not hold: its ACTION is SILENT"},
		{"HOLD RELEASE r 0", "ERR LAB HOLD RELEASE: clients expects a number from 1 to 3153600000000, not '0'"},
		{"HOLD RELEASE r 1 2", "ERR LAB HOLD RELEASE: '2' is one argument too many"},
		{"HOLD LIST r", "ERR LAB HOLD LIST: 'r' is one argument too many"},
		{"LOG some", "ERR LAB LOG: expects a number, RESET, WATCH, UNWATCH, EXPORT or nothing, not 'some'"},
		{"LOG -1", "ERR LAB LOG: expects a number, RESET, WATCH, UNWATCH, EXPORT or nothing, not '-1'"},
		{"LOG 1 2", "ERR LAB LOG: '2' is one argument too many"},
		{"LOG RESET 1", "ERR LAB LOG RESET: '1' is one argument too many"},
		{"LOG WATCH", "ERR LAB LOG WATCH: pattern is missing"},
		{"LOG WATCH ''", "ERR LAB LOG WATCH: pattern is empty, and no key is"},
		{"LOG WATCH a b", "ERR LAB LOG WATCH: expects AS, not 'b'"},
		{"LOG WATCH a AS MUTEX b c", "ERR LAB LOG WATCH: 'c' is one argument too many"},
		{"LOG WATCH a AS MUTEX b", "ERR LAB LOG WATCH: 'b' is one argument too many"},
		{"LOG UNWATCH a", "ERR LAB LOG UNWATCH: 'a' is not watched"},
		{"LOG EXPORT a", "ERR LAB LOG EXPORT: 'a' is one argument too many"},
	} {
		require.Equal(t, "-"+c[1], admin.Do(append([]string{"LAB"}, line(c[0])...)...).String(), c[0])
	}
	require.Len(t, admin.Do("LAB", "FAULT", "LIST").Elems, 2, "nothing was added")
}

func TestFaultListShowsRulesAsTheyCouldBeAddedAgain(t *testing.T) {
	addr, admin := startLab(t)
	rule(t, admin, "r KEY 'lock:*' cmd SET ACTION error 'OOM no'")
	redistest.Dial(t, addr).Do("SET", "lock:a", "1")
	v := admin.Do("LAB", "FAULT", "LIST").Elems[0]
	require.Equal(t, "r", field(v, "name").Str)
	require.Equal(t, `CMD set KEY lock:* ACTION ERROR "OOM no"`, field(v, "rule").Str)
	require.EqualValues(t, 1, field(v, "matched").Int)
	require.EqualValues(t, 1, field(v, "fired").Int)
	require.EqualValues(t, 0, field(v, "held").Int)
}

// A released script may be slow. The server then serves others during the script.
func TestAReleasedScriptThatDoesNotEndCanBeKilled(t *testing.T) {
	addr, admin := startLab(t, "--busy-reply-threshold", "10")
	client, other := redistest.Dial(t, addr), redistest.Dial(t, addr)
	rule(t, admin, "slow CMD eval ACTION HOLD")
	pipeline(t, client, "EVAL 'while true do end' 0", "PING")
	waitParked(t, admin, "slow")
	require.EqualValues(t, 1, admin.Do("LAB", "HOLD", "RELEASE", "slow").Int)
	require.Equal(t, "+OK", other.Do("SCRIPT", "KILL").String())
	require.Contains(t, client.Read().Str, "Script killed by user")
	require.Equal(t, "+PONG", client.Read().String())
	require.Equal(t, "+PONG", admin.Do("PING").String())
}

// A client may disconnect before its late reply, even while the clock is frozen.
func TestAClientThatHasEndedItselfMayLeaveBeforeItsLateReply(t *testing.T) {
	addr, admin := startLab(t)
	rule(t, admin, "late CMD get ACTION DELAY-REPLY 1000")
	rule(t, admin, "lost CMD blpop ACTION DROP-REPLY")
	for _, last := range []string{"QUIT", "BLPOP none 0.01", "BLPOP here 1"} {
		client := redistest.Dial(t, addr)
		admin.Do("RPUSH", "here", "x")
		fired := timesFired(admin)
		pipeline(t, client, "GET a", last)
		require.Eventually(t, func() bool { return timesFired(admin) > fired }, limit, tick)
		admin.Do("LAB", "CLOCK", "ADVANCE", "10")
		require.NoError(t, client.Net.Close())
		require.Eventually(t, func() bool { return infoField(admin, "connected_clients") == "1" }, limit, tick, last)
	}
}
