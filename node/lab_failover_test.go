package node_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// role waits until a node has a role, and is linked if it is a replica.
func (n *nodes) role(at int, role string) {
	n.t.Helper()
	redistest.Until(n.t, func() bool {
		member := n.c[at]
		return infoField(member, "role") == role && (role == "master" || infoField(member, "master_link_status") == "up")
	})
}

// same waits until all nodes have the data of one, which is their master.
func (n *nodes) same(master int) {
	n.t.Helper()
	require.Equal(n.t, int64(len(n.c)-1), n.c[master].Do("LAB", "REPLICATION", "WAIT", "20000").Int)
	for _, c := range n.c {
		require.Equal(n.t, n.c[master].Do("DEBUG", "DIGEST").Str, c.Do("DEBUG", "DIGEST").Str)
	}
}

func (n *nodes) failover(at int, args ...string) (port string) {
	n.t.Helper()
	v := n.c[at].Do(append([]string{"LAB", "FAILOVER"}, args...)...)
	require.Equal(n.t, byte(':'), v.Kind, "%v", v)
	return fmt.Sprint(v.Int)
}

func TestFailoverNamesTheNodeThatCannotBeTheMaster(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 2, 2)
	refused := func(why string, args ...string) {
		t.Helper()
		require.Equal(t, "ERR LAB FAILOVER: "+why, n.c[0].Do(append([]string{"LAB", "FAILOVER"}, args...)...).Str)
	}
	refused("expects TO port or LEAVE, not 'now'", "now")
	refused("port is missing behind TO", "TO")
	refused("TO expects a port, not 'x'", "TO", "x")
	refused("no node of this master listens on port 1", "TO", "1")
	refused("no node of this master listens on port "+n.port(4), "TO", n.port(4))
	refused(n.port(0)+" cannot become the master: it is a master", "TO", n.port(0))
	ok(t, n.c[2], "LAB", "BLACKHOLE", "ON")
	refused(n.port(2)+" cannot become the master: it is in a black hole", "TO", n.port(2))
	ok(t, n.c[0], "LAB", "MASTER", "4", "CRASH", "DOWN", "100000")
	refused(n.port(3)+" cannot become the master: it is down", "TO", n.port(3))
	refused("no replica can become the master, " + n.port(2) + ": it is in a black hole, " + n.port(3) + ": it is down")
	require.Equal(t, "master", infoField(n.c[0], "role"))
	n.c[0].Do("LAB", "MASTER", "3", "BLACKHOLE", "OFF")
	ok(t, n.c[2], "CONFIG", "SET", "replica-priority", "0")
	refused("no replica can become the master, " + n.port(2) + ": its replica-priority is 0, " + n.port(3) +
		": it is down")
	n.failover(0, "TO", n.port(2))
	ok(t, n.c[0], "LAB", "MASTER", "4", "RESET")
	n.redial(3)
	n.role(3, "slave")
	require.Equal(t, "ERR LAB MASTER: there is no master 7, only 1 to 6", n.c[0].Do("LAB", "MASTER", "7", "FAILOVER").Str)
	require.Equal(t, "master", infoField(n.c[1], "role"), "the other master has seen nothing")
}

// One after the other becomes the master, and the data stay.
func TestFailoverAgainAndAgain(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	for i, master := 0, 0; i < 12; i++ {
		churn(n.c[master], rng, 50)
		settle(n.c[master])
		if i%3 == 0 {
			n.same(master)
		}
		asked := rng.IntN(3)
		to := (master + 1 + rng.IntN(2)) % 3
		require.Equal(t, n.port(to), n.failover(asked, "TO", n.port(to)))
		master = to
		ok(t, n.c[master], "SET", "turn", fmt.Sprint(i))
		n.same(master)
	}
}

