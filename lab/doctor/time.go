package doctor

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

// mark is a moment on a master, for since.
type mark struct {
	now, moved, ahead, together int64
	tick                        int64
}

// times holds the clocks of the masters. At most one of them is being moved.
type times struct {
	clocks   []clock
	tick     int64
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
	t.clocks[master].now = now
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

func (t *times) mark(master int) mark {
	c := &t.clocks[master]
	return mark{c.now, c.moved, c.ahead, t.together, t.tick}
}

// since returns the ms that have passed for a holder since m, as a master shows it. With byItself
// only the clock of that master counts.
func (t *times) since(m mark, master int, byItself bool) int64 {
	c := &t.clocks[master]
	ran := max(c.now-m.now-(c.moved-m.moved), 0)
	if byItself {
		return ran + c.ahead - m.ahead
	}
	all := int64(-1)
	for i := range t.clocks {
		if o := &t.clocks[i]; !o.absent {
			if alone := o.aloneAt(t.tick) - o.aloneAt(m.tick); all < 0 || alone < all {
				all = alone
			}
		}
	}
	return ran + t.together - m.together + max(all, 0)
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
		if t == nil || t.RanOut != 0 || t.GaveUp != 0 {
			return true
		}
		if t.MayRunOut == 0 && l.isOver(master, o.key, t.least.lease, t.least.since, 1) {
			l.order++
			t.MayRunOut = l.order
		}
		if !l.isOver(master, o.key, t.Lease, t.since, 1) {
			return false
		}
		l.order++
		t.RanOut = l.order
		return true
	})
}
