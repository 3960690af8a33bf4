package store

import (
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"
)

const minSize = 4 // buckets of the smallest table (dict.h: DICT_HT_INITIAL_SIZE)

// Table is Redis's dict: a power of two of buckets with chained nodes. It rehashes one bucket at a
// time, so that no single command pays for growing (dict.c: dictRehash). Unlike in Redis, nodes
// hold their keys, live in chunks and have numbers instead of pointers. So the collector sees a few
// large objects, a link takes four bytes, and a look-up reads one place less. A node never moves
// while it lives: a *Node is valid until its key is deleted.
type Table[V any] struct {
	nodes[V]
	seed    *Seed
	buckets [2][]uint32          // [1] is the target while rehashing
	rehash  int                  // next bucket of [0] to move while rehashing
	fits    func(bytes int) bool // reports whether there is memory for growing; may be nil
}

// NewTable returns an empty table that hashes with seed.
func NewTable[V any](seed *Seed) *Table[V] { return &Table[V]{seed: seed} }

// Len is the number of keys.
func (t *Table[V]) Len() int { return t.live }

// Mem estimates the memory of the table: buckets, nodes in use and their keys.
func (t *Table[V]) Mem() int { return (len(t.buckets[0])+len(t.buckets[1]))*4 + t.bytes }

// size is the memory of a table that is a whole value, in bytes.
func (t *Table[V]) size() int { return int(unsafe.Sizeof(*t)) + t.Mem() }

// clone is a table with the same nodes. Values are copied as they are.
func (t *Table[V]) clone() *Table[V] {
	c := *t
	c.buckets = [2][]uint32{slices.Clone(t.buckets[0]), slices.Clone(t.buckets[1])}
	c.cloneChunks()
	return &c
}

// lend is a table that shares the nodes. It can only be read from one end to the other, and finds no key.
func (t *Table[V]) lend(to *loan) *Table[V] {
	c := *t
	c.buckets = [2][]uint32{}
	c.lendChunks(&t.nodes, to)
	return &c
}

// Find returns the node of key, or nil.
func (t *Table[V]) Find(key []byte) *Node[V] {
	if i := t.find(key); i != 0 {
		return t.at(i)
	}
	return nil
}

func (t *Table[V]) find(key []byte) uint32 {
	if t.live == 0 {
		return 0
	}
	return t.lookup(key, t.hash(key))
}

func (t *Table[V]) hash(key []byte) uint32 { return t.seed.tableHash(key) }

// lookup returns the node of a key whose hash is h, or 0 (dict.c: dictFind).
func (t *Table[V]) lookup(key []byte, h uint32) uint32 {
	if t.buckets[1] != nil {
		t.step()
	}
	for _, b := range t.buckets {
		if b == nil {
			break
		}
		for i := b[h&uint32(len(b)-1)]; i != 0; {
			n := t.at(i)
			if n.hash == h && n.Key() == string(key) {
				return i
			}
			i = n.next
		}
	}
	return 0
}

// Insert returns the node of key. If key is missing, Insert adds a node with a copy of key and the
// zero value.
func (t *Table[V]) Insert(key []byte) (n *Node[V], added bool) {
	i, added := t.insert(key)
	return t.at(i), added
}

func (t *Table[V]) insert(key []byte) (i uint32, added bool) {
	h := t.hash(key)
	if i := t.lookup(key, h); i != 0 {
		return i, false
	}
	return t.add(key, h), true
}

// add adds a key that is not in the table.
func (t *Table[V]) add(key []byte, h uint32) uint32 {
	t.grow()
	i := t.alloc(key, h)
	b := t.buckets[0]
	if t.buckets[1] != nil {
		b = t.buckets[1]
	}
	head := &b[h&uint32(len(b)-1)]
	t.at(i).next = *head
	*head = i
	return i
}

// Delete removes key and reports whether it existed.
func (t *Table[V]) Delete(key []byte) bool {
	i := t.find(key)
	if i != 0 {
		t.remove(i)
	}
	return i != 0
}

// remove unlinks node i, which is in the table.
func (t *Table[V]) remove(i uint32) {
	n := t.at(i)
	for _, b := range t.buckets {
		if b == nil {
			break
		}
		link := &b[n.hash&uint32(len(b)-1)]
		for *link != 0 && *link != i {
			link = &t.at(*link).next
		}
		if *link == i {
			*link = n.next
			break
		}
	}
	t.release(i)
	t.shrink()
}

func (t *Table[V]) grow() {
	if t.buckets[0] == nil {
		t.buckets[0] = make([]uint32, minSize)
	}
	if size := 2 * len(t.buckets[0]); t.buckets[1] == nil && t.live >= size/2 && (t.fits == nil ||
		t.crowded() || t.fits(4*size)) {
		t.resize(size)
	}
}

