package node_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// startCluster runs a cluster of three masters with a replica each until the test ends.
func startCluster(t *testing.T, args ...string) *nodes {
	t.Helper()
	return startNodes(t, 3, 1, append(args, "--cluster", "yes", "--enable-debug-command", "yes")...)
}

// The slots of foo and bar are those of node 3 and of node 1.
const fooSlot, barSlot = "12182", "5061"

// moved is where a node sends clients with a slot.
func (n *nodes) moved(slot string, to int) string {
	return "-MOVED " + slot + " 127.0.0.1:" + n.port(to)
}

// become waits until a request has a reply.
func (n *nodes) become(at int, want string, args ...string) {
	n.t.Helper()
	redistest.Until(n.t, func() bool { return n.c[at].Do(args...).String() == want })
}

// agrees waits until all nodes but some say that a slot belongs to one.
func (n *nodes) agrees(slot, key string, owner int, but ...int) {
	n.t.Helper()
	for at := range n.c {
		if at != owner && !strings.Contains(fmt.Sprint(but), fmt.Sprint(at)) {
			n.become(at, n.moved(slot, owner), "GET", key)
		}
	}
}

func TestAClusterServesAllSlotsAtOnce(t *testing.T) {
	t.Parallel()
	n := startCluster(t)
	n.agrees(fooSlot, "foo", 2)
	n.agrees(barSlot, "bar", 0)
	ok(t, n.c[2], "SET", "foo", "1")
	require.Equal(t, int64(1), n.c[2].Do("CLUSTER", "COUNTKEYSINSLOT", fooSlot).Int)
	require.Equal(t, "cluster", infoField(n.c[0], "redis_mode"))
	ok(t, n.c[5], "READONLY")
	n.same2(2, 5)
	require.Equal(t, "1", string(n.c[5].Do("GET", "foo").Str))
	require.Equal(t, n.moved(fooSlot, 2), n.c[5].Do("SET", "foo", "2").String())
	ok(t, n.c[5], "READWRITE")
	require.Equal(t, n.moved(fooSlot, 2), n.c[5].Do("GET", "foo").String())
	require.Len(t, n.c[0].Do("CLUSTER", "SLOTS").Elems, 3)
	require.Len(t, n.c[0].Do("CLUSTER", "SHARDS").Elems, 3)
	require.Len(t, n.c[0].Do("CLUSTER", "LINKS").Elems, 10)
}

// same2 waits until a replica has what its master has.
func (n *nodes) same2(master, replica int) {
	n.t.Helper()
	want := n.c[master].Do("DEBUG", "DIGEST").String()
	n.become(replica, want, "DEBUG", "DIGEST")
}

func TestAMessageReachesEachSubscriberOfAClusterOnce(t *testing.T) {
	t.Parallel()
	n := startCluster(t)
	for at := range n.c {
		n.c[at].Do("SUBSCRIBE", "news")
	}
	from := dialMaster(t, n.Nodes, 5)
	require.Equal(t, int64(1), from.Do("PUBLISH", "news", "first").Int, "of this node")
	require.Equal(t, int64(1), from.Do("PUBLISH", "news", "second").Int)
	for at := range n.c {
		for _, text := range []string{"first", "second"} {
			require.Equal(t, text, string(n.c[at].Read().Elems[2].Str), "node %d", at+1)
		}
	}
}

func TestAShardChannelIsThatOfItsShard(t *testing.T) {
	t.Parallel()
	n := startCluster(t)
	require.Equal(t, n.moved(fooSlot, 2), n.c[0].Do("SSUBSCRIBE", "foo").String())
	n.c[5].Do("SSUBSCRIBE", "foo")
	require.Equal(t, int64(0), n.c[2].Do("SPUBLISH", "foo", "hello").Int)
	require.Equal(t, "hello", string(n.c[5].Read().Elems[2].Str))
	require.Equal(t, n.moved(fooSlot, 2), n.c[0].Do("SPUBLISH", "foo", "hello").String())
}

