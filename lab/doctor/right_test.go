package doctor

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// crowd plays many random clients on one server that make no mistake.
type crowd struct {
	*testing.T
	*rand.Rand
	d     *Doctor
	time  int64
	keys  []string
	held  map[string]grant
	lines int
}

// grant is a lock and its lease.
type grant struct {
	client int
	token  string
	until  int64
}

func (c *crowd) play(format string, args ...any) {
	c.lines++
	play(c.T, c.d, fmt.Sprintf("%d ", c.time)+fmt.Sprintf(format, args...))
}

// take tries for a lock, as one of a pool's connections.
func (c *crowd) take(client int, key string) {
	token := fmt.Sprintf("%016x", c.Uint64())
	if _, taken := c.held[key]; taken {
		c.play("a%d SET %s %s NX PX 500 = nil", client, key, token)
		return
	}
	c.play("a%d SET %s %s NX PX 500 = OK", client, key, token)
	c.held[key] = grant{client, token, c.time + 500}
}

// run sends a script that compares before it changes the lock, over any connection.
func (c *crowd) run(key string, g grant, then string) {
	client := g.client*10 + c.IntN(3)
	c.play("a%d > GET %s = %s", client, key, g.token)
	c.play("a%d > %s = 1", client, then)
	c.play("a%d EVALSHA abc 1 %s %s = 1", client, key, g.token)
}

func (c *crowd) step() {
	key := c.keys[c.IntN(len(c.keys))]
	g, taken := c.held[key]
	switch n := c.IntN(6); {
	case n == 0:
		c.time += c.Int64N(200)
		c.expire()
	case n == 1 && taken && g.until-c.time >= 200: // it leaves time for a second try
		c.run(key, g, "PEXPIRE "+key+" 500")
		g.until = c.time + 500
		c.held[key] = g
	case n == 2 && taken:
		c.run(key, g, "DEL "+key)
		delete(c.held, key)
	case n == 3:
		c.play("a%d gone", c.IntN(400))
	default:
		c.take(c.IntN(40), key)
	}
}

func (c *crowd) expire() {
	for _, key := range c.keys {
		if g, taken := c.held[key]; taken && g.until < c.time {
			c.play("expired %s", key)
			delete(c.held, key)
		}
	}
}

func TestACrowdWithoutMistakesGetsNoFinding(t *testing.T) {
	c := &crowd{
		T: t, Rand: rand.New(rand.NewPCG(1, 2)), d: New(nil, NewLedger(1, holders.KeepOnline), 0),
		time: 1000, held: map[string]grant{},
	}
	for i := range 5 {
		c.keys = append(c.keys, fmt.Sprintf("lock:%d", i))
	}
	for c.lines < 6_000 {
		c.step()
	}
	require.Empty(t, found(c.d, c.time))
	require.Empty(t, holders.Overlaps([][]holders.Holding{c.d.ledger.Holders.Table(0)}))
}
