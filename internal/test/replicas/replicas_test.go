// Package replicas plays random commands over servers that follow each other, while their links are cut. Afterwards
// all servers must have the same data. Some are ours, some are real; a group without one of ours is the control.
//
//	clients ──> top ──> relay ──> replica ──> relay ──> replica
//	               └──> relay ──> replica
//
// A group plays for a moment, with CI=true for a second. Ten minutes each, with Redis 7.2 in PATH:
//
//	go test ./internal/test/replicas -v -parallel 8 -timeout 2h -replicas.for 10m
package replicas

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

var (
	length = flag.Duration("replicas.for", time.Duration(amount.Count(200, 1000))*time.Millisecond,
		"how long each group of servers plays")
	seed   = flag.Uint64("replicas.seed", 1, "what the random commands follow from")
	binary = flag.String("replicas.binary", "", "a miniredisd that is built already")
	keep   = flag.String("replicas.dir", "", "where the files of the servers stay, and the logs of a failure")
)

// group says which servers there are, and which one each follows.
type group struct {
	name    string
	kinds   []string
	parents []int // of the second server, and so on
	newer   bool  // all know what Redis 7.2 lacks
}

func groups() []group {
	fan, chain := []int{0, 0}, []int{0, 1}
	return []group{
		{"ours to redis and valkey", []string{ours, redis, valkey}, fan, false},
		{"redis to ours twice", []string{redis, ours, oursAsValkey}, fan, false},
		{"valkey to ours as Valkey", []string{valkey, oursAsValkey, oursAsValkey}, fan, true},
		{"valkey to ours twice", []string{valkey, ours, oursAsValkey}, fan, false},
		{"ours, ours, ours", []string{ours, ours, ours}, chain, false},
		{"redis, ours, valkey", []string{redis, ours, valkey}, chain, false},
		{"ours, redis, ours", []string{ours, redis, ours}, chain, false},
		{"valkey, ours, ours", []string{valkey, ours, ours}, chain, false},
		{"control, redis to redis twice", []string{redis, redis, redis}, fan, false},
		{"control, valkey to valkey twice", []string{valkey, valkey, valkey}, fan, true},
		{"control, redis, redis, redis", []string{redis, redis, redis}, chain, false},
		{"control, valkey, valkey, valkey", []string{valkey, valkey, valkey}, chain, false},
	}
}

// Short runs have a backlog that is too small for half of the groups, and no control.
func TestReplicasHaveTheSameData(t *testing.T) {
	build(t)
	isLong := *length > time.Minute
	for i, g := range groups() {
		for j, backlog := range []string{"16kb", "64mb"} {
			if !isLong && (i%2 == j || strings.HasPrefix(g.name, "control")) {
				continue
			}
			t.Run(g.name+"/"+backlog, func(t *testing.T) {
				t.Parallel()
				newCampaign(t, g, backlog).play()
			})
		}
	}
}

