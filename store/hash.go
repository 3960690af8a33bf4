package store

import (
	"iter"
	"math/rand/v2"
	"unsafe"
)

// Hash is a map from fields to values. A small hash is a Pack of field, value, field, value in
// order of arrival. Past the limits of hash-max-listpack-* it becomes a Table, and it never changes
// back (t_hash.c: hashTypeTryConversion).
type Hash struct{ handle }

// hashTable is the large form. The memory of the values counts as that of the nodes.
type hashTable struct{ Table[text] }

// packSafeSize bounds a pack in bytes, whatever the configuration allows (listpack.c:
// LISTPACK_MAX_SAFETY_LIMIT).
const packSafeSize = 1 << 30

// NewHash returns an empty hash.
func NewHash(ks *Keyspace) *Hash { return &Hash{unbound(ks, TypeHash, encPack)} }

// table is the large form, or nil.
func (h *Hash) table() *hashTable {
	if h.e.enc == encTable {
		return (*hashTable)(h.e.ref)
	}
	return nil
}

// Len is the number of fields.
func (h *Hash) Len() int {
	if t := h.table(); t != nil {
		return t.Len()
	}
	l := h.e.pack()
	return l.Len() / 2
}

// Encoding is the reply of OBJECT ENCODING.
func (h *Hash) Encoding() string { return h.e.encoding() }

func (t *hashTable) clone() *hashTable {
	c := &hashTable{*t.Table.clone()}
	var room []byte
	for n := range c.All() {
		n.Val, room = n.Val.clone(room)
	}
	return c
}

func (t *hashTable) lend(to *loan) *hashTable { return &hashTable{*t.Table.lend(to)} }

func newHashTable(seed *Seed) *hashTable { return &hashTable{Table: Table[text]{seed: seed}} }

// Get returns the value of field. It aliases the hash and is valid until the next change.
func (h *Hash) Get(field []byte) (value []byte, ok bool) {
	if t := h.table(); t != nil {
		if n := t.Find(field); n != nil {
			return n.Val.bytes(), true
		}
		return nil, false
	}
	l := h.e.pack()
	if p := l.Find(l.First(), field, 1); p >= 0 {
		return l.Get(l.Next(p)), true
	}
	return nil, false
}

// Expect prepares the hash for a command that sets args: field, value, field, value. If a pack may
// not hold that many fields, the hash becomes a table at once, even if some of the fields are equal. An
// empty hash gets the memory for all of them.
func (h *Hash) Expect(args [][]byte) {
	switch {
	case h.e.enc == encTable:
	case len(args)/2 > h.ks.Limits.HashMaxListpackEntries:
		h.convert()
	case h.e.ref == nil && len(args) > 2:
		h.e.reserve(packSize(args))
	}
}

// Set stores value under field and reports whether the field is new.
func (h *Hash) Set(field, value []byte) (added bool) {
	t := h.table()
	if t == nil {
		l, lim := h.e.pack(), &h.ks.Limits
		if max(len(field), len(value)) <= lim.HashMaxListpackValue && l.Bytes()+len(field)+len(value) <= packSafeSize {
			return h.setPacked(&l, field, value)
		}
		t = h.convert()
	}
	if h.e.timed&timedFields != 0 {
		return h.setTimed(field, value)
	}
	return t.set(field, value)
}

func (t *hashTable) set(field, value []byte) (added bool) {
	i, added := t.insert(field)
	n := t.own(i)
	t.bytes -= n.Val.mem()
	if t.loan.isOpen() { // copies of the node may be lent, and have the same block
		n.Val = text{}
	}
	n.Val.set(value)
	t.bytes += n.Val.mem()
	return added
}

// SetPacked is Set that leaves a pack a pack unless it has too many fields.
func (h *Hash) SetPacked(field, value []byte) (added bool) {
	if h.e.enc == encTable {
		return h.Set(field, value)
	}
	l := h.e.pack()
	return h.setPacked(&l, field, value)
}

func (h *Hash) setPacked(l *Pack, field, value []byte) (added bool) {
	p := l.Find(l.First(), field, 1)
	if p >= 0 {
		l.Replace(l.Next(p), value)
	} else {
		l.AppendPair(field, value)
	}
	h.e.setPack(l)
	if l.Len() > 2*h.ks.Limits.HashMaxListpackEntries {
		h.convert()
	}
	return p < 0
}

// Delete removes field and reports whether it existed.
func (h *Hash) Delete(field []byte) bool {
	t := h.table()
	if t == nil {
		l := h.e.pack()
		p := l.Find(l.First(), field, 1)
		if p >= 0 {
			l.DeleteN(p, 2)
			h.e.setPack(&l)
		}
		return p >= 0
	}
	i := t.find(field)
	if i == 0 {
		return false
	}
	if h.e.timed&timedFields != 0 {
		h.e.timedHash().forget(i)
	}
	t.drop(i)
	return true
}

// drop deletes node i.
func (t *hashTable) drop(i uint32) {
	t.bytes -= t.at(i).Val.mem()
	t.remove(i)
}

func (h *Hash) convert() *hashTable {
	t := newHashTable(h.ks.Seed)
	for field, value := range h.All() {
		t.set(field, value)
	}
	h.e.setRef(unsafe.Pointer(t))
	return t
}

// All ranges over fields and values. Both alias the hash, which must not change meanwhile.
func (h *Hash) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(field, value []byte) bool) {
		if t := h.table(); t != nil {
			for n := range t.All() {
				if !yield(n.key(), n.Val.bytes()) {
					return
				}
			}
			return
		}
		l := h.e.pack()
		for p := l.First(); p >= 0; p = l.Next(p) {
			field := l.Get(p)
			p = l.Next(p)
			if !yield(field, l.Get(p)) {
				return
			}
		}
	}
}

// Scan is one step of HSCAN. A pack comes as a whole, a table by its cursor.
func (h *Hash) Scan(cursor uint64, fn func(field, value []byte)) uint64 {
	if t := h.table(); t != nil {
		return t.Scan(cursor, func(n *Node[text]) { fn(n.key(), n.Val.bytes()) })
	}
	for field, value := range h.All() {
		fn(field, value)
	}
	return 0
}

// Random returns a random field and its value. The hash must not be empty.
func (h *Hash) Random(r *rand.Rand) (field, value []byte) {
	if t := h.table(); t != nil {
		n := t.Random(r)
		return n.key(), n.Val.bytes()
	}
	l := h.e.pack()
	p := l.Index(2 * r.IntN(h.Len()))
	return l.Get(p), l.Get(l.Next(p))
}

// Sample calls fn for k different random fields, or for all fields if there are at most k.
func (h *Hash) Sample(r *rand.Rand, k int, fn func(field, value []byte)) {
	if t := h.table(); t != nil && k < t.Len() {
		t.sample(r, k, func(n *Node[text]) { fn(n.key(), n.Val.bytes()) })
		return
	}
	left := h.Len()
	for field, value := range h.All() {
		if takeNext(r, k, left) {
			fn(field, value)
			k--
		}
		left--
	}
}
