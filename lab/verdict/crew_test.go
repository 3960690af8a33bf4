package verdict

import (
	"cmp"
	"crypto/sha1"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
)

// crew is a master, two replicas, and workers that ask by WAIT whether replicas have their lock. It writes a history
// and knows what the workers believe.
type crew struct {
	dice    *rand.Rand
	now     int
	nodes   []*crewNode
	workers []*crewWorker
	streams int
	tokens  int
	two     bool
	lines   []string
}

type crewNode struct {
	leads, waitsOnly bool
	stream           string
	states           []crewState // the last one is the present one; what replicas may have
	follows, has     int         // the master of a replica, and the index of its state there
}

type crewState struct {
	offset int
	keys   map[string]crewKey
}

type crewKey struct {
	token string
	until int
}

// crewWorker is a client with a connection to each node. It wants lock:x, and sometimes lock:y as well.
type crewWorker struct {
	name    string
	locks   map[string]*crewHold
	at      int
	asks    bool     // its next request is a WAIT
	about   []string // the locks that it asks for
	blocked string
	late    func() // what it does when it gets a late reply
	mine    int    // the state that has its newest write
}

// crewHold is a lock that a worker was granted, and whether it believes in it.
type crewHold struct {
	token string
	until int
	holds bool
}

func (w *crewWorker) lock(key string) *crewHold {
	if w.locks[key] == nil {
		w.locks[key] = &crewHold{}
	}
	return w.locks[key]
}

func (w *crewWorker) busy(now int) bool {
	for _, h := range w.locks {
		if h.holds && h.until >= now {
			return true
		}
	}
	return false
}

const crewScript = `return(redis.call('get',KEYS[1])==ARGV[1])and(redis.call('del',KEYS[1]))or(0)`

func newCrew(seed uint64) *crew {
	c := &crew{dice: rand.New(rand.NewPCG(seed, 19)), now: 1000, streams: 1}
	for i := range 3 {
		c.nodes = append(c.nodes, &crewNode{leads: i == 0, stream: "A", states: []crewState{{}}})
	}
	for _, name := range []string{"a", "b", "c"} {
		c.workers = append(c.workers, &crewWorker{name: name, locks: map[string]*crewHold{}})
	}
	return c
}

func (c *crew) chance(n int) bool { return c.dice.IntN(n) == 0 }

func (c *crew) say(node int, format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf("%d %d ", node+1, c.now)+fmt.Sprintf(format, args...))
}

func (n *crewNode) newest() crewState { return n.states[len(n.states)-1] }

// write puts a key at a node, or deletes it, and returns the offset.
func (c *crew) write(node int, key string, to crewKey) int {
	n := c.nodes[node]
	last := n.newest()
	next := crewState{last.offset + 30, maps.Clone(last.keys)}
	if next.keys == nil {
		next.keys = map[string]crewKey{}
	}
	if next.keys[key] = to; to.token == "" {
		delete(next.keys, key)
	}
	n.states = append(n.states, next)
	return next.offset
}

// lock returns a lock at a node. A lease that is over ends there.
func (c *crew) lock(node int, key string) crewKey {
	k := c.nodes[node].newest().keys[key]
	if k.token != "" && c.now > k.until && c.nodes[node].leads {
		c.say(node, "expired %s @%d", key, c.write(node, key, crewKey{}))
		return crewKey{}
	}
	return k
}

// believes begins the hold of a worker.
func (c *crew) believes(w *crewWorker, key string) {
	mine := w.lock(key)
	mine.holds = mine.token != ""
	for _, o := range c.workers {
		other := o.lock(key)
		c.two = c.two || mine.holds && o != w && other.holds && other.until >= c.now && mine.until >= c.now
	}
}

func (c *crew) offset(node int) int { return c.nodes[node].newest().offset }

func (c *crew) takeOne(w *crewWorker, node int, key string) bool {
	c.tokens++
	token := fmt.Sprintf("token-%d", c.tokens)
	lease := 105 + 10*c.dice.IntN(300)
	if k := c.lock(node, key); k.token != "" {
		c.say(node, "%s SET %s %s NX PX %d = nil @%d", w.name, key, token, lease, c.offset(node))
		return false
	}
	*w.lock(key) = crewHold{token, c.now + lease, false}
	at := c.write(node, key, crewKey{token, c.now + lease})
	w.at, w.mine = node, len(c.nodes[node].states)-1
	if c.chance(15) {
		c.say(node, "%s SET %s %s NX PX %d = OK lost @%d", w.name, key, token, lease, at)
		if c.chance(2) { // else it believes in its lock
			*w.lock(key) = crewHold{}
		}
		return w.lock(key).token != ""
	}
	if c.chance(4) {
		c.say(node, "%s > SET %s %s NX PX %d = OK @%d", w.name, key, token, lease, at)
		c.say(node, "%s EVALSHA 7a4e 1 %s %s %d = OK @%d", w.name, key, token, lease, at)
		return true
	}
	c.say(node, "%s SET %s %s NX PX %d = OK @%d", w.name, key, token, lease, at)
	return true
}

