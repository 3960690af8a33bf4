package store

import (
	"math"
	"unsafe"
)

// quicklist is the large form of a List, and the form in which a small one is edited. It has the two
// forms of Redis: a listpack, which is one node of any size, and a quicklist, which is a chain of nodes
// of bounded size. Each node is a Pack.
//
//	quicklist ── head ⇄ node ⇄ node ⇄ tail
//	             [  |▓▓▓] [▓▓▓▓] [▓▓|  ]
//
// An end node keeps its free space at the outer side, so pushing and popping at either end moves
// nothing. A value larger than a node may be has a node of its own.
type quicklist struct {
	head, tail *listNode
	n          int
	mem        int // of the packs, and of the nodes but the first
	ks         *Keyspace
	quick      bool     // it is a quicklist to clients
	fill       int      // list-max-listpack-size when it became one
	loan       *loan    // of the nodes that were not made for it; nil for none
	first      listNode // most lists need no other
}

// listNode is one pack in the chain.
type listNode struct {
	prev, next *listNode
	Pack
	// lp is the size of the entries in Redis's listpack, which stores numbers in binary. The
	// limits, and so OBJECT ENCODING, depend on that size.
	lp    int
	since *loan // the loan during which its block was made: it is not lent
}

const (
	listNodeMem = int(unsafe.Sizeof(listNode{}))

	// listGuess is the estimate in quicklist.c for the lengths in an entry that is not encoded
	// yet (SIZE_ESTIMATE_OVERHEAD).
	listGuess = 8
	// listSafetyLimit bounds the bytes of nodes that are limited by their number of entries
	// (quicklist.c: SIZE_SAFETY_LIMIT).
	listSafetyLimit = 8192
)

// encoding is the reply of OBJECT ENCODING.
func (l *quicklist) encoding() string {
	if l.quick {
		return "quicklist"
	}
	return "listpack"
}

func (l *quicklist) size() int { return int(unsafe.Sizeof(*l)) + l.mem }

func (l *quicklist) clone() *quicklist {
	c := &quicklist{ks: l.ks, quick: l.quick, fill: l.fill}
	for nd := l.head; nd != nil; nd = nd.next {
		to := c.link(c.tail)
		to.Pack, to.lp = nd.clone(), nd.lp
		c.n += nd.Len()
		c.mem += to.Mem()
	}
	return c
}

// lend is a list whose nodes have the same blocks.
func (l *quicklist) lend(to *loan) *quicklist {
	l.loan = to
	c := &quicklist{ks: l.ks, quick: l.quick, fill: l.fill, n: l.n, mem: l.mem}
	for nd := l.head; nd != nil; nd = nd.next {
		twin := c.link(c.tail)
		twin.Pack, twin.lp = nd.Pack, nd.lp
	}
	return c
}

// isLent reports whether somebody may read the block of nd.
func (l *quicklist) isLent(nd *listNode) bool { return l.loan.isOpen() && nd.since != l.loan }

// own gives nd a block of its own before the block changes. What it leaves is read, and never used again.
func (l *quicklist) own(nd *listNode) {
	if l.loan != nil && l.isLent(nd) {
		nd.since = l.loan
		nd.b = append(make([]byte, 0, cap(nd.b)), nd.b...)
	}
}

// pack makes a quicklist a listpack again if it is one node of at most the limit divided by parts. A list
// that shrinks has to fit in half a node, so a list at the limit does not change its form with every
// command (t_list.c: listTypeTryConvertQuicklist).
func (l *quicklist) pack(parts int) {
	if !l.quick || l.head != l.tail || l.head == nil || l.ks.plain(&l.head.Pack) {
		return
	}
	fill := l.ks.Limits.ListMaxListpackSize
	maxBytes, maxEntries := nodeLimit(fill)
	if fill >= 0 {
		maxBytes = math.MaxInt
	}
	if l.head.lp+listpackFrame <= maxBytes/parts && l.n <= maxEntries/parts {
		l.quick = false
	}
}

// fits reports whether nd may take a value of n more bytes.
func (l *quicklist) fits(nd *listNode, n int) bool {
	maxBytes, maxEntries := nodeLimit(l.fill)
	return nd != nil && nd.lp+listpackFrame+n+listGuess <= maxBytes && nd.Len() < maxEntries &&
		!l.ks.largeElement(n) && !l.ks.plain(&nd.Pack)
}

// pushHead adds v before the first element.
func (l *quicklist) pushHead(v []byte) {
	nd := l.head
	if nd == nil || l.quick && !l.fits(nd, len(v)) {
		nd = l.link(nil)
		l.furnish(nd, len(v), true)
	}
	l.own(nd)
	before := cap(nd.b)
	nd.Prepend(v)
	l.mem += cap(nd.b) - before
	nd.lp += listpackString(v)
	l.n++
}

