package doctor

import (
	"slices"
	"sync"
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

	GaveUp int64 // order at which the holder released it, or tried to
	RanOut int64 // order at which the lease was over by the holder's clock, as this master shows it

	// What the log cannot tell. The holder may have given the lock up at the order MayGiveUp already. Its
	// lease may have been over at the order MayRunOut, if it does not know of a longer one. Unknown
	// means that it may not know of the grant at all. The doubts say why.
	MayGiveUp, MayRunOut int64
	Unknown              bool
	Doubts               []Doubt

	refused Step // the first other token that was refused because of it

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
	keep    int
	order   int64
	keys    *bounded[lockKey, [][]Holding] // by master
	open    [][]openLease                  // by master
	times   times

	refusals *bounded[attempt, []refusal] // by master
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
		keys: newBounded[lockKey, [][]Holding](max(maxHolds, keep)), times: newTimes(masters),
		refusals: newBounded[attempt, []refusal](maxHolds),
	}
}

// granted records that a master granted a lock. It returns a finding if that made a second holder, or if the grant came
// too late for a majority.
func (l *Ledger) granted(master int, k lockKey, h *hold, o op) *Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, o.time)
	l.order++
	h.order = l.order
	tables := l.keys.m[k]
	if tables == nil {
		tables = make([][]Holding, l.masters)
		l.keys.put(k, tables)
	}
	if len(tables[master]) >= l.keep {
		tables[master] = tables[master][1:]
	}
	tables[master] = append(tables[master], Holding{
		DB: k.db, Key: k.name, Token: h.value, Client: h.client, Name: h.name, Hash: h.hash, Shared: h.shared,
		Granted: h.taken, Event: o.mono, Order: h.order, Lease: h.lease, Until: h.until, Unknown: h.unknown, renews: h.renews,
	})
	t := &tables[master][len(tables[master])-1]
	t.lasts(h.lease, l.times.mark(master), true, true)
	if h.unknown {
		t.doubt(Doubt{h.order, whyLost, h.taken})
	}
	if h.doubt != "" {
		t.Unknown = true
		t.doubt(Doubt{h.order, h.doubt, h.taken})
	}
	if h.loose {
		l.watch(master, openLease{k, h.order})
	}
	if l.masters < 2 {
		return nil
	}
	for _, both := range Overlaps(tables) {
		if both.completedBy(master, h.order) {
			f := both.Finding()
			return &f
		}
	}
	l.accepted(master, k, h.value)
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
	tables := l.keys.m[k]
	if tables == nil {
		return nil
	}
	for i := len(tables[master]) - 1; i >= 0; i-- {
		if t := &tables[master][i]; t.Order == order {
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
	} else {
		l.order++
		why.Order = l.order
		t.doubt(why)
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
	t.End, t.Ended, t.EndedBy, t.EndOrder, t.Thief = how, time, h.ended, l.order, h.thief
	switch {
	case how == EndReleased:
		t.GaveUp = first(t.GaveUp, l.order)
	case t.RanOut != 0:
	case how == EndExpired && l.isOver(master, k, t.Lease, t.since, 0):
		t.RanOut = l.order
	default:
		l.watch(master, openLease{k, t.Order})
	}
	if how == EndExpired {
		return l.leftBehind(master, k, t)
	}
	return nil
}

// isOver reports whether a lease of a lock has been over for at least by ms, by its holder's clock.
func (l *Ledger) isOver(master int, k lockKey, lease int64, since mark, by int64) bool {
	granting := 0
	for _, table := range l.keys.m[k] {
		granting += min(len(table), 1)
	}
	return lease > 0 && l.times.since(since, master, granting < 2) >= lease+by
}

// watch adds a lease to those that passed ends by the clock.
func (l *Ledger) watch(master int, o openLease) {
	if slices.Contains(l.open[master], o) {
		return
	}
	all := append(l.open[master], o)
	l.open[master] = all[max(0, len(all)-maxHolds):]
}

// Moved reports that a test moves the clock of a master, from and to in unix ms. together means
// that one request moves the clocks of all masters.
func (l *Ledger) Moved(master int, from, to int64, together bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, from)
	l.times.moves(master, from, to, together)
	if to >= from {
		return
	}
	for k, tables := range l.keys.all() { // their keys will outlive their leases
		for _, t := range tables[master] {
			if t.End == "" {
				l.watch(master, openLease{k, t.Order})
			}
		}
	}
}

// Absent says that the ledger gets no events of a master.
func (l *Ledger) Absent(master int) { l.times.clocks[master].absent = true }

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
	why.Order = l.order
	t.doubt(why)
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
	why.Order = l.order
	t.doubt(why)
}

// regret takes back that a holder gave its lock up: it only may have.
func (l *Ledger) regret(master int, k lockKey, order int64, why Doubt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.find(master, k, order); t != nil && t.GaveUp != 0 {
		why.Order = t.GaveUp
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
		why.Order = l.order
		t.doubt(why)
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
	l.open[master] = nil
	for _, tables := range l.keys.m {
		tables[master] = nil
	}
}

// Table returns the holdings of a master, key by key, the oldest first within a key.
func (l *Ledger) Table(master int) []Holding {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Holding
	for _, tables := range l.keys.all() {
		all = append(all, tables[master]...)
	}
	return all
}
