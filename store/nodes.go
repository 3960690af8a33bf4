package store

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"
)

// Node is the head of one element of a Table. The bytes of its key follow at once: see slot.
type Node[V any] struct {
	Val  V
	next uint32 // next node of the bucket, or of the free list of the chunk
	hash uint32 // low bits of the hash, and liveBit if the node is in use
	size uint8  // length of the key, or longKey
}

// A slot is the memory of a node with its key. The classes of slots differ by the room for the key:
// 7, 15, 23 ... 127 bytes. A longer key is a string of its own.
//
//	| Val | next | hash | size | key ...    |
//	| Val | next | hash | size | - | string |   class longClass
type slot[V, K any] struct {
	val        V
	next, hash uint32
	size       uint8
	key        K
}

const (
	liveBit    = 1 << 31
	chunkBits  = 7
	chunkLen   = 1 << chunkBits // greatest number of slots in a chunk
	longKey    = 255            // Node.size of a key that is a string of its own
	longClass  = 16
	classes    = longClass + 1
	longestKey = 8*longClass - 1 // in bytes; longer keys are strings of their own
	headerRoom = 8               // the runtime's word before a large object with pointers
)

// nodes is the memory of all nodes of a table. A chunk is one allocation with slots of one class. The
// number of a node is the number of its chunk times chunkLen, plus its place in the chunk. Chunk 0
// does not exist, so no node has the number 0.
//
//	chunks[1] ──> | 48 B | 48 B | free | 48 B | ...    keys of up to 7 bytes
//	chunks[2] ──> | 56 B | free | free | ...           keys of up to 15 bytes
//	chunks[3] ──> | 48 B | ...
//
// Chunks of a class with free slots are linked. An empty chunk goes back to the collector, unless it
// is the only one of its class with free slots.
type nodes[V any] struct {
	chunks []chunk
	live   int // nodes in use
	bytes  int // of nodes in use, with their keys; a hash adds those of its values
	spare  uint32
	open   [classes]uint32 // the first chunk of each class with free slots, 0 for none
	loan   *loan           // of the chunks that are lent
}

// chunk describes the slots of one allocation.
type chunk struct {
	base       unsafe.Pointer // nil if the chunk is not in use
	stride     uint16         // bytes from one slot to the next
	slots      uint8
	fresh      uint8  // slots used so far
	live       uint8  // slots in use
	free       uint8  // 1 + the first freed slot, 0 for none; Node.next continues
	class      uint8  // of the keys
	isLent     bool   // somebody may read the slots until nodes.loan is over
	prev, next uint32 // chunks of the class with free slots; next also links spare numbers
}

// keyClass is the class of slots for keys of n bytes.
func keyClass(n int) int {
	if n > longestKey {
		return longClass
	}
	return n >> 3
}

func (t *nodes[V]) at(i uint32) *Node[V] {
	c := &t.chunks[i>>chunkBits]
	return (*Node[V])(unsafe.Add(c.base, uintptr(i&(chunkLen-1))*uintptr(c.stride)))
}

// name is where the bytes of a short key begin.
func (n *Node[V]) name() *byte {
	return (*byte)(unsafe.Add(unsafe.Pointer(n), unsafe.Offsetof(slot[V, byte]{}.key)))
}

// long is the key of a node of longClass.
func (n *Node[V]) long() *string {
	return (*string)(unsafe.Add(unsafe.Pointer(n), unsafe.Offsetof(slot[V, string]{}.key)))
}

// Key is the key of the node. The string is valid until the key is deleted.
func (n *Node[V]) Key() string {
	if n.size == longKey {
		return *n.long()
	}
	return unsafe.String(n.name(), n.size)
}

// key is Key as bytes. They must not be changed.
func (n *Node[V]) key() []byte { return view(n.Key()) }

// mem is the memory of the node with its key, in bytes.
func (t *nodes[V]) mem(i uint32) int {
	c := &t.chunks[i>>chunkBits]
	if c.class != longClass {
		return int(c.stride)
	}
	return int(c.stride) + allocSize(len(*t.at(i).long()))
}

