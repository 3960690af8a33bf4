package node_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// member is a server that changes its role.
type member struct {
	name, addr string
	conn       *redistest.Conn
}

func (n member) follows(t *testing.T, master member) {
	t.Helper()
	host, port, err := net.SplitHostPort(master.addr)
	require.NoError(t, err)
	require.Equal(t, "OK", n.conn.Do("REPLICAOF", host, port).Str)
	caughtUp(t, master.conn, n.conn)
}

// Two servers change their roles, again and again. Each knows what the other has, so only the first synchronization is
// a full one.
func TestAChangeOfRolesNeedsNoFullSynchronization(t *testing.T) {
	t.Parallel()
	ours := func(name string) member {
		addr := startWithLog(t, []string{"--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0",
			"--repl-ping-replica-period", "3600"}, (&lines{}).add)
		return member{name, addr, redistest.Dial(t, addr)}
	}
	valkey := redistest.StartValkey(t, "--repl-diskless-sync-delay", "0", "--enable-debug-command", "yes",
		"--repl-ping-replica-period", "3600")
	for _, other := range []member{ours("second"), {"valkey", valkey.Addr, redistest.Dial(t, valkey.Addr)}} {
		t.Run(other.name, func(t *testing.T) {
			master, replica := ours("first"), other
			replica.conn.Do("FLUSHALL")
			replica.follows(t, master)
			full := infoField(master.conn, "sync_full")
			for seed := range uint64(4) {
				storeAll(master.conn, seed, 200)
				master.conn.Do("EVAL", "for i = 1, 3 do redis.call('incr', KEYS[1]) end", "1", "n")
				requireSameData(t, master.conn, replica.conn)
				require.Equal(t, "OK", replica.conn.Do("REPLICAOF", "NO", "ONE").Str)
				was := infoField(replica.conn, "sync_partial_ok")
				master.follows(t, replica)
				require.NotEqual(t, was, infoField(replica.conn, "sync_partial_ok"), "round %d", seed)
				master, replica = replica, master
			}
			first, second := master.conn, replica.conn
			if master.name != "first" {
				first, second = second, first
			}
			require.Equal(t, full, infoField(first, "sync_full"))
			require.Equal(t, "0", infoField(second, "sync_full"))
		})
	}
}

// What a master has executed alone is lost when it follows another one: that needs a full synchronization.
func TestAMasterThatWasAloneGetsAllDataAgain(t *testing.T) {
	start := func() member {
		addr := startWithLog(t, []string{"--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0"}, (&lines{}).add)
		return member{"", addr, redistest.Dial(t, addr)}
	}
	old, fresh := start(), start()
	fresh.follows(t, old)
	require.Equal(t, "OK", fresh.conn.Do("REPLICAOF", "NO", "ONE").Str)
	old.conn.Do("SET", "lock", "held")
	require.Equal(t, "OK", fresh.conn.Do("SET", "lock", "taken again").Str)
	old.follows(t, fresh)
	require.Equal(t, "taken again", old.conn.Do("GET", "lock").Str)
	require.Equal(t, "1", infoField(fresh.conn, "sync_full"))
}
