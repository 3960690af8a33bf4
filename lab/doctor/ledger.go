package doctor

import (
	"cmp"
	"slices"
	"sync"
)

// End is how the holding of a lock ended.
type End string

// The ends. A holding that is not over has none.
const (
	EndReleased    End = "released"
	EndExpired     End = "expired"
	EndOverwritten End = "overwritten"
	EndLost        End = "lost" // with all keys: a crash, FLUSHALL
)

// Holding is that one master has granted a lock to one token. Times are unix ms of
// that master's clock, which may be wrong; what came before what on different masters,
// the orders say.
type Holding struct {
	DB       int
	Key      string
	Value    string
	Client   int64
	Granted  Step
	Order    int64 // of the grant
	Lease    int64 // ms; 0 is without end
	Until    int64
	End      End
	Ended    int64
	EndOrder int64
}

// Ledger is what the doctors of several masters know of the locks together.
type Ledger struct {
	mu      sync.Mutex
	masters int
	order   int64
	keys    *bounded[lockKey, [][]Holding] // by master
}

// maxHoldings is how many of one key and one master are kept.
const maxHoldings = 16

// NewLedger makes the ledger of as many masters.
func NewLedger(masters int) *Ledger {
	l := &Ledger{masters: masters}
	l.keys = newBounded[lockKey, [][]Holding](maxHolds)
	return l
}

// granted notes that a master has granted a lock, and returns what is wrong with that.
func (l *Ledger) granted(master int, k lockKey, h *hold) *Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order++
	h.order = l.order
	tables := l.keys.m[k]
	if tables == nil {
		tables = make([][]Holding, l.masters)
		l.keys.put(k, tables)
	}
	if len(tables[master]) >= maxHoldings {
		tables[master] = tables[master][1:]
	}
	tables[master] = append(tables[master], Holding{
		DB: k.db, Key: k.name, Value: h.value, Client: h.client, Granted: h.taken,
		Order: h.order, Lease: h.lease, Until: h.until,
	})
	for _, f := range TwoHoldersOf(tables) {
		if f.completedBy(master, h) {
			return &f
		}
	}
	return nil
}

// completedBy tells whether it was this grant that made the second majority: earlier
// findings are found again each time.
func (f *Finding) completedBy(master int, h *hold) bool {
	last := f.Steps[len(f.Steps)-1]
	return last.Master == master+1 && last.Client == h.client && last.Time == h.taken.Time && last.Command == h.taken.Command
}

// last is the holding of h, nil when it is forgotten.
func (l *Ledger) last(master int, k lockKey, h *hold) *Holding {
	tables := l.keys.m[k]
	if tables == nil {
		return nil
	}
	for i := len(tables[master]) - 1; i >= 0; i-- {
		if t := &tables[master][i]; t.Order == h.order {
			return t
		}
	}
	return nil
}

func (l *Ledger) extended(master int, k lockKey, h *hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.last(master, k, h); t != nil {
		t.Lease, t.Until = h.lease, h.until
	}
}

func (l *Ledger) ended(master int, k lockKey, h *hold, how End, time int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.last(master, k, h); t != nil {
		l.order++
		t.End, t.Ended, t.EndOrder = how, time, l.order
	}
}

// forget drops what is known of a master.
func (l *Ledger) forget(master int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, tables := range l.keys.m {
		tables[master] = nil
	}
}

// Table is what a master has granted, in no order.
func (l *Ledger) Table(master int) []Holding {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Holding
	for _, tables := range l.keys.m {
		all = append(all, tables[master]...)
	}
	return all
}

// term is the time in which a client may believe that it holds a lock, because a
// majority has granted it.
type term struct {
	value  string
	grants []vote
	from   int64 // its order
	to     int64 // 0 when it is not over
}

type vote struct {
	Holding
	master int
}

