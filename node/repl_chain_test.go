package node_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// chained are the arguments of a server of ours in a chain.
var chained = []string{"--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0",
	"--repl-ping-replica-period", "3600", "--repl-timeout", "600"}

// newNode starts a server of ours.
func newNode(t *testing.T, name string, args ...string) member {
	t.Helper()
	addr := startWithLog(t, append(append([]string{}, chained...), args...), (&lines{}).add)
	return member{name, addr, redistest.Dial(t, addr)}
}

// realNode starts a server that is not ours.
func realNode(t *testing.T, name string, start func(t testing.TB, args ...string) *redistest.Server) member {
	t.Helper()
	s := start(t, chained...)
	return member{name, s.Addr, redistest.Dial(t, s.Addr)}
}

func redisNode(t *testing.T) member {
	return realNode(t, "redis", func(_ testing.TB, args ...string) *redistest.Server { return of7_2(t, args...) })
}

func valkeyNode(t *testing.T) member { return realNode(t, "valkey", redistest.StartValkey) }

func (n member) info(name string) string { return infoField(n.conn, name) }

// orders sends REPLICAOF, and does not wait.
func (n member) orders(t *testing.T, master member) {
	t.Helper()
	host, port, err := net.SplitHostPort(master.addr)
	require.NoError(t, err)
	require.Equal(t, "OK", n.conn.Do("REPLICAOF", host, port).Str)
}

func requireOneHistory(t *testing.T, nodes ...member) {
	t.Helper()
	for _, n := range nodes[1:] {
		redistest.Until(t, func() bool { return n.info("master_link_status") == "up" })
		requireSameData(t, nodes[0].conn, n.conn)
		require.Equal(t, nodes[0].info("master_replid"), n.info("master_replid"), "of %s", n.name)
		// The master expires keys all the time, so its stream moves between two questions.
		redistest.Until(t, func() bool { return nodes[0].info("master_repl_offset") == n.info("master_repl_offset") })
	}
}

// A change goes down a chain of any servers, and all count with the same offsets.
func TestAChainHasOneHistory(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (top, middle, last member){
		"ours":   func(t *testing.T) (a, b, c member) { return newNode(t, "a"), newNode(t, "b"), newNode(t, "c") },
		"mixed":  func(t *testing.T) (a, b, c member) { return redisNode(t), newNode(t, "b"), valkeyNode(t) },
		"mixed2": func(t *testing.T) (a, b, c member) { return newNode(t, "a"), redisNode(t), newNode(t, "c") },
		"from files": func(t *testing.T) (a, b, c member) {
			return valkeyNode(t), newNode(t, "b", "--repl-diskless-sync", "no", "--exec", "queue"), newNode(t, "c")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, middle, last := start(t)
			r := rand.New(rand.NewPCG(3, 3))
			require.Equal(t, "lib", top.conn.Do("FUNCTION", "LOAD", replicatedLibrary).Str)
			top.conn.Do("SELECT", "3")
			churn(top.conn, r, 300)
			middle.follows(t, top)
			churn(top.conn, r, 300) // the stream selects a database before the last one comes
			last.follows(t, middle)
			for cut := range 3 {
				churn(top.conn, r, 300)
				middle.conn.Do("CLIENT", "KILL", "TYPE", "replica")
				churn(top.conn, r, 300)
				back := fmt.Sprint(cut + 1) // or the next cut would find no replica
				redistest.Until(t, func() bool { return middle.info("sync_partial_ok") == back })
				middle.conn.Do("CLIENT", "KILL", "TYPE", "master")
			}
			settle(top.conn)
			requireOneHistory(t, top, middle, last)
			require.Equal(t, "1", top.info("sync_full"))
			require.Equal(t, "1", middle.info("sync_full"))
			require.Equal(t, "3", middle.info("sync_partial_ok"), "a cut between the others cuts nothing here")
			require.Equal(t, "slave", middle.conn.Do("ROLE").Elems[0].Str)
			require.Contains(t, middle.info("slave0"), "state=online")
		})
	}
}

// The replicas of a replica that is promoted go on with it, and so does the old master.
func TestAPromotionInAChainNeedsNoFullSynchronization(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(t *testing.T) member{
		"ours": func(t *testing.T) member { return newNode(t, "c") }, "redis": redisNode, "valkey": valkeyNode,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, middle, last := newNode(t, "a"), newNode(t, "b"), other(t)
			middle.follows(t, top)
			last.follows(t, middle)
			changeAll(top.conn, 1)
			requireOneHistory(t, top, middle, last)
			require.Equal(t, "OK", middle.conn.Do("REPLICAOF", "NO", "ONE").Str)
			changeAll(middle.conn, 2)
			requireOneHistory(t, middle, last)
			top.follows(t, middle)
			changeAll(middle.conn, 3)
			requireOneHistory(t, middle, last, top)
			require.Equal(t, "1", middle.info("sync_full"), "that of the last one, before")
			require.Equal(t, "2", middle.info("sync_partial_ok"))
			require.Equal(t, top.info("master_replid2"), middle.info("master_replid2"))
			require.Equal(t, top.info("second_repl_offset"), middle.info("second_repl_offset"))

			// The whole chain moves behind the last one: the one in the middle becomes the first, and so on.
			require.Equal(t, "OK", last.conn.Do("REPLICAOF", "NO", "ONE").Str)
			middle.follows(t, last)
			changeAll(last.conn, 4)
			requireOneHistory(t, last, middle, top)
			require.Equal(t, "0", last.info("sync_full"))
		})
	}
}

