package store

import (
	"slices"
	"sort"
	"unsafe"
)

// idMap is a map in the order of stream IDs, for lists of pending entries. Redis has radix trees
// for them. Most IDs are added at the end and leave near the front. Sorted blocks in a slice do
// both without moving much. They have no object for each entry that the collector would have to
// visit.
//
//	blocks | 1-0 .. 5-2 | 5-3 .. 9-0 | 9-1 .. |     no block is empty
type idMap[V any] struct {
	blocks []*idBlock[V]
	n      int
	held   *int  // memory of all maps of a stream
	loan   *loan // the latest that has got the blocks, or nil
}

type idBlock[V any] struct {
	ids   []StreamID
	vals  []V
	since *loan // that was the latest when the block was made
}

const idBlockCap = 64

func (m *idMap[V]) len() int { return m.n }

// locate is the place of id, or the place where it belongs: place i in block b. Both are 0 in an
// empty map.
func (m *idMap[V]) locate(id StreamID) (b, i int, found bool) {
	if m.n == 0 {
		return 0, 0, false
	}
	b = len(m.blocks) - 1
	if id.Less(m.blocks[b].ids[0]) {
		b = max(sort.Search(b, func(k int) bool { return id.Less(m.blocks[k].ids[0]) })-1, 0)
	}
	i, found = slices.BinarySearchFunc(m.blocks[b].ids, id, StreamID.Compare)
	return b, i, found
}

// lend is a map that has the same blocks.
func (m *idMap[V]) lend(to *loan) idMap[V] {
	m.loan = to
	c := *m
	c.blocks = slices.Clone(m.blocks)
	return c
}

// own returns block b for a change. It puts a copy of a lent block in its place.
func (m *idMap[V]) own(b int) *idBlock[V] {
	block := m.blocks[b]
	if !m.loan.isOpen() || block.since == m.loan {
		return block
	}
	m.blocks[b] = &idBlock[V]{
		ids:   append(make([]StreamID, 0, cap(block.ids)), block.ids...),
		vals:  append(make([]V, 0, cap(block.vals)), block.vals...),
		since: m.loan,
	}
	return m.blocks[b]
}

// get returns the value of id for reading, or nil. It is valid until the next change.
func (m *idMap[V]) get(id StreamID) *V {
	if b, i, found := m.locate(id); found {
		return &m.blocks[b].vals[i]
	}
	return nil
}

// add returns the value of id for a change. If id is missing, add adds it with a zero value.
func (m *idMap[V]) add(id StreamID) (val *V, added bool) {
	b, i, found := m.locate(id)
	if found {
		return &m.own(b).vals[i], false
	}
	switch {
	case m.n == 0:
		m.open(0)
	case len(m.blocks[b].ids) < idBlockCap:
	case b == len(m.blocks)-1 && i == idBlockCap: // the usual case: full blocks stay full
		b, i = b+1, 0
		m.open(b)
	default:
		b, i = m.split(b, i)
	}
	block := m.own(b)
	before := block.bytes()
	var zero V
	block.ids = slices.Insert(block.ids, i, id)
	block.vals = slices.Insert(block.vals, i, zero)
	*m.held += block.bytes() - before
	m.n++
	return &block.vals[i], true
}

// split halves block b and returns the new place of its place i.
func (m *idMap[V]) split(b, i int) (int, int) {
	const half = idBlockCap / 2
	m.open(b + 1)
	left, right := m.own(b), m.blocks[b+1]
	before := right.bytes()
	right.take(left, half)
	*m.held += right.bytes() - before
	if i <= half {
		return b, i
	}
	return b + 1, i - half
}

// remove removes id and reports whether it existed.
func (m *idMap[V]) remove(id StreamID) bool {
	b, i, found := m.locate(id)
	if !found {
		return false
	}
	block := m.own(b)
	block.ids = slices.Delete(block.ids, i, i+1)
	block.vals = slices.Delete(block.vals, i, i+1)
	m.n--
	switch {
	case len(block.ids) == 0:
		m.close(b)
	case len(block.ids) < idBlockCap/4:
		m.join(b)
		m.join(b - 1)
	}
	return true
}

// join merges block b and the next one if both together leave room to grow.
func (m *idMap[V]) join(b int) {
	if b < 0 || b+1 >= len(m.blocks) || len(m.blocks[b].ids)+len(m.blocks[b+1].ids) > idBlockCap*3/4 {
		return
	}
	left := m.own(b)
	before := left.bytes()
	left.take(m.own(b+1), 0)
	*m.held += left.bytes() - before
	m.close(b + 1)
}

// take moves the entries of other from place i on to the end of b.
func (b *idBlock[V]) take(other *idBlock[V], i int) {
	b.ids = append(b.ids, other.ids[i:]...)
	b.vals = append(b.vals, other.vals[i:]...)
	clear(other.vals[i:])
	other.ids, other.vals = other.ids[:i], other.vals[:i]
}

func (m *idMap[V]) open(b int) {
	m.blocks = slices.Insert(m.blocks, b, &idBlock[V]{since: m.loan})
	*m.held += m.blocks[b].bytes()
}

func (m *idMap[V]) close(b int) {
	*m.held -= m.blocks[b].bytes()
	if b == 0 { // a group that acknowledges in order: no block moves
		m.blocks[0] = nil
		m.blocks = m.blocks[1:]
		return
	}
	m.blocks = slices.Delete(m.blocks, b, b+1)
}

// clear removes all entries.
func (m *idMap[V]) clear() {
	for _, b := range m.blocks {
		*m.held -= b.bytes()
	}
	m.blocks, m.n = nil, 0
}

func (b *idBlock[V]) bytes() int {
	var id StreamID
	var val V
	return int(unsafe.Sizeof(*b)+unsafe.Sizeof(b)) + cap(b.ids)*int(unsafe.Sizeof(id)) +
		cap(b.vals)*int(unsafe.Sizeof(val))
}

// idIter stands before an entry of an idMap. An added or removed entry invalidates it.
type idIter[V any] struct {
	m    *idMap[V]
	b, i int
}

// from begins at the first entry that is not below id.
func (m *idMap[V]) from(id StreamID) idIter[V] {
	b, i, _ := m.locate(id)
	return idIter[V]{m, b, i}
}

// next returns a nil value at the end.
func (it *idIter[V]) next() (id StreamID, val *V) {
	for it.b < len(it.m.blocks) {
		if block := it.m.blocks[it.b]; it.i < len(block.ids) {
			it.i++
			return block.ids[it.i-1], &block.vals[it.i-1]
		}
		it.b, it.i = it.b+1, 0
	}
	return id, nil
}
