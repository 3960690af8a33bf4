package adversary

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// program is a program that uses a lock. One seed is one program, and one run of it is one history.
type program struct {
	seed    uint64
	way     way
	names   string // of the connections
	tokens  string // new for each attempt, own of each client, or one of all
	clients []plan
	events  []event
	watched string

	replicas int
	cluster  bool
}

// plan is what a client does.
type plan struct {
	start    time.Duration
	rounds   int // how often it wants the lock
	tries    int // ... and asks for it each time
	lease    time.Duration
	work     time.Duration // while it has the lock
	think    time.Duration // between two tries
	every    time.Duration // between two renewals
	renew    *move         // nil: it does not renew
	release  move
	again    bool          // it releases once more, by mistake
	sha      bool          // it calls scripts by their SHA1
	slow     time.Duration // between the steps of a take, a renewal or a release
	unheard  string        // what it does if the reply to a take does not come
	timeout  time.Duration // for a reply
	dies     int           // the round in which it ends, with the lock; 0 is never
	closes   bool          // ... and its connection ends
	skew     time.Duration // of its clock
	troubles []trouble

	// With replicas:
	finds string // the master; in a cluster: the node that serves the slot
	waits int    // for so many replicas that have its lock
	looks bool   // at a replica, if a step only reads
}

// trouble is what happens to one request of a client.
type trouble struct {
	nth    int // from 1
	action string
	pause  time.Duration // before it sends it
}

// event is what somebody else does.
type event struct {
	at   time.Duration
	kind string
	do   []string
}

// The names of the connections.
const (
	ownName = "each client has its own"
	noName  = "none"
	oneName = "one of all"
	oneLink = "one of all, who share one connection"
	noPool  = "none, and two connections for all"
)

// What a client does if the reply to its take does not come.
const (
	givesUp   = "gives up"
	sameToken = "tries again with the same token"
	newToken  = "tries again with another token"
	looks     = "looks whether the lock has its token"
)

// draw makes the program of a seed.
func (g grammar) draw(seed uint64) program {
	dice := rand.New(rand.NewPCG(seed, 3))
	p := program{seed: seed, way: oneOf(dice, g...), names: ownName, tokens: "new", watched: "lock:*"}
	if dice.IntN(4) == 0 {
		p.watched = "*"
	}
	if dice.IntN(8) == 0 { // workers of one lock seldom share a connection or a name
		p.names = oneOf(dice, noName, oneName, oneLink, noPool)
	}
	if dice.IntN(4) == 0 {
		p.tokens = oneOf(dice, "own", "one")
	}
	if strings.HasPrefix(p.way.name, "Redisson's") { // it makes the token of the client and its thread
		p.tokens = "own"
	}
	lease := oneOf(dice, time.Second, 5*time.Second, 30*time.Second)
	for range p.way.holders() + 1 + dice.IntN(3) {
		p.clients = append(p.clients, p.drawPlan(dice, lease))
	}
	if p.shared() && p.blocks() {
		p.names = oneName
	}
	for range dice.IntN(4) {
		p.events = append(p.events, drawEvent(dice, lease))
	}
	return p
}

// shared reports whether several clients use one connection.
func (p program) shared() bool { return p.names == oneLink || p.names == noPool }

// blocks reports whether clients keep their connection for more than one request, or wait in it.
func (p program) blocks() bool {
	return slices.ContainsFunc(p.steps(), func(s string) bool {
		return strings.HasPrefix(s, "WATCH") || strings.HasPrefix(s, "MULTI") || strings.HasPrefix(s, "BLPOP")
	})
}

func oneOf[T any](dice *rand.Rand, all ...T) T { return all[dice.IntN(len(all))] }

// portion returns a random part of d, whole ms.
func portion(dice *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(1+dice.Int64N(d.Milliseconds())) * time.Millisecond
}

func (p *program) drawPlan(dice *rand.Rand, lease time.Duration) plan {
	c := plan{
		start: portion(dice, lease/2), rounds: 1 + dice.IntN(3), tries: 1 + dice.IntN(6), lease: lease,
		work: portion(dice, lease), think: portion(dice, lease/3),
		timeout: oneOf(dice, 2*time.Second, time.Minute) + time.Millisecond/2,
		unheard: oneOf(dice, givesUp, sameToken, newToken, looks), release: chosenMove(dice, p.way.releases),
	}
	if dice.IntN(4) == 0 {
		c.work = lease + portion(dice, lease) // a pause beyond the lease, if it does not renew
	}
	if len(p.way.renewals) > 0 && dice.IntN(2) == 0 {
		renew := chosenMove(dice, p.way.renewals)
		c.renew, c.every = &renew, lease/oneOf[time.Duration](dice, 2, 3)
		if dice.IntN(6) == 0 {
			c.every = lease + portion(dice, lease/2) // too late
		}
		c.work = lease/2 + portion(dice, 2*lease)
	}
	c.again, c.sha = dice.IntN(10) == 0, dice.IntN(3) == 0
	if dice.IntN(8) == 0 {
		c.dies, c.closes = 1+dice.IntN(c.rounds), dice.IntN(2) == 0
	}
	if dice.IntN(8) == 0 {
		c.skew = oneOf[time.Duration](dice, -1, 1) * portion(dice, 2*lease)
	}
	if dice.IntN(3) == 0 {
		c.slow = portion(dice, lease)
	}
	if p.tokens != "new" {
		c.unheard = givesUp // a token that it has used before proves nothing
	}
	for range max(0, dice.IntN(4)-1) {
		c.troubles = append(c.troubles, drawTrouble(dice, lease))
	}
	return c
}

