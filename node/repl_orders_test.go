package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// A master changes the data of its replica, and nothing else there. What it has changed in a transaction around such an
// order counts.
func TestAMasterGivesItsReplicaNoOrders(t *testing.T) {
	master, log := newNode(t, "a"), &lines{}
	addr := startWithLog(t, chained, log.add)
	replica := member{"b", addr, redistest.Dial(t, addr)}
	replica.follows(t, master)
	orders := []string{
		"REPLICAOF NO ONE", "SLAVEOF 127.0.0.1 1", "SHUTDOWN NOSAVE", "FAILOVER", "CONFIG SET maxmemory 1", "DEBUG SLEEP 0",
		"SAVE", "CLIENT REPLY OFF", "AUTH x", "RESET", "QUIT", "HELLO 3", "MONITOR", "PSYNC ? -1", "SUBSCRIBE ch",
		"PSUBSCRIBE *", "ACL SETUSER default off", "BGREWRITEAOF",
	}
	replicate := func(line string) {
		require.Equal(t, "OK", master.conn.Do(append([]string{"DEBUG", "REPLICATE"}, strings.Fields(line)...)...).Str)
	}
	for _, order := range append([]string{"MULTI", "SET a 1"}, append(orders[:2:2], "SET b 1", "EXEC", "INCR n")...) {
		replicate(order)
	}
	for _, order := range orders {
		replicate(order)
		replicate("INCR n")
	}
	caughtUp(t, master.conn, replica.conn)
	require.Equal(t, "slave", replica.conn.Do("ROLE").Elems[0].Str)
	require.Equal(t, int64(2), replica.conn.Do("EXISTS", "a", "b").Int)
	require.Equal(t, "19", replica.conn.Do("GET", "n").Str)
	replicate("MULTI")
	replicate("SET half v")
	waitForField(replica.conn, "slave_read_repl_offset", infoField(master.conn, "master_repl_offset"))
	require.Equal(t, "OK", replica.conn.Do("REPLICAOF", "NO", "ONE").Str)
	require.Zero(t, replica.conn.Do("EXISTS", "half").Int, "its EXEC has not come")
	require.Equal(t, len(orders)+2, strings.Count(log.String(), "the stream of a master has no such command"))
}
