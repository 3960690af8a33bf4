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
	"github.com/miniredisd/miniredisd/miniredistest"
)

// Programs in a cluster: the slot of the lock moves while clients hold it. Some moves are cut short or done wrong, and
// some clients do not go where they are sent.

// masters is how many masters a cluster has.
const masters = 3

// How a client meets MOVED and ASK. One that asks the importing node alone gets the lock while the old node has it.
const (
	follows  = "follows MOVED and ASK"
	halfway  = "follows MOVED, and ASK without ASKING"
	stays    = "follows nothing"
	intrudes = "sends ASKING to a node of its own"
)

// The verdict is right where slots move. SLOT_PROGRAMS=10000 plays more programs, SLOT_FIRST=2000 begins with another
// seed, and SLOT_PROGRAM=17 prints the one with this seed.
func TestProgramsWithMovingSlotsAreJudgedRight(t *testing.T) {
	t.Parallel()
	first, n := number(t, "SLOT_FIRST", 0), number(t, "SLOT_PROGRAMS", amount.Count(100, 1000))
	seen := judgeMany(t, first, n, readGrammar(t).drawSlots)
	require.Greater(t, 20*seen.two, seen.all, "too few programs with two holders")
}

func TestPrintOneProgramWithMovingSlots(t *testing.T) {
	seed := number(t, "SLOT_PROGRAM", -1)
	if seed < 0 {
		t.Skip("it is for people: SLOT_PROGRAM=17 prints the program with this seed")
	}
	printProgram(t, readGrammar(t).drawSlots(uint64(seed)))
}

// drawSlots makes the program of a seed in a cluster. A key beside the lock would be in another slot.
func (g grammar) drawSlots(seed uint64) program {
	p := g.draw(seed)
	for again := seed + 1<<32; p.blocks() || p.hasNeighbours(); again += 1 << 32 {
		p = g.draw(again)
	}
	dice := rand.New(rand.NewPCG(seed, 7))
	p.seed, p.cluster, p.watched = seed, true, "lock:*"
	p.names = ownName
	if dice.IntN(4) == 0 {
		p.names, p.tokens = noName, "random"
	}
	right := dice.IntN(2) == 0 // but for what a move does to it
	if right && p.tokens != "random" {
		p.tokens = "new"
	}
	for i := range p.clients {
		c := &p.clients[i]
		c.finds = oneOf(dice, follows, follows, follows, follows, halfway, stays, intrudes)
		if c.again = c.again && !right; right {
			c.release, c.skew, c.finds = p.way.releases[0], 0, follows
		}
		if right && c.renew != nil {
			c.renew = &p.way.renewals[0]
		}
		if dice.IntN(2) == 0 {
			c.troubles = nil
		}
	}
	lease := p.clients[0].lease
	if right || dice.IntN(2) == 0 {
		p.events = nil
	}
	for range 1 + dice.IntN(6) {
		p.events = append(p.events, drawOfSlots(dice, lease))
	}
	for i, e := range p.events {
		if strings.HasPrefix(e.do[0], "LAB CLOCK") {
			p.events[i].do = []string{strings.Replace(e.do[0], "LAB", "LAB ALL", 1)}
		}
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return int(a.at - b.at) })
	return p
}

// hasNeighbours reports whether the clients use other keys than the lock.
func (p program) hasNeighbours() bool {
	return p.way.setup != "" || slices.ContainsFunc(p.steps(), func(s string) bool { return strings.Contains(s, "{k}:") })
}