func TestWhatWasAcknowledgedByOneReplicaIsLostWithTheOther(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2)
	ok(t, n.c[2], "LAB", "REPLICATION", "HOLD")
	ok(t, n.c[0], "SET", "lock", "a", "NX", "PX", "30000")
	require.Equal(t, int64(1), n.c[0].Do("WAIT", "1", "0").Int)
	require.Equal(t, n.port(2), n.failover(0, "TO", n.port(2)))
	ok(t, n.c[2], "SET", "lock", "b", "NX", "PX", "30000")
	n.same(2)
}

// The lab gives the roles, also during a FAILOVER. The pause of FAILOVER ends.
func TestTheLabEndsAFailoverOfRedis(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2)
	begin := func(at int, args ...string) {
		t.Helper()
		ok(t, n.c[at], "LAB", "REPLICATION", "HOLD")
		ok(t, n.c[at], "SET", "k", "v")
		ok(t, n.c[at], append([]string{"FAILOVER"}, args...)...)
		require.Equal(t, "waiting-for-sync", infoField(n.c[at], "master_failover_state"))
	}
	over := func(at int) {
		t.Helper()
		require.Equal(t, "no-failover", infoField(n.c[at], "master_failover_state"))
	}
	begin(0)
	require.Equal(t, n.port(2), n.failover(0, "TO", n.port(2)))
	over(0)
	require.Regexp(t, "^READONLY", n.c[0].Do("SET", "k", "w").Str)
	ok(t, n.c[2], "SET", "k", "x")
	n.same(2)

	begin(2)
	ok(t, n.c[2], "LAB", "RESET")
	over(2)
	n.role(0, "master")
	n.role(2, "slave")
	ok(t, n.c[0], "SET", "k", "y")
	n.same(0)

	ok(t, n.c[1], "LAB", "BLACKHOLE", "ON")
	begin(0, "TO", "127.0.0.1", n.port(1), "TIMEOUT", "20000", "FORCE")
	n.c[0].Do("LAB", "CLOCK", "ADVANCE", "20001")
	redistest.Until(t, func() bool { return infoField(n.c[0], "master_failover_state") == "failover-in-progress" })
	require.Equal(t, n.port(2), n.failover(0, "TO", n.port(2)))
	over(0)
	n.role(0, "slave")
	ok(t, n.c[2], "SET", "k", "z")
}

// LAB RESET and a leap of the clock end, although a replica looks at its own keys again and again.
func TestTheClockLeapsOverAReplicasOwnKeys(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 1)
	replica := n.c[1]
	ok(t, replica, "CONFIG", "SET", "replica-read-only", "no")
	ok(t, replica, "SET", "own", "v", "EX", "31536000")
	ok(t, replica, "LAB", "RESET")
	ok(t, replica, "CLIENT", "PAUSE", "3600000", "WRITE")
	ok(t, replica, "LAB", "RESET")
	ok(t, replica, "SET", "own", "w", "KEEPTTL")
	replica.Do("LAB", "CLOCK", "ADVANCE", "31536000001")
	redistest.Until(t, func() bool { return replica.Do("DBSIZE").Int == 0 })
}

// By default the node with the most data is the next master.
func TestFailoverPrefersTheMostData(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2)
	ok(t, n.c[1], "LAB", "REPLICATION", "HOLD")
	ok(t, n.c[0], "SET", "lock", "a", "NX", "PX", "30000")
	require.Equal(t, n.port(2), n.failover(0))
	require.Equal(t, "a", n.c[2].Do("GET", "lock").Str)
	n.same(2)
}

