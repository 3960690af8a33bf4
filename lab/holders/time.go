package holders

import "slices"

// A lease is over for its holder when the holder's own clock says so. No master sees that clock. It
// is derived from the clocks of the masters: while they run, time passes for the holder, too. If a
// test moves the clock of a master, the move counts as time in two cases:
//
//   - One request moves the clocks of all masters. It counts from the first of them on.
//   - Every master moves by itself. It counts as far as all of them have moved since the lease began.
//
// Any other move is a clock that jumps, however many masters jump. No holder notices it. A move
// back is never time. If only one master ever granted a lock, the moves of that master are the
// time.
//
// A clock that runs at another rate or stands still is believed. Terms needs the agreement of more
// than half of a holder's masters.

// clock is what the ledger knows about the clock of a master. Times are in ms.
type clock struct {
	now      int64
	moved    int64  // sum of all moves; moves back are negative
	ahead    int64  // sum of the moves forwards
	together int64  // sum of the moves forwards with all masters
	alone    []step // the moves forwards without the others
	absent   bool   // the ledger gets no events of this master

	last, first sighting // the newest event, and the oldest
}

// sighting is a moment at which an event showed a clock.
type sighting struct {
	base int64 // its time without all moves
	real int64 // us of a clock that no test moves
	seen bool
}

// step is the sum of the moves of a clock up to a tick.
type step struct{ tick, sum int64 }

// keepSteps is how many moves of one clock are kept. A lease with more moves counts only the newest
// ones.
const keepSteps = 4096

func (c *clock) aloneAt(tick int64) int64 {
	i, _ := slices.BinarySearchFunc(c.alone, tick+1, func(s step, tick int64) int { return int(s.tick - tick) })
	switch {
	case i > 0:
		return c.alone[i-1].sum
	case len(c.alone) == keepSteps:
		return c.alone[0].sum
	}
	return 0
}

// moment is a time on a node, for since.
type moment struct {
	node                        int
	now, moved, ahead, together int64
	tick                        int64
	real                        int64
	others                      []sighting // with replicas: the newest ones of all nodes
}

// passed returns the time of a moment without the moves of clocks that were no time.
func (m moment) passed() int64 { return m.now - m.moved + m.together }

// times holds the clocks of the masters. Of those that are being moved, the newest goes step by step, and the others
// have arrived.
type times struct {
	clocks []clock
	tick   int64

	replicated bool // a lease may be over by the clock of another node than the one that granted it

	real     int64 // us of a clock that no test moves, at the event under way
	together int64 // the largest clock.together

	way struct { // the move that has begun, step by step through its deadlines
		master   int
		left, to int64
		together bool
	}
}

func newTimes(masters int) times { return times{clocks: make([]clock, masters)} }

// sees reports an event on a master at now. If that master's clock is being moved, it has come as
// far as now. An event on another master means that the move is complete. It returns whether a
// clock moved.
func (t *times) sees(master int, now int64) (moved bool) {
	w := &t.way
	if w.left > 0 {
		left := int64(0)
		if w.master == master {
			left = min(max(w.to-now, 0), w.left)
		}
		moved = left < w.left
		t.add(w.left - left)
		w.left = left
	}
	c := &t.clocks[master]
	if w.master != master || w.left == 0 {
		now = max(now, c.now) // keys that expired on the way to where the clock is: several nodes move side by side
	}
	c.now = now
	c.last = sighting{now - c.moved, t.real, true}
	if !c.first.seen {
		c.first = c.last
	}
	return moved
}

// add moves the clock that is being moved by so many ms.
func (t *times) add(by int64) {
	c := &t.clocks[t.way.master]
	c.now += by
	c.moved += by
	c.ahead += by
	t.tick++
	if t.way.together {
		c.together += by
		t.together = max(t.together, c.together)
		return
	}
	sum := by
	if n := len(c.alone); n > 0 {
		sum += c.alone[n-1].sum
	}
	c.alone = append(c.alone[max(0, len(c.alone)-keepSteps+1):], step{t.tick, sum})
}

