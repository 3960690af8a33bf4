package store

import (
	"math"
	"math/bits"
	"unsafe"
)

// wheel holds the deadlines of one database. It is a hierarchical timing wheel (scheme 7 of
// Varghese and Lauck). The lowest level has slots of one millisecond, and each level has 256 slots,
// so the digits of a deadline in base 256 are its slots.
//
// A deadline is filed under its highest digit that differs from now. When now reaches that slot,
// its timers move down a level. From the lowest level they fire at their millisecond and in order.
// Each timer moves at most six times.
//
// The lists run through timers. The timer of a node lies beside the timers of the other nodes of its
// chunk, in a page that exists while one of them has a deadline. So a key without a TTL pays nothing,
// and setting, changing and dropping a TTL is a few stores.
//
//	level[lv].head[slot] ──> timer of node 259 <──> timer of node 130
//	pages[1] ──> | timer of 128 | 129 | 130 | ...    pages[2] ──> | 256 | ...
type wheel struct {
	now   int64 // every timer that is due up to here has fired
	count int
	sum   uint64 // of all deadlines, modulo 2^64; only differences are used
	slots int    // that the last turn has emptied
	moved int    // timers that it found there, each time it found one
	level [wheelLevels]*wheelLevel
	pages []timerPage      // by the number of the chunk
	spare *[chunkLen]timer // of the page that was empty last, for the next one
}

// timer is the deadline of a node.
type timer struct {
	expire     int64 // unix ms, 0 for none
	prev, next uint32
}

const timerSize = int(unsafe.Sizeof(timer{}))

type timerPage struct {
	timers *[chunkLen]timer // nil if the page does not exist
	used   int
}

// at is the timer of node i, which has a deadline.
func (w *wheel) at(i uint32) *timer { return &w.pages[i>>chunkBits].timers[i&(chunkLen-1)] }

// mem is the memory of the timers in use, in bytes.
func (w *wheel) mem() int { return w.count * timerSize }

// take reserves the timer of node i.
func (w *wheel) take(i uint32) *timer {
	at := int(i >> chunkBits)
	if at >= len(w.pages) {
		w.pages = append(w.pages, make([]timerPage, at+1-len(w.pages))...)
	}
	p := &w.pages[at]
	if p.timers == nil {
		if p.timers = w.spare; p.timers == nil {
			p.timers = new([chunkLen]timer)
		}
		w.spare = nil
	}
	p.used++
	return w.at(i)
}

// release frees the timer of node i.
func (w *wheel) release(i uint32) {
	p := &w.pages[i>>chunkBits]
	*w.at(i) = timer{}
	if p.used--; p.used == 0 {
		w.spare, p.timers = p.timers, nil
	}
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

// file links node i under the first millisecond at which it is due, as seen from the time base.
func (w *wheel) file(i uint32, base int64) {
	e := w.at(i)
	at := max(e.expire, base) // an overdue node fires at the next millisecond
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
		w.at(e.next).prev = i
	}
	l.head[slot] = i
	l.used[slot/64] |= 1 << (slot % 64)
}

// add gives node i, which has no deadline, the deadline at.
func (w *wheel) add(i uint32, at int64) {
	w.count++
	w.sum += uint64(at)
	w.take(i).expire = at
	w.file(i, w.now)
}

func (w *wheel) remove(i uint32) {
	w.count--
	w.sum -= uint64(w.at(i).expire)
	w.unlink(i)
	w.release(i)
}

func (w *wheel) unlink(i uint32) {
	e := w.at(i)
	if e.next != 0 {
		w.at(e.next).prev = e.prev
	}
	if e.prev&slotRef == 0 {
		w.at(e.prev).next = e.next
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

// turn moves the wheel to the time to and calls fire for each node that is due, in the order of
// the deadlines. fire must remove the node or give it another deadline, and returns how much work that
// was. turn stops after budget entries or so much work, so that a million keys of one millisecond do not
// delay the clients. It returns what is left of the budget, less than 0 if it has not reached the end.
func (w *wheel) turn(to int64, budget int, fire func(i uint32) int) (left int) {
	w.slots, w.moved = 0, 0
	for w.count > 0 {
		at, lv, slot, ok := w.next()
		if !ok || at > to {
			break
		}
		// now stays just before the slot until the slot is empty, so a later call finds it again.
		w.now = at - 1
		l := w.level[lv]
		w.slots++
		for l.head[slot] != 0 {
			if budget--; budget < 0 {
				return budget
			}
			w.moved++
			i := l.head[slot]
			if w.at(i).expire < at || lv == 0 {
				budget -= fire(i) - 1
				continue
			}
			w.unlink(i)
			w.file(i, at)
		}
		w.now = at
	}
	w.now = max(w.now, to)
	return max(budget, 0)
}

// rewind files all timers again as seen from an earlier time. Without it, a clock that was set
// back would leave deadlines in slots that have been passed.
func (w *wheel) rewind(to int64) {
	w.level = [wheelLevels]*wheelLevel{}
	w.now = to
	for at, page := range w.pages {
		if page.timers == nil {
			continue
		}
		for k := range page.timers {
			if page.timers[k].expire != 0 {
				w.file(uint32(at<<chunkBits|k), to)
			}
		}
	}
}