// A replica that gets the data of another master closes its own replicas. They get these data, too.
func TestAReplicaWithOtherDataSynchronizesItsReplicas(t *testing.T) {
	for _, how := range []string{"disabled", "swapdb", "on-empty-db"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			top, other := newNode(t, "a"), newNode(t, "x")
			middle, last := newNode(t, "b", "--repl-diskless-load", how), newNode(t, "c")
			storeAll(top.conn, 1, 50)
			storeAll(other.conn, 2, 60)
			middle.follows(t, top)
			last.follows(t, middle)
			middle.follows(t, other)
			other.conn.Do("SET", "k", "v")
			requireOneHistory(t, other, middle, last)
			require.Equal(t, "2", middle.info("sync_full"))
			require.Equal(t, "0000000000000000000000000000000000000000", middle.info("master_replid2"))
		})
	}
}

// A master that becomes a replica keeps its replicas, if the new master continues with its history.
func TestReplicasStayWhenTheirMasterBecomesAReplica(t *testing.T) {
	t.Parallel()
	first, second, third := newNode(t, "a"), newNode(t, "b"), newNode(t, "c")
	second.follows(t, first)
	third.follows(t, first)
	changeAll(first.conn, 1)
	requireOneHistory(t, first, second, third)
	require.Equal(t, "OK", second.conn.Do("REPLICAOF", "NO", "ONE").Str)
	first.follows(t, second)
	changeAll(second.conn, 2)
	requireOneHistory(t, second, first, third)
	require.Equal(t, "2", first.info("sync_full"))
	require.Equal(t, "1", second.info("sync_partial_ok"))
}

// Without its own link a replica has nothing to pass on.
func TestAReplicaWithoutItsMasterServesNoReplica(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	gone := member{addr: closed.Addr().String()}
	require.NoError(t, closed.Close())
	for _, n := range []member{newNode(t, "ours"), redisNode(t)} {
		n.orders(t, gone)
		for _, words := range []string{"PSYNC ? -1", "SYNC", "PSYNC ? -1 FAILOVER"} {
			want := "NOMASTERLINK Can't SYNC while not connected with my master"
			if strings.HasSuffix(words, "FAILOVER") {
				want = "ERR PSYNC FAILOVER replid must match my replid."
			}
			require.Equal(t, want, n.conn.Do(strings.Fields(words)...).Str, n.name)
		}
	}
}

// Two servers that follow each other would both wait for changes, and refuse those of clients.
func TestACircleOfReplicasIsRefused(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) member{
		"ours": func(t *testing.T) member { return newNode(t, "b") }, "valkey": valkeyNode,
	} {
		t.Run(name, func(t *testing.T) {
			log := &lines{}
			addr := startWithLog(t, chained, log.add)
			first, second := member{"a", addr, redistest.Dial(t, addr)}, start(t)
			second.follows(t, first)
			first.orders(t, second)
			redistest.Until(t, func() bool {
				return strings.Contains(log.String(), "refusing a circle of replicas") ||
					strings.Contains(log.String(), "Can't SYNC: you are my master")
			})
			require.Equal(t, "down", first.info("master_link_status"))

			// One of them becomes a master, and the other one continues with it.
			require.Equal(t, "OK", second.conn.Do("REPLICAOF", "NO", "ONE").Str)
			second.conn.Do("SET", "k", "v")
			requireOneHistory(t, second, first)
			require.Equal(t, "1", first.info("sync_full"))
		})
	}
}

// What an EXEC has changed before it makes the server a replica is in no stream. The data of the new master replace it.
func TestAnExecThatChangesTheRoleLeavesNoKey(t *testing.T) {
	for _, behind := range []bool{false, true} {
		first, second := newNode(t, "a"), newNode(t, "b")
		second.follows(t, first)
		require.Equal(t, "OK", second.conn.Do("REPLICAOF", "NO", "ONE").Str)
		host, port, _ := net.SplitHostPort(second.addr)
		lines := [][]string{{"SET", "k", "alone"}, {"REPLICAOF", host, port}}
		if behind {
			slices.Reverse(lines)
		}
		first.conn.Do("MULTI")
		for _, line := range lines {
			first.conn.Do(line...)
		}
		first.conn.Do("EXEC")
		requireOneHistory(t, second, first)
		require.True(t, first.conn.Do("GET", "k").Null)
	}
}
