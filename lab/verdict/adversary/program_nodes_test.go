package adversary

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/miniredistest"
)

// Programs on a master with replicas: the stream stands still or comes late, replicas are promoted, and clients go to
// the node that they take for the master.

// How a client finds the master.
const (
	asks   = "asks before each step"
	moves  = "moves after an error"
	remain = "remains where it is"
)

// The verdict is right where replicas are promoted. FAILOVER_PROGRAMS=10000 plays more programs,
// FAILOVER_FIRST=2000 begins with another seed, and FAILOVER_PROGRAM=17 prints the one with this seed.
func TestProgramsWithFailoversAreJudgedRight(t *testing.T) {
	t.Parallel()
	first, n := number(t, "FAILOVER_FIRST", 0), number(t, "FAILOVER_PROGRAMS", amount.Count(100, 2000))
	seen := judgeMany(t, first, n, readGrammar(t).drawNodes)
	require.Greater(t, 10*seen.two, seen.all, "too few programs with two holders")
}

func TestPrintOneProgramWithFailovers(t *testing.T) {
	seed := number(t, "FAILOVER_PROGRAM", -1)
	if seed < 0 {
		t.Skip("it is for people: FAILOVER_PROGRAM=17 prints the program with this seed")
	}
	printProgram(t, readGrammar(t).drawNodes(uint64(seed)))
}

// drawNodes makes the program of a seed on a master with replicas.
func (g grammar) drawNodes(seed uint64) program {
	p := g.draw(seed)
	dice := rand.New(rand.NewPCG(seed, 5))
	p.replicas = 1 + dice.IntN(2)
	if p.names != oneName { // without a name, a client that goes to another node is another one for a reader of the log
		p.names = ownName
	}
	right := dice.IntN(2) == 0 // but for what a failover does to it
	if right {
		p.names, p.tokens = ownName, "new"
	}
	for i := range p.clients {
		c := &p.clients[i]
		if c.again = c.again && !right; right {
			c.release, c.skew = p.way.releases[0], 0
		}
		if right && c.renew != nil {
			c.renew = &p.way.renewals[0]
		}
		c.finds = oneOf(dice, asks, asks, moves, moves, remain)
		between := strings.Contains(p.way.take[len(p.way.take)-1], ":note") // it believes before it waits
		if dice.IntN(3) == 0 && !between {
			c.waits = 1 + dice.IntN(p.replicas)
		}
		c.looks = dice.IntN(6) == 0
		if dice.IntN(2) == 0 {
			c.troubles = nil
		}
	}
	lease := p.clients[0].lease
	if right || dice.IntN(2) == 0 {
		p.events = nil
	}
	for range 1 + dice.IntN(5) {
		p.events = append(p.events, drawOfNodes(dice, p.replicas, lease))
	}
	for i, e := range p.events {
		if strings.HasPrefix(e.do[0], "LAB CLOCK") {
			p.events[i].do = []string{strings.Replace(e.do[0], "LAB", "LAB ALL", 1)}
		}
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return int(a.at - b.at) })
	return p
}

func drawOfNodes(dice *rand.Rand, replicas int, lease time.Duration) event {
	e := event{at: portion(dice, 2*lease)}
	failover := oneOf(dice, "LAB FAILOVER", "LAB FAILOVER LEAVE")
	switch dice.IntN(10) {
	case 0:
		e.kind, e.do = "hold", []string{"LAB REPLICATION HOLD"}
	case 1:
		e.kind, e.do = "release", []string{"LAB REPLICATION RELEASE"}
	case 2:
		e.kind, e.do = "lag", []string{fmt.Sprintf("LAB REPLICATION LAG %d", portion(dice, lease/2).Milliseconds())}
	case 3, 4, 5, 6:
		e.kind, e.do = "failover after a hold", []string{"LAB REPLICATION HOLD", fmt.Sprintf("REST %d",
			portion(dice, lease).Milliseconds()), failover}
	case 7:
		e.kind, e.do = "failover", []string{fmt.Sprintf("LAB FAILOVER TO {port %d}%s", dice.IntN(replicas+1),
			oneOf(dice, "", " LEAVE"))}
	case 8:
		crash := fmt.Sprintf("LAB CRASH LOSE %s DOWN %d", oneOf(dice, "ALL", "NOTHING"),
			portion(dice, lease).Milliseconds())
		e.kind, e.do = "crash and failover", []string{crash, failover}
	default:
		e.kind, e.do = "failover", []string{failover}
	}
	return e
}

// findsMaster turns to the node that the client takes for the master.
func (c *actor) findsMaster() {
	if c.finds == asks || c.finds == moves && c.failed {
		c.turnTo(c.world.master())
	}
}

// looksAt turns to a replica for a step that only reads, if the client does so.
func (c *actor) looksAt(step string) {
	first, _, _ := strings.Cut(step, " ")
	if c.plan.looks && first != "WATCH" && slices.Contains(looking(), first) {
		c.turnTo((c.world.master() + 1) % len(c.links))
	}
}

func (c *actor) turnTo(node int) { c.at, c.link, c.failed = node, c.links[node], false }

func (c *actor) turnBack(node int) { c.at, c.link = node, c.links[node] }

// confirmed reports whether enough replicas have the lock, if the client asks for that.
func (c *actor) confirmed() bool {
	if c.waits == 0 {
		return true
	}
	is := c.ask(fmt.Sprintf("WAIT %d 100", c.waits))
	n, err := strconv.Atoi(c.reply)
	switch {
	case is == unknown:
		c.mayBelieve(forever)
	case err == nil && n >= c.waits:
		return true
	default:
		c.mayBelieve(c.world.now())
	}
	return false
}

// master returns the newest master.
func (w *world) master() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leader
}

// fails lets a LAB FAILOVER happen. It may be refused, as one to the master itself.
func (w *world) fails(command string) {
	for i, n := range w.nodes {
		command = strings.ReplaceAll(command, fmt.Sprintf("{port %d}", i), strconv.Itoa(n.Port()))
	}
	v, err := w.nodes[w.master()].Try(strings.Fields(command)...)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leader = slices.IndexFunc(w.nodes, func(n *miniredistest.Server) bool { return n.Port() == int(v.Int) })
}

// sameTime gives the entries of several nodes the time of the program, in the order in which they happened: no real
// time passes in a bubble.
func sameTime(histories []lab.History) {
	moved, last := make([]int64, len(histories)), int64(0)
	for _, at := range lab.InOrder(histories) {
		e := &histories[at.History].Entries[at.Index]
		last = max(last+1, (e.Time-moved[at.History])*1000)
		e.Mono = last
		if e.Event == lab.EventClock {
			moved[at.History] += e.To - e.From
		}
	}
}
