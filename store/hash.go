package store

import (
	"iter"
	"math/rand/v2"
	"unsafe"
)

// Hash is a map from fields to values. A small hash is a Pack of field, value, field, value in
// order of arrival. Past the limits of hash-max-listpack-* it becomes a Table, and it never changes
// back (t_hash.c: hashTypeTryConversion).
type Hash struct {
	ks         *Keyspace
	pack       Pack
	table      *Table[[]byte] // nil while the pack is in use
	valueBytes int            // memory of the table's values
}

// packSafeSize bounds a pack in bytes, whatever the configuration allows (listpack.c:
// LISTPACK_MAX_SAFETY_LIMIT).
const packSafeSize = 1 << 30

// NewHash returns an empty hash.
func NewHash(ks *Keyspace) *Hash { return &Hash{ks: ks} }

// Len is the number of fields.
func (h *Hash) Len() int {
	if h.table != nil {
		return h.table.Len()
	}
	return h.pack.Len() / 2
}

// Encoding is the reply of OBJECT ENCODING.
func (h *Hash) Encoding() string {
	if h.table != nil {
		return "hashtable"
	}
	return "listpack"
}

func (h *Hash) size() int {
	n := int(unsafe.Sizeof(*h))
	if h.table != nil {
		return n + int(unsafe.Sizeof(*h.table)) + h.table.Mem() + h.valueBytes
	}
	return n + h.pack.Mem()
}

func (h *Hash) clone() *Hash {
	c := NewHash(h.ks)
	if h.table == nil {
		c.pack = h.pack.clone()
		return c
	}
	c.convert()
	for field, value := range h.All() {
		c.Set(field, value)
	}
	return c
}

// Get returns the value of field. It aliases the hash and is valid until the next change.
func (h *Hash) Get(field []byte) (value []byte, ok bool) {
	if h.table != nil {
		if n := h.table.Find(field); n != nil {
			return n.Val, true
		}
		return nil, false
	}
	if p := h.pack.Find(h.pack.First(), field, 1); p >= 0 {
		return h.pack.Get(h.pack.Next(p)), true
	}
	return nil, false
}

// Expect prepares the hash for a command that names n fields. If a pack may not hold n fields, the
// hash becomes a table at once, even if some of the fields are equal.
func (h *Hash) Expect(n int) {
	if h.table == nil && n > h.ks.Limits.HashMaxListpackEntries {
		h.convert()
	}
}

// Set stores value under field and reports whether the field is new.
func (h *Hash) Set(field, value []byte) (added bool) {
	if h.table == nil {
		l := &h.ks.Limits
		if max(len(field), len(value)) <= l.HashMaxListpackValue && h.pack.Bytes()+len(field)+len(value) <= packSafeSize {
			return h.setPacked(field, value)
		}
		h.convert()
	}
	n, added := h.table.Insert(field)
	if fits(cap(n.Val), len(value)) {
		n.Val = append(n.Val[:0], value...)
		return added
	}
	h.valueBytes -= allocSize(cap(n.Val))
	n.Val = append([]byte(nil), value...)
	h.valueBytes += allocSize(cap(n.Val))
	return added
}

func (h *Hash) setPacked(field, value []byte) (added bool) {
	if p := h.pack.Find(h.pack.First(), field, 1); p >= 0 {
		h.pack.Replace(h.pack.Next(p), value)
		return false
	}
	h.pack.AppendPair(field, value)
	if h.Len() > h.ks.Limits.HashMaxListpackEntries {
		h.convert()
	}
	return true
}

// Delete removes field and reports whether it existed.
func (h *Hash) Delete(field []byte) bool {
	if h.table == nil {
		p := h.pack.Find(h.pack.First(), field, 1)
		if p >= 0 {
			h.pack.DeleteN(p, 2)
		}
		return p >= 0
	}
	n := h.table.Find(field)
	if n == nil {
		return false
	}
	h.valueBytes -= allocSize(cap(n.Val))
	return h.table.Delete(field)
}

func (h *Hash) convert() {
	h.table = NewTable[[]byte](h.ks.Seed)
	old := h.pack
	h.pack = Pack{}
	for p := old.First(); p >= 0; p = old.Next(p) {
		field := old.Get(p)
		p = old.Next(p)
		h.Set(field, old.Get(p))
	}
}

// All ranges over fields and values. Both alias the hash, which must not change meanwhile.
func (h *Hash) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(field, value []byte) bool) {
		if h.table != nil {
			for n := range h.table.All() {
				if !yield(view(n.Key), n.Val) {
					return
				}
			}
			return
		}
		for p := h.pack.First(); p >= 0; p = h.pack.Next(p) {
			field := h.pack.Get(p)
			p = h.pack.Next(p)
			if !yield(field, h.pack.Get(p)) {
				return
			}
		}
	}
}

// Scan is one step of HSCAN. A pack comes as a whole, a table by its cursor.
func (h *Hash) Scan(cursor uint64, fn func(field, value []byte)) uint64 {
	if h.table != nil {
		return h.table.Scan(cursor, func(n *Node[[]byte]) { fn(view(n.Key), n.Val) })
	}
	for field, value := range h.All() {
		fn(field, value)
	}
	return 0
}

// Random returns a random field and its value. The hash must not be empty.
func (h *Hash) Random(r *rand.Rand) (field, value []byte) {
	if h.table != nil {
		n := h.table.Random(r)
		return view(n.Key), n.Val
	}
	p := h.pack.Index(2 * r.IntN(h.Len()))
	return h.pack.Get(p), h.pack.Get(h.pack.Next(p))
}

// Sample calls fn for k different random fields, or for all fields if there are at most k.
func (h *Hash) Sample(r *rand.Rand, k int, fn func(field, value []byte)) {
	if h.table != nil && k < h.Len() {
		h.table.sample(r, k, func(n *Node[[]byte]) { fn(view(n.Key), n.Val) })
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