// TwoHoldersOf looks for locks that a majority of masters granted to one token before
// another token's majority was over. Tables are the holdings of one master each.
//
// No clock is trusted. A client stops believing in its lock when it releases it
// anywhere, or when the lease is over by the clocks of more than half of the masters
// that granted it: one clock that jumps, or one master that loses its keys, does not
// end what the client believes in, and that is just how Redlock breaks.
func TwoHoldersOf(tables [][]Holding) []Finding {
	byKey := map[lockKey][]vote{}
	var keys []lockKey
	for master, table := range tables {
		for _, h := range table {
			k := lockKey{h.DB, h.Key}
			if byKey[k] == nil {
				keys = append(keys, k)
			}
			byKey[k] = append(byKey[k], vote{h, master})
		}
	}
	var found []Finding
	for _, k := range keys {
		terms := termsOf(byKey[k], len(tables)/2+1)
		for i, first := range terms {
			for _, second := range terms[i+1:] {
				if first.value != second.value && (first.to == 0 || second.from < first.to) {
					found = append(found, twoHolders(k, first, second))
				}
			}
		}
	}
	return found
}

// termsOf puts votes for the same token together, and leaves out what is no majority.
// The terms come in the order in which they began.
func termsOf(votes []vote, majority int) []term {
	slices.SortStableFunc(votes, func(a, b vote) int { return cmp.Compare(a.Order, b.Order) })
	open := map[string]*term{}
	var all []*term
	for _, v := range votes {
		t := open[v.Value]
		if t == nil || t.closedBefore(v) {
			t = &term{value: v.Value}
			open[v.Value] = t
			all = append(all, t)
		}
		t.grants = append(t.grants, v)
	}
	var terms []term
	for _, t := range all {
		if len(t.grants) < majority {
			continue
		}
		t.from, t.to = t.grants[majority-1].Order, t.over()
		if t.to == 0 || t.to > t.from {
			terms = append(terms, *t)
		}
	}
	slices.SortStableFunc(terms, func(a, b term) int { return cmp.Compare(a.from, b.from) })
	return terms
}

// closedBefore tells that v is part of another attempt: the client has given this one
// up, or has asked the same master again.
func (t *term) closedBefore(v vote) bool {
	for _, g := range t.grants {
		if g.master == v.master || g.End == EndReleased && g.EndOrder <= v.Order {
			return true
		}
	}
	return false
}

// over is when the client knows that it does not hold the lock any more.
func (t *term) over() (order int64) {
	var expired []int64
	for _, g := range t.grants {
		switch {
		case g.End == EndReleased && (order == 0 || g.EndOrder < order):
			order = g.EndOrder
		case g.End == EndExpired:
			expired = append(expired, g.EndOrder)
		}
	}
	if half := len(t.grants) / 2; len(expired) > half {
		slices.Sort(expired)
		if at := expired[half]; order == 0 || at < order {
			order = at
		}
	}
	return order
}

func twoHolders(k lockKey, first, second term) Finding {
	f := Finding{Pattern: TwoHolders, Key: k.name, Count: 1}
	for _, g := range first.grants {
		f.Steps = append(f.Steps, g.step())
		switch {
		case g.End == EndExpired && g.EndOrder <= second.from:
			f.Steps = append(f.Steps, Step{Master: g.master + 1, Time: g.Ended, Command: "by this master's clock the lease has run out"})
		case g.End == EndLost && g.EndOrder <= second.from:
			f.Steps = append(f.Steps, Step{Master: g.master + 1, Time: g.Ended, Command: "this master has lost its keys"})
		}
	}
	for _, g := range second.grants {
		f.Steps = append(f.Steps, g.step())
	}
	last := second.grants[len(second.grants)-1]
	f.Client, f.Name, f.Time = last.Client, last.Granted.Name, last.Granted.Time
	f.Why, f.Fix = advice(TwoHolders)
	return f
}

func (v vote) step() Step {
	s := v.Granted
	s.Master = v.master + 1
	return s
}
