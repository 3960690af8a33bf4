package adversary

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/respclient"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// group is a master and its replicas, and workers that use one lock.
type group struct {
	t      *testing.T
	nodes  miniredistest.Masters
	dice   *rand.Rand
	now    int64
	conns  map[string]*respclient.Conn
	held   map[string]heldLock // by worker
	tokens int
	two    bool
	story  []string
}

type heldLock struct {
	token string
	until int64 // the last ms
}

func (g *group) say(format string, args ...any) {
	g.story = append(g.story, fmt.Sprintf(format, args...))
}

func (g *group) do(worker string, node int, words ...string) resp.Value {
	id := fmt.Sprint(worker, node)
	if g.conns[id] == nil {
		c, err := respclient.Dial(g.nodes[node].Addr())
		require.NoError(g.t, err)
		c.Limit = redistest.Limit
		g.conns[id] = c
		_, err = c.Do("CLIENT", "SETNAME", worker)
		require.NoError(g.t, err)
	}
	v, err := g.conns[id].Do(words...)
	require.NoError(g.t, err)
	g.say("%d %s at %d: %s -> %s", g.now, worker, node+1, strings.Join(words, " "), text(v))
	return v
}

// masters returns the nodes that are masters now.
func (g *group) masters() (all []int) {
	for i, n := range g.nodes {
		if n.Do("ROLE").Elems[0].Str == "master" {
			all = append(all, i)
		}
	}
	return all
}

const renewOwn = `if redis.call('get', KEYS[1]) == ARGV[1] then ` +
	`return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`

func (g *group) step() {
	worker := fmt.Sprintf("w%d", g.dice.IntN(3))
	masters := g.masters()
	at := masters[g.dice.IntN(len(masters))]
	mine, holds := g.held[worker]
	holds = holds && mine.until >= g.now
	switch g.dice.IntN(12) {
	case 0, 1, 2, 3:
		if holds {
			return
		}
		g.tokens++
		token, lease := fmt.Sprintf("token-%d", g.tokens), 100+g.dice.Int64N(900)
		if g.do(worker, at, "SET", "lock:1", token, "NX", "PX", fmt.Sprint(lease)).Str != "OK" {
			return
		}
		for other, h := range g.held {
			g.two = g.two || other != worker && h.until >= g.now
		}
		g.held[worker] = heldLock{token, g.now + lease}
	case 4, 5:
		if holds && g.do(worker, at, "EVAL", compareAndDelete, "1", "lock:1", mine.token).Kind != '-' {
			delete(g.held, worker)
		}
	case 6:
		if holds && g.do(worker, at, "EVAL", renewOwn, "1", "lock:1", mine.token, "1500").Int == 1 {
			g.held[worker] = heldLock{mine.token, g.now + 1500}
		}
	case 7, 8:
		ms := 50 + g.dice.Int64N(600)
		g.nodes.Clock().Advance(time.Duration(ms) * time.Millisecond)
		g.now += ms
		g.say("%d ms pass", ms)
	case 9:
		hold := g.dice.IntN(2) == 0
		if hold {
			g.nodes[at].Hold()
		} else {
			g.nodes[at].Release()
			g.nodes[at].Synced()
		}
		g.say("the stream of %d stands still: %v", at+1, hold)
	default:
		if len(masters) > 1 {
			return
		}
		words := []string{"LAB", "FAILOVER"}
		if g.dice.IntN(3) == 0 {
			words = append(words, "LEAVE")
		}
		v, err := g.nodes[at].Try(words...)
		g.say("%s -> %v %v", strings.Join(words, " "), v.Int, err)
		for _, m := range g.masters() {
			g.nodes[m].Release()
			g.nodes[m].Synced()
		}
	}
}

const compareAndDelete = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`

// Workers take a lock while streams stand still and replicas are promoted. The truth is what they believe.
func TestTheVerdictOfRandomFailovers(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for seed := range chosen(t, 20) {
		srv := miniredistest.Run(brief{t}, miniredistest.Replicas(1+seed%2), miniredistest.FrozenAt(time.UnixMilli(start)))
		g := &group{t: t, nodes: srv.Nodes(), dice: rand.New(rand.NewPCG(uint64(seed), 7)),
			conns: map[string]*respclient.Conn{}, held: map[string]heldLock{}}
		for range 40 {
			g.step()
		}
		v := srv.Do("LAB", "VERDICT", "lock:*")
		said := field(v, "verdict").Str
		violated := said == "two-holders" || said == "not-linearizable"
		count[fmt.Sprint(g.two, " ", said)]++
		require.False(t, g.two && said == "safe", "FALSE SAFE, seed %d\n%s\n%s", seed, strings.Join(g.story, "\n"),
			field(v, "text").Str)
		require.False(t, !g.two && violated, "FALSE ALARM, seed %d\n%s\n%s", seed, strings.Join(g.story, "\n"),
			field(v, "text").Str)
		for _, c := range g.conns {
			_ = c.Close()
		}
		srv.Stop()
	}
	t.Log(count)
}
