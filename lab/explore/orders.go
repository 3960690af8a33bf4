package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// The rules of a trial are explore-1, explore-2 for its strikes, and explore-messages. A rule that has to hold
// all connections of a client is explore-all.

func ruleName(i int) string { return fmt.Sprintf("explore-%d", i+1) }

const holdsAll = "explore-all"

// orders returns what to send before the program starts.
func (e *Explorer) orders(strikes []Strike) (orders []Order, holds []Hold) {
	for node := range e.opt.Nodes() {
		orders = append(orders, Order{node + 1, []string{"LAB", "LOG", "WATCH", "*"}})
	}
	for master := range e.opt.Masters {
		if e.opt.isTopology() {
			orders = append(orders, Order{master + 1, words("REPLICATION WAIT")})
		}
		if e.opt.Replica {
			orders = append(orders, Order{master + 1, words("REPLICATION WAIT")}, Order{master + 1, words(replicaLags)})
		}
	}
	for i, s := range strikes {
		orders = append(orders, e.strike(i, s))
		if len(strikes) == 1 {
			orders = append(orders, e.turns(s)...)
		}
		if e.faults[s.Fault].deed != byRule {
			holds = append(holds, Hold{e.points[s.Point].Master, ruleName(i)})
		}
	}
	for master := range e.opt.Masters {
		if e.opt.Foreign != "" {
			break // a proxy passes messages on
		}
		orders = append(orders, Order{master + 1, words("FAULT ADD " + noted + " ACTION NOTE-PUSH")})
	}
	return orders, holds
}

// replicaLags makes the stream to a replica come late.
const replicaLags = "REPLICATION LAG 500"

// takeOver returns what lets the replica of a master take over, and then the master again: its address stays the same.
func (e *Explorer) takeOver(master int) []Order {
	replica := e.opt.Masters + master
	return []Order{{master, words("FAILOVER")}, {replica, words("REPLICATION WAIT")}, {replica, words("FAILOVER")},
		{master, words("REPLICATION WAIT")}, {master, words(replicaLags)}}
}

func words(line string, more ...string) []string {
	return append(append([]string{"LAB"}, strings.Fields(line)...), more...)
}

// strike returns the order that arms a fault.
func (e *Explorer) strike(i int, s Strike) Order {
	p, f := &e.points[s.Point], &e.faults[s.Fault]
	rule := words("FAULT ADD " + ruleName(i))
	order, n := p.order, p.N
	switch {
	case p.Message:
		rule = append(rule, "CMD", p.Command)
	case !p.byKind && e.tries[s] == 0 || p.Command == "EXEC":
	case p.script != "":
		rule = append(rule, "SCRIPT", p.script)
		order, n = p.kindOrder, p.kindN
	default:
		rule = append(rule, "CMD", strings.ToLower(p.Command))
		order, n = p.kindOrder, p.kindN
	}
	if p.glob != "" {
		rule = append(rule, "KEY", p.glob)
	}
	if p.named {
		rule = append(rule, "CLIENT", nameGlob(p.Client))
		order = 1
	}
	rule = append(rule, "ORDER", strconv.Itoa(order), "NTH", strconv.Itoa(n))
	if f.deed == pause {
		rule = append(rule, "TIMES", "1000000") // all later requests as well, until the rule goes
	}
	return Order{p.Master, append(append(rule, "ACTION"), f.action...)}
}

// turns returns the rules that let workers come in another order, for a place whose request did not come. In the second
// try the client of the place comes last, and the others stay long; in the third it comes first.
func (e *Explorer) turns(s Strike) (orders []Order) {
	p, try := &e.points[s.Point], e.tries[s]
	if try == 0 || p.Message || p.glob == "" {
		return nil
	}
	known := map[string]bool{}
	for _, q := range e.points {
		if q.Message || q.glob != p.glob || q.Master != p.Master || known[q.Client] {
			continue
		}
		known[q.Client] = true
		rule := words(fmt.Sprintf("FAULT ADD %s%d KEY", slows, len(known)), p.glob)
		if q.named {
			rule = append(rule, "CLIENT", nameGlob(q.Client))
		}
		order := q.order
		if q.named {
			order = 1
		}
		rule = append(rule, "ORDER", strconv.Itoa(order))
		own := q.Client == p.Client
		switch {
		case own == (try == 1):
			rule = append(rule, "TIMES", "1")
		case own:
			continue
		default:
			rule = append(rule, "NTH", "2")
		}
		orders = append(orders, Order{p.Master, append(rule, "ACTION", "DELAY-EXEC", "50")})
	}
	return orders
}