// moves begins a move, which sees continues. A move back is complete at once.
func (t *times) moves(master int, from, to int64, together bool) {
	t.sees(master, from)
	if to < from {
		c := &t.clocks[master]
		c.moved += to - from
		c.now = to
		return
	}
	t.way.master, t.way.left, t.way.to, t.way.together = master, to-from, to, together
}

func (t *times) moment(master int) moment {
	c := &t.clocks[master]
	m := moment{node: master, now: c.now, moved: c.moved, ahead: c.ahead, together: t.together, tick: t.tick, real: t.real}
	if t.replicated {
		for i := range t.clocks {
			m.others = append(m.others, t.clocks[i].last)
		}
	}
	return m
}

// since returns the ms that have passed for a holder since m, as a node shows it: at least, and at most. With byItself
// only the clock of that node counts.
func (t *times) since(m moment, node int, byItself bool) (least, most int64) {
	c := &t.clocks[node]
	least, most = t.ran(m, node)
	if byItself {
		return least + c.ahead - m.ahead, most + c.ahead - m.ahead
	}
	all := int64(-1)
	for i := range t.clocks {
		if o := &t.clocks[i]; !o.absent {
			if alone := o.aloneAt(t.tick) - o.aloneAt(m.tick); all < 0 || alone < all {
				all = alone
			}
		}
	}
	moved := t.together - m.together + max(all, 0)
	return least + moved, most + moved
}

// ran returns for how long the clocks have run by themselves since m, as a node shows it: at least, and at most. The
// moment was read on one node. On another node only the events around it are known.
func (t *times) ran(m moment, node int) (least, most int64) {
	c := &t.clocks[node]
	base, real := c.now-c.moved, (t.real-m.real)/1000
	if node == m.node {
		ran := max(base-(m.now-m.moved), 0)
		return ran, ran
	}
	const close = 2 // ms
	if apart := base - (m.now - m.moved) - real; -close <= apart && apart <= close {
		return max(real, 0), max(real, 0) // both clocks have run with the real time
	}
	if len(m.others) == 0 {
		return 0, max(real, 0)
	}
	before := m.others[node]
	if !before.seen {
		return max(base-c.first.base, 0), max(real, 0)
	}
	ran := base - before.base
	return max(ran-(m.real-before.real)/1000, 0), max(min(ran, real), 0)
}

// At tells the real time, in us, of the events that follow.
func (l *Ledger) At(real int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times.real = real
}

// Passed reports the time on a master, in unix ms.
func (l *Ledger) Passed(master int, time int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed(master, time)
}

// passed ends the leases that are over although their keys have not ended at that time.
func (l *Ledger) passed(master int, time int64) {
	moved := l.times.sees(master, time)
	for i := range l.times.clocks {
		switch {
		case moved, i == master:
			l.endLeases(i, i)
		case l.groups == nil: // time has passed for the holders of other masters, too
			l.endLeases(i, master)
		}
	}
}

// endLeases ends the leases of a node's group that are over as the clock of a node shows it.
func (l *Ledger) endLeases(master, by int) {
	group := l.group(master)
	l.open[group] = slices.DeleteFunc(l.open[group], func(o openLease) bool {
		t := l.find(master, o.key, o.order)
		switch {
		case t == nil || t.GaveUp != 0 || t.RanOut != 0 && !t.alone:
			return true
		case t.RanOut != 0:
			return l.overTogether(by, t)
		}
		_, perhaps := l.isOver(by, o.key, t.least.lease, t.least.since, 1)
		over, longest := l.isOver(by, o.key, t.Lease, t.since, 1)
		if t.MayRunOut == 0 && (perhaps || longest && !over) {
			l.order++
			t.MayRunOut = l.order
			least, _ := l.times.since(t.least.since, by, false)
			t.mayAlone = (l.groups != nil || l.masters > 1) && least < t.least.lease
			if !over && longest && t.since.node != by {
				t.doubt(Doubt{Order: l.order, Why: whyClocks})
			}
		}
		if !over {
			return false
		}
		l.order++
		return !l.ranOut(by, t)
	})
}

