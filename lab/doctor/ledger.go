package doctor

import (
	"sync"

	"github.com/miniredisd/miniredisd/internal/bounded"
)

// End says how a holding ended on its master.
type End string

// The ends. A holding that is not over has the End "".
const (
	EndReleased    End = "released" // by its holder
	EndExpired     End = "expired"
	EndStolen      End = "stolen" // deleted by another client
	EndOverwritten End = "overwritten"
	EndLost        End = "lost"    // with all keys: a crash, FLUSHALL
	EndUnclear     End = "deleted" // by its holder or by another client: the log cannot tell
)

// Holding is the grant of a lock to one holder by one master. Times are unix ms of that master's
// clock, which may be wrong. An order is a number that grows with every event on all masters; 0
// means not yet.
type Holding struct {
	DB      int
	Key     string
	Holder  string // see Terms
	Token   string
	Node    string // the node that granted it, for people; "" without replicas
	Client  int64
	Name    string // of the client
	Hash    bool   // the key is a hash, and Token is one of its fields
	Shared  bool   // a read lock: others may hold it, too
	Joined  bool   // several clients write into that hash
	Thief   bool   // the client that deleted it competes for the lock
	Granted Step
	Event   int64 // Mono of the grant
	Order   int64
	Lease   int64 // ms; 0 means without end
	Until   int64
	Renewed int // times

	End      End
	Ended    int64
	EndedBy  Step // the event that took it from its holder
	EndOrder int64

	Start    int64     // unix ms: where the times of a finding begin
	Lost     *Failover // how the node that is the master now came to lack it, or its renewal
	Deposed  *Failover // the promotion of another node, of which the node that granted it did not know
	Readonly bool      // the node that granted it was a replica
	EndedAt  string    // the node on which it ended, "" without replicas

	GaveUp int64 // order at which the holder released it, or tried to
	RanOut int64 // order at which the lease was over by the holder's clock, as this master shows it

	// What the log cannot tell. The holder may have given the lock up at the order MayGiveUp already. Its
	// lease may have been over at the order MayRunOut, if it does not know of a longer one. Unknown
	// means that it may not know of the grant at all. The doubts say why.
	MayGiveUp, MayRunOut int64
	Unknown              bool
	Doubts               []Doubt

	refused Step // the first other token that was refused because of it

	// With replicas, the moves of one node's clock are time only as long as no other node has granted the lock.
	alone    bool  // RanOut is such an end
	mayAlone bool  // MayRunOut is
	together int64 // order at which the lease was over without these moves

	// Of a WAIT right behind the grant. Its client may believe in the lock from the order Asked on, and does so from the
	// order Awaited on. 0 is the grant. Unconfirmed means that it has no reply, or one that tells of too few replicas.
	Asked, Awaited int64
	Unconfirmed    bool

	renews int64 // the order of the grant that it certainly renews
	since  mark  // the begin of the lease
	least  struct {
		lease int64 // ms; 0 means without end
		since mark
	}
}

// Ledger is the shared memory of the doctors of several masters. Any goroutine may call its
// exported methods, except Absent.
type Ledger struct {
	mu      sync.Mutex
	masters int
	groups  []int    // of the nodes, with replicas: the master that each belongs to
	names   []string // of the nodes, with replicas
	start   int64    // unix ms of the begin of the history, or of the first grant

	granters map[lockKey][]int  // with replicas: the nodes that have granted a lock
	deposed  map[int]*Failover  // with replicas: the masters that another node has replaced
	streams  map[string]*stream // by replication ID
	given    map[place][]hold   // with replicas: the newest grants

	// With replicas: what was granted to the last request of a connection, and the scripts that a node has run, by
	// SHA1, and whether they release locks.
	newest  *bounded.Map[asker, []asked]
	scripts *bounded.Map[string, bool]

	foreseen map[string]bool // of a finished history: its scripts, by SHA1, and whether they release locks
	leads    map[int]bool    // with replicas: the nodes that are masters

	first   map[int]*stream // of the nodes, when their histories began
	current map[int]*stream // of the nodes, their own or that of their master
	keep    int
	order   int64
	keys    *bounded.Map[lockKey, [][]Holding] // by master
	open    [][]openLease                      // by master; with replicas by its group
	times   times

	refusals *bounded.Map[attempt, []refusal] // by master
}

// openLease is a holding whose lease may end at another time than its key.
type openLease struct {
	key   lockKey
	order int64
}

// KeepOnline is the number of holdings of a key and master that a running server keeps.
const KeepOnline = 16

// NewLedger returns a ledger for a number of masters. It keeps the newest holdings of each key and
// master: keep of them.
func NewLedger(masters, keep int) *Ledger {
	return &Ledger{
		masters: masters, keep: keep, open: make([][]openLease, masters),
		keys: bounded.NewMap[lockKey, [][]Holding](max(maxHolds, keep)), times: newTimes(masters),
		refusals: bounded.NewMap[attempt, []refusal](maxHolds),
	}
}

