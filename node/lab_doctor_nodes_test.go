package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everyFinding returns the findings of all nodes, as "node: pattern key name".
func (n *nodes) everyFinding() (all []string) {
	for i, c := range n.c {
		for _, f := range findings(c) {
			all = append(all, fmt.Sprintf("%d: %s", i+1, f))
		}
	}
	return all
}

// named gives the connections to all nodes a name.
func (n *nodes) named(name string) {
	for _, c := range n.c {
		ok(n.t, c, "CLIENT", "SETNAME", name)
	}
}

func TestTheDoctorOfAClusterJudgesSlots(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 3, 0, "--cluster", "yes")
	n.agrees(fooSlot, "foo", 2)
	n.named("a")
	const shard = `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) ` +
		`return redis.call('spublish', ARGV[2], '') end return 0`
	const among = `redis.call('del', KEYS[1]) return redis.call('publish', KEYS[2], '')`
	take := func() { ok(t, n.c[2], "SET", "{foo}:lock", "token-1", "NX", "PX", "30000") }

	take()
	require.Equal(t, int64(0), n.c[2].Do("EVAL", shard, "1", "{foo}:lock", "token-1", "{foo}:free").Int)
	take()
	require.Equal(t, int64(1), n.c[2].Do("EVAL", deleteIfMine, "1", "{foo}:lock", "token-1").Int)
	require.Empty(t, n.everyFinding(), "of clients that do it right")

	take()
	stopped := n.c[2].Do("EVAL", shard, "1", "{foo}:lock", "token-1", "bar").Str
	require.True(t, strings.HasPrefix(stopped, "ERR Script attempted to access a non local key"), stopped)
	require.Equal(t, int64(0), n.c[2].Do("EXISTS", "{foo}:lock").Int, "what the script did before stays")
	n.c[0].Do("EVAL", among, "2", "{foo}:lock", "bar", "token-1")
	n.c[1].Do("EVAL", deleteIfMine, "2", "{foo}:lock", "{bar}:lock", "token-1")
	require.Equal(t, []string{
		"1: channel-in-another-slot {foo}:lock a", "2: keys-in-several-slots {foo}:lock a",
		"3: channel-in-another-slot {foo}:lock a",
	}, n.everyFinding())
}

func TestTheDoctorOfAClusterFindsAReleaseThatDoesNotFollow(t *testing.T) {
	t.Parallel()
	for _, follows := range []bool{true, false} {
		n := startNodes(t, 3, 1, "--cluster", "yes")
		n.agrees(fooSlot, "foo", 2)
		n.named("a")
		n.c[0].Do("LAB", "ALL", "CLOCK", "FREEZE")
		ok(t, n.c[2], "SET", "{foo}:lock", "token-1", "NX", "PX", "30000")
		ok(t, n.c[0], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1")
		require.Equal(t, n.moved(fooSlot, 0), n.c[2].Do("EVAL", deleteIfMine, "1", "{foo}:lock", "token-1").String())
		if follows {
			n.become(0, ":1", "EVAL", deleteIfMine, "1", "{foo}:lock", "token-1")
		}
		n.c[0].Do("LAB", "ALL", "CLOCK", "ADVANCE", "30001")
		if follows {
			require.Empty(t, n.everyFinding())
		} else {
			require.Equal(t, []string{"3: release-at-the-wrong-node {foo}:lock a"}, n.everyFinding())
		}
	}
}

func TestTheDoctorsOfAMasterAndItsReplicaFindAReleaseAtTheWrongNode(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		leave, again bool
		lost         bool // the failover lost the lock
		reply        string
		want         []string
	}{
		"a demoted master refuses it": {reply: "-READONLY",
			want: []string{"2: release-at-the-wrong-node lock a"}},
		"and the client looks for the new master": {reply: "-READONLY", again: true},
		"the failover has lost the lock":          {reply: "-READONLY", lost: true},
		"an old master executes it": {reply: ":1", leave: true,
			want: []string{"2: release-at-the-wrong-node lock a"}},
		"and the new one, too": {reply: ":1", leave: true, again: true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			n := startNodes(t, 1, 1)
			n.named("a")
			n.c[0].Do("LAB", "ALL", "CLOCK", "FREEZE")
			n.c[0].Do("EVAL", deleteIfMine, "1", "lock", "token-0") // the demoted master knows the script
			if c.lost {
				ok(t, n.c[0], "LAB", "REPLICATION", "HOLD")
			}
			ok(t, n.c[0], "SET", "lock", "token-1", "NX", "PX", "30000")
			if !c.lost {
				require.Equal(t, int64(1), n.c[0].Do("LAB", "REPLICATION", "WAIT").Int)
			}
			if c.leave {
				n.failover(0, "LEAVE")
			} else {
				n.failover(0)
				n.role(0, "slave")
			}
			reply := n.redial(0).Do("CLIENT", "SETNAME", "a")
			require.Equal(t, "OK", reply.Str)
			reply = n.c[0].Do("EVAL", deleteIfMine, "1", "lock", "token-1")
			if c.lost {
				require.Equal(t, ":0", reply.String(), "the replica has no such lock")
			} else {
				require.True(t, strings.HasPrefix(reply.String(), c.reply), reply.String())
			}
			if c.again {
				require.Equal(t, int64(1), n.c[1].Do("EVAL", deleteIfMine, "1", "lock", "token-1").Int)
			}
			n.c[0].Do("LAB", "ALL", "CLOCK", "ADVANCE", "30001")
			n.c[1].Do("EXISTS", "lock")
			require.Equal(t, c.want, n.everyFinding())
		})
	}
}
