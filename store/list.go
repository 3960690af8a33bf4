package store

import (
	"iter"
	"math"
	"unsafe"
)

// List is a list of byte strings. A small one is a Pack. A large one is a quicklist, which can become
// small again. As long as all of the list fits one node, OBJECT ENCODING says listpack (t_list.c:
// listTypeTryConversion).
type List struct{ handle }

// smallList is the size in bytes of the listpack that a small list would have in Redis.
const smallList = math.MaxUint16

// NewList returns an empty list.
func NewList(ks *Keyspace) *List { return &List{unbound(ks, TypeList, encPack)} }

// nodeLimit is the greatest size of a node, in bytes and in entries. fill is a value of
// list-max-listpack-size (quicklist.c: quicklistNodeLimit).
func nodeLimit(fill int) (bytes, entries int) {
	if fill >= 0 {
		return listSafetyLimit, max(fill, 1)
	}
	return 4096 << (min(-fill, 5) - 1), math.MaxInt
}

// largeElement reports whether an element of n bytes needs a node of its own (quicklist.c:
// isLargeElement).
func (ks *Keyspace) largeElement(n int) bool { return n >= ks.PackedThreshold }

func (ks *Keyspace) plain(pack *Pack) bool {
	return pack.n == 1 && ks.largeElement(len(pack.Get(pack.First())))
}

// Plain reports whether a node is what Redis calls plain: one large element and nothing else.
func (l *List) Plain(pack *Pack) bool { return l.ks.plain(pack) }

// chain is the large form, or nil.
func (l *List) chain() *quicklist {
	if l.e.enc == encTable {
		return (*quicklist)(l.e.ref)
	}
	return nil
}

// Len is the number of elements.
func (l *List) Len() int {
	if q := l.chain(); q != nil {
		return q.n
	}
	pack := l.e.pack()
	return pack.Len()
}

// Encoding is the reply of OBJECT ENCODING.
func (l *List) Encoding() string { return l.e.encoding() }

// Expect prepares the list for n more elements of that many bytes together. The list becomes a
// quicklist if they may exceed a listpack (t_list.c: listTypeTryConversionAppend).
func (l *List) Expect(n, bytes int) {
	lp := listpackFrame + bytes
	q := l.chain()
	switch {
	case q == nil:
		lp += int(l.e.lp)
	case q.quick:
		return
	case q.head != nil:
		lp += q.head.lp
	}
	maxBytes, maxEntries := nodeLimit(l.ks.Limits.ListMaxListpackSize)
	if lp > maxBytes || l.Len()+n > maxEntries {
		l.Unpack(l.ks.Limits.ListMaxListpackSize)
	}
}

// DefaultFill is the limit of nodes that no configuration says otherwise about (quicklist.c:
// quicklistCreate).
const DefaultFill = -2

// Unpack makes a small list a quicklist. Its nodes keep the limit fill, even if the configuration changes
// later (quicklist.c: quicklistSetOptions).
func (l *List) Unpack(fill int) {
	q := l.edit()
	q.quick, q.fill = true, fill
	l.keep(q)
}

// Fill is the limit of the nodes of a quicklist, as list-max-listpack-size has it.
func (l *List) Fill() int { return l.chain().fill }

// Settle gives a list that was made at once the form that its size asks for (t_list.c: LIST_CONV_AUTO).
func (l *List) Settle() {
	l.Expect(0, 0)
	if q := l.chain(); q != nil {
		q.pack(1)
		l.keep(q)
	}
}

// Shrink makes a quicklist small again, if elements were removed and enough of them (t_list.c:
// LIST_CONV_SHRINKING).
func (l *List) Shrink() {
	if q := l.chain(); q != nil && q.quick {
		q.pack(2)
		l.keep(q)
	}
}

// AppendNode adds a node with these elements, however many they are. The list must be a quicklist.
func (l *List) AppendNode(elements iter.Seq[[]byte]) {
	q := l.chain()
	var nd *listNode
	for v := range elements {
		if nd == nil {
			nd = q.link(q.tail)
		}
		q.appendTo(nd, v)
	}
}

// Reserve gives an empty list the memory for elements, which Expect has prepared it for.
func (l *List) Reserve(elements [][]byte) {
	if l.e.ref == nil && len(elements) > 1 {
		l.e.reserve(packSize(elements))
	}
}

// edit returns the list as a quicklist. A change is stored with keep, before the next call of edit.
func (l *List) edit() *quicklist {
	if q := l.chain(); q != nil {
		return q
	}
	q := &l.ks.edited
	q.ks = l.ks
	if pack := l.e.pack(); pack.n > 0 {
		q.first = listNode{Pack: pack, lp: int(l.e.lp)}
		q.head, q.tail, q.n, q.mem = &q.first, &q.first, pack.Len(), pack.Mem()
	}
	return q
}

// keep stores a quicklist that edit returned, in the small form if that can hold it.
func (l *List) keep(q *quicklist) {
	switch {
	case q.quick || q.n > 0 && (q.head != q.tail || q.head.lp > smallList):
		if l.e.enc != encTable {
			l.e.setRef(unsafe.Pointer(q.moved()))
		}
	case q.n == 0:
		l.e.ref, l.e.n, l.e.enc, l.e.lp = nil, 0, encPack, 0
	default:
		q.own(q.head)
		l.keepPack(&q.head.Pack, q.head.lp)
	}
	if q == &l.ks.edited {
		*q = quicklist{}
	}
}

