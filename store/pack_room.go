package store

import "slices"

// This file makes room in the block of a pack, and gives room back.

// open makes room for need bytes before offset p, which may be the end. It returns the start of the
// room. The entries from p on then follow the room.
func (l *Pack) open(p, need int) Pos {
	head, end := int(l.head), len(l.b)
	lead := leadOf(l.b)
	front, back, live := head-lead, cap(l.b)-end, end-head
	// At one end, free space of the other end is used by moving all entries. The move must make
	// room for enough further calls to pay for itself.
	worth := need + live/8
	switch {
	case p == head && live > 0 && front >= need:
		l.head -= uint32(need)
		return p - need
	case p == head && live > 0 && front+back >= worth:
		at := cap(l.b) - live
		l.moveTo(at)
		l.head = uint32(at - need)
		return at - need
	case p < end && back >= need:
		l.b = l.b[:end+need]
		copy(l.b[p+need:], l.b[p:end])
		return p
	case p < end && front >= need:
		copy(l.b[head-need:], l.b[head:p])
		l.head -= uint32(need)
		return p - need
	case p == end && back >= need:
		l.b = l.b[:end+need]
		return p
	case p == end && front+back >= worth:
		l.moveTo(lead)
		l.b = l.b[:lead+live+need]
		return lead + live
	}
	return l.grow(p, need)
}

// moveTo moves all entries to the offset at.
func (l *Pack) moveTo(at int) {
	live := l.b[l.head:]
	l.b = l.b[:at+len(live)]
	copy(l.b[at:], live)
	l.head = uint32(at)
}

// muchFree reports whether the pack has become much too large for its entries.
func (l *Pack) muchFree() bool {
	live := l.Bytes()
	return live > 0 && cap(l.b) > max(512, 4*live)
}

// take makes the pack an empty one in the block b. If front, the pack will fill from the back to the
// front.
func (l *Pack) take(b []byte, front bool) {
	l.settle(b[:leadOf(b)])
	l.n = 0
	if front {
		l.b, l.head = b[:cap(b)], uint32(cap(b))
	}
}

// grow is open with new memory: a quarter more than needed, rounded up to the allocator's size
// class.
func (l *Pack) grow(p, need int) Pos {
	head, end := int(l.head), len(l.b)
	size := end - head + need
	b := block(nil, size+(end-head)/4)
	if p == head && end > head {
		b = b[:cap(b)]
		at := len(b) - size
		copy(b[at+need:], l.b[head:])
		l.b, l.head = b, uint32(at)
		return at
	}
	lead := len(b)
	at := lead + p - head
	b = b[:lead+size]
	copy(b[lead:], l.b[head:p])
	copy(b[at+need:], l.b[p:])
	l.settle(b)
	return at
}

// close removes n bytes from p on by moving the smaller side. It returns the new offset of the byte
// that followed them.
func (l *Pack) close(p, n int) Pos {
	head, end := int(l.head), len(l.b)
	switch {
	case n == end-head:
		l.settle(l.b[:leadOf(l.b)])
		return int(l.head)
	case p-head < end-p-n:
		copy(l.b[head+n:], l.b[head:p])
		l.head += uint32(n)
		return p + n
	}
	copy(l.b[p:], l.b[p+n:])
	l.b = l.b[:end-n]
	return p
}

// clone is a copy that shares nothing and has no free space.
func (l *Pack) clone() Pack {
	c := Pack{n: l.n}
	c.settle(block(l.b[l.head:], 0))
	return c
}

// settle makes b the block of the pack, with the entries right after the lead.
func (l *Pack) settle(b []byte) { l.b, l.head = b, uint32(leadOf(b)) }

// block is a new block with these entries and room for more bytes.
func block(entries []byte, room int) []byte {
	size := smallLead + len(entries) + room
	if size > smallBlock {
		size += largeLead - smallLead
	}
	b := slices.Grow([]byte(nil), size)
	return append(b[:leadOf(b)], entries...)
}
