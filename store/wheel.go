package store

import (
	"math"
	"math/bits"
)

// wheel holds the deadlines of one database. It is a hierarchical timing wheel (scheme 7 of
// Varghese and Lauck). The lowest level has slots of one millisecond, and each level has 256 slots,
// so the digits of a deadline in base 256 are its slots.
//
// A deadline is filed under its highest digit that differs from now. When now reaches that slot,
// its entries move down a level. From the lowest level they fire at their millisecond and in order.
// Each entry moves at most six times.
//
// The lists run through the entries themselves (entry.prev, entry.next), so setting, changing and
// dropping a TTL is a few stores and no allocation.
type wheel struct {
	now   int64 // every entry that is due up to here has fired
	count int
	sum   uint64 // of all deadlines, modulo 2^64; only differences are used
	level [wheelLevels]*wheelLevel
}

const (
	wheelLevels = 8 // 256^8 ms: every int64
	slotBits    = 8
	slotCount   = 1 << slotBits
	slotRef     = 1 << 31 // a prev link with this bit is a slot: level and digit
)

type wheelLevel struct {
	head [slotCount]uint32
	used [slotCount / 64]uint64 // one bit for each slot, set if the slot is not empty
}

// nextUsed is the first slot from digit on that is not empty.
func (l *wheelLevel) nextUsed(digit int) (int, bool) {
	for w := digit / 64; w < len(l.used); w++ {
		word := l.used[w]
		if w == digit/64 {
			word &= ^uint64(0) << (digit % 64)
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word), true
		}
	}
	return 0, false
}

func digit(at int64, level int) int { return int(at>>(level*slotBits)) & (slotCount - 1) }

// file links entry i under the first millisecond at which it is due, as seen from the time base.
func (w *wheel) file(t *Table[entry], i uint32, base int64) {
	e := &t.at(i).Val
	at := max(e.expire, base) // an overdue entry fires at the next millisecond
	if at < math.MaxInt64 {
		at++
	}
	lv := (63 - bits.LeadingZeros64(uint64(at^base))) / slotBits
	if w.level[lv] == nil {
		w.level[lv] = &wheelLevel{}
	}
	l, slot := w.level[lv], digit(at, lv)
	e.prev, e.next = slotRef|uint32(lv<<slotBits|slot), l.head[slot]
	if e.next != 0 {
		t.at(e.next).Val.prev = i
	}
	l.head[slot] = i
	l.used[slot/64] |= 1 << (slot % 64)
}

func (w *wheel) add(t *Table[entry], i uint32) {
	w.count++
	w.sum += uint64(t.at(i).Val.expire)
	w.file(t, i, w.now)
}

func (w *wheel) remove(t *Table[entry], i uint32) {
	w.count--
	w.sum -= uint64(t.at(i).Val.expire)
	w.unlink(t, i)
}

func (w *wheel) unlink(t *Table[entry], i uint32) {
	e := &t.at(i).Val
	if e.next != 0 {
		t.at(e.next).Val.prev = e.prev
	}
	if e.prev&slotRef == 0 {
		t.at(e.prev).Val.next = e.next
	} else {
		ref := int(e.prev &^ slotRef)
		l, slot := w.level[ref>>slotBits], ref&(slotCount-1)
		l.head[slot] = e.next
		if e.next == 0 {
			l.used[slot/64] &^= 1 << (slot % 64)
		}
	}
	e.prev, e.next = 0, 0
}

// next is the earliest time at which a slot has to be emptied, and its place.
func (w *wheel) next() (at int64, lv, slot int, ok bool) {
	for lv, l := range w.level {
		if l == nil {
			continue
		}
		if slot, ok := l.nextUsed(digit(w.now, lv) + 1); ok {
			shift := lv * slotBits
			high := w.now >> shift &^ (slotCount - 1)
			return (high | int64(slot)) << shift, lv, slot, true
		}
	}
	return 0, 0, 0, false
}

// turn moves the wheel to the time to and calls fire for each entry that is due, in the order of
// the deadlines. fire must remove the entry. turn stops after it has moved or fired budget entries,
// so that a million keys of one millisecond do not delay the clients. It reports whether it reached
// the end.
func (w *wheel) turn(t *Table[entry], to int64, budget int, fire func(i uint32)) (done bool) {
	for w.count > 0 {
		at, lv, slot, ok := w.next()
		if !ok || at > to {
			break
		}
		// now stays just before the slot until the slot is empty, so a later call finds it again.
		w.now = at - 1
		l := w.level[lv]
		for l.head[slot] != 0 {
			if budget--; budget < 0 {
				return false
			}
			i := l.head[slot]
			if t.at(i).Val.expire < at || lv == 0 {
				fire(i)
				continue
			}
			w.unlink(t, i)
			w.file(t, i, at)
		}
		w.now = at
	}
	w.now = max(w.now, to)
	return true
}

// rewind files all entries again as seen from an earlier time. Without it, a clock that was set
// back would leave deadlines in slots that have been passed.
func (w *wheel) rewind(t *Table[entry], to int64) {
	w.level = [wheelLevels]*wheelLevel{}
	w.now = to
	for i := t.nextLive(0); i != 0; i = t.nextLive(i + 1) {
		if t.at(i).Val.expire != 0 {
			w.file(t, i, to)
		}
	}
}
