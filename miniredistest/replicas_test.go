package miniredistest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// lockLostInAFailover is the failure that articles on locks warn of: the master fails before its replica has the lock.
// It returns the logs of all nodes.
func lockLostInAFailover(t *testing.T) string {
	srv := miniredistest.Run(t, miniredistest.Replicas(2))
	begin := time.Now()
	a, b := dialIn(t, srv), dialIn(t, srv.Replica(1))
	srv.Hold()
	require.Equal(t, "OK", a.Do("SET", "lock:order", "a", "NX", "PX", "30000").Str)
	require.Equal(t, int64(0), a.Do("WAIT", "1", "100").Int)
	time.Sleep(time.Second)
	promoted := srv.Failover()
	require.Equal(t, srv.Replica(1), promoted)
	synctest.Wait() // each server has a goroutine of its own: the links are made while the next command comes
	require.Equal(t, "OK", b.Do("SET", "lock:order", "b", "NX", "PX", "30000").Str)
	require.Equal(t, "READONLY You can't write against a read only replica.", a.Do("DEL", "lock:order").Str)
	synctest.Wait()
	promoted.Synced()
	synctest.Wait()
	require.Equal(t, "b", a.Do("GET", "lock:order").Str)
	require.Less(t, time.Since(begin), 1110*time.Millisecond, "of the time of the bubble")
	var logs strings.Builder
	for i, node := range srv.Nodes() {
		for _, e := range node.Log() {
			e.Mono, e.Came, e.ReplID = 0, 0, ""
			text, err := json.Marshal(e)
			require.NoError(t, err)
			fmt.Fprintf(&logs, "%d: %s\n", i, text)
		}
	}
	return logs.String()
}

// A request of the test itself has no connection.
func TestATestMakesAReplicaAMaster(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Replicas(1))
	require.Equal(t, "OK", srv.Replica(1).Do("REPLICAOF", "NO", "ONE").Str)
	require.Equal(t, "master", srv.Replica(1).Do("ROLE").Elems[0].Str)
}

func TestALockIsGrantedTwiceAcrossAFailover(t *testing.T) {
	var logs [2]string
	for i := range logs {
		synctest.Test(t, func(t *testing.T) { logs[i] = lockLostInAFailover(t) })
	}
	require.Contains(t, logs[0], "promoted")
	require.Equal(t, logs[0], logs[1])
}
