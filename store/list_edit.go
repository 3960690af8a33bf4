package store

import "bytes"

// ListIter iterates over the elements of a list, which must not change meanwhile.
type ListIter struct {
	nd   *listNode
	p    Pos
	back bool
}

// From iterates from element i to the tail, or to the head if back. A negative i counts from the
// tail. If element i does not exist, there is nothing to iterate over.
func (l *List) From(i int, back bool) ListIter {
	nd, p := l.seek(i)
	return ListIter{nd, p, back}
}

// Next returns the next element, false after the last one.
func (it *ListIter) Next() ([]byte, bool) {
	nd := it.nd
	if nd == nil {
		return nil, false
	}
	v := nd.Get(it.p)
	if it.back {
		if it.p = nd.Prev(it.p); it.p < 0 {
			if it.nd = nd.prev; it.nd != nil {
				it.p = it.nd.Last()
			}
		}
	} else if it.p = nd.Next(it.p); it.p < 0 {
		if it.nd = nd.next; it.nd != nil {
			it.p = it.nd.First()
		}
	}
	return v, true
}

// seek finds element i from the nearer end. It returns nil if there is no such element.
func (l *List) seek(i int) (*listNode, Pos) {
	if i < 0 {
		i += l.n
	}
	if i < 0 || i >= l.n {
		return nil, -1
	}
	if i < l.n/2 {
		nd := l.head
		for ; i >= nd.Len(); nd = nd.next {
			i -= nd.Len()
		}
		return nd, nd.Index(i)
	}
	nd := l.tail
	for i -= l.n; -i > nd.Len(); nd = nd.prev {
		i += nd.Len()
	}
	return nd, nd.Index(i)
}

// Index returns element i, counted from the tail if negative, or nil if there is no such element.
// It is valid until the next change.
func (l *List) Index(i int) []byte {
	nd, p := l.seek(i)
	if nd == nil {
		return nil
	}
	return nd.Get(p)
}

// Set replaces element i by v and reports whether element i exists.
func (l *List) Set(i int, v []byte) bool {
	nd, p := l.seek(i)
	if nd == nil {
		return false
	}
	before := cap(nd.b)
	nd.lp += listpackString(v) - listpackString(nd.Get(p))
	p = nd.Replace(p, v)
	l.mem += cap(nd.b) - before
	// Redis lets a node grow past its limit here, unless the value is large. This list does too,
	// until moving the bytes after an entry would cost noticeable time.
	if maxBytes, _ := l.limit(); l.quick && nd.n > 1 && (len(v) > maxBytes || nd.lp > 4*maxBytes || l.large(len(v))) {
		if next := nd.Next(p); next >= 0 {
			l.split(nd, next)
		}
		if p != nd.First() {
			l.split(nd, p)
		}
	}
	l.shrunk()
	return true
}

// Insert puts v before or after the first element equal to pivot and reports whether there is one
// (quicklist.c: _quicklistInsert).
func (l *List) Insert(pivot, v []byte, after bool) bool {
	for nd := l.head; nd != nil; nd = nd.next {
		if p := nd.Find(nd.First(), pivot, 0); p >= 0 {
			l.insert(nd, p, v, after)
			return true
		}
	}
	return false
}

func (l *List) insert(nd *listNode, p Pos, v []byte, after bool) {
	if l.quick && !l.fits(nd, len(v)) {
		l.insertFull(nd, p, v, after)
		return
	}
	before := cap(nd.b)
	if after {
		nd.InsertAfter(p, v)
	} else {
		nd.InsertBefore(p, v)
	}
	l.added(nd, before, v)
}

// insertFull inserts beside an entry of a node that is full: into the neighbour if the entry is at
// that end, else into a new node between two halves.
func (l *List) insertFull(nd *listNode, p Pos, v []byte, after bool) {
	beside, edge := nd.prev, nd.First()
	if after {
		beside, edge = nd.next, nd.Last()
	}
	split := p != edge
	switch {
	case split:
		if after {
			p = nd.Next(p)
		}
		beside = l.split(nd, p)
		if !after {
			beside, nd = nd, beside
		}
		if l.large(len(v)) {
			first := nd
			if !after {
				first = beside
			}
			beside = l.link(first)
		}
	case !l.fits(beside, len(v)):
		prev := nd
		if !after {
			prev = nd.prev
		}
		beside = l.link(prev)
	}
	before := cap(beside.b)
	if after {
		beside.Prepend(v)
	} else {
		beside.Append(v)
	}
	l.added(beside, before, v)
	if split {
		l.mergeAround(nd)
	}
}