// slows begins the names of the rules that make requests late.
const slows = "explore-slow-"

// nameGlob returns the glob of a client's name. Digits alone would be an id.
func nameGlob(name string) string {
	glob := globOf(name)
	if strings.Trim(name, "0123456789") == "" {
		glob = `\` + glob
	}
	return glob
}

// Held returns what to do when a rule of a trial holds a client.
func (e *Explorer) Held(t Trial, rule string, s Scene) Act {
	i := slices.IndexFunc(t.Strikes, func(Strike) bool { return true })
	for j := range t.Strikes {
		if ruleName(j) == rule {
			i = j
		}
	}
	p, f := &e.points[t.Strikes[i].Point], &e.faults[t.Strikes[i].Fault]
	letGo := []Order{{p.Master, words("FAULT DEL " + rule)}}
	order := func(line string) []Order { return []Order{{p.Master, words(line)}} }
	switch f.deed {
	case restart:
		return Act{First: order("CRASH LOSE NOTHING")}
	case forget:
		return Act{First: order("CRASH LOSE ALL")}
	case gone:
		return Act{First: order("CRASH DOWN 3600000 LOSE NOTHING")}
	case powerCut:
		return Act{First: order("CRASH LOSE UNSYNCED")}
	case badFsync:
		return Act{First: append(order("DISK FAIL FSYNC NTH 1 EIO"), letGo...)}
	case diskFull:
		return Act{First: append(order("DISK FAIL WRITE ENOSPC"), letGo...)}
	case failover:
		return Act{First: append(e.takeOver(p.Master), letGo...)}
	case promotion, lateSentinel, slotMoves, slotHalf, oldMap:
		var first []Order
		switch f.deed {
		case promotion:
			first = promote(p.Master)
		case lateSentinel:
			first = append([]Order{{p.Master, words("SENTINEL 1 PAUSE")}}, promote(p.Master)...)
		default:
			first = e.moveSlot(t, f.deed, rule, s)
		}
		e.acted[heldAt{t.ID, i}] = first
		return Act{First: slices.Concat(first, letGo)}
	case evict:
		if keys := e.evictable(rule, s, p); len(keys) > 0 {
			return Act{First: append([]Order{{p.Master, words("EVICT", keys...)}}, letGo...)}
		}
		return Act{First: letGo}
	case jump:
		if ms := e.longest(s, p.Master); ms > 0 {
			return Act{First: append(order(fmt.Sprintf("CLOCK ADVANCE %d", ms+1)), letGo...)}
		}
		return Act{First: letGo}
	}
	first, ms := e.leaseOf(rule, s, p)
	a := Act{First: first, Then: letGo, Wait: f.deed == pause, Quiet: min(e.polls+e.polls/4, mostQuiet)}
	if len(first) > 0 {
		a.Pass = time.Duration(ms+1) * time.Millisecond
		e.passed[heldAt{t.ID, i}] = a.Pass.Milliseconds()
	}
	if len(first) > 0 && p.named {
		for master := range e.opt.Masters {
			a.Then = append(a.Then, Order{master + 1, words("FAULT DEL " + holdsAll)})
		}
	}
	return a
}

// evictable returns the locks that exist and that the request which a rule holds is about. LAB EVICT reaches only
// database 0.
func (e *Explorer) evictable(rule string, s Scene, p *point) (keys []string) {
	add := func(key string) {
		if key = raw(key); s.TTL(p.Master, 0, key) != -2 && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if held, ok := heldBy(rule, s.Histories); ok && held.DB == 0 {
		for _, key := range e.about(held).keys {
			if e.lockOf(key) != "" {
				add(key)
			}
		}
	}
	for _, g := range e.alive(s) { // EXEC, and what changes all keys, name none
		if g.DB == 0 && g.Master+1 == p.Master && (p.glob == "" || matches(p.glob, g.Key)) {
			add(g.Key)
		}
	}
	return keys
}

// longest returns the longest TTL of a lock on a master, in ms.
func (e *Explorer) longest(s Scene, master int) (ms int64) {
	for _, g := range e.alive(s) {
		if g.Master+1 == master {
			ms = max(ms, s.TTL(master, g.DB, raw(g.Key)))
		}
	}
	return ms
}

// alive returns the grants whose lock exists.
func (e *Explorer) alive(s Scene) []holders.Vote {
	grants, err := e.grants(s.Histories)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(grants, func(g holders.Vote) bool {
		return g.End != "" || s.TTL(g.Master+1, g.DB, raw(g.Key)) == -2
	})
}

// leaseOf returns the orders that end the lease of the client that a rule holds, and the lease in ms. There are
// none if it holds no lock, or if another client holds one too: its lease must not end while it continues.
func (e *Explorer) leaseOf(rule string, s Scene, p *point) (orders []Order, ms int64) {
	held, ok := heldBy(rule, s.Histories)
	if !ok {
		return nil, 0
	}
	for _, g := range e.alive(s) {
		if !belongs(g, held) {
			return nil, 0
		}
		ms = max(ms, s.TTL(g.Master+1, g.DB, raw(g.Key)))
	}
	several := e.opt.Masters > 1
	if ms <= 0 || several && !p.named {
		return nil, 0
	}
	if p.named {
		for master := range e.opt.Masters {
			rule := words("FAULT ADD "+holdsAll+" CLIENT", nameGlob(p.Client), "ACTION", "HOLD")
			orders = append(orders, Order{master + 1, rule})
		}
	}
	move := fmt.Sprintf("CLOCK ADVANCE %d", ms+1)
	if several {
		move = "ALL " + move
	}
	return append(orders, Order{p.Master, words(move)}), ms
}

// heldBy returns the newest request that a rule holds.
func heldBy(rule string, histories []lab.History) (held entry, ok bool) {
	for _, en := range merged(histories) {
		if en.Event == rule && en.Outcome == lab.Held {
			held, ok = en, true
		}
	}
	return held, ok
}

// belongs reports whether a grant is certainly that of the client which sent a request.
func belongs(g holders.Vote, by entry) bool {
	return g.Client == by.Client && g.Master+1 == by.master || g.Name != "" && g.Name == by.Name ||
		len(g.Token) >= 8 && slices.Contains(by.Cmd, g.Token)
}

// Overdue returns the orders for a program that is not over in time: the disks are whole again, and all leases end. A
// program that only waited for that is over soon.
func (e *Explorer) Overdue(s Scene) (orders []Order) {
	var ms int64
	if e.opt.Disk != "" {
		for master := range e.opt.Masters {
			orders = append(orders, Order{master + 1, words("DISK HEAL")})
		}
	}
	for master := range e.opt.Masters {
		ms = max(ms, e.longest(s, master+1))
	}
	move := fmt.Sprintf("CLOCK ADVANCE %d", ms+1)
	switch {
	case ms <= 0:
		return orders
	case e.opt.Masters > 1:
		move = "ALL " + move
	}
	return append(orders, Order{1, words(move)})
}

// AskTTL returns the command that asks for the TTL of a key, over a connection to database 0.
func AskTTL(db int, key string) []string {
	if db == 0 {
		return []string{"PTTL", key}
	}
	const script = "redis.call('select', ARGV[1]) return redis.call('pttl', KEYS[1])"
	return []string{"EVAL", script, "1", key, strconv.Itoa(db)}
}
