package doctor

import (
	"fmt"
	"slices"
	"strings"
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
	EndLost        End = "lost" // with all keys: a crash, FLUSHALL
)

// Holding is the grant of a lock to one holder by one master. Times are unix ms of that master's
// clock, which may be wrong. An order is a number that grows with every event on all masters; 0
// means not yet.
type Holding struct {
	DB      int
	Key     string
	Holder  string // the token, or the client if the token does not name the holder
	Token   string
	Client  int64
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

	since mark // the begin of the lease
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
		keys: newBounded[lockKey, [][]Holding](maxHolds), times: newTimes(masters),
	}
}

// granted records that a master granted a lock. It returns a finding if that made a second holder.
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
		DB: k.db, Key: k.name, Holder: l.holder(h, o), Token: h.value, Client: h.client, Granted: h.taken,
		Event: o.mono, Order: h.order, Lease: h.lease, Until: h.until,
		since: l.times.mark(master),
	})
	if l.masters < 2 {
		return nil
	}
	for _, both := range Overlaps(tables) {
		if both.completedBy(master, h.order) {
			f := both.Finding()
			return &f
		}
	}
	return nil
}

// holder returns the name of a holder: its token, or the client if all clients may have the same
// token. A client without a name counts as another client on each master. Redisson has another
// token for each master: an id of its connections to the master and the number of the thread. The
// name of the client replaces that id.
func (l *Ledger) holder(h *hold, o op) string {
	switch {
	case l.masters > 1 && h.hash && o.owner != "":
		return o.owner + strings.TrimPrefix(h.value, family(h.value))
	case isToken(h.value), l.masters > 1 && o.owner == "":
		return h.value
	case o.owner != "":
		return "client " + o.owner
	}
	return fmt.Sprintf("client id=%d", h.client)
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

func (l *Ledger) extended(master int, k lockKey, h *hold, time int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, time)
	if t := l.find(master, k, h.order); t != nil {
		t.Renewed++
		t.Lease, t.Until, t.since = h.lease, h.until, l.times.mark(master)
	}
}

func (l *Ledger) ended(master int, k lockKey, h *hold, how End, time int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, time)
	t := l.find(master, k, h.order)
	if t == nil {
		return
	}
	l.order++
	t.End, t.Ended, t.EndedBy, t.EndOrder = how, time, h.ended, l.order
	switch {
	case how == EndReleased:
		t.GaveUp = l.order
	case t.RanOut != 0:
	case how == EndExpired && l.isOver(master, k, t, 0):
		t.RanOut = l.order
	default:
		l.watch(master, openLease{k, t.Order})
	}
}

// isOver reports whether the lease of t has been over for at least by ms, by its holder's clock.
func (l *Ledger) isOver(master int, k lockKey, t *Holding, by int64) bool {
	granting := 0
	for _, table := range l.keys.m[k] {
		granting += min(len(table), 1)
	}
	return t.Lease > 0 && l.times.since(t.since, master, granting < 2) >= t.Lease+by
}

// watch adds a lease to those that passed ends by the clock.
func (l *Ledger) watch(master int, o openLease) {
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

// gaveUp records that a holder tried to release a lock that it had already lost.
func (l *Ledger) gaveUp(master int, k lockKey, client int64, args []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.open[master] {
		if o.key != k {
			continue
		}
		t := l.find(master, k, o.order)
		if t != nil && t.GaveUp == 0 && (t.Client == client || slices.Contains(args, t.Token)) {
			l.order++
			t.GaveUp = l.order
		}
	}
}

// Order returns the order of the last recorded event.
func (l *Ledger) Order() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.order
}

// Passed reports the time on a master, in unix ms.
func (l *Ledger) Passed(master int, time int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, time)
}

// passed ends the leases that are over although their keys have not ended at that time.
func (l *Ledger) passed(master int, time int64) {
	if !l.times.sees(master, time) {
		l.endLeases(master)
		return
	}
	for i := range l.open {
		l.endLeases(i)
	}
}

func (l *Ledger) endLeases(master int) {
	l.open[master] = slices.DeleteFunc(l.open[master], func(o openLease) bool {
		t := l.find(master, o.key, o.order)
		if t == nil || t.RanOut != 0 || t.End == EndReleased {
			return true
		}
		if !l.isOver(master, o.key, t, 1) {
			return false
		}
		l.order++
		t.RanOut = l.order
		return true
	})
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