// pushTail adds v after the last element.
func (l *quicklist) pushTail(v []byte) {
	nd := l.tail
	if nd == nil || l.quick && !l.fits(nd, len(v)) {
		nd = l.link(l.tail)
		l.furnish(nd, len(v), false)
	}
	l.appendTo(nd, v)
}

// appendTo adds v at the end of nd.
func (l *quicklist) appendTo(nd *listNode, v []byte) {
	l.own(nd)
	before := cap(nd.b)
	nd.Append(v)
	l.added(nd, before, v)
}

// popHead removes and returns the first element, nil if the list is empty. It is valid until the next
// change.
func (l *quicklist) popHead() []byte {
	if l.n == 0 {
		return nil
	}
	return l.pop(l.head, l.head.First())
}

// popTail is popHead at the other end.
func (l *quicklist) popTail() []byte {
	if l.n == 0 {
		return nil
	}
	return l.pop(l.tail, l.tail.Last())
}

func (l *quicklist) pop(nd *listNode, p Pos) []byte {
	v := nd.Get(p)
	l.delete(nd, p)
	if l.head == l.tail {
		l.tidy(nd)
	}
	return v
}

// delete removes the entry at p, and nd with its last entry. It returns the position of the entry
// after it in nd, or -1.
func (l *quicklist) delete(nd *listNode, p Pos) Pos {
	nd.lp -= listpackString(nd.Get(p))
	l.n--
	if nd.n == 1 {
		nd.n = 0
		l.unlink(nd)
		return -1
	}
	l.own(nd)
	return nd.Delete(p)
}

// link makes a node after prev, or at the head if prev is nil.
func (l *quicklist) link(prev *listNode) *listNode {
	nd := &l.first
	if l.head == nil {
		*nd = listNode{}
	} else {
		nd = &listNode{}
		l.mem += listNodeMem
	}
	nd.since = l.loan
	next := l.head
	if prev != nil {
		next = prev.next
	}
	nd.prev, nd.next = prev, next
	l.join(prev, nd)
	l.join(nd, next)
	return nd
}

// join makes b follow a. nil stands for the outside of the list.
func (l *quicklist) join(a, b *listNode) {
	if a == nil {
		l.head = b
	} else {
		a.next = b
	}
	if b == nil {
		l.tail = a
	} else {
		b.prev = a
	}
}

func (l *quicklist) unlink(nd *listNode) {
	l.join(nd.prev, nd.next)
	l.mem -= cap(nd.b)
	l.putAside(nd)
	nd.b, nd.prev, nd.next = nil, nil, nil // the first node stays reachable
	if nd != &l.first {
		l.mem -= listNodeMem
	}
}

// furnish gives a further node of a quicklist its full memory at once, because it will be filled.
// It reuses the memory of the latest node that became empty, so a queue that is fed and drained at
// the same rate allocates nothing.
func (l *quicklist) furnish(nd *listNode, n int, front bool) {
	size, _ := nodeLimit(l.fill)
	size = min(size, listSafetyLimit)
	if !l.quick || l.head == l.tail || l.fill >= 0 || n > size/4 {
		return
	}
	b := l.ks.spareNode
	l.ks.spareNode = nil
	if cap(b) < size {
		b = make([]byte, size)
	}
	nd.take(b, front)
	l.mem += cap(nd.b)
}

// putAside keeps the memory of a node for the next node.
func (l *quicklist) putAside(nd *listNode) {
	if 4096 <= cap(nd.b) && cap(nd.b) <= 2*listSafetyLimit && !l.isLent(nd) {
		l.ks.spareNode = nd.b
	}
}

// moved is the same list elsewhere. l must not be used any more.
func (l *quicklist) moved() *quicklist {
	c := new(quicklist)
	*c = *l
	if l.head == &l.first {
		c.head = &c.first
	} else if p := l.first.prev; p != nil {
		p.next = &c.first
	}
	if l.tail == &l.first {
		c.tail = &c.first
	} else if next := l.first.next; next != nil {
		next.prev = &c.first
	}
	return c
}

// tidy frees memory of a node that has become much too large for its entries.
func (l *quicklist) tidy(nd *listNode) {
	if !nd.muchFree() {
		return
	}
	live := nd.Bytes()
	l.mem -= cap(nd.b)
	b := block(nd.b[nd.head:], live/4)
	l.putAside(nd)
	nd.settle(b)
	l.mem += cap(nd.b)
}