// expect makes room for that many keys if there is none yet. So the table need not rehash while they come (dict.c:
// dictExpand).
func (t *Table[V]) expect(keys int) {
	size := minSize
	for size < keys {
		size *= 2
	}
	if t.live == 0 && size > len(t.buckets[0]) && (t.fits == nil || t.fits(4*size)) {
		t.buckets, t.rehash = [2][]uint32{make([]uint32, size)}, 0
	}
}

// crowded reports whether look-ups would become slow if the table did not grow (server.h:
// HASHTABLE_MAX_LOAD_FACTOR).
func (t *Table[V]) crowded() bool { return float64(t.live) > 1.618*float64(len(t.buckets[0])) }

// shrink starts a rehash to fewer buckets if less than a tenth of them are in use (server.c:
// htNeedsResize). An empty table frees all its memory.
func (t *Table[V]) shrink() {
	if t.live == 0 && len(t.chunks) > 2 {
		*t = Table[V]{seed: t.seed, fits: t.fits}
		return
	}
	if n := len(t.buckets[0]); t.buckets[1] == nil && n > minSize && t.live*10 < n {
		t.resize(max(minSize, 1<<bits.Len(uint(t.live))))
	}
}

func (t *Table[V]) resize(size int) {
	t.buckets[1] = make([]uint32, size)
	t.rehash = 0
}

// step moves one bucket to the new array, or skips ten empty ones.
func (t *Table[V]) step() {
	from, to := t.buckets[0], t.buckets[1]
	for range 10 {
		if t.rehash == len(from) {
			t.buckets = [2][]uint32{to, nil}
			return
		}
		i := from[t.rehash]
		from[t.rehash] = 0
		t.rehash++
		if i == 0 {
			continue
		}
		for i != 0 {
			n := t.at(i)
			next := n.next
			head := &to[n.hash&uint32(len(to)-1)]
			n.next = *head
			*head = i
			i = next
		}
		return
	}
}

// Scan calls fn for the nodes of the bucket that cursor names. It returns the next cursor, 0 at the
// end. fn must not change the table.
//
// The cursor counts with its bits reversed, high bits first (dict.c: dictScan). Growing splits a
// bucket, and shrinking joins buckets. With this order, all parts of such a bucket have been
// visited, or none. So a key that exists during the whole scan is returned at least once, even if
// the table is resized.
func (t *Table[V]) Scan(cursor uint64, fn func(*Node[V])) uint64 {
	return t.scan(cursor, func(i uint32) { fn(t.at(i)) })
}

func (t *Table[V]) scan(cursor uint64, fn func(i uint32)) uint64 {
	if t.live == 0 {
		return 0
	}
	small, large := t.buckets[0], t.buckets[1]
	if large == nil {
		t.emit(small[cursor&mask(small)], fn)
		return nextCursor(cursor, mask(small))
	}
	if len(small) > len(large) {
		small, large = large, small
	}
	m0, m1 := mask(small), mask(large)
	t.emit(small[cursor&m0], fn)
	for {
		t.emit(large[cursor&m1], fn)
		cursor = nextCursor(cursor, m1)
		if cursor&(m0^m1) == 0 {
			return cursor
		}
	}
}

func mask(b []uint32) uint64 { return uint64(len(b) - 1) }

// nextCursor adds one to the masked bits of cursor, with the highest bit as the lowest digit.
func nextCursor(cursor, mask uint64) uint64 {
	return bits.Reverse64(bits.Reverse64(cursor|^mask) + 1)
}

func (t *Table[V]) emit(i uint32, fn func(i uint32)) {
	for i != 0 {
		next := t.at(i).next
		fn(i)
		i = next
	}
}

// All ranges over the nodes in the order of their memory, which is the order of arrival if no node
// was ever deleted. Deleting nodes meanwhile is allowed. A key that is added meanwhile may or may
// not be seen.
func (t *Table[V]) All() iter.Seq[*Node[V]] {
	return func(yield func(*Node[V]) bool) {
		for i := t.nextLive(0); i != 0; i = t.nextLive(i + 1) {
			if !yield(t.at(i)) {
				return
			}
		}
	}
}

// Random returns a random node, nil if the table is empty. All nodes are equally likely.
func (t *Table[V]) Random(r *rand.Rand) *Node[V] {
	if i := t.random(r); i != 0 {
		return t.at(i)
	}
	return nil
}

// allocSize is the size class of Go's allocator for n bytes, near enough for an estimate. The
// classes have steps of 8 up to 32, of 16 up to 256, then of an eighth.
func allocSize(n int) int {
	switch {
	case n <= 32:
		return (n + 7) &^ 7
	case n <= 256:
		return (n + 15) &^ 15
	default:
		step := 1 << (bits.Len(uint(n)) - 4)
		return (n + step - 1) &^ (step - 1)
	}
}