func drawOfSlots(dice *rand.Rand, lease time.Duration) event {
	e := event{at: portion(dice, 2*lease)}
	to := 1 + dice.IntN(masters)
	move := fmt.Sprintf("LAB CLUSTER MOVE {slot} TO %d", to)
	switch dice.IntN(10) {
	case 0, 1, 2:
		e.kind, e.do = "move", []string{move}
	case 3, 4, 5:
		e.kind, e.do = "half a move", []string{move + " STEP " + oneOf(dice, "IMPORTING", "MIGRATING", "KEYS")}
		if dice.IntN(2) == 0 {
			e.do = append(e.do, fmt.Sprintf("REST %d", portion(dice, lease).Milliseconds()), move)
		}
	case 6:
		e.kind, e.do = "a node with an old map", []string{"LAB CLUSTER STALE {owner}", move}
	case 7:
		e.kind, e.do = "a claim", []string{fmt.Sprintf("LAB CLUSTER STALE %d", 1+dice.IntN(masters)),
			fmt.Sprintf("AT %d CLUSTER SETSLOT {slot} NODE {id %d}", to, to)}
	case 8:
		e.kind, e.do = "MIGRATE by hand", []string{fmt.Sprintf("AT {owner} MIGRATE 127.0.0.1 {port %d} {k} 0 1000%s", to,
			oneOf(dice, "", " REPLACE", " COPY", " COPY REPLACE"))}
	default:
		e.kind, e.do = "move and loss", []string{move + " STEP KEYS", fmt.Sprintf("AT %d LAB CRASH LOSE ALL", to), move}
	}
	return e
}

// moves lets an event of a cluster happen. A node may refuse it.
func (w *world) moves(command string) {
	slot, owner := w.nodes.Slot(theLock), w.nodes.Owner(theLock)
	at := w.nodes[0]
	if owner != nil {
		at = owner
	}
	number := slices.Index(w.nodes, at) + 1
	command = strings.NewReplacer("{slot}", strconv.Itoa(slot), "{owner}", strconv.Itoa(number), "{k}",
		theLock).Replace(command)
	for i, n := range w.nodes {
		command = strings.ReplaceAll(command, fmt.Sprintf("{port %d}", i+1), strconv.Itoa(n.Port()))
		command = strings.ReplaceAll(command, fmt.Sprintf("{id %d}", i+1), n.Do("CLUSTER", "MYID").Str)
	}
	words := strings.Fields(command)
	if words[0] == "AT" {
		n, err := strconv.Atoi(words[1])
		require.NoError(w.t, err)
		at, words = w.nodes[n-1], words[2:]
	}
	if len(words) > 1 && words[1] == "CRASH" {
		w.lives.Add(1)
	}
	_, _ = at.Try(words...) // it may be refused, as a move to the owner itself
}

// isOfSlots reports whether an event belongs to a cluster.
func isOfSlots(command string) bool {
	return strings.HasPrefix(command, "LAB CLUSTER") || strings.HasPrefix(command, "AT ")
}

// goesOn sends a request where the reply says.
func (c *actor) goesOn(request []string, is outcome) outcome {
	const most = 5
	for range most {
		word, address, _ := strings.Cut(strings.TrimPrefix(c.reply, "-"), " ")
		_, address, _ = strings.Cut(address, " ")
		switch {
		case is == unknown || c.finds == stays || c.finds == intrudes:
			return is
		case word == "TRYAGAIN":
			c.rest(10 * time.Millisecond)
			is = c.sendHere(request)
		case word == "MOVED" || word == "ASK" && c.finds == halfway:
			c.turnTo(c.world.place(address))
			is = c.sendHere(request)
		case word == "ASK":
			is = c.asksAt(c.world.place(address), request)
		default:
			return is
		}
	}
	if is != unknown {
		c.acted = false
	}
	return is
}

// asksAt sends a request to a node behind ASKING.
func (c *actor) asksAt(node int, request []string) outcome {
	home := c.at
	c.turnBack(node)
	defer c.turnBack(home)
	if is := c.sendHere([]string{"ASKING"}); is == unknown {
		return is
	}
	return c.sendHere(request)
}

// place returns the place of the node with an address.
func (w *world) place(address string) int {
	return slices.IndexFunc(w.nodes, func(n *miniredistest.Server) bool { return n.Addr() == address })
}