// take takes a lock or two, and may ask for both of them or for the last one.
func (c *crew) take(w *crewWorker, node int) {
	if !c.takeOne(w, node, "lock:x") {
		return
	}
	w.asks, w.about = c.chance(2), []string{"lock:x"}
	if c.chance(3) {
		pipeline := w.asks && c.chance(2)
		if !pipeline {
			c.believes(w, "lock:x")
		}
		switch both := c.takeOne(w, node, "lock:y"); {
		case pipeline && both:
			w.about = append(w.about, "lock:y")
		case pipeline: // it asks for the first one
		case !both:
			w.asks = false
			return
		default:
			w.about = []string{"lock:y"}
		}
	}
	if w.asks {
		return
	}
	for _, key := range w.about {
		c.believes(w, key)
	}
	switch c.dice.IntN(5) { // then a WAIT behind it is none for the lock
	case 0:
		c.say(node, "%s unseen", w.name)
	case 1:
		c.say(node, "%s INCR lock:fence = %d @%d", w.name, c.tokens, c.write(node, "lock:fence", crewKey{token: "1"}))
	default:
		return
	}
	c.say(node, "%s WAIT 2 100 = %d", w.name, c.dice.IntN(3))
}

// told returns how many replicas have what a worker wrote.
func (c *crew) told(w *crewWorker) (n int) {
	for i, r := range c.nodes {
		if i != w.at && !r.leads && r.follows == w.at && r.has >= w.mine {
			n++
		}
	}
	return n
}

// ask sends WAIT, or gets its reply.
func (c *crew) ask(w *crewWorker) {
	words := w.blocked
	if words == "" {
		words = fmt.Sprintf("WAIT %d 100", c.dice.IntN(3))
		if c.chance(5) {
			words = fmt.Sprintf("WAITAOF 0 %d 100", c.dice.IntN(3))
		}
		if c.nodes[w.at].leads && c.chance(3) {
			w.blocked = words
			c.say(w.at, "%s %s held", w.name, words)
			return
		}
	}
	if !c.nodes[w.at].leads {
		c.say(w.at, "%s %s = -ERR WAIT cannot be used with replica instances", w.name, words)
		c.heard(w, false)
		return
	}
	if w.blocked == "" && c.chance(10) {
		c.say(w.at, "%s %s = -ERR by a rule refused", w.name, words)
		c.heard(w, false)
		return
	}
	fields := strings.Fields(words)
	asked, _ := strconv.Atoi(fields[len(fields)-2])
	told := c.told(w)
	reply, lost := strconv.Itoa(told), ""
	if fields[0] == "WAITAOF" {
		reply = fmt.Sprintf("[1 %d]", told)
	}
	if c.chance(8) {
		lost = " lost"
	}
	if lost == "" && c.chance(8) {
		lost, w.late = " late", func() { c.heard(w, told >= asked) }
	}
	c.say(w.at, "%s %s = %s%s", w.name, words, reply, lost)
	if w.blocked = ""; w.late == nil {
		c.heard(w, told >= asked && lost == "")
	}
}

// heard is what a worker does when WAIT has told it of enough replicas, or of too few.
func (c *crew) heard(w *crewWorker, enough bool) {
	w.asks = false
	switch {
	case enough:
		c.believesAll(w)
		if c.chance(6) { // and asks for more
			c.say(w.at, "%s WAIT 2 100 = %d", w.name, c.told(w))
		}
	case c.chance(3):
		w.asks = true
		if c.chance(3) {
			c.believesAll(w) // and yet it asks again
		}
	case c.chance(3):
		c.believesAll(w) // it ignores the reply
	case c.chance(2):
		for _, key := range w.about {
			c.release(w, w.at, key)
		}
	default:
		c.forgets(w)
	}
}

func (c *crew) believesAll(w *crewWorker) {
	for _, key := range w.about {
		c.believes(w, key)
	}
}

func (c *crew) forgets(w *crewWorker) {
	for _, key := range w.about {
		*w.lock(key) = crewHold{}
	}
}

func (c *crew) release(w *crewWorker, node int, key string) {
	mine := w.lock(key)
	if mine.token == "" {
		return
	}
	line := "EVAL " + crewScript
	if c.chance(2) {
		line = fmt.Sprintf("EVALSHA %x", sha1.Sum([]byte(crewScript)))
	}
	line += " 1 " + key + " " + mine.token
	blind := c.chance(4)
	if blind {
		line = "DEL " + key
	}
	if !c.nodes[node].leads {
		refused := map[bool]string{true: " refused"}[blind]
		c.say(node, "%s %s = -READONLY x%s", w.name, line, refused)
		if c.chance(2) { // else it continues
			*mine = crewHold{}
		}
		return
	}
	k := c.lock(node, key)
	if blind && k.token != mine.token {
		return // a mistake
	}
	reply, at := "0", c.offset(node)
	if !blind {
		c.say(node, "%s > GET %s = %s @%d", w.name, key, cmp.Or(k.token, "nil"), at)
	}
	if k.token == mine.token {
		reply, at = "1", c.write(node, key, crewKey{})
		if !blind {
			c.say(node, "%s > DEL %s = 1 @%d", w.name, key, at)
		}
	}
	if c.chance(8) {
		reply += " lost"
	}
	c.say(node, "%s %s = %s @%d", w.name, line, reply, at)
	*mine = crewHold{}
}

func (c *crew) renew(w *crewWorker, node int, key string) {
	mine := w.lock(key)
	if !mine.holds || mine.until < c.now || !c.nodes[node].leads || c.lock(node, key).token != mine.token {
		return
	}
	lease := 505 + 10*c.dice.IntN(200)
	mine.until = c.now + lease
	line := fmt.Sprintf("SET %s %s XX PX %d = OK", key, mine.token, lease)
	if c.chance(2) {
		line = fmt.Sprintf("PEXPIRE %s %d = 1", key, lease)
	}
	c.say(node, "%s %s @%d", w.name, line, c.write(node, key, crewKey{mine.token, mine.until}))
	c.believes(w, key)
}