// chosenMove returns a right move or, less often, one with a hole.
func chosenMove(dice *rand.Rand, all []move) move {
	hole := dice.IntN(3) == 0
	some := slices.DeleteFunc(slices.Clone(all), func(m move) bool { return (m.hole != "") != hole })
	if len(some) == 0 {
		some = all
	}
	return oneOf(dice, some...)
}

func drawTrouble(dice *rand.Rand, lease time.Duration) trouble {
	t := trouble{nth: 1 + dice.IntN(10)}
	if dice.IntN(5) == 0 {
		t.pause = portion(dice, 2*lease)
		return t
	}
	ms := portion(dice, 2*lease).Milliseconds()
	t.action = oneOf(dice, "DROP-REPLY", "DROP-BEFORE", "RESET-AFTER", "RESET-BEFORE", "SILENT", "CUT 2",
		fmt.Sprintf("DELAY-REPLY %d", ms), fmt.Sprintf("DELAY-EXEC %d", ms), fmt.Sprintf("DELAY-REPLY %d", ms/10+1),
		fmt.Sprintf("DELAY-EXEC %d", ms/10+1), `ERROR "ERR by a rule"`, `ERROR-AFTER "ERR by a rule"`)
	return t
}

func drawEvent(dice *rand.Rand, lease time.Duration) event {
	e := event{at: portion(dice, 2*lease)}
	switch dice.IntN(10) {
	case 0:
		e.kind, e.do = "crash", []string{"LAB CRASH LOSE ALL"}
	case 1:
		e.kind, e.do = "restart", []string{"LAB CRASH LOSE NOTHING"}
	case 2:
		e.kind, e.do = "crash", []string{fmt.Sprintf("LAB CRASH LOSE ALL DOWN %d", portion(dice, lease).Milliseconds())}
	case 3:
		e.kind, e.do = "clock", []string{fmt.Sprintf("LAB CLOCK ADVANCE %d", portion(dice, 2*lease).Milliseconds())}
	case 4:
		e.kind, e.do = "eviction", []string{"CONFIG SET maxmemory-policy allkeys-random maxmemory 1", "PUBLISH x y",
			"CONFIG SET maxmemory 0 maxmemory-policy noeviction"}
	default:
		all := []string{"DEL {k}", "FLUSHALL", "UNLINK {k}", "PEXPIRE {k} 300", "PEXPIRE {k} 90000",
			"PERSIST {k}", "RENAME {k} trash", "EXPIRE {k} 1 LT", "SWAPDB 0 1", "MOVE {k} 2", "SINTERSTORE {k} none",
			"SORT none STORE {k}", "GETDEL {k}", "GET {k}", `EVAL "return redis.call('DEL',KEYS[1])" 1 {k}`}
		if dice.IntN(3) == 0 { // a stranger deletes a lock more often than it writes a value of its own
			all = append(all, plants()...)
		}
		command := oneOf(dice, all...)
		e.kind, e.do = "stranger's "+strings.Fields(command)[0], []string{"SET other y", command}
	}
	return e
}

// holes returns the known mistakes that were put into the program.
func (p *program) holes() (all []string) {
	add := func(hole string) {
		if hole != "" && !slices.Contains(all, hole) {
			all = append(all, hole)
		}
	}
	add(p.way.hole)
	if p.tokens == "one" && !p.way.blind() {
		add("one token of all")
	}
	for _, c := range p.clients {
		if c.renew != nil {
			add(c.renew.hole)
		}
		add(c.release.hole)
		if c.again {
			add("a second release")
		}
	}
	return all
}

// plants are commands by which a stranger puts a value into the lock, as clients take it.
func plants() []string {
	return []string{"COPY other {k} REPLACE", "SET {k} foreign", "RENAME other {k}", "APPEND {k} x"}
}

// steps returns the requests that the clients send.
func (p program) steps() []string {
	all := slices.Concat(p.way.take, p.way.read)
	for _, c := range p.clients {
		if all = append(all, c.release.steps...); c.renew != nil {
			all = append(all, c.renew.steps...)
		}
	}
	return all
}
