package store

import "bytes"

// seek finds element i from the nearer end. It returns nil if there is no such element.
func (l *quicklist) seek(i int) (*listNode, Pos) {
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

// set replaces element i by v and reports whether element i exists.
func (l *quicklist) set(i int, v []byte) bool {
	nd, p := l.seek(i)
	if nd == nil {
		return false
	}
	large, plain := l.ks.largeElement(len(v)), l.ks.plain(&nd.Pack)
	switch {
	case l.quick && plain && !large:
		l.insert(nd, p, v, true)
		l.delete(nd, p)
	case l.quick && large && !plain:
		l.setLarge(nd, p, v)
	default:
		l.replace(nd, p, v)
	}
	l.pack(2)
	return true
}

// setLarge replaces an entry by a value that needs a node of its own.
func (l *quicklist) setLarge(nd *listNode, p Pos, v []byte) {
	if next := nd.Next(p); next >= 0 {
		l.split(nd, next)
	}
	own := l.link(nd)
	l.appendTo(own, v)
	l.delete(nd, p)
	if nd.n > 0 {
		l.mergeAround(own)
	}
}

// largestNode bounds the bytes of a node that replace lets grow.
const largestNode = 4 << 20

// replace replaces an entry in its node. Redis lets the node grow past its limit here. So does this list,
// until moving the bytes after an entry would cost noticeable time.
func (l *quicklist) replace(nd *listNode, p Pos, v []byte) {
	before := cap(nd.b)
	nd.lp += listpackString(v) - listpackString(nd.Get(p))
	l.own(nd)
	p = nd.Replace(p, v)
	l.mem += cap(nd.b) - before
	if !l.quick || nd.lp <= largestNode {
		return
	}
	if next := nd.Next(p); next >= 0 {
		l.split(nd, next)
	}
	if p != nd.First() {
		l.split(nd, p)
	}
}

// put puts v before or after the first element equal to pivot and reports whether there is one
// (quicklist.c: _quicklistInsert).
func (l *quicklist) put(pivot, v []byte, after bool) bool {
	for nd := l.head; nd != nil; nd = nd.next {
		if p := nd.Find(nd.First(), pivot, 0); p >= 0 {
			l.insert(nd, p, v, after)
			return true
		}
	}
	return false
}

func (l *quicklist) insert(nd *listNode, p Pos, v []byte, after bool) {
	if l.quick && !l.fits(nd, len(v)) {
		l.insertFull(nd, p, v, after)
		return
	}
	l.own(nd)
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
func (l *quicklist) insertFull(nd *listNode, p Pos, v []byte, after bool) {
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
		if l.ks.largeElement(len(v)) {
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
	l.own(beside)
	before := cap(beside.b)
	if after {
		beside.Prepend(v)
	} else {
		beside.Append(v)
	}
	l.added(beside, before, v)
	if split && !l.ks.largeElement(len(v)) {
		l.mergeAround(nd)
	}
}

func (l *quicklist) added(nd *listNode, capBefore int, v []byte) {
	l.mem += cap(nd.b) - capBefore
	nd.lp += listpackString(v)
	l.n++
}

// split moves the entries from p on to a new node after nd and returns the new node.
func (l *quicklist) split(nd *listNode, p Pos) *listNode {
	to := l.link(nd)
	to.settle(block(nd.b[p:], 0))
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
func (l *quicklist) mergeAround(nd *listNode) {
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
func (l *quicklist) merge(a, b *listNode) bool {
	if a == nil || b == nil {
		return false
	}
	maxBytes, maxEntries := nodeLimit(l.fill)
	if l.ks.plain(&a.Pack) || l.ks.plain(&b.Pack) || a.lp+b.lp+listpackFrame > maxBytes || a.Len()+b.Len() > maxEntries {
		return false
	}
	l.own(a)
	before := cap(a.b)
	at := a.open(len(a.b), b.Bytes())
	copy(a.b[at:], b.b[b.head:])
	a.n += b.n
	a.lp += b.lp
	l.mem += cap(a.b) - before
	l.unlink(b)
	return true
}

// remove deletes elements equal to v: the first count of them, the last -count if count is
// negative, all if it is 0. It returns their number.
func (l *quicklist) remove(count int, v []byte) int {
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
	if l.n < before {
		l.pack(2)
	}
	return before - l.n
}

func (l *quicklist) removeForward(left int, v []byte) {
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

func (l *quicklist) removeBackward(left int, v []byte) {
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

// trim keeps the n elements from start on.
func (l *quicklist) trim(start, n int) {
	l.drop(l.n-start-n, false)
	l.drop(l.n-n, true)
	l.pack(2)
}

// drop removes n elements from the head or from the tail, node by node.
func (l *quicklist) drop(n int, head bool) {
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
		nd.DeleteN(p, n) // at an end of the node: no byte moves, so it may be lent
		l.n -= n
		l.tidy(nd)
		return
	}
}