// keepPack stores a pack. lp is the size of its entries in Redis's listpack.
func (l *List) keepPack(pack *Pack, lp int) {
	if lp > smallList {
		q := &quicklist{ks: l.ks, n: pack.Len(), mem: pack.Mem(), first: listNode{Pack: *pack, lp: lp}}
		q.head, q.tail = &q.first, &q.first
		l.e.setRef(unsafe.Pointer(q))
		return
	}
	l.e.setPack(pack)
	l.e.lp = uint16(lp)
}

// PushHead adds v before the first element.
func (l *List) PushHead(v []byte) {
	if q := l.chain(); q != nil {
		q.pushHead(v)
		return
	}
	pack := l.e.pack()
	pack.Prepend(v)
	l.keepPack(&pack, int(l.e.lp)+listpackString(v))
}

// PushTail adds v after the last element.
func (l *List) PushTail(v []byte) {
	if q := l.chain(); q != nil {
		q.pushTail(v)
		return
	}
	pack := l.e.pack()
	pack.Append(v)
	l.keepPack(&pack, int(l.e.lp)+listpackString(v))
}

// PopHead removes and returns the first element, nil if the list is empty. It is valid until the next
// change. Shrink follows after the last of several.
func (l *List) PopHead() (v []byte) {
	if q := l.chain(); q != nil {
		if v = q.popHead(); !q.quick {
			l.keep(q)
		}
		return v
	}
	pack := l.e.pack()
	return l.popPacked(&pack, pack.First())
}

// PopTail is PopHead at the other end.
func (l *List) PopTail() (v []byte) {
	if q := l.chain(); q != nil {
		if v = q.popTail(); !q.quick {
			l.keep(q)
		}
		return v
	}
	pack := l.e.pack()
	return l.popPacked(&pack, pack.Last())
}

func (l *List) popPacked(pack *Pack, p Pos) []byte {
	if p < 0 {
		return nil
	}
	v := pack.Get(p)
	l.e.lp -= uint16(listpackString(v))
	pack.Delete(p)
	if pack.muchFree() {
		pack.settle(block(pack.b[pack.head:], pack.Bytes()/4))
	}
	l.e.setPack(pack)
	return v
}

// Set replaces element i by v and reports whether element i exists.
func (l *List) Set(i int, v []byte) bool {
	q := l.edit()
	found := q.set(i, v)
	l.keep(q)
	return found
}

// Insert puts v before or after the first element equal to pivot and reports whether there is one
// (quicklist.c: _quicklistInsert).
func (l *List) Insert(pivot, v []byte, after bool) bool {
	q := l.edit()
	found := q.put(pivot, v, after)
	l.keep(q)
	return found
}

// Remove deletes elements equal to v: the first count of them, the last -count if count is
// negative, all if it is 0. It returns their number.
func (l *List) Remove(count int, v []byte) int {
	q := l.edit()
	n := q.remove(count, v)
	l.keep(q)
	return n
}

// Trim keeps the n elements from start on.
func (l *List) Trim(start, n int) {
	q := l.edit()
	q.trim(start, n)
	l.keep(q)
}

// ListIter iterates over the elements of a list, which must not change meanwhile.
type ListIter struct {
	pack Pack      // of the current node
	nd   *listNode // nil in a small list
	p    Pos
	back bool
}

// From iterates from element i to the tail, or to the head if back. A negative i counts from the
// tail. If element i does not exist, there is nothing to iterate over.
func (l *List) From(i int, back bool) ListIter {
	if q := l.chain(); q != nil {
		nd, p := q.seek(i)
		if nd == nil {
			return ListIter{p: -1}
		}
		return ListIter{nd.Pack, nd, p, back}
	}
	pack := l.e.pack()
	return ListIter{pack, nil, pack.Index(i), back}
}

// Next returns the next element, false after the last one.
func (it *ListIter) Next() ([]byte, bool) {
	if it.p < 0 {
		return nil, false
	}
	v := it.pack.Get(it.p)
	if it.back {
		it.p = it.pack.Prev(it.p)
	} else {
		it.p = it.pack.Next(it.p)
	}
	if it.p < 0 && it.nd != nil {
		it.enter()
	}
	return v, true
}

// enter moves to the next node.
func (it *ListIter) enter() {
	if it.back {
		it.nd = it.nd.prev
	} else {
		it.nd = it.nd.next
	}
	if it.nd == nil {
		return
	}
	it.pack = it.nd.Pack
	if it.back {
		it.p = it.pack.Last()
	} else {
		it.p = it.pack.First()
	}
}

// Index returns element i, counted from the tail if negative, or nil if there is no such element.
// It is valid until the next change.
func (l *List) Index(i int) []byte {
	it := l.From(i, false)
	if it.p < 0 {
		return nil
	}
	return it.pack.Get(it.p)
}

// Nodes is the number of nodes.
func (l *List) Nodes() (n int) {
	for range l.Packs() {
		n++
	}
	return n
}

// Packs ranges over the nodes. They must not be changed.
func (l *List) Packs() iter.Seq[*Pack] {
	return func(yield func(*Pack) bool) {
		q := l.chain()
		if q == nil {
			if pack := l.e.pack(); pack.n > 0 {
				yield(&pack)
			}
			return
		}
		for nd := q.head; nd != nil && yield(&nd.Pack); nd = nd.next {
		}
	}
}
