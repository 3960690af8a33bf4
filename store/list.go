package store

import (
	"math"
	"unsafe"
)

// List is a list of byte strings. It has the two forms of Redis: a listpack, which is one node of
// any size, and a quicklist, which is a chain of nodes of bounded size. Each node is a Pack.
//
//	List ── head ⇄ node ⇄ node ⇄ tail
//	        [  |▓▓▓] [▓▓▓▓] [▓▓|  ]
//
// An end node keeps its free space at the outer side, so pushing and popping at either end moves
// nothing. A value larger than a node may be has a node of its own.
type List struct {
	head, tail *listNode
	n          int
	mem        int // of the packs, and of the nodes but the first
	ks         *Keyspace
	quick      bool
	first      listNode // most lists need no other
}

// listNode is one pack in the chain.
type listNode struct {
	prev, next *listNode
	Pack
	// lp is the size of the entries in Redis's listpack, which stores numbers in binary. The
	// limits, and so OBJECT ENCODING, depend on that size.
	lp int
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

// NewList makes an empty list.
func NewList(ks *Keyspace) *List { return &List{ks: ks} }

// Len is the number of elements.
func (l *List) Len() int { return l.n }

// Encoding is the reply of OBJECT ENCODING.
func (l *List) Encoding() string {
	if l.quick {
		return "quicklist"
	}
	return "listpack"
}

func (l *List) size() int { return int(unsafe.Sizeof(*l)) + l.mem }

func (l *List) clone() *List {
	c := &List{ks: l.ks, quick: l.quick}
	for nd := l.head; nd != nil; nd = nd.next {
		to := c.link(c.tail)
		to.Pack, to.lp = nd.clone(), nd.lp
		c.n += nd.Len()
		c.mem += to.Mem()
	}
	return c
}

// limit is the greatest size of a node, in bytes and in entries (quicklist.c: quicklistNodeLimit).
func (l *List) limit() (bytes, entries int) {
	fill := l.ks.Limits.ListMaxListpackSize
	if fill >= 0 {
		return listSafetyLimit, max(fill, 1)
	}
	return 4096 << (min(-fill, 5) - 1), math.MaxInt
}

// Expect prepares the list for n more elements of so many bytes together. The list becomes a
// quicklist if they may exceed a listpack (t_list.c: listTypeTryConversionAppend).
func (l *List) Expect(n, bytes int) {
	if l.quick {
		return
	}
	lp := listpackFrame + bytes
	if l.head != nil {
		lp += l.head.lp
	}
	maxBytes, maxEntries := l.limit()
	l.quick = lp > maxBytes || l.n+n > maxEntries
}

// shrunk makes a quicklist a listpack again once all of it fits in half a node. So a list at the
// limit does not change its form with every command (t_list.c: listTypeTryConvertQuicklist).
func (l *List) shrunk() {
	if !l.quick || l.head != l.tail || l.head == nil || l.Plain(&l.head.Pack) {
		return
	}
	maxBytes, maxEntries := l.limit()
	if l.ks.Limits.ListMaxListpackSize >= 0 {
		maxBytes = math.MaxInt
	}
	if l.head.lp+listpackFrame <= maxBytes/2 && l.n <= maxEntries/2 {
		l.quick = false
	}
}

// fits reports whether nd may take a value of n more bytes.
func (l *List) fits(nd *listNode, n int) bool {
	maxBytes, maxEntries := l.limit()
	return nd != nil && nd.lp+listpackFrame+n+listGuess <= maxBytes && nd.Len() < maxEntries &&
		!l.large(n) && !l.Plain(&nd.Pack)
}

// large reports whether an element of n bytes needs a node of its own (quicklist.c:
// isLargeElement).
func (l *List) large(n int) bool { return n >= l.ks.PackedThreshold }

// Plain reports whether a node is what Redis calls plain: one large element and nothing else.
func (l *List) Plain(pack *Pack) bool {
	return pack.n == 1 && l.large(len(pack.Get(pack.First())))
}

// PushHead adds v before the first element.
func (l *List) PushHead(v []byte) {
	nd := l.head
	if nd == nil || l.quick && !l.fits(nd, len(v)) {
		nd = l.link(nil)
		l.furnish(nd, len(v), true)
	}
	before := cap(nd.b)
	nd.Prepend(v)
	l.mem += cap(nd.b) - before
	nd.lp += listpackString(v)
	l.n++
}

// PushTail adds v after the last element.
func (l *List) PushTail(v []byte) {
	nd := l.tail
	if nd == nil || l.quick && !l.fits(nd, len(v)) {
		nd = l.link(l.tail)
		l.furnish(nd, len(v), false)
	}
	before := cap(nd.b)
	nd.Append(v)
	l.mem += cap(nd.b) - before
	nd.lp += listpackString(v)
	l.n++
}

// PopHead removes and returns the first element, nil if the list is empty. It is valid until the next
// change.
func (l *List) PopHead() []byte {
	if l.n == 0 {
		return nil
	}
	return l.pop(l.head, l.head.First())
}

// PopTail is PopHead at the other end.
func (l *List) PopTail() []byte {
	if l.n == 0 {
		return nil
	}
	return l.pop(l.tail, l.tail.Last())
}

func (l *List) pop(nd *listNode, p Pos) []byte {
	v := nd.Get(p)
	l.delete(nd, p)
	if l.head == l.tail {
		l.tidy(nd)
		l.shrunk()
	}
	return v
}

// delete removes the entry at p, and nd with its last entry. It returns the position of the entry
// after it in nd, or -1.
func (l *List) delete(nd *listNode, p Pos) Pos {
	nd.lp -= listpackString(nd.Get(p))
	l.n--
	if p = nd.Delete(p); nd.n == 0 {
		l.unlink(nd)
	}
	return p
}

// link makes a node after prev, or at the head if prev is nil.
func (l *List) link(prev *listNode) *listNode {
	nd := &l.first
	if l.head == nil {
		*nd = listNode{}
	} else {
		nd = &listNode{}
		l.mem += listNodeMem
	}
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
func (l *List) join(a, b *listNode) {
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

func (l *List) unlink(nd *listNode) {
	l.join(nd.prev, nd.next)
	l.mem -= cap(nd.b)
	l.putAside(nd.b)
	nd.b, nd.prev, nd.next = nil, nil, nil // the first node stays reachable
	if nd != &l.first {
		l.mem -= listNodeMem
	}
}

// furnish gives a further node of a quicklist its full memory at once, because it will be filled.
// It reuses the memory of the latest node that became empty, so a queue that is fed and drained at
// the same rate allocates nothing.
func (l *List) furnish(nd *listNode, n int, front bool) {
	size, _ := l.limit()
	size = min(size, listSafetyLimit)
	if !l.quick || l.head == l.tail || l.ks.Limits.ListMaxListpackSize >= 0 || n > size/4 {
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
func (l *List) putAside(b []byte) {
	if 4096 <= cap(b) && cap(b) <= 2*listSafetyLimit {
		l.ks.spareNode = b
	}
}

// tidy frees memory of a node that has become much too large for its entries.
func (l *List) tidy(nd *listNode) {
	live := nd.Bytes()
	if live == 0 || cap(nd.b) <= max(512, 4*live) {
		return
	}
	l.mem -= cap(nd.b)
	b := block(nd.b[nd.head:], live/4)
	l.putAside(nd.b)
	nd.b, nd.head = b, packLead
	l.mem += cap(nd.b)
}
