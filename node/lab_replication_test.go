package node_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
)

// nodes are the servers of one process: a master with replicas, or several.
type nodes struct {
	t *testing.T
	node.Nodes
	c []*redistest.Conn // to each
}

// startNodes runs masters with replicas until the test ends, and waits until all are connected.
func startNodes(t *testing.T, masters, replicas int, args ...string) *nodes {
	t.Helper()
	n := &nodes{t: t, Nodes: startMasters(t, masters, append(args, "--replicas", fmt.Sprint(replicas))...)}
	for i := range n.Nodes {
		n.c = append(n.c, dialMaster(t, n.Nodes, i+1))
	}
	for i := range masters {
		require.Equal(t, int64(replicas), n.c[i].Do("LAB", "REPLICATION", "WAIT").Int)
	}
	return n
}

// redial connects again to nodes that have crashed.
func (n *nodes) redial(at int) *redistest.Conn {
	n.c[at] = dialMaster(n.t, n.Nodes, at+1)
	return n.c[at]
}

func (n *nodes) port(at int) string { return strconv.Itoa(n.Nodes[at].Port()) }

// events returns the events of roles and links in the log of a node, without their times.
func (n *nodes) events(at int) (all []string) {
	for _, e := range n.c[at].Do("LAB", "LOG").Elems {
		if what := strings.TrimSpace(field(e, "event").Str + " " + field(e, "reply").Str); field(e, "client").Int == 0 {
			all = append(all, what)
		}
	}
	return all
}

// A replica of a master with a lab has the master's data, whatever the lab does to them.
func TestAReplicaHasWhatTheLabMakesOfTheData(t *testing.T) {
	t.Parallel()
	addr, admin := startLab(t, "--repl-diskless-sync-delay", "0")
	replica := redistest.Dial(t, start(t, []string{"--replicaof", strings.Replace(addr, ":", " ", 1)}))
	same := func(what string) {
		t.Helper()
		t.Log(what) // the last one is the one that failed
		want := admin.Do("DEBUG", "DIGEST").Str
		redistest.Until(t, func() bool { return replica.Do("DEBUG", "DIGEST").Str == want })
	}
	ok(t, admin, "SET", "lock", "v", "PX", "30000")
	storeAll(admin, 3, 100)
	settle(admin)
	same("at the start")

	ok(t, admin, "LAB", "SNAPSHOT", "SAVE", "before")
	ok(t, admin, "SET", "later", "v")
	same("a write")
	ok(t, admin, "LAB", "SNAPSHOT", "RESTORE", "before")
	same("a snapshot that is restored")
	ok(t, admin, "SET", "after", "v", "PX", "1000")
	same("a write behind it")

	require.Equal(t, int64(1), admin.Do("LAB", "CLOCK", "ADVANCE", "1001").Int)
	same("a key that expires by the clock of the lab")
	require.Zero(t, replica.Do("EXISTS", "after").Int)
	ok(t, admin, "LAB", "CLOCK", "SET", "1000000000000")
	same("a clock that was set")
	ok(t, admin, "LAB", "RESET", "AT", "4000000000000")
	same("a reset to another century")

	crash(t, admin, "LOSE", "NOTHING")
	admin = redistest.Dial(t, addr)
	same("a crash that loses nothing")
	ok(t, admin, "SET", "third", "v")
	same("a write behind it")
	crash(t, admin)
	admin = redistest.Dial(t, addr)
	same("a crash that loses all keys")
	require.Zero(t, replica.Do("DBSIZE").Int)
	ok(t, admin, "SET", "fourth", "v")
	same("a write behind it")
	require.NotEmpty(t, replica.Do("GET", "fourth").Str)
}

