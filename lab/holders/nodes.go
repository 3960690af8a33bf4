package holders

import (
	"slices"

	"github.com/miniredisd/miniredisd/internal/bounded"
)

// A master and its replicas are one voter. The ledger has a table for each voter, and a clock for each node.

// Replicated says that the masters have replicas. groups says for each node which master it belongs to, from 0, and
// names has the names of the nodes for people. It comes before all other calls.
func (l *Ledger) Replicated(groups []int, names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.groups, l.names, l.times = groups, names, newTimes(len(groups))
	l.times.replicated = true
	l.granters, l.deposed = map[Key][]int{}, map[int]*Failover{}
	l.newest = bounded.NewMap[asker, []asked](max(mostAskers, l.keep))
}

// Begin says when a finished history begins, in unix ms.
func (l *Ledger) Begin(time int64) { l.start = time }

// group returns the master that a node belongs to.
func (l *Ledger) group(node int) int {
	if l.groups == nil {
		return node
	}
	return l.groups[node]
}

// NameOf returns the name of a node, "" without replicas or for a node that is not known.
func (l *Ledger) NameOf(node int) string {
	if node < 0 || node >= len(l.names) {
		return ""
	}
	return l.names[node]
}

// granting counts the nodes that have granted a lock.
func (l *Ledger) granting(k Key) (n int) {
	if l.groups != nil {
		return len(l.granters[k])
	}
	for _, table := range l.keys.Get(k) {
		n += min(len(table), 1)
	}
	return n
}

// grants notes that a node has granted a lock.
func (l *Ledger) grants(k Key, node int) {
	if l.groups != nil && !slices.Contains(l.granters[k], node) {
		l.granters[k] = append(l.granters[k], node)
	}
}

const whyTwice = "its holder took the lock at another node, too: it may believe in that lease alone"

// takenTwice handles a holder that takes a lock at one node while it has the lock at another one. table ends with the
// new grant. The holder may believe in its lease alone.
func (l *Ledger) takenTwice(node int, table []Holding) {
	last := len(table) - 1
	again := &table[last]
	for i := max(0, last-mostTwice); i < last; i++ {
		t := &table[i]
		same := t.Token == again.Token && t.holder(false) == again.holder(false)
		if !same || t.GaveUp != 0 || t.RanOut != 0 || t.Order == again.Renews {
			continue
		}
		if t.MayGiveUp == 0 {
			t.MayGiveUp = l.order
		}
		l.doubts(node, t, Doubt{Why: whyTwice, Step: again.Granted})
	}
}
