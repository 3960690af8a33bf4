package holders

import (
	"maps"
	"slices"
	"sync"

	"github.com/miniredisd/miniredisd/internal/bounded"
)

// Ledger has the holdings of the masters that grant a lock together. Any goroutine may call its exported methods,
// except Absent and Begin.
type Ledger struct {
	mu      sync.Mutex
	masters int
	groups  []int    // of the nodes, with replicas: the master that each belongs to
	names   []string // of the nodes, with replicas
	start   int64    // unix ms of the begin of the history, or of the first grant

	// With replicas: the nodes that have granted a lock, the masters that another node has replaced, and what was granted
	// to the last request of a connection.
	granters map[Key][]int
	deposed  map[int]*Failover
	newest   *bounded.Map[asker, []asked]

	keep  int
	quiet bool // nobody reads what Granted finds
	order int64
	keys  *bounded.Map[Key, [][]Holding] // by master
	open  [][]openLease                  // by master; with replicas by its group
	times times

	refusals *bounded.Map[attempt, []refusal] // by master
}

// openLease is a holding whose lease may end at another time than its key.
type openLease struct {
	key   Key
	order int64
}

// The bounds of memory.
const (
	mostLocks  = 4096 // and open leases of a master
	mostAskers = 2048 // connections
	mostAsked  = 128  // grants of a connection before a WAIT
	mostTwice  = 64   // grants of a lock that a new one is compared with
)

// KeepOnline is the number of holdings of a key and master that a running server keeps.
const KeepOnline = 16

// NewLedger returns a ledger for a number of masters. It keeps the newest holdings of each key and
// master: keep of them.
func NewLedger(masters, keep int) *Ledger {
	return &Ledger{
		masters: masters, keep: keep, open: make([][]openLease, masters),
		keys: bounded.NewMap[Key, [][]Holding](max(mostLocks, keep)), times: newTimes(masters),
		refusals: bounded.NewMap[attempt, []refusal](mostLocks),
	}
}

// Quiet says that nobody reads what Granted finds: it looks at all grants of a lock each time.
func (l *Ledger) Quiet() { l.quiet = true }

// Grant is what a node tells of a lock that it has granted. Node, Order, Start, Deposed and all that comes later in the
// Holding are the ledger's.
type Grant struct {
	Holding
	Request int64  // the number of the client's request, 0 if it is unknown
	Doubt   string // why its client may not believe in it, "" if it does
	Loose   bool   // it is not the present hold of the key: the clock alone ends it
}

// Granted records that a node granted a lock, and returns the order of the holding. second is not nil if the grant made
// a second holder. late is not nil if it came too late for a majority.
func (l *Ledger) Granted(node int, g Grant) (order int64, second *Overlap, late *NoMajority) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := Key{g.DB, g.Key}
	l.passed(node, g.Granted.Time)
	l.takesBack(node, k)
	l.grants(k, node)
	l.opensAll(node, k)
	l.order++
	order = l.order
	if l.start == 0 {
		l.start = g.Granted.Time
	}
	l.adds(node, k, g)
	if l.quiet || l.masters < 2 && l.groups == nil {
		return order, nil, nil
	}
	group := l.group(node)
	for _, both := range Overlaps(l.keys.Get(k)) {
		if both.completedBy(group, order) {
			return order, &both, nil
		}
	}
	if l.masters < 2 {
		return order, nil, nil
	}
	l.accepted(group, k, g.Token)
	return order, nil, l.tooLate(k, order)
}