// ranOut notes that a lease is over. It returns true if only the moves of one node's clock say so: then the lease
// stays open.
func (l *Ledger) ranOut(node int, t *Holding) (stays bool) {
	t.RanOut = l.order
	t.alone = l.groups != nil || l.masters > 1
	return t.alone && !l.overTogether(node, t)
}

// overTogether notes that a lease is over without the moves of one node's clock, if it is.
func (l *Ledger) overTogether(node int, t *Holding) bool {
	if t.together == 0 {
		if least, _ := l.times.since(t.since, node, false); least >= t.Lease {
			l.order++
			t.together = l.order
		}
	}
	return t.together != 0
}

// takesBack opens the leases again that the clock of one node alone has ended, if a second node is about to grant the
// lock: its move was a clock that jumped.
func (l *Ledger) takesBack(node int, k Key) {
	if !l.isSecond(node, k) {
		return
	}
	for _, table := range l.keys.Get(k) {
		for i := range table {
			t := &table[i]
			if t.alone {
				t.RanOut, t.alone = t.together, false
			}
			if t.mayAlone {
				t.MayRunOut, t.mayAlone = t.together, false
			}
		}
	}
}

// isSecond reports whether a lock that one node has granted is about to be granted by another one.
func (l *Ledger) isSecond(node int, k Key) bool {
	if l.groups != nil {
		return len(l.granters[k]) == 1 && l.granters[k][0] != node
	}
	return l.masters > 1 && l.granting(k) == 1 && len(l.keys.Get(k)[node]) == 0
}

// isOver reports whether a lease of a lock has been over for at least by ms, by its holder's clock as a node shows it.
// perhaps means that it may have been.
func (l *Ledger) isOver(node int, k Key, lease int64, since moment, by int64) (certainly, perhaps bool) {
	if lease <= 0 {
		return false, false
	}
	least, most := l.times.since(since, node, l.granting(k) < 2 && since.node == node)
	return least >= lease+by, most >= lease+by
}

// HasEnded reports whether a holder has given its lock up, or its lease is over.
func (l *Ledger) HasEnded(node int, k Key, order int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.find(node, k, order)
	return t != nil && (t.GaveUp != 0 || t.RanOut != 0)
}

// Believes reports whether the holding with this order is known, and its holder has not given it up.
func (l *Ledger) Believes(node int, k Key, order int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.find(node, k, order)
	return t != nil && t.GaveUp == 0
}

// opens adds a lease to those that passed ends by the clock.
func (l *Ledger) opens(master int, o openLease) {
	group := l.group(master)
	if slices.Contains(l.open[group], o) {
		return
	}
	all := append(l.open[group], o)
	l.open[group] = all[max(0, len(all)-mostLocks):]
}

// several reports whether several nodes of one group have granted a lock. Each of them ends its own keys, so the lease
// of a key may be over before its node shows that.
func (l *Ledger) several(k Key) bool { return len(l.granters[k]) > 1 }

// opensAll opens the leases of a lock that a second node is about to grant.
func (l *Ledger) opensAll(node int, k Key) {
	if !l.several(k) || l.keys.Get(k) == nil {
		return
	}
	for _, t := range l.keys.Get(k)[l.group(node)] {
		if t.GaveUp == 0 && t.RanOut == 0 && t.Lease > 0 {
			l.opens(node, openLease{k, t.Order})
		}
	}
	l.endLeases(node, node)
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
	for k, tables := range l.keys.All() { // their keys will outlive their leases
		for _, t := range tables[l.group(master)] {
			if t.End == "" {
				l.opens(master, openLease{k, t.Order})
			}
		}
	}
}

// Absent says that the ledger gets no events of a master.
func (l *Ledger) Absent(master int) { l.times.clocks[master].absent = true }