func TestAReplicaTakesThePlaceOfAMasterThatIsDown(t *testing.T) {
	t.Parallel()
	n := startCluster(t, "--cluster-node-timeout", "5000")
	ok(t, n.c[0], "SET", "bar", "1")
	require.Equal(t, int64(1), n.c[0].Do("WAIT", "1", "0").Int)
	n.c[1].Do("LAB", "ALL", "CLOCK", "FREEZE")
	ok(t, n.c[1], "LAB", "MASTER", "1", "CRASH", "DOWN", "60000")
	n.c[1].Do("LAB", "ALL", "CLOCK", "ADVANCE", "2000")
	require.Equal(t, n.moved(barSlot, 0), n.c[3].Do("GET", "bar").String(), "it is too early")
	for range 3 {
		n.c[1].Do("LAB", "ALL", "CLOCK", "ADVANCE", "2000")
	}
	n.agrees(barSlot, "bar", 3, 0)
	require.Equal(t, "1", string(n.c[3].Do("GET", "bar").Str))
	require.Contains(t, string(n.c[1].Do("CLUSTER", "NODES").Str), "master,fail ")

	n.c[1].Do("LAB", "ALL", "CLOCK", "ADVANCE", "60000") // it comes back, and learns that it is no master
	n.c[1].Do("LAB", "ALL", "CLOCK", "RUN")
	n.redial(0)
	n.become(0, n.moved(barSlot, 3), "GET", "bar")
	n.role(0, "slave")
}

func TestFailoversMoveTheSlots(t *testing.T) {
	t.Parallel()
	n := startCluster(t)
	ok(t, n.c[0], "SET", "bar", "1")
	require.Equal(t, "-ERR You should send CLUSTER FAILOVER to a replica", n.c[0].Do("CLUSTER", "FAILOVER").String())
	ok(t, n.c[3], "CLUSTER", "FAILOVER")
	n.agrees(barSlot, "bar", 3)
	n.role(0, "slave")
	require.Equal(t, "1", string(n.c[3].Do("GET", "bar").Str))
	n.failover(0)
	n.agrees(barSlot, "bar", 0)
	n.role(3, "slave")
	ok(t, n.c[3], "CLUSTER", "FAILOVER", "FORCE")
	n.agrees(barSlot, "bar", 3)
	n.role(0, "slave")
	ok(t, n.c[1], "LAB", "RESET")
	ok(t, n.c[0], "LAB", "RESET")
	n.agrees(barSlot, "bar", 0)
}

