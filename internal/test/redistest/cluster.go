package redistest

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// StartCluster starts a cluster of redis-servers with redis-cli: the masters, each with some replicas. It returns when
// all nodes say that the cluster is up, and each replica has the keys of its master.
func StartCluster(t testing.TB, masters, replicas int) []*Server {
	t.Helper()
	Need(t, "redis-cli")
	args := []string{"--cluster", "create"}
	var nodes []*Server
	for range masters * (1 + replicas) {
		s := StartClusterNode(t)
		nodes, args = append(nodes, s), append(args, s.Addr)
	}
	args = append(args, "--cluster-replicas", strconv.Itoa(replicas), "--cluster-yes")
	if out, err := exec.Command("redis-cli", args...).CombinedOutput(); err != nil {
		t.Fatalf("redis-cli %v: %v\n%s", args, err, out)
	}
	for _, s := range nodes {
		c := Dial(t, s.Addr)
		Until(t, func() bool {
			return strings.Contains(c.Do("CLUSTER", "INFO").Str, "cluster_state:ok") && c.isLinked() &&
				strings.Count(c.Do("CLUSTER", "NODES").Str, "slave") == masters*replicas
		})
	}
	return nodes
}

// StartClusterNode starts a node that knows no other one.
func StartClusterNode(t testing.TB, more ...string) *Server {
	t.Helper()
	return Start(t, append([]string{"--cluster-enabled", "yes", "--cluster-port", freePort(t), "--cluster-node-timeout",
		"2000", "--repl-diskless-sync-delay", "0"}, more...)...)
}

// isLinked reports whether a server is no replica whose link is down.
func (c *Conn) isLinked() bool {
	role := c.Do("ROLE").Elems
	return role[0].Str != "slave" || role[3].Str == "connected"
}
