package doctor

import (
	"slices"

	"github.com/miniredisd/miniredisd/internal/bounded"
)

// A master and its replicas are one voter. The ledger has a table for each voter, and a clock for each node.

// Replicated says that the masters have replicas. groups says for each node which master it belongs to, from 0, and
// names has the names of the nodes for people.
func (l *Ledger) Replicated(groups []int, names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.groups, l.names, l.times = groups, names, newTimes(len(groups))
	l.times.replicated = true
	l.given, l.scripts = map[place][]hold{}, bounded.NewMap[string, bool](max(maxScripts, l.keep))
	l.granters, l.deposed = map[lockKey][]int{}, map[int]*Failover{}
	l.newest = bounded.NewMap[asker, []asked](max(maxClients, l.keep))
	l.leads = map[int]bool{}
	l.streams, l.first, l.current = map[string]*stream{}, map[int]*stream{}, map[int]*stream{}
}

// Begin says that a finished history is shown, and when it begins, in unix ms.
func (l *Ledger) Begin(time int64) { l.start, l.foreseen = time, map[string]bool{} }

// isFinished reports whether the doctors see a history that is over.
func (l *Ledger) isFinished() bool { return l != nil && l.foreseen != nil }

// gives notes a grant of a node with replicas, for the doctors of the other nodes.
func (l *Ledger) gives(node int, k lockKey, h hold) {
	if l.groups == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h.epoch, h.waiters, h.in = -1, nil, nil // its connection is none of another node
	at := place{l.group(node), k}
	all := append(l.given[at], h)
	l.given[at] = all[max(0, len(all)-maxGrants):]
}

// knows reports whether a script releases locks, and whether one knows it: any node has run it, or will.
func (l *Ledger) knows(sha string) (releases, known bool) {
	if l == nil {
		return false, false
	}
	if releases, known = l.foreseen[sha]; known || l.groups == nil {
		return releases, known
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	releases, known = l.scripts.Find(sha)
	return releases, known
}

// hears remembers for the other nodes what a node knows of a script.
func (l *Ledger) hears(sha string, s *script) {
	if l == nil || l.groups == nil || !s.known && !s.releases() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scripts.Put(sha, s.releases() || l.scripts.Get(sha))
}

// place is a lock of a master.
type place struct {
	group int
	lockKey
}

// given returns the grants of a lock that their holders may give up: those that the doctor knows, and those of the
// other nodes. A client that has lost its lock in a failover tries to release it at the new master.
func (d *Doctor) given(k lockKey) []*hold {
	own := slices.Clone(d.grants.Get(k))
	l := d.ledger
	if l == nil || l.groups == nil {
		return own
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*hold
	for _, h := range l.given[place{l.group(d.master), k}] {
		t := l.find(d.master, k, h.order)
		known := slices.ContainsFunc(own, func(o *hold) bool { return o.order == h.order })
		if t != nil && t.GaveUp == 0 && !known {
			all = append(all, &h)
		}
	}
	return append(all, own...)
}

// group returns the master that a node belongs to.
func (l *Ledger) group(node int) int {
	if l.groups == nil {
		return node
	}
	return l.groups[node]
}

// name returns the name of a node, "" without replicas.
func (l *Ledger) name(node int) string {
	if l.names == nil {
		return ""
	}
	return l.names[node]
}

// granting counts the nodes that have granted a lock.
func (l *Ledger) granting(k lockKey) (n int) {
	if l.groups != nil {
		return len(l.granters[k])
	}
	for _, table := range l.keys.Get(k) {
		n += min(len(table), 1)
	}
	return n
}

// grants notes that a node has granted a lock.
func (l *Ledger) grants(k lockKey, node int) {
	if l.groups != nil && !slices.Contains(l.granters[k], node) {
		l.granters[k] = append(l.granters[k], node)
	}
}

// takenTwice handles a holder that takes a lock at one node while it has the lock at another one. table ends with the
// new grant. The holder may believe in its lease alone.
func (l *Ledger) takenTwice(node int, table []Holding) {
	last := len(table) - 1
	again := &table[last]
	for i := max(0, last-maxGrants); i < last; i++ {
		t := &table[i]
		same := t.Token == again.Token && t.holder(false) == again.holder(false)
		if !same || t.GaveUp != 0 || t.RanOut != 0 || t.Order == again.renews {
			continue
		}
		if t.MayGiveUp == 0 {
			t.MayGiveUp = l.order
		}
		l.doubts(node, t, Doubt{Why: whyTwice, Step: again.Granted})
	}
}
