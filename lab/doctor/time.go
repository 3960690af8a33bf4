package doctor

import "slices"

// A lease is over for its holder when its own clock says so. The masters' clocks show that
// one as long as they run; when a lab moves them, they show the time that it plays. A move
// counts as time that has passed for everybody
//
//   - when it was asked of all masters at once, from the first of them on, or
//   - as far as every single master was moved forwards, one by one, since the lease began.
//
// The rest is a clock that jumps, which no holder notices: however many masters it is that
// jump, as long as one does not. A move back is never time. Of a lock that only one master
// has ever granted, that master's moves are the time.
//
// Clocks that run at another rate, or stand still, are taken at their word: Terms has more
// than half of a holder's masters agree.

// clock is what was done to the clock of a master.
type clock struct {
	now      int64
	moved    int64  // by hand, in all; moves back are negative
	together int64  // forwards and with all masters
	alone    []step // forwards and without the others
	absent   bool   // nothing is known of this master
}

// step is how far a clock was moved at a tick.
type step struct{ tick, sum int64 }

// keepSteps is how many moves of one clock are remembered: a lease that saw more begin
// with is short in lab's hands.
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

// mark is a moment on a master.
type mark struct {
	now, moved, together int64
	tick                 int64
}

// times are the clocks of the masters. At most one of them is on its way.
type times struct {
	clocks   []clock
	tick     int64
	together int64 // how far they were moved with one another: the furthest of them

	way struct { // of the clock that is being moved
		master   int
		left, to int64
		together bool
	}
}

func newTimes(masters int) times { return times{clocks: make([]clock, masters)} }

// sees tells that something happens on a master now. A clock that is being moved has come
// so far by then, and has arrived when it is another master's turn. The result says whether
// one has moved.
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

// add moves the clock that is on its way.
func (t *times) add(by int64) {
	c := &t.clocks[t.way.master]
	c.now += by
	c.moved += by
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

// moves begins a move.
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
	return mark{c.now, c.moved, t.together, t.tick}
}

// since is how much time has passed on a master. By itself is for what concerns no other one.
func (t *times) since(m mark, master int, byItself bool) int64 {
	c := &t.clocks[master]
	ran := max(c.now-m.now-(c.moved-m.moved), 0)
	if byItself {
		return max(c.now-m.now, ran)
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
