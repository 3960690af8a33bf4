package node_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/server"
)

var nodeSeeds = flag.Int("nodes.seeds", amount.Count(3, 10),
	"how many random histories of masters and replicas are played")

// chance returns a random verb, and the node that gets it by LAB MASTER.
func (n *nodes) chance(rng *rand.Rand) []string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	glob := pick("replica-*", "master-*", "replica-"+n.port(rng.IntN(len(n.Nodes))), "*")
	switch rng.IntN(16) {
	case 0:
		return []string{"REPLICATION", "HOLD"}
	case 1, 2:
		return []string{"REPLICATION", "RELEASE"}
	case 3:
		return []string{"REPLICATION", "LAG", fmt.Sprint(rng.IntN(3000))}
	case 4, 5:
		return []string{"FAILOVER"}
	case 6:
		return []string{"FAILOVER", "TO", n.port(rng.IntN(len(n.Nodes)))}
	case 7:
		return []string{"CRASH", "LOSE", pick("ALL", "NOTHING")}
	case 8:
		return []string{"CRASH", "DOWN", fmt.Sprint(rng.IntN(4000))}
	case 9:
		return []string{"BLACKHOLE", pick("ON", "OFF", "OFF")}
	case 10:
		return []string{"PARTITION", "CLIENT", glob, pick("ON", "OFF")}
	case 11:
		return []string{"SNAPSHOT", pick("SAVE", "RESTORE"), "s"}
	case 12:
		return []string{"CLOCK", "SET", fmt.Sprint(1_700_000_000_000 + rng.Int64N(200_000))}
	case 13:
		return []string{"RESET"}
	case 14:
		return []string{"LISTEN", pick("ON", "OFF", "ON")}
	}
	return []string{"CLOCK", "ADVANCE", fmt.Sprint(rng.IntN(70_000))}
}

// do executes a request at a node, also if nobody could connect to it.
func (n *nodes) do(at int, args ...string) string {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), time.Minute)
	defer cancel()
	v, err := n.Nodes[at].Do(ctx, args...)
	require.NoError(n.t, ctx.Err(), "%s has no reply", args)
	if err != nil {
		return err.Error()
	}
	return v.String()
}

// write writes to whoever takes it.
func (n *nodes) write(rng *rand.Rand) {
	for at := range n.Nodes {
		key := fmt.Sprint("key:", rng.IntN(50))
		n.do(at, "SET", key, fmt.Sprint(rng.Int()), "PX", fmt.Sprint(1+rng.IntN(60_000)))
		n.do(at, "INCR", "count")
		n.do(at, "EVAL", "redis.call('RPUSH', KEYS[1], ARGV[1]) return redis.call('INCR', 'count')", "1", "list", key)
	}
}

// Whatever happens to nodes and links, a replica whose link is up has the data of its master.
func TestNodesAgreeAfterAnything(t *testing.T) {
	t.Parallel()
	for seed := range *nodeSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playNodes(t, seed) })
		})
	}
}

// playNodes plays one history, in a bubble: links that are made again after a second take no time there.
func playNodes(t *testing.T, seed int) {
	rng, masters := rand.New(rand.NewPCG(uint64(seed), 27)), 1+seed%2
	n := &nodes{t: t, Nodes: inBubble(t, masters, "--replicas", "2")}
	n.do(0, "LAB", "ALL", "CLOCK", "FREEZE")
	for range 60 {
		at, verb := rng.IntN(len(n.Nodes)), append([]string{"LAB"}, n.chance(rng)...)
		t.Log(at+1, verb, n.do(at, verb...))
		n.write(rng)
		if rng.IntN(3) == 0 {
			time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
		}
	}
	n.do(0, "LAB", "ALL", "RESET")
	for at := range masters {
		require.Equal(t, "+OK", n.do(at, "SET", "end", fmt.Sprint(at)))
		require.Equal(t, ":2", n.do(at, "LAB", "REPLICATION", "WAIT", "20000"), n.do(at, "LAB", "TOPOLOGY"))
	}
	for at := range n.Nodes {
		require.Equal(t, n.do(n.MasterOf(at), "DEBUG", "DIGEST"), n.do(at, "DEBUG", "DIGEST"), at)
	}
}

// inBubble runs masters in the bubble of the test.
func inBubble(t *testing.T, masters int, args ...string) node.Nodes {
	cfg := config.Default()
	cfg.Masters, cfg.Lab, cfg.Bubble, cfg.EnableDebugCommand, cfg.Seed, cfg.MaxClients = masters, true, true, "yes", 1, 50
	cfg, err := config.ParseOver(cfg, args, strings.NewReader(""))
	require.NoError(t, err)
	all, err := node.NewNodes(cfg, func(n int) server.Log {
		return func(_ byte, format string, args ...any) {
			if strings.HasPrefix(format, "Panic") || strings.Contains(format, "CRITICAL") {
				t.Errorf("node %d: "+format, append([]any{n}, args...)...)
			}
		}
	})
	require.NoError(t, err)
	ended := make(chan error)
	go func() { ended <- all.Run() }()
	t.Cleanup(func() {
		all.Stop()
		require.NoError(t, <-ended)
	})
	return all
}