// adds adds a grant to the table of its master.
func (l *Ledger) adds(node int, k Key, g Grant) {
	tables, group := l.keys.Get(k), l.group(node)
	if tables == nil {
		tables = make([][]Holding, l.masters)
		l.keys.Put(k, tables)
	}
	if len(tables[group]) >= l.keep {
		tables[group] = tables[group][1:]
	}
	h := g.Holding
	h.Order, h.Node, h.Start, h.Deposed = l.order, l.NameOf(node), l.start, l.deposed[node]
	tables[group] = append(tables[group], h)
	if l.groups != nil {
		l.takenTwice(node, tables[group])
		l.asks(asker{node, g.Client}, asked{key: k, order: l.order, request: g.Request})
	}
	t := &tables[group][len(tables[group])-1]
	t.begun = l.times.moment(node)
	t.lasts(g.Lease, t.begun, true, true)
	t.least.until = g.Until
	if g.Unknown {
		l.doubts(node, t, Doubt{Why: WhyLost, Step: g.Granted})
	}
	if g.Doubt != "" {
		t.Unknown = true
		l.doubts(node, t, Doubt{Why: g.Doubt, Step: g.Granted})
	}
	if g.Loose || l.several(k) {
		l.opens(node, openLease{k, l.order})
	}
}

// find returns the holding with this order, or nil if it is no longer kept.
func (l *Ledger) find(master int, k Key, order int64) *Holding {
	tables, group := l.keys.Get(k), l.group(master)
	if tables == nil {
		return nil
	}
	for i := len(tables[group]) - 1; i >= 0; i-- {
		if t := &tables[group][i]; t.Order == order {
			return t
		}
	}
	return nil
}

// Renewal is a new lease of the holding with an order.
type Renewal struct {
	Order   int64
	Time    int64 // unix ms
	Until   int64 // unix ms; 0 means for ever
	Sure    bool  // its holder renewed it; else both leases may be the one that the holder believes in
	Doubted bool  // its holder may not believe in the lock all the same
	Why     Doubt // why it is not sure
	Take    int64 // the number of the request, if the lock is taken by this and the grant together; 0 means it is not
}

// Extended records that a holder renewed its lease.
func (l *Ledger) Extended(master int, k Key, r Renewal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, r.Time)
	t := l.find(master, k, r.Order)
	if t == nil {
		return
	}
	longer := t.Until != 0 && (r.Until == 0 || r.Until > t.Until)
	shorter := r.Until != 0 && (t.least.until == 0 || r.Until < t.least.until)
	t.lasts(LeaseOf(r.Time, r.Until), l.times.moment(master), r.Sure || longer, r.Sure || shorter)
	if r.Sure || shorter {
		t.least.until = r.Until
	}
	if r.Sure || longer {
		t.Until = r.Until
	}
	if r.Take > 0 {
		l.goesOn(asker{master, t.Client}, t.Order, r.Take)
	}
	if r.Sure {
		if !r.Doubted {
			l.learns(t)
		}
		t.Unknown = r.Doubted
	} else {
		l.order++
		l.doubts(master, t, r.Why)
	}
	if r.Sure && r.Take == 0 {
		t.Renewed++
		l.order++
		t.extended = l.order
		l.renewed(t)
	}
	if !r.Sure || t.End != "" {
		l.opens(master, openLease{k, t.Order})
	}
}

// LeaseOf returns the ms from now to until, 0 for ever. Both are unix ms.
func LeaseOf(now, until int64) int64 {
	if until == 0 {
		return 0
	}
	return until - now
}

// Apart records that a stranger has changed the TTL of a lock: the holder's lease ends at another time than
// the key.
func (l *Ledger) Apart(master int, k Key, order int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opens(master, openLease{k, order})
}

// Ending is how a master came not to keep a lock any more.
type Ending struct {
	Order int64 // of the holding
	How   End
	Time  int64 // unix ms
	By    Step  // the event that took it from its holder
	Thief bool  // the client that deleted it competes for the lock
}

// Ended records that a master does not keep a lock any more. The result is not nil if the lock was a vote that somebody
// had to give back.
func (l *Ledger) Ended(master int, k Key, e Ending) *NoMajority {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, e.Time)
	t := l.find(master, k, e.Order)
	if t == nil {
		return nil
	}
	l.order++
	if t.End == "" || l.groups == nil { // else it has ended on another node
		t.End, t.Ended, t.EndedBy, t.EndOrder, t.Thief = e.How, e.Time, e.By, l.order, e.Thief
		t.EndedAt = l.NameOf(master)
	}
	over, _ := l.isOver(master, k, t.Lease, t.since, 0)
	switch {
	case e.How == EndReleased:
		t.GaveUp = first(t.GaveUp, l.order)
	case t.RanOut != 0:
	case e.How == EndExpired && over:
		if l.ranOut(master, t) {
			l.opens(master, openLease{k, t.Order})
		}
	default:
		l.opens(master, openLease{k, t.Order})
	}
	if e.How == EndExpired && l.masters > 1 {
		return l.leftBehind(l.group(master), k, t)
	}
	return nil
}