// An old master that is down, in a black hole or cut off from the others does not know of the failover. It is told when
// others reach it.
func TestAnOldMasterThatNobodyReachesIsToldLater(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cut, heal []string
		grants    bool
	}{
		"down":      {[]string{"CRASH", "DOWN", "1000000"}, []string{"RESET"}, false},
		"blackhole": {[]string{"BLACKHOLE", "ON"}, []string{"BLACKHOLE", "OFF"}, false},
		"partition": {[]string{"PARTITION", "CLIENT", "replica-*", "ON"},
			[]string{"PARTITION", "CLIENT", "replica-*", "OFF"}, true},
		"left": {[]string{"CLOCK"}, []string{"CLOCK"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			n := startNodes(t, 1, 2)
			at := func(member int, verb ...string) {
				n.c[1].Do(append([]string{"LAB", "MASTER", fmt.Sprint(member)}, verb...)...)
			}
			at(1, test.cut...)
			args := []string{"TO", n.port(1)}
			if name == "left" {
				args = append(args, "LEAVE")
			}
			n.failover(1, args...)
			ok(t, n.c[1], "SET", "lock", "b", "NX", "PX", "3000000")
			if test.grants {
				ok(t, n.c[0], "SET", "lock", "a", "NX", "PX", "30000")
				require.Equal(t, "master", infoField(n.c[0], "role"))
			}
			if test.heal[0] == "RESET" { // it would give the old roles back, so the time has to come
				at(1, "CLOCK", "ADVANCE", "1000001")
			} else {
				at(1, test.heal...)
			}
			if name == "left" {
				require.Equal(t, "master", infoField(n.c[0], "role"))
				n.c[0].Do("REPLICAOF", "127.0.0.1", n.port(1))
			}
			n.redial(0)
			n.role(0, "slave")
			n.same(1)
			require.Equal(t, "b", n.c[0].Do("GET", "lock").Str)
		})
	}
}

// A replica that would refuse the old master its stream does not become the master: then there would be two.
func TestAFailoverToAReplicaThatRefusesLeavesOneMaster(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2)
	ok(t, n.c[1], "LAB", "REPLICATION", "HOLD", n.port(0))
	ok(t, n.c[0], "FAILOVER", "TO", "127.0.0.1", n.port(1))
	redistest.Until(t, func() bool { return infoField(n.c[0], "master_failover_state") == "no-failover" })
	require.Equal(t, "master", infoField(n.c[0], "role"))
	require.Equal(t, "slave", infoField(n.c[1], "role"))
	ok(t, n.c[0], "SET", "k", "v")
	ok(t, n.c[1], "LAB", "REPLICATION", "RELEASE", n.port(0))
	redistest.Until(t, func() bool { // the link of the replica may have to come back
		return n.c[0].Do("FAILOVER", "TO", "127.0.0.1", n.port(1)).Str == "OK"
	})
	n.role(1, "master")
	n.role(0, "slave")
}

// LEAVE leaves a master that nobody reaches what it is, also if an earlier failover would have turned it.
func TestALeftMasterIsNotTurnedByAnEarlierFailover(t *testing.T) {
	n := startNodes(t, 1, 2)
	at := func(member int, verb ...string) {
		n.c[1].Do(append([]string{"LAB", "MASTER", fmt.Sprint(member)}, verb...)...)
	}
	at(1, "PARTITION", "CLIENT", "replica-*", "ON")
	n.failover(1, "TO", n.port(1))
	n.failover(1, "TO", n.port(2), "LEAVE")
	at(1, "PARTITION", "CLIENT", "replica-*", "OFF")
	require.Len(t, n.c[0].Do("LAB", "TOPOLOGY").Elems, 3, "each has done what it had to do")
	for _, c := range n.c {
		require.Equal(t, "master", infoField(c, "role"))
	}
}

// LAB RESET brings the roles back, whichever node gets it.
func TestResetBringsTheFirstRolesBack(t *testing.T) {
	t.Parallel()
	for _, asked := range []int{0, 1, 2} {
		n := startNodes(t, 1, 2)
		n.failover(0, "TO", n.port(2))
		n.failover(0, "TO", n.port(1))
		ok(t, n.c[1], "LAB", "REPLICATION", "HOLD")
		ok(t, n.c[asked], "LAB", "RESET")
		require.Equal(t, "master", infoField(n.c[0], "role"))
		require.Equal(t, map[bool]string{true: "master", false: "slave"}[asked == 0], infoField(n.c[asked], "role"))
		ok(t, n.c[0], "SET", "k", "v")
		n.same(0)
	}
}