// build builds miniredisd for a test, unless there is one.
func build(t *testing.T) {
	t.Helper()
	if *binary == "" {
		*binary = filepath.Join(t.TempDir(), "miniredisd")
		t.Cleanup(func() { *binary = "" })
		out, err := exec.Command("go", "build", "-ldflags=-w", "-o", *binary, "../../../cmd/miniredisd").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// campaign is one group of servers in its trouble.
type campaign struct {
	t        *testing.T
	r        *rand.Rand
	group    group
	backlog  string
	nodes    []*node
	top      *node
	shut     []*node // whose link is shut for a moment
	commands int64
	relays   []*relay
	compared int // how often all data were equal
	began    time.Time
}

func newCampaign(t *testing.T, g group, backlog string) *campaign {
	c := &campaign{t: t, r: rand.New(rand.NewPCG(*seed, uint64(len(g.name+backlog)))), group: g, backlog: backlog,
		began: time.Now()}
	for i, kind := range g.kinds {
		dir := t.TempDir()
		if *keep != "" {
			dir = filepath.Join(*keep, strings.NewReplacer(" ", "-", "/", "-", ",", "").Replace(t.Name()), fmt.Sprint(i))
			require.NoError(t, os.MkdirAll(dir, 0o700))
		}
		n := &node{t: t, kind: kind, dir: dir, before: map[string]int{},
			args: append(c.manner(kind), "--repl-backlog-size", backlog)}
		n.start()
		c.nodes = append(c.nodes, n)
	}
	c.top = c.nodes[0]
	return c
}

// manner returns how a server of ours executes commands.
func (c *campaign) manner(kind string) []string {
	if kind != ours && kind != oursAsValkey {
		return nil
	}
	return [][]string{nil, nil, {"--exec", "queue"}, {"--io-threads", "2"}}[c.r.IntN(4)]
}

// play is the whole story of a group.
func (c *campaign) play() {
	rare, random := rareCommands(c.r), rand.New(rand.NewPCG(*seed, 1))
	for range 200 {
		batch, replies := randomBatch(random, rare)
		require.NoError(c.t, c.top.admin.Send(batch))
		for range replies {
			c.top.admin.Read()
		}
	}
	require.Equal(c.t, "lib", c.top.admin.Do("FUNCTION", "LOAD", "REPLACE", library).Str)
	for i, n := range c.nodes[1:] {
		c.follow(n, c.nodes[c.group.parents[i]])
	}
	c.settled()
	c.requirePartial("the load", c.backlog == "64mb", func() { c.disturb(*length) })
	c.report("load")
	c.requirePartial("the promotion", true, c.promote)
	c.requirePartial("the load of the new master", c.backlog == "64mb", func() { c.disturb(*length / 10) })
	c.requirePartial("the restart", true, c.restartOne)
	c.report("end")
}

func (c *campaign) follow(n, parent *node) {
	n.follows(parent)
	c.relays = append(c.relays, n.link)
}

// requirePartial does something, and maybe requires that no replica has got all keys for it.
func (c *campaign) requirePartial(what string, isPartial bool, do func()) {
	c.t.Helper()
	before := c.sum("sync_full")
	do()
	c.requireEqual("after " + what)
	if isPartial && c.sum("sync_full") != before {
		c.fail("%d full synchronizations for %s", c.sum("sync_full")-before, what)
	}
}

// sum adds up what all servers have counted.
func (c *campaign) sum(field string) (all int) {
	for _, n := range c.nodes {
		all += n.counted(field)
	}
	return all
}

// promote makes a replica the master of all others. Those between it and the old master turn around.
func (c *campaign) promote() {
	next := c.nodes[1+c.r.IntN(len(c.nodes)-1)]
	require.Equal(c.t, "OK", next.admin.Do("REPLICAOF", "NO", "ONE").Str)
	c.top = next
	for n, before := next.parent, next; n != nil; {
		parent := n.parent
		c.follow(n, before)
		n, before = parent, n
	}
	next.parent, next.link = nil, nil
	for _, n := range c.nodes {
		if n != next && n.parent != next && c.r.IntN(2) == 0 {
			c.follow(n, next)
		}
	}
}

// restartOne restarts a replica that has none of its own.
func (c *campaign) restartOne() {
	isLeaf := map[*node]bool{}
	for _, n := range c.nodes {
		isLeaf[n] = n != c.top
	}
	for _, n := range c.nodes {
		delete(isLeaf, n.parent)
	}
	for n := range isLeaf {
		if isLeaf[n] {
			for _, field := range []string{"sync_full", "sync_partial_ok", "sync_partial_err"} {
				n.before[field] = n.counted(field)
			}
			n.restart(func() {
				for range 50 {
					c.top.admin.Do("INCR", "n")
				}
			}, c.r.IntN(2) == 0)
			return
		}
	}
}

// report logs a row of a table.
func (c *campaign) report(when string) {
	cuts, full, partial, bytes, keys := 0, 0, 0, 0, int64(0)
	for db := range databases {
		c.top.admin.Do("SELECT", fmt.Sprint(db))
		keys += c.top.admin.Do("DBSIZE").Int
	}
	for _, r := range c.relays {
		r.mu.Lock()
		cuts, full, partial, bytes = cuts+r.cuts, full+r.full, partial+r.partial, bytes+r.bytes
		r.mu.Unlock()
	}
	c.t.Logf("ROW|%s|%s|%s|%.1f|%d|%s|%.1f|%d|%d|%d|%d|%d|%d|%d|%d", c.group.name, c.backlog, when,
		time.Since(c.began).Minutes(), c.commands, c.top.info("master_repl_offset"), float64(bytes)/1e6, cuts,
		c.sum("sync_full"), c.sum("sync_partial_ok"), c.sum("sync_partial_err"), full, partial, c.compared, keys)
}

// fail ends the test, and says where everybody was.
func (c *campaign) fail(format string, args ...any) {
	c.t.Helper()
	for _, n := range c.nodes {
		_ = os.WriteFile(filepath.Join(n.dir, "log"), []byte(n.Log()), 0o600)
		c.t.Logf("%s at %s, files in %s: %s", n.kind, n.addr, n.dir, n.admin.Do("INFO", "replication").Str)
	}
	c.t.Fatalf(format, args...)
}