func TestASlotMovesStepByStep(t *testing.T) {
	t.Parallel()
	n := startCluster(t)
	there := "-ASK " + fooSlot + " 127.0.0.1:" + n.port(0)
	get := func(at int, want string) {
		t.Helper()
		require.Equal(t, want, n.c[at].Do("GET", "foo").String())
	}
	ok(t, n.c[2], "MSET", "foo", "1", "{foo}b", "2")
	n.c[1].Do("LAB", "ALL", "CLOCK", "FREEZE")
	ok(t, n.c[2], "DEBUG", "SET-ACTIVE-EXPIRE", "0")
	ok(t, n.c[2], "SET", "{foo}late", "1", "PX", "1000")
	ok(t, n.c[1], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1", "STEP", "IMPORTING")
	get(0, n.moved(fooSlot, 2))
	get(2, `"1"`)
	ok(t, n.c[1], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1", "STEP", "MIGRATING")
	get(2, `"1"`)
	require.Equal(t, there, n.c[2].Do("GET", "{foo}new").String())
	require.Equal(t, "-TRYAGAIN Multiple keys request during rehashing of slot",
		n.c[2].Do("MGET", "foo", "{foo}new").String())
	n.c[1].Do("LAB", "ALL", "CLOCK", "ADVANCE", "1000")
	require.Equal(t, there, n.c[2].Do("GET", "{foo}late").String(), "its time is over")
	ok(t, n.c[1], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1", "STEP", "KEYS")
	get(2, there)
	get(0, n.moved(fooSlot, 2))
	ok(t, n.c[0], "ASKING")
	get(0, `"1"`)
	get(0, n.moved(fooSlot, 2))
	ok(t, n.c[0], "ASKING")
	n.c[0].Do("MULTI")
	n.c[0].Do("GET", "foo")
	require.Len(t, n.c[0].Do("EXEC").Elems, 1, "ASKING counts for the whole transaction")
	get(0, n.moved(fooSlot, 2))

	ok(t, n.c[0], "LAB", "CLUSTER", "STALE", "2")
	ok(t, n.c[1], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1")
	n.agrees(fooSlot, "foo", 0, 1)
	get(0, `"1"`)
	get(1, n.moved(fooSlot, 2))
	ok(t, n.c[0], "LAB", "CLUSTER", "STALE", "2", "OFF")
	n.agrees(fooSlot, "foo", 0)
}

// The replies are those of a node of Redis 7.2.6 that imports the slot of foo.
func TestAskingCountsForOneRequest(t *testing.T) {
	t.Parallel()
	const get = `EVAL "return redis.call('get', 'foo')" 0`
	n := startCluster(t)
	ok(t, n.c[2], "SET", "foo", "1")
	for _, step := range []string{"IMPORTING", "MIGRATING", "KEYS"} {
		ok(t, n.c[1], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1", "STEP", step)
	}
	moved := n.moved(fooSlot, 2)
	for name, requests := range map[string]struct {
		lines []string
		last  string
	}{
		"the request after it":    {[]string{"ASKING", "GET foo"}, `"1"`},
		"no second request":       {[]string{"ASKING", "GET foo", "GET foo"}, moved},
		"PING is a request":       {[]string{"ASKING", "PING", "GET foo"}, moved},
		"an unknown one, too":     {[]string{"ASKING", "NOSUCH", "GET foo"}, moved},
		"one with a wrong arity":  {[]string{"ASKING", "GET", "GET foo"}, moved},
		"ASKING twice":            {[]string{"ASKING", "ASKING", "GET foo"}, `"1"`},
		"a transaction":           {[]string{"ASKING", "MULTI", "GET foo", "PING", "GET foo", "EXEC"}, `["1", +PONG, "1"]`},
		"after a refusal in it":   {[]string{"ASKING", "MULTI", "NOSUCH", "GET foo"}, "+QUEUED"},
		"until EXEC":              {[]string{"ASKING", "MULTI", "GET foo", "EXEC", "GET foo"}, moved},
		"not the one after":       {[]string{"ASKING", "MULTI", "EXEC", "MULTI", "GET foo"}, moved},
		"until DISCARD":           {[]string{"ASKING", "MULTI", "DISCARD", "GET foo"}, moved},
		"until RESET":             {[]string{"ASKING", "MULTI", "RESET", "GET foo"}, moved},
		"within a transaction":    {[]string{"MULTI", "ASKING", get, "EXEC"}, `[+OK, "1"]`},
		"and not after it":        {[]string{"MULTI", "ASKING", "EXEC", "GET foo"}, moved},
		"what a script calls":     {[]string{"ASKING", get}, `"1"`},
		"by a script: not itself": {[]string{`EVAL "redis.call('asking')" 0`, "GET foo"}, moved},
	} {
		t.Run(name, func(t *testing.T) {
			c, last := dialMaster(t, n.Nodes, 1), ""
			for _, line := range requests.lines {
				require.NoError(t, c.Send([]byte(line+"\r\n")))
				last = c.Read().String()
			}
			require.Equal(t, requests.last, last)
		})
	}
}

// A client that waits for a key is sent after it, and so is a subscriber of a shard channel.
func TestWhoWaitsForAKeyIsSentToItsNewNode(t *testing.T) {
	t.Parallel()
	n := startCluster(t)
	waits, listens := dialMaster(t, n.Nodes, 3), dialMaster(t, n.Nodes, 3)
	require.NoError(t, waits.Send(resp.AppendRequest(nil, "BLPOP", "foo", "0")))
	listens.Do("SSUBSCRIBE", "{foo}")
	redistest.Until(t, func() bool { return infoField(n.c[2], "blocked_clients") == "1" })
	ok(t, n.c[2], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1")
	require.Equal(t, n.moved(fooSlot, 0), waits.Read().String())
	require.Equal(t, "sunsubscribe", string(listens.Read().Elems[0].Str))
}

func TestLABClusterNamesWhatItExpects(t *testing.T) {
	t.Parallel()
	n := startCluster(t)
	for args, why := range map[string]string{
		"STALE 9":                  "STALE: expects the number of a node from 1 to 6, not '9'",
		"STALE 1 ON":               "STALE: expects OFF, not 'ON'",
		"MOVE 16384 TO 1":          "MOVE: slot expects a number from 0 to 16383, not '16384'",
		"MOVE 1 AT 1":              "MOVE: expects TO node, not 'AT'",
		"MOVE 1 TO 1":              "MOVE: node 1 serves slot 1 already",
		"MOVE 1 TO 2 STEP":         "MOVE: expects STEP and a step, not 'STEP'",
		"MOVE 1 TO 2 STEP NOTHING": "MOVE: STEP expects IMPORTING, MIGRATING, KEYS or NODE, not 'NOTHING'",
	} {
		reply := n.c[0].Do(append([]string{"LAB", "CLUSTER"}, strings.Fields(args)...)...).String()
		require.Equal(t, "-ERR LAB CLUSTER "+why, reply)
	}
	lone := redistest.Dial(t, start(t, []string{"--lab", "yes"}))
	require.Equal(t, "-ERR LAB CLUSTER STALE: this server is in no cluster: start it with --cluster yes",
		lone.Do("LAB", "CLUSTER", "STALE", "1").String())
}

func TestMeetIsForNodesOfTheProcess(t *testing.T) {
	t.Parallel()
	lone := redistest.Dial(t, start(t, []string{"--cluster-enabled", "yes"}))
	require.Contains(t, lone.Do("CLUSTER", "MEET", "127.0.0.1", "1").String(), "--cluster yes --masters 3")
	require.Contains(t, lone.Do("CLUSTER", "MEET", "127.0.0.1", "1").String(), "Redis or Valkey")
}

// redis-cli makes a cluster of nodes that do not know each other, moves slots, and removes a node.
func TestRedisCliMakesAndChangesACluster(t *testing.T) {
	t.Parallel()
	redistest.Need(t, "redis-cli")
	n := startNodes(t, 5, 0, "--cluster-enabled", "yes")
	cli := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("redis-cli", append([]string{"--cluster"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	addr := func(at int) string { return "127.0.0.1:" + n.port(at) }
	id := func(at int) string { return string(n.c[at].Do("CLUSTER", "MYID").Str) }
	cli("create", addr(0), addr(1), addr(2), "--cluster-yes")
	n.agrees(fooSlot, "foo", 2, 3, 4)
	ok(t, n.c[2], "SET", "foo", "1")
	cli("add-node", addr(3), addr(0))
	n.agrees(fooSlot, "foo", 2, 4)
	cli("add-node", addr(4), addr(0), "--cluster-slave", "--cluster-master-id", id(0))
	n.agrees(fooSlot, "foo", 2)
	cli("reshard", addr(0), "--cluster-from", id(2), "--cluster-to", id(3), "--cluster-slots", "20", "--cluster-yes")
	require.Contains(t, cli("check", addr(1)), "All 16384 slots covered")
	cli("del-node", addr(0), id(4))
	require.Contains(t, cli("info", addr(0)), "1 keys in 4 masters")
	ok(t, n.c[0], "CLUSTER", "SETSLOT", fooSlot, "IMPORTING", id(2))
	cli("fix", addr(0))
	require.Contains(t, cli("check", addr(0)), "All nodes agree about slots configuration")
}