// granted records that a master granted a lock. It returns a finding if that made a second holder, or if the grant came
// too late for a majority.
func (l *Ledger) granted(master int, k lockKey, h *hold, o op) *Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, o.time)
	l.takesBack(master, k)
	l.grants(k, master)
	l.watchAll(master, k)
	l.order++
	h.order = l.order
	tables := l.keys.Get(k)
	if tables == nil {
		tables = make([][]Holding, l.masters)
		l.keys.Put(k, tables)
	}
	if l.start == 0 {
		l.start = o.time
	}
	group := l.group(master)
	if len(tables[group]) >= l.keep {
		tables[group] = tables[group][1:]
	}
	tables[group] = append(tables[group], Holding{
		DB: k.db, Key: k.name, Token: h.value, Client: h.client, Name: h.name, Hash: h.hash, Shared: h.shared,
		Granted: h.taken, Event: o.mono, Order: h.order, Lease: h.lease, Until: h.until, Unknown: h.unknown, renews: h.renews,
		Node: l.name(master), Start: l.start, Deposed: l.deposed[master], Readonly: h.readonly,
	})
	if l.groups != nil {
		l.takenTwice(master, tables[group])
		l.asks(asker{master, h.client}, asked{gave: gave{k, h.value, h.order}, request: o.request})
	}
	t := &tables[group][len(tables[group])-1]
	t.lasts(h.lease, l.times.mark(master), true, true)
	if h.unknown {
		l.doubts(master, t, Doubt{Why: whyLost, Step: h.taken})
	}
	if h.doubt != "" {
		t.Unknown = true
		l.doubts(master, t, Doubt{Why: h.doubt, Step: h.taken})
	}
	if h.loose || l.several(k) {
		l.watch(master, openLease{k, h.order})
	}
	if l.masters < 2 && l.groups == nil {
		return nil
	}
	for _, both := range Overlaps(tables) {
		if both.completedBy(group, h.order) {
			f := both.Finding()
			return &f
		}
	}
	if l.masters < 2 {
		return nil
	}
	l.accepted(group, k, h.value)
	return l.tooLate(k, h.order)
}

// lasts gives a holding a lease: the longest that its holder may believe in, the shortest, or both.
func (h *Holding) lasts(lease int64, since mark, longest, shortest bool) {
	if longest {
		h.Lease, h.since = lease, since
	}
	if shortest {
		h.least.lease, h.least.since = lease, since
	}
}

// find returns the holding with this order, or nil if it is no longer kept.
func (l *Ledger) find(master int, k lockKey, order int64) *Holding {
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

// extended records that a holder renewed its lease, until a time in unix ms; 0 means for ever. If that
// is not sure, both leases may be the one that the holder believes in.
func (l *Ledger) extended(master int, k lockKey, h *hold, time, until int64, sure bool, why Doubt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, time)
	t := l.find(master, k, h.order)
	if t == nil {
		return
	}
	longer := t.Until != 0 && (until == 0 || until > t.Until)
	t.lasts(leaseOf(time, until), l.times.mark(master), sure || longer, sure || !longer)
	if sure || longer {
		t.Until = until
	}
	if sure {
		t.Renewed++
		t.Unknown = h.doubt != ""
		l.renewed(t)
	} else {
		l.order++
		l.doubts(master, t, why)
	}
	if !sure || t.End != "" {
		l.watch(master, openLease{k, t.Order})
	}
}

// apart records that a stranger has changed the TTL of a lock: the holder's lease ends at another time than
// the key.
func (l *Ledger) apart(master int, k lockKey, order int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch(master, openLease{k, order})
}

// ended records that a master does not keep a lock any more. It returns a finding if the lock was a vote that somebody
// had to give back.
func (l *Ledger) ended(master int, k lockKey, h *hold, how End, time int64) *Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, time)
	t := l.find(master, k, h.order)
	if t == nil {
		return nil
	}
	l.order++
	if t.End == "" || l.groups == nil { // else it has ended on another node
		t.End, t.Ended, t.EndedBy, t.EndOrder, t.Thief = how, time, h.ended, l.order, h.thief
		t.EndedAt = l.name(master)
	}
	over, _ := l.isOver(master, k, t.Lease, t.since, 0)
	switch {
	case how == EndReleased:
		t.GaveUp = first(t.GaveUp, l.order)
	case t.RanOut != 0:
	case how == EndExpired && over:
		if l.ranOut(master, t) {
			l.watch(master, openLease{k, t.Order})
		}
	default:
		l.watch(master, openLease{k, t.Order})
	}
	if how == EndExpired && l.masters > 1 {
		return l.leftBehind(l.group(master), k, t)
	}
	return nil
}

// gaveUp records that a holder released its lock, or tried to. If that is not sure, it may have.
func (l *Ledger) gaveUp(master int, k lockKey, order int64, sure bool, why Doubt) {
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

// mayKnow records that a holder may have learned that a master does not keep its lock any more.
func (l *Ledger) mayKnow(master int, k lockKey, order int64, why Doubt) {
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
	why.Order, why.Step.Node = l.order, l.name(node)
	t.doubt(why)
}

// regret takes back that a holder gave its lock up: it only may have.
func (l *Ledger) regret(master int, k lockKey, order int64, why Doubt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.find(master, k, order); t != nil && t.GaveUp != 0 {
		why.Order, why.Step.Node = t.GaveUp, l.name(master)
		t.MayGiveUp, t.GaveUp = t.GaveUp, 0
		t.doubt(why)
		l.watch(master, openLease{k, order})
	}
}

// learned records that a holder knows of its grant although the reply was lost.
func (l *Ledger) learned(master int, k lockKey, order int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.find(master, k, order); t != nil {
		t.Unknown = false
	}
}

// joined records that a second client wrote into the hash of a lock.
func (l *Ledger) joined(master int, k lockKey, order int64, why Doubt) {
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

// forget drops everything about a master.
func (l *Ledger) forget(master int) {
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
		l.scripts = bounded.NewMap[string, bool](max(maxScripts, l.keep))
	}
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