// alloc returns a new node with a copy of key and the zero value.
func (t *nodes[V]) alloc(key []byte, hash uint32) uint32 {
	class := keyClass(len(key))
	at := t.open[class]
	if at == 0 {
		at = t.addChunk(class)
	}
	c := &t.chunks[at]
	if c.isLent {
		t.unlend(c)
	}
	i := at << chunkBits
	if c.free != 0 {
		i |= uint32(c.free - 1)
		c.free = uint8(t.at(i).next)
	} else {
		i |= uint32(c.fresh)
		c.fresh++
	}
	if c.live++; c.live == c.slots {
		t.unlink(at)
	}
	n := t.at(i)
	n.hash = hash
	if class == longClass {
		n.size = longKey
		*n.long() = string(key)
	} else {
		n.size = uint8(len(key))
		copy(unsafe.Slice(n.name(), len(key)), key)
	}
	t.live++
	t.bytes += t.mem(i)
	return i
}

// release frees node i. The bytes of its key stay until another key takes the slot, because a reply
// may still need them.
func (t *nodes[V]) release(i uint32) {
	t.live--
	t.bytes -= t.mem(i)
	at := i >> chunkBits
	c, n := &t.chunks[at], t.own(i)
	if c.class == longClass {
		*n.long() = ""
	}
	var zero V
	n.Val, n.next, n.hash = zero, uint32(c.free), 0
	c.free = uint8(i&(chunkLen-1)) + 1
	if c.live == c.slots {
		t.link(at)
	}
	if c.live--; c.live == 0 && (c.prev != 0 || c.next != 0) {
		t.unlink(at)
		*c = chunk{next: t.spare}
		t.spare = at
	}
}

// link makes chunk at the first of its class with free slots.
func (t *nodes[V]) link(at uint32) {
	c := &t.chunks[at]
	c.prev, c.next = 0, t.open[c.class]
	if c.next != 0 {
		t.chunks[c.next].prev = at
	}
	t.open[c.class] = at
}

func (t *nodes[V]) unlink(at uint32) {
	c := &t.chunks[at]
	if c.prev != 0 {
		t.chunks[c.prev].next = c.next
	} else {
		t.open[c.class] = c.next
	}
	if c.next != 0 {
		t.chunks[c.next].prev = c.prev
	}
	c.prev, c.next = 0, 0
}

// addChunk adds a chunk for keys of a class. Small tables get small chunks.
func (t *nodes[V]) addChunk(class int) uint32 {
	at := t.spare
	if at != 0 {
		t.spare = t.chunks[at].next
	} else {
		if t.chunks == nil {
			t.chunks = make([]chunk, 1, 4)
		}
		at = uint32(len(t.chunks))
		t.chunks = append(t.chunks, chunk{})
	}
	base, stride, slots := newSlots[V](class, min(max(t.live/2, 4), chunkLen), nil)
	t.chunks[at] = chunk{base: base, stride: uint16(stride), slots: uint8(slots), class: uint8(class)}
	t.link(at)
	return at
}

// own returns node i for a change of its value or key. Its links change without that.
func (t *nodes[V]) own(i uint32) *Node[V] {
	if c := &t.chunks[i>>chunkBits]; c.isLent {
		t.unlend(c)
	}
	return t.at(i)
}

// unlend gives a lent chunk slots of its own.
func (t *nodes[V]) unlend(c *chunk) {
	c.isLent = false
	if t.loan.isOpen() {
		c.base, _, _ = newSlots[V](int(c.class), int(c.slots), c.base)
	}
}

// lendChunks gives t the chunks of from, which are lent.
func (t *nodes[V]) lendChunks(from *nodes[V], to *loan) {
	from.loan = to
	for i := range from.chunks {
		from.chunks[i].isLent = true
	}
	t.chunks = slices.Clone(from.chunks)
}