// Rules are for clients under test. A replica is none.
func TestRulesSpareReplicas(t *testing.T) {
	n := startNodes(t, 1, 1)
	ok(t, n.c[0], "LAB", "FAULT", "ADD", "all", "ACTION", "DROP-REPLY", "TIMES", "1")
	n.c[1].Do("REPLICAOF", "NO", "ONE")
	n.c[1].Do("REPLICAOF", "127.0.0.1", n.port(0))
	require.Equal(t, int64(1), n.c[0].Do("LAB", "REPLICATION", "WAIT").Int)
	c := dialMaster(t, n.Nodes, 1)
	require.NoError(t, c.Send(resp.AppendRequest(nil, "SET", "k", "v")))
	_, err := c.TryRead()
	require.Error(t, err, "the rule has met the client")
}

func TestReplicasFollowInTheProcess(t *testing.T) {
	n := startNodes(t, 2, 2, "--seed", "3")
	require.Len(t, n.Nodes, 6)
	for i, of := range []int{0, 1, 0, 0, 1, 1} {
		ok(t, n.c[of], "SET", "of", fmt.Sprint(of))
		require.Equal(t, int64(2), n.c[of].Do("WAIT", "2", "0").Int)
		require.Equal(t, fmt.Sprint(of), n.c[i].Do("GET", "of").Str)
		require.Equal(t, map[bool]string{true: "master", false: "slave"}[i < 2], infoField(n.c[i], "role"))
	}
	churn(n.c[0], rand.New(rand.NewPCG(1, 1)), 500)
	settle(n.c[0])
	require.Equal(t, int64(2), n.c[0].Do("LAB", "REPLICATION", "WAIT").Int)
	require.Equal(t, n.c[0].Do("DEBUG", "DIGEST").Str, n.c[2].Do("DEBUG", "DIGEST").Str)

	all := n.c[5].Do("LAB", "TOPOLOGY").Elems
	require.Len(t, all, 6)
	require.Equal(t, int64(1), field(all[3], "master").Int)
	require.Equal(t, "replica", field(all[3], "role").Str)
	require.Equal(t, n.port(0), fmt.Sprint(field(all[3], "follows").Int))
	require.Equal(t, field(all[0], "offset").Int, field(all[3], "offset").Int)
	require.Equal(t, "connected", field(all[3], "link").Str)
	require.Equal(t, []string{"synced full"}, n.events(2))
}

// On hold, nothing that is executed later arrives, and nobody claims that it has.
func TestAHeldStreamStandsStill(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2)
	master, first, second := n.c[0], n.c[1], n.c[2]
	ok(t, master, "SET", "before", "v")
	ok(t, first, "LAB", "REPLICATION", "HOLD")
	ok(t, master, "SET", "after", "v")
	for _, wait := range []string{"WAIT 2 50", "LAB REPLICATION WAIT 50"} {
		redistest.Until(t, func() bool { // on a busy machine the second one does not answer in 50 ms
			have := master.Do(line(wait)...).Int
			require.LessOrEqual(t, have, int64(1), wait)
			return have == 1
		})
	}
	redistest.Until(t, func() bool { return first.Do("EXISTS", "before").Int == 1 })
	require.Equal(t, int64(0), first.Do("EXISTS", "after").Int)
	require.Equal(t, int64(1), second.Do("EXISTS", "after").Int)
	status := master.Do("LAB", "REPLICATION", "STATUS").Elems
	require.Len(t, status, 2)
	if n.port(1) != fmt.Sprint(field(status[0], "port").Int) { // in the order of ports, and these are free ones
		slices.Reverse(status)
	}
	require.Equal(t, status[:1], first.Do("LAB", "REPLICATION", "STATUS").Elems)
	require.Equal(t, n.port(1), fmt.Sprint(field(status[0], "port").Int))
	require.Equal(t, "held", field(status[0], "stream").Str)
	require.Equal(t, "released", field(status[1], "stream").Str)
	require.Less(t, field(status[0], "sent").Int, field(status[0], "offset").Int)

	ok(t, first, "LAB", "REPLICATION", "RELEASE")
	require.Equal(t, int64(2), master.Do("LAB", "REPLICATION", "WAIT").Int)
	require.Equal(t, int64(1), first.Do("EXISTS", "after").Int)
	require.Contains(t, n.events(0), "link held")
}

