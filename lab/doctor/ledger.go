package doctor

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// End is how the holding of a lock ended on a master.
type End string

// The ends. A holding that is not over has none.
const (
	EndReleased    End = "released" // by its holder
	EndExpired     End = "expired"
	EndStolen      End = "stolen" // deleted by somebody else
	EndOverwritten End = "overwritten"
	EndLost        End = "lost" // with all keys: a crash, FLUSHALL
)

// Holding is that one master has granted a lock to one holder. Times are unix ms of
// that master's clock, which may be wrong; what came before what on different masters, the
// orders say.
type Holding struct {
	DB      int
	Key     string
	Holder  string // its token, or where that does not name it, the client
	Token   string
	Client  int64
	Granted Step
	Event   int64 // Mono of the grant
	Order   int64
	Lease   int64 // ms; 0 is without end
	Until   int64
	Renewed int // times

	End      End
	Ended    int64
	EndedBy  Step // what took it from its holder
	EndOrder int64

	GaveUp int64 // order of when the holder released it, or tried to
	RanOut int64 // order of when the lease was over by the clock of the holder, as far as this master shows it

	since mark // when the lease began
}

// Ledger is what the doctors of several masters know of the locks together.
type Ledger struct {
	mu      sync.Mutex
	masters int
	keep    int
	order   int64
	keys    *bounded[lockKey, [][]Holding] // by master
	ghosts  [][]ghost                      // by master
	times   times
}

// ghost is a holding whose lease may be over at another time than its key is gone.
type ghost struct {
	key   lockKey
	order int64
}

// KeepOnline is how many holdings of a key and master are enough to see what happens now.
const KeepOnline = 16

// NewLedger makes the ledger of as many masters, which keeps the newest holdings of
// each key and master.
func NewLedger(masters, keep int) *Ledger {
	return &Ledger{
		masters: masters, keep: keep, ghosts: make([][]ghost, masters),
		keys: newBounded[lockKey, [][]Holding](maxHolds), times: newTimes(masters),
	}
}

// granted notes that a master has granted a lock, and returns what is wrong with that.
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

// holder tells who has a lock: by the token, but by the client where all may have the
// same. A client without a name is another one for each master. Redisson makes a token for
// each master from an id of the connections to it and the number of the thread: there the
// client's name has to stand for the id.
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

// find returns the holding with this order, nil when it is forgotten.
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
		l.haunt(master, ghost{k, t.Order})
	}
}

// isOver tells whether the holder of t knows that its lease is over, by that many ms.
func (l *Ledger) isOver(master int, k lockKey, t *Holding, by int64) bool {
	granting := 0
	for _, table := range l.keys.m[k] {
		granting += min(len(table), 1)
	}
	return t.Lease > 0 && l.times.since(t.since, master, granting < 2) >= t.Lease+by
}

func (l *Ledger) haunt(master int, g ghost) {
	all := append(l.ghosts[master], g)
	l.ghosts[master] = all[max(0, len(all)-maxHolds):]
}

// Moved tells that the clock of a master is moved by hand, together with all others or alone.
func (l *Ledger) Moved(master int, from, to int64, together bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, from)
	l.times.moves(master, from, to, together)
	if to >= from {
		return
	}
	for k, tables := range l.keys.all() { // their keys will be there for longer than their leases
		for _, t := range tables[master] {
			if t.End == "" {
				l.haunt(master, ghost{k, t.Order})
			}
		}
	}
}

// Absent tells that nothing will be told of a master.
func (l *Ledger) Absent(master int) { l.times.clocks[master].absent = true }

// gaveUp notes that a holder wanted to release a lock that it had lost before.
func (l *Ledger) gaveUp(master int, k lockKey, client int64, args []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.ghosts[master] {
		if g.key != k {
			continue
		}
		if t := l.find(master, k, g.order); t != nil && t.GaveUp == 0 && (t.Client == client || slices.Contains(args, t.Token)) {
			l.order++
			t.GaveUp = l.order
		}
	}
}

// Order is how many things have been noted: the order of the last one.
func (l *Ledger) Order() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.order
}

// Passed tells what time it is now on a master.
func (l *Ledger) Passed(master int, time int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, time)
}

// passed ends the leases that are over without their keys telling so.
func (l *Ledger) passed(master int, time int64) {
	if !l.times.sees(master, time) {
		l.endLeases(master)
		return
	}
	for i := range l.ghosts {
		l.endLeases(i)
	}
}

func (l *Ledger) endLeases(master int) {
	l.ghosts[master] = slices.DeleteFunc(l.ghosts[master], func(g ghost) bool {
		t := l.find(master, g.key, g.order)
		if t == nil || t.RanOut != 0 || t.End == EndReleased {
			return true
		}
		if !l.isOver(master, g.key, t, 1) {
			return false
		}
		l.order++
		t.RanOut = l.order
		return true
	})
}

// forget drops what is known of a master.
func (l *Ledger) forget(master int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ghosts[master] = nil
	for _, tables := range l.keys.m {
		tables[master] = nil
	}
}

// Table is what a master has granted, key by key.
func (l *Ledger) Table(master int) []Holding {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Holding
	for _, tables := range l.keys.all() {
		all = append(all, tables[master]...)
	}
	return all
}
