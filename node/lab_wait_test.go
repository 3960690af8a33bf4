package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// A client that asks replicas for its lock believes in it from the reply on. One that has used the lock before has
// believed in it, even if the log does not have what it used it for.
func TestTheLogTellsWhetherAWaitIsBehindAGrant(t *testing.T) {
	t.Parallel()
	for verdict, between := range map[string][]string{"undecided": nil, "two-holders": {"SET", "data", "1"}} {
		n := startNodes(t, 1, 1)
		n.same(0)
		n.c[0].Do("LAB", "ALL", "LOG", "WATCH", "lock:*")
		ok(t, n.c[0], "LAB", "REPLICATION", "HOLD")
		a := dialMaster(t, n.Nodes, 1)
		id := fmt.Sprint(a.Do("CLIENT", "ID").Int)
		ok(t, a, "SET", "lock:x", "token-a", "NX", "PX", "30000")
		if between != nil {
			ok(t, a, between...)
		}
		require.NoError(t, a.Send(resp.AppendRequest(nil, "WAIT", "1", "0")))
		redistest.Until(t, func() bool {
			return strings.Contains(n.c[0].Do("CLIENT", "LIST", "ID", id).Str, " cmd=wait ")
		})
		require.Equal(t, int64(1), n.c[0].Do("CLIENT", "KILL", "ID", id).Int)
		n.failover(0)
		ok(t, n.c[1], "SET", "lock:x", "token-b", "NX", "PX", "30000")
		v := finding(n.c[1].Do("LAB", "VERDICT", "lock:*"))
		require.Equal(t, verdict, v["verdict"].Str, v["text"].Str)
		require.Equal(t, between == nil, strings.Contains(n.c[0].Do("LAB", "LOG", "EXPORT").Str, "WAIT"))
	}
}