// A replica that comes back while its stream is on hold gets nothing either.
func TestAHeldStreamSendsNoKeys(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 1)
	ok(t, n.c[0], "LAB", "REPLICATION", "HOLD")
	ok(t, n.c[0], "SET", "after", "v")
	require.Equal(t, int64(1), n.c[0].Do("CLIENT", "KILL", "TYPE", "replica").Int)
	require.Equal(t, int64(0), n.c[0].Do("LAB", "REPLICATION", "WAIT", "100").Int)
	require.Equal(t, int64(0), n.c[1].Do("DBSIZE").Int)
	require.Equal(t, "down", infoField(n.c[1], "master_link_status"))
	ok(t, n.c[0], "LAB", "REPLICATION", "RELEASE")
	require.Equal(t, int64(1), n.c[0].Do("LAB", "REPLICATION", "WAIT").Int)
	require.Equal(t, int64(1), n.c[1].Do("DBSIZE").Int)
}

// A stream that is late comes by the clock of the master.
func TestAStreamIsLateByTheClockOfTheLab(t *testing.T) {
	n := startNodes(t, 1, 1)
	ok(t, n.c[0], "LAB", "CLOCK", "FREEZE")
	ok(t, n.c[0], "LAB", "REPLICATION", "LAG", "500")
	ok(t, n.c[0], "SET", "a", "v")
	n.c[0].Do("LAB", "CLOCK", "ADVANCE", "300")
	ok(t, n.c[0], "SET", "b", "v")
	n.c[0].Do("LAB", "CLOCK", "ADVANCE", "199")
	require.Equal(t, int64(0), n.c[0].Do("LAB", "REPLICATION", "WAIT", "50").Int)
	require.Equal(t, int64(0), n.c[1].Do("DBSIZE").Int)
	n.c[0].Do("LAB", "CLOCK", "ADVANCE", "1")
	redistest.Until(t, func() bool { return n.c[1].Do("EXISTS", "a").Int == 1 })
	require.Equal(t, int64(0), n.c[1].Do("EXISTS", "b").Int)
	n.c[0].Do("LAB", "CLOCK", "ADVANCE", "300")
	redistest.Until(t, func() bool { return n.c[1].Do("EXISTS", "b").Int == 1 })
	ok(t, n.c[0], "SET", "c", "v")
	ok(t, n.c[0], "LAB", "REPLICATION", "RELEASE")
	require.Equal(t, int64(1), n.c[0].Do("LAB", "REPLICATION", "WAIT").Int)
	require.Contains(t, n.events(0), "link late 500 ms")
}

// A replica that asks for all keys gets them as late as the stream.
func TestKeysAreLateByTheClockOfTheLab(t *testing.T) {
	t.Parallel()
	for _, diskless := range []string{"yes", "no"} {
		n := startNodes(t, 1, 2, "--repl-diskless-sync", diskless, "--repl-diskless-sync-delay", "0")
		ok(t, n.c[0], "LAB", "CLOCK", "FREEZE")
		ok(t, n.c[0], "LAB", "REPLICATION", "LAG", "500", n.port(1))
		resync := func() {
			links := func(want int) {
				redistest.Until(t, func() bool {
					return len(n.c[0].Do("LAB", "REPLICATION", "STATUS", n.port(1)).Elems) == want
				})
			}
			n.c[1].Do("REPLICAOF", "NO", "ONE")
			ok(t, n.c[1], "SET", "own", "v")
			links(0)
			n.c[1].Do("REPLICAOF", "127.0.0.1", n.port(0))
			links(1)
		}
		ok(t, n.c[0], "SET", "a", "v")
		resync()
		n.c[0].Do("LAB", "CLOCK", "ADVANCE", "499")
		require.Equal(t, int64(1), n.c[0].Do("WAIT", "1", "0").Int, "the other one is not late")
		require.Equal(t, int64(0), n.c[1].Do("EXISTS", "a").Int)
		require.Equal(t, "down", infoField(n.c[1], "master_link_status"))
		n.c[0].Do("LAB", "CLOCK", "ADVANCE", "1")
		redistest.Until(t, func() bool { return n.c[1].Do("EXISTS", "a").Int == 1 })
		require.Zero(t, n.c[1].Do("EXISTS", "own").Int)

		resync()
		ok(t, n.c[0], "LAB", "REPLICATION", "RELEASE")
		n.same(0)
		ok(t, n.c[0], "LAB", "REPLICATION", "LAG", "3600000")
		resync()
		ok(t, n.c[0], "LAB", "REPLICATION", "HOLD")
		have := n.c[0].Do("LAB", "REPLICATION", "WAIT", "50").Int
		require.LessOrEqual(t, have, int64(1), "the other one tells each second what it has")
		ok(t, n.c[0], "LAB", "REPLICATION", "RELEASE")
		n.same(0)
		ok(t, n.c[0], "LAB", "REPLICATION", "LAG", "3600000")
		resync()
		ok(t, n.c[0], "LAB", "RESET")
		n.same(0)
	}
}