// cloneChunks gives t copies of its chunks. What it had belongs to the table that t was copied from.
func (t *nodes[V]) cloneChunks() {
	t.chunks, t.loan = slices.Clone(t.chunks), nil
	for i := range t.chunks {
		c := &t.chunks[i]
		if c.isLent = false; c.base != nil {
			c.base, _, _ = newSlots[V](int(c.class), int(c.slots), c.base)
		}
	}
}

// newSlots allocates about want slots of a class, so many that they fill a size class of the
// allocator. It returns the size of a slot, in bytes, and the number of slots. Unless like is nil, it copies
// want slots from there.
func newSlots[V any](class, want int, like unsafe.Pointer) (base unsafe.Pointer, stride, slots int) {
	switch class {
	case 0:
		return makeSlots[V, [7]byte](want, like)
	case 1:
		return makeSlots[V, [15]byte](want, like)
	case 2:
		return makeSlots[V, [23]byte](want, like)
	case 3:
		return makeSlots[V, [31]byte](want, like)
	case 4:
		return makeSlots[V, [39]byte](want, like)
	case 5:
		return makeSlots[V, [47]byte](want, like)
	case 6:
		return makeSlots[V, [55]byte](want, like)
	case 7:
		return makeSlots[V, [63]byte](want, like)
	case 8:
		return makeSlots[V, [71]byte](want, like)
	case 9:
		return makeSlots[V, [79]byte](want, like)
	case 10:
		return makeSlots[V, [87]byte](want, like)
	case 11:
		return makeSlots[V, [95]byte](want, like)
	case 12:
		return makeSlots[V, [103]byte](want, like)
	case 13:
		return makeSlots[V, [111]byte](want, like)
	case 14:
		return makeSlots[V, [119]byte](want, like)
	case 15:
		return makeSlots[V, [127]byte](want, like)
	}
	return makeSlots[V, string](want, like)
}

func makeSlots[V, K any](want int, like unsafe.Pointer) (base unsafe.Pointer, stride, slots int) {
	stride = int(unsafe.Sizeof(slot[V, K]{}))
	if like != nil {
		copied := slices.Clone(unsafe.Slice((*slot[V, K])(like), want))
		return unsafe.Pointer(unsafe.SliceData(copied)), stride, want
	}
	slots = (roundSize(headerRoom+want*stride) - headerRoom) / stride
	return unsafe.Pointer(unsafe.SliceData(make([]slot[V, K], slots))), stride, slots
}

// roundSize is the greatest power of two up to n, or one and a half of it. These are size classes.
func roundSize(n int) int {
	p := 1 << (bits.Len(uint(n)) - 1)
	if p+p/2 <= n {
		return p + p/2
	}
	return p
}

// nextLive is the first node in use from i on, 0 if no such node exists.
func (t *nodes[V]) nextLive(i uint32) uint32 {
	for at := i >> chunkBits; int(at) < len(t.chunks); at++ {
		c := &t.chunks[at]
		if c.live > 0 {
			for i = max(i, at<<chunkBits); i < at<<chunkBits+uint32(c.fresh); i++ {
				if t.at(i).hash&liveBit != 0 {
					return i
				}
			}
		}
	}
	return 0
}

// random returns a random node, 0 if the table is empty. All nodes are equally likely.
func (t *nodes[V]) random(r *rand.Rand) uint32 {
	if t.live == 0 {
		return 0
	}
	for range 64 {
		i := chunkLen + r.Uint32N(uint32(len(t.chunks)-1)<<chunkBits)
		if i&(chunkLen-1) < uint32(t.chunks[i>>chunkBits].fresh) && t.at(i).hash&liveBit != 0 {
			return i
		}
	}
	skip := r.IntN(t.live) // many slots are free: count the nodes
	at := uint32(1)
	for ; skip >= int(t.chunks[at].live); at++ {
		skip -= int(t.chunks[at].live)
	}
	i := t.nextLive(at << chunkBits)
	for ; skip > 0; skip-- {
		i = t.nextLive(i + 1)
	}
	return i
}