// GaveUp records that a holder released its lock, or tried to. If that is not sure, it may have.
func (l *Ledger) GaveUp(master int, k Key, order int64, sure bool, why Doubt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.find(master, k, order)
	if t == nil || t.GaveUp != 0 {
		return
	}
	l.order++
	if sure {
		t.GaveUp = l.order
		return
	}
	if t.MayGiveUp == 0 {
		t.MayGiveUp = l.order
	}
	l.doubts(master, t, why)
}

// MayKnow records that a holder may have learned that a master does not keep its lock any more.
func (l *Ledger) MayKnow(master int, k Key, order int64, why Doubt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.find(master, k, order)
	if t == nil || t.RanOut != 0 {
		return
	}
	l.order++
	if t.MayRunOut == 0 {
		t.MayRunOut = l.order
	}
	l.doubts(master, t, why)
}

// doubts adds what the log of a node cannot tell about a holding.
func (l *Ledger) doubts(node int, t *Holding, why Doubt) {
	why.Order, why.Step.Node = l.order, l.NameOf(node)
	t.doubt(why)
}

// Regret takes back that a holder gave its lock up: it only may have.
func (l *Ledger) Regret(master int, k Key, order int64, why Doubt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.find(master, k, order); t != nil && t.GaveUp != 0 {
		why.Order, why.Step.Node = t.GaveUp, l.NameOf(master)
		t.MayGiveUp, t.GaveUp = t.GaveUp, 0
		t.doubt(why)
		l.opens(master, openLease{k, order})
	}
}

// Learned records that a holder knows of its grant although the reply was lost.
func (l *Ledger) Learned(master int, k Key, order int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.find(master, k, order); t != nil {
		l.learns(t)
	}
}

// learns notes that a holder knows of its grant, at the latest from now on. Its reply was lost.
func (l *Ledger) learns(t *Holding) {
	if t.Unknown && l.masters == 1 && t.Asked == 0 {
		l.order++
		t.Awaited = l.order
	}
	t.Unknown = false
}

// Joined records that a second client wrote into the hash of a lock.
func (l *Ledger) Joined(master int, k Key, order int64, why Doubt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.find(master, k, order); t != nil && !t.Joined {
		t.Joined = true
		l.doubts(master, t, why)
	}
}

// Order returns the order of the last recorded event.
func (l *Ledger) Order() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.order
}

// Forget drops everything about a master.
func (l *Ledger) Forget(master int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	group := l.group(master)
	l.open[group] = nil
	for _, tables := range l.keys.All() {
		tables[group] = nil
	}
	clear(l.granters)
	if l.groups != nil {
		for from := range l.newest.All() {
			if from.node == master {
				l.newest.Delete(from)
			}
		}
	}
}

// Tables returns the holdings of each key, by master.
func (l *Ledger) Tables() map[Key][][]Holding {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Collect(l.keys.All())
}

// Voting returns the tables of the masters that vote on a lock. If only one of them ever granted it, it is a lock of
// that master alone.
func Voting(tables [][]Holding) [][]Holding {
	granting := slices.DeleteFunc(slices.Clone(tables), func(t []Holding) bool { return len(t) == 0 })
	if len(granting) == 1 {
		return granting
	}
	return tables
}

// Table returns the holdings of a master, key by key, the oldest first within a key.
func (l *Ledger) Table(master int) []Holding {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Holding
	for _, tables := range l.keys.All() {
		all = append(all, tables[master]...)
	}
	return all
}