// A wait without a time limit for a replica that will never answer says which one that is.
func TestAWaitForAReplicaThatIsGoneEnds(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"is down", "is a master now", "follows another server now", "has ended"} {
		t.Run(why, func(t *testing.T) {
			n := startNodes(t, 1, 2)
			ok(t, n.c[0], "LAB", "REPLICATION", "HOLD", n.port(1))
			ok(t, n.c[0], "SET", "k", "v")
			waits := dialMaster(t, n.Nodes, 1)
			require.NoError(t, waits.Send(resp.AppendRequest(nil, "LAB", "REPLICATION", "WAIT")))
			redistest.Until(t, func() bool { return infoField(n.c[0], "blocked_clients") == "1" })
			n.c[0].Do("LAB", "TOPOLOGY") // behind this, the verb knows for whom it waits
			switch why {
			case "is a master now":
				n.c[1].Do("REPLICAOF", "NO", "ONE")
			case "follows another server now":
				n.c[1].Do("REPLICAOF", "127.0.0.1", n.port(2))
			case "has ended":
				require.NoError(t, n.c[1].Send(resp.AppendRequest(nil, "SHUTDOWN", "NOSAVE")))
			default:
				n.c[0].Do("LAB", "MASTER", "2", "CRASH", "DOWN", "1000000")
			}
			require.Equal(t, "ERR LAB REPLICATION WAIT: the replica "+n.port(1)+" "+why+
				": it does not tell what it has", waits.Read().Str)
			require.Equal(t, int64(1), n.c[0].Do("LAB", "REPLICATION", "WAIT").Int, "it asks who is there")
		})
	}
}

func TestTheOldMasterHasGrantedWhatTheNewOneDoesNotKnow(t *testing.T) {
	n := startNodes(t, 1, 2)
	ok(t, n.c[0], "SET", "kept", "v")
	require.Equal(t, int64(2), n.c[0].Do("WAIT", "2", "0").Int)
	ok(t, n.c[0], "LAB", "REPLICATION", "HOLD")
	ok(t, n.c[0], "SET", "lock", "a", "NX", "PX", "30000")
	port := n.c[2].Do("LAB", "FAILOVER")
	require.Equal(t, n.port(1), fmt.Sprint(port.Int))
	ok(t, n.c[1], "SET", "lock", "b", "NX", "PX", "30000")
	require.Equal(t, "v", n.c[1].Do("GET", "kept").Str)
	require.Equal(t, "READONLY You can't write against a read only replica.", n.c[0].Do("DEL", "lock").Str)
	require.Equal(t, int64(2), n.c[1].Do("LAB", "REPLICATION", "WAIT").Int)
	for _, c := range n.c {
		require.Equal(t, "b", c.Do("GET", "lock").Str)
	}
	require.Equal(t, []string{"link held", "demoted", "synced full"}, n.events(0))
	require.Equal(t, []string{"synced full", "link down", "promoted"}, n.events(1))
	require.Equal(t, []string{"synced full", "link down", "synced partial"}, n.events(2))
}

