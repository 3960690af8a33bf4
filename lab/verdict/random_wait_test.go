package verdict

import (
	"crypto/sha1"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// promote makes a replica a master. The old master continues, or follows it.
func (c *crew) promote() {
	i := 1 + c.dice.IntN(len(c.nodes)-1)
	n := c.nodes[i]
	if n.leads {
		return
	}
	old := c.nodes[n.follows]
	from := n.follows
	n.states = slices.Clone(old.states[:n.has+1])
	c.say(i, "promoted %d %s @%d", from+1, old.stream, n.newest().offset)
	n.leads, n.stream = true, string(rune('A'+c.streams))
	c.streams++
	if c.chance(2) {
		return
	}
	for _, w := range c.workers {
		if w.blocked != "" && w.at == from {
			c.say(from, "%s %s = -UNBLOCKED x", w.name, w.blocked)
			w.blocked = ""
			c.heard(w, false)
		}
	}
	c.say(from, "demoted %d %s @%d", i+1, old.stream, old.newest().offset)
	c.follow(from, i)
}

func (c *crew) follow(node, master int) {
	n, m := c.nodes[node], c.nodes[master]
	n.leads, n.follows, n.has, n.stream = false, master, len(m.states)-1, m.stream
	n.states = slices.Clone(m.states)
	c.say(node, "synced %d %s full @%d", master+1, m.stream, m.newest().offset)
	for i, r := range c.nodes {
		if !r.leads && r.follows == node && i != node {
			c.follow(i, node)
		}
	}
}

// progress lets a replica receive a part of what its master has done.
func (c *crew) progress() {
	n := c.nodes[c.dice.IntN(len(c.nodes))]
	if !n.leads {
		if most := len(c.nodes[n.follows].states) - 1; most > n.has {
			n.has += 1 + c.dice.IntN(most-n.has)
		}
	}
}

// crash ends a master and its connections. It starts again with its keys or without them.
func (c *crew) crash(node int) {
	n := c.nodes[node]
	asks := func(w *crewWorker) bool { return (w.asks && w.blocked == "" || w.late != nil) && w.at == node }
	if !n.leads || slices.ContainsFunc(c.workers, asks) { // a WAIT that is never sent is in no log
		return
	}
	n.stream = string(rune('A' + c.streams))
	c.streams++
	if c.chance(2) {
		n.states = []crewState{{}}
		c.say(node, "crash / %s @0", n.stream)
	} else {
		n.states = n.states[len(n.states)-1:]
		c.say(node, "crash kept / %s @%d", n.stream, c.offset(node))
	}
	for i, r := range c.nodes {
		if !r.leads && r.follows == node {
			c.follow(i, node)
		}
	}
	for _, w := range c.workers {
		if w.at != node {
			continue
		}
		if w.mine = 0; w.blocked != "" {
			w.blocked, w.asks = "", false
			if c.chance(2) {
				c.believesAll(w)
			} else {
				c.forgets(w)
			}
		}
	}
}

func (c *crew) step() {
	w := c.workers[c.dice.IntN(len(c.workers))]
	node := c.dice.IntN(len(c.nodes))
	key := []string{"lock:x", "lock:x", "lock:y"}[c.dice.IntN(3)]
	if hear := w.late; hear != nil && c.chance(2) {
		w.late = nil
		hear()
		return
	}
	switch dice := c.dice.IntN(14); {
	case dice < 2:
		c.now += 10 * (1 + c.dice.IntN(60))
	case dice < 4:
		c.progress()
	case dice == 4 && c.chance(2):
		c.promote()
	case dice == 4 && c.chance(2):
		c.crash(node)
	case w.late != nil:
	case w.asks:
		c.ask(w)
	case dice < 9 && !w.busy(c.now):
		if c.nodes[node].leads {
			c.take(w, node)
		}
	case dice < 11:
		c.release(w, node, key)
	case dice < 13:
		c.renew(w, node, key)
	default: // a script of a stranger finds another token
		if k := c.lock(node, key); k.token != "" && c.nodes[node].leads {
			c.say(node, "z > GET %s = %s @%d", key, k.token, c.offset(node))
			c.say(node, "z EVALSHA %x 1 %s other = 0 @%d", sha1.Sum([]byte(crewScript)), key, c.offset(node))
		}
	}
}

// Workers ask by WAIT behind their grants or do not, and some ignore its reply. No verdict may be wrong.
func TestTheVerdictOfRandomWaits(t *testing.T) {
	count, n := map[string]int{}, 400
	if more := os.Getenv("RANDOM_HISTORIES"); more != "" {
		var err error
		n, err = strconv.Atoi(more)
		require.NoError(t, err)
	}
	wrong := 0
	for seed := range n {
		c := newCrew(uint64(seed))
		for range 6 + c.dice.IntN(40) {
			c.step()
		}
		for _, w := range c.workers {
			if w.asks && w.late == nil {
				c.ask(w)
			}
		}
		if len(c.lines) == 0 {
			continue
		}
		v, text := judgedNodes(t, strings.Join(c.lines, "\n"))
		count[fmt.Sprint(c.two, " ", v.Result())]++
		if c.two && v.Result() == Safe || !c.two && v.Violated() {
			wrong++
			t.Errorf("seed %d: two %v\n%s\n%s", seed, c.two, strings.Join(c.lines, "\n"), text)
		}
		require.Less(t, wrong, 3, "these are enough")
	}
	t.Log(count)
}