// Clients see what a demotion does in Redis.
func TestClientsOfAnOldMaster(t *testing.T) {
	n := startNodes(t, 1, 1)
	dial := func() *redistest.Conn { return dialMaster(t, n.Nodes, 1) }
	blocked, multi, sub, waits := dial(), dial(), dial(), dial()
	sendPending(t, n.c[0], blocked, "BLPOP", "q", "0")
	sendPending(t, n.c[0], waits, "WAIT", "5", "0")
	ok(t, multi, "MULTI")
	multi.Do("SET", "k", "v")
	sub.Do("SUBSCRIBE", "unlock")
	n.failover(0)
	require.Contains(t, blocked.Read().Str, "UNBLOCKED")
	require.Contains(t, waits.Read().Str, "UNBLOCKED")
	require.Contains(t, multi.Do("EXEC").Str, "READONLY")
	require.Equal(t, int64(0), n.c[1].Do("PUBLISH", "unlock", "x").Int)
	require.Equal(t, "x", sub.Read().Elems[2].Str, "the stream has the message, and the old master passes it on")
	require.Contains(t, n.c[0].Do("EVAL", "return redis.call('DEL', 'lock')", "0").Str, "READONLY")
}

// A slow script keeps the old master from being told, but not the others from going on.
func TestFailoverDuringASlowScript(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2, "--busy-reply-threshold", "1")
	script := dialMaster(t, n.Nodes, 1)
	require.NoError(t, script.Send(resp.AppendRequest(nil, "EVAL", "redis.call('SET','k','v') while true do end", "0")))
	redistest.Until(t, func() bool { return strings.HasPrefix(n.c[0].Do("PING").Str, "BUSY") })
	require.Contains(t, n.c[0].Do("LAB", "FAILOVER").Str, "BUSY")
	require.Equal(t, n.port(1), n.failover(1))
	ok(t, n.c[1], "SET", "k", "w")
	require.Contains(t, n.c[0].Do("SCRIPT", "KILL").Str, "UNKILLABLE")

	slow := dialMaster(t, n.Nodes, 3)
	require.NoError(t, slow.Send(resp.AppendRequest(nil, "EVAL", "while true do end", "0")))
	redistest.Until(t, func() bool { return strings.HasPrefix(n.c[2].Do("PING").Str, "BUSY") })
	require.Contains(t, n.c[1].Do("LAB", "FAILOVER", "TO", n.port(2)).Str, "it runs a slow script")
	ok(t, n.c[2], "SCRIPT", "KILL")
	n.role(2, "slave")
	require.Equal(t, n.port(1), infoField(n.c[2], "master_port"))
}

// A replica that has only a part of the keys is never the next master.
func TestFailoverDuringAFullSync(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2)
	keys := amount.Count(5000, 20_000)
	const fill = "for i = 1, ARGV[1] do redis.call('SET', 'key:' .. i, string.rep('x', 500)) end"
	n.c[0].Do("EVAL", fill, "0", fmt.Sprint(keys))
	n.same(0)
	refused := 0
	for i := range amount.Count(4, 8) {
		crash(t, n.c[1])
		n.redial(1)
		if i%2 == 1 {
			ok(t, n.c[0], "LAB", "REPLICATION", "HOLD", n.port(1))
			ok(t, n.c[0], "LAB", "REPLICATION", "RELEASE")
		}
		v := n.c[0].Do("LAB", "FAILOVER", "TO", n.port(1))
		if v.Kind == '-' {
			require.Contains(t, v.Str, "it has not all keys of its master")
			refused++
			n.same(0)
			continue
		}
		require.Equal(t, int64(keys), n.c[1].Do("DBSIZE").Int)
		n.failover(0, "TO", n.port(0))
		n.same(0)
	}
	require.Positive(t, refused)
	require.Equal(t, int64(keys), n.c[0].Do("DBSIZE").Int)
}
