package replicas

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	step  = 100 * time.Millisecond // between two cuts
	round = 20 * time.Second       // after which the data are compared
)

// disturb lets clients write, and cuts links meanwhile.
func (c *campaign) disturb(length time.Duration) {
	for end := time.Now().Add(length); time.Now().Before(end); {
		c.disturbOnce(min(round, time.Until(end)))
		if time.Now().Before(end) {
			c.requireEqual("after a round")
		}
	}
}

func (c *campaign) disturbOnce(length time.Duration) {
	var replicas []string
	for _, n := range c.nodes {
		if n != c.top {
			replicas = append(replicas, n.addr)
		}
	}
	l := newLoad(c.t, c.r.Uint64()>>8, c.group.newer, c.top.addr, replicas)
	pace := time.NewTicker(step)
	defer pace.Stop()
	isQuiet := false // nothing is cut until all links are up, so that a full synchronization has an end
	for end := time.Now().Add(length); time.Now().Before(end); <-pace.C {
		if c.r.IntN(10) == 0 {
			l.calm.Store([]int32{0, 1, 4, 20}[c.r.IntN(4)])
		}
		c.open(false)
		if isQuiet = isQuiet || c.r.IntN(40) == 0; isQuiet {
			isQuiet = !c.areUp()
			continue
		}
		c.nuisance(l)
	}
	c.open(true)
	require.NoError(c.t, l.stop())
	c.commands += l.commands.Load()
}

// nuisance cuts a link, and sometimes does something else.
func (c *campaign) nuisance(l *load) {
	n := c.nodes[c.r.IntN(len(c.nodes))]
	switch c.r.IntN(30) {
	case 0:
		n.admin.Do("CONFIG", "SET", "repl-diskless-sync", []string{"yes", "no"}[c.r.IntN(2)])
	case 1:
		how := []string{"disabled", "on-empty-db", "swapdb"}[c.r.IntN(3)]
		n.admin.Do("CONFIG", "SET", "repl-diskless-load", how)
	case 2:
		n.admin.Do("BGSAVE")
	case 3:
		n.admin.Do("CLIENT", "KILL", "TYPE", "replica")
	case 4:
		n.admin.Do("CLIENT", "KILL", "TYPE", "master")
	case 5:
		if n.link != nil {
			n.link.shut(true)
			c.shut = append(c.shut, n)
		}
	case 6:
		n.admin.Do("CONFIG", "SET", "appendonly", []string{"yes", "no"}[c.r.IntN(2)])
	case 7:
		n.admin.Do("CONFIG", "SET", "rdb-key-save-delay", []string{"0", "0", "20"}[c.r.IntN(3)])
	}
	for n = c.top; n == c.top; {
		n = c.nodes[c.r.IntN(len(c.nodes))]
	}
	n.link.cut(c.r.IntN(2) == 0)
}

// open opens the links that are shut, or some of them.
func (c *campaign) open(all bool) {
	c.shut = slices.DeleteFunc(c.shut, func(n *node) bool {
		isOpen := all || c.r.IntN(6) == 0
		if isOpen && n.link != nil {
			n.link.shut(false)
		}
		return isOpen
	})
}

func (c *campaign) areUp() bool {
	return !slices.ContainsFunc(c.nodes, func(n *node) bool {
		return n != c.top && n.info("master_link_status") != "up"
	})
}