// A stream that stands still for ever costs no more than the limit of the replica's output.
func TestAStreamOnHoldForEver(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 1, "--repl-backlog-size", "16kb", "--client-output-buffer-limit", "replica 256kb 0 0")
	ok(t, n.c[0], "LAB", "REPLICATION", "HOLD")
	for i := range 200 {
		ok(t, n.c[0], "SET", fmt.Sprint("key:", i), strings.Repeat("x", 10_000))
	}
	redistest.Until(t, func() bool { return infoField(n.c[0], "connected_slaves") == "0" })
	used, err := strconv.Atoi(infoField(n.c[0], "mem_total_replication_buffers"))
	require.NoError(t, err)
	require.Less(t, used, 300<<10)
	require.Equal(t, int64(0), n.c[1].Do("DBSIZE").Int)
	ok(t, n.c[0], "LAB", "REPLICATION", "RELEASE")
	n.same(0)
	require.Equal(t, "synced full", n.events(1)[len(n.events(1))-1])
}

// min-replicas-to-write stops a master whose stream stands still, after min-replicas-max-lag seconds of its clock.
func TestAMasterGrantsUntilItsReplicasLagTooMuch(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 1, "--min-replicas-to-write", "1", "--min-replicas-max-lag", "10")
	ok(t, n.c[0], "LAB", "CLOCK", "FREEZE")
	n.c[0].Do("LAB", "CLOCK", "ADVANCE", "3600000")
	ok(t, n.c[0], "SET", "lock", "a")
	for _, cut := range [][2]string{
		{"LAB REPLICATION HOLD", "LAB REPLICATION RELEASE"},
		{"LAB MASTER 2 BLACKHOLE ON", "LAB MASTER 2 BLACKHOLE OFF"},
		{"LAB MASTER 2 PARTITION CLIENT master-* ON", "LAB MASTER 2 PARTITION CLIENT master-* OFF"},
		{"LAB PARTITION CLIENT replica-* ON", "LAB PARTITION CLIENT replica-* OFF"},
	} {
		ok(t, n.c[0], strings.Fields(cut[0])...)
		n.c[0].Do("LAB", "CLOCK", "ADVANCE", "10000")
		ok(t, n.c[0], "SET", "lock", cut[0])
		n.c[0].Do("LAB", "CLOCK", "ADVANCE", "1000")
		require.Equal(t, "NOREPLICAS Not enough good replicas to write.", n.c[0].Do("SET", "lock", "b").Str, cut[0])
		ok(t, n.c[0], strings.Fields(cut[1])...)
		redistest.Until(t, func() bool { return n.c[0].Do("SET", "lock", "c").Str == "OK" })
		n.same(0)
	}
}

// Files on the disk of the lab, and a crash that loses what was not fsynced.
func TestNodesHaveDisksOfTheirOwn(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2, "--lab-disk", "yes", "--appendonly", "yes", "--appendfsync", "everysec")
	ok(t, n.c[0], "LAB", "CLOCK", "FREEZE")
	ok(t, n.c[0], "SET", "old", "v")
	n.c[0].Do("LAB", "CLOCK", "ADVANCE", "2000")
	ok(t, n.c[0], "SET", "new", "v") // and an fsync, because the last one is long ago
	ok(t, n.c[0], "SET", "newest", "v")
	n.same(0)
	crash(t, n.c[0])
	n.redial(0)
	require.Equal(t, int64(2), n.c[0].Do("DBSIZE").Int)
	n.same(0)
	n.failover(0)
	ok(t, n.c[1], "SET", "third", "v")
	n.same(1)
	crash(t, n.c[2], "LOSE", "NOTHING")
	n.redial(2)
	n.same(1)
}

// A crash forgets what CONFIG SET has said, but not who is the master.
func TestACrashedNodeComesBackInItsRole(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 2)
	n.failover(0)
	for _, at := range []int{0, 1, 2} {
		crash(t, n.c[at])
		n.redial(at)
		require.Equal(t, map[bool]string{true: "master", false: "slave"}[at == 1], infoField(n.c[at], "role"))
		ok(t, n.c[1], "SET", "after", fmt.Sprint(at))
		n.same(1)
	}
}