func (l *List) added(nd *listNode, capBefore int, v []byte) {
	l.mem += cap(nd.b) - capBefore
	nd.lp += listpackString(v)
	l.n++
}

// split moves the entries from p on to a new node after nd and returns the new node.
func (l *List) split(nd *listNode, p Pos) *listNode {
	to := l.link(nd)
	to.b, to.head = block(nd.b[p:], 0), packLead
	for q := p; q >= 0; q = nd.Next(q) {
		to.n++
		to.lp += listpackString(nd.Get(q))
	}
	nd.lp -= to.lp
	nd.n -= to.n
	nd.b = nd.b[:p]
	l.mem += cap(to.b)
	l.tidy(nd)
	return to
}

// mergeAround merges the halves of a split with their neighbours where two fit into one node, in
// Redis's order (quicklist.c: _quicklistMergeNodes).
func (l *List) mergeAround(nd *listNode) {
	next := nd.next
	if nd.prev != nil {
		l.merge(nd.prev.prev, nd.prev)
	}
	if next != nil {
		l.merge(next, next.next)
	}
	if prev := nd.prev; l.merge(prev, nd) {
		nd = prev
	}
	l.merge(nd, nd.next)
}

// merge moves all entries of b into a if one node may hold both. It reports whether it did.
func (l *List) merge(a, b *listNode) bool {
	if a == nil || b == nil {
		return false
	}
	maxBytes, maxEntries := l.limit()
	if l.Plain(&a.Pack) || l.Plain(&b.Pack) || a.lp+b.lp+listpackFrame > maxBytes || a.Len()+b.Len() > maxEntries {
		return false
	}
	before := cap(a.b)
	at := a.open(len(a.b), b.Bytes())
	copy(a.b[at:], b.b[b.head:])
	a.n += b.n
	a.lp += b.lp
	l.mem += cap(a.b) - before
	l.unlink(b)
	return true
}

// Remove deletes elements equal to v: the first count of them, the last -count if count is
// negative, all if it is 0. It returns their number.
func (l *List) Remove(count int, v []byte) int {
	left := count
	if count < 0 {
		left = -count
	}
	if left <= 0 { // so is what the lowest number becomes
		left = l.n
	}
	before := l.n
	if count < 0 {
		l.removeBackward(left, v)
	} else {
		l.removeForward(left, v)
	}
	l.shrunk()
	return before - l.n
}

func (l *List) removeForward(left int, v []byte) {
	for nd := l.head; nd != nil && left > 0; {
		next, n := nd.next, nd.n
		for p := nd.Find(nd.First(), v, 0); p >= 0 && left > 0; left-- {
			p = nd.Find(l.delete(nd, p), v, 0)
		}
		if 0 < nd.n && nd.n < n {
			l.tidy(nd)
		}
		nd = next
	}
}

func (l *List) removeBackward(left int, v []byte) {
	for nd := l.tail; nd != nil && left > 0; {
		prev, n := nd.prev, nd.n
		for p := nd.Last(); p >= 0 && left > 0; {
			if !bytes.Equal(nd.Get(p), v) {
				p = nd.Prev(p)
				continue
			}
			left--
			switch next := l.delete(nd, p); {
			case nd.n == 0:
				p = -1
			case next < 0:
				p = nd.Last()
			default:
				p = nd.Prev(next)
			}
		}
		if 0 < nd.n && nd.n < n {
			l.tidy(nd)
		}
		nd = prev
	}
}

// Trim keeps the n elements from start on.
func (l *List) Trim(start, n int) {
	l.drop(l.n-start-n, false)
	l.drop(l.n-n, true)
	l.shrunk()
}

// drop removes n elements from the head or from the tail, node by node.
func (l *List) drop(n int, head bool) {
	for n > 0 {
		nd := l.tail
		if head {
			nd = l.head
		}
		if n >= nd.Len() {
			n -= nd.Len()
			l.n -= nd.Len()
			nd.n = 0
			l.unlink(nd)
			continue
		}
		p := nd.First()
		if !head {
			p = nd.Index(-n)
		}
		for i, q := 0, p; i < n; i, q = i+1, nd.Next(q) {
			nd.lp -= listpackString(nd.Get(q))
		}
		nd.DeleteN(p, n)
		l.n -= n
		l.tidy(nd)
		return
	}
}
