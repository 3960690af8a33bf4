package store

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"unsafe"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// Set is an unordered collection of byte strings. It has one of three forms and only ever changes
// to a later one (t_set.c: setTypeAddAux):
//
//	intset     sorted integers, as long as every member is an integer
//	listpack   members in order of arrival
//	hashtable  past the limits of set-max-intset-entries or set-max-listpack-*
type Set struct {
	ks    *Keyspace
	ints  []int64
	pack  Pack
	table *Table[struct{}]
	enc   setEnc
}

type setEnc uint8

const (
	setInts setEnc = iota
	setPack
	setTable
)

// maxIntset bounds an intset whatever the configuration allows (t_set.c: intsetMaxEntries).
const maxIntset = 1 << 30

// NewSet returns an empty set.
func NewSet(ks *Keyspace) *Set { return &Set{ks: ks} }

// Len is the number of members.
func (s *Set) Len() int {
	switch s.enc {
	case setInts:
		return len(s.ints)
	case setPack:
		return s.pack.Len()
	}
	return s.table.Len()
}

// Encoding is the reply of OBJECT ENCODING.
func (s *Set) Encoding() string { return [...]string{"intset", "listpack", "hashtable"}[s.enc] }

func (s *Set) size() int {
	n := int(unsafe.Sizeof(*s))
	if s.enc == setTable {
		return n + int(unsafe.Sizeof(*s.table)) + s.table.Mem()
	}
	return n + cap(s.ints)*8 + s.pack.Mem()
}

func (s *Set) clone() *Set {
	c := &Set{ks: s.ks, ints: slices.Clone(s.ints), pack: s.pack.clone(), enc: s.enc}
	if s.enc == setTable {
		c.table = NewTable[struct{}](s.ks.Seed)
		for n := range s.table.All() {
			c.table.Insert(view(n.Key))
		}
	}
	return c
}

// Has reports whether m is a member.
func (s *Set) Has(m []byte) bool {
	switch s.enc {
	case setTable:
		return s.table.Find(m) != nil
	case setPack:
		return s.pack.Find(s.pack.First(), m, 0) >= 0
	}
	v, ok := ascii.ParseInt(m)
	if ok {
		_, ok = slices.BinarySearch(s.ints, v)
	}
	return ok
}

// Expect prepares the set for a command that adds n members, of which first is the first. If a form
// may not hold n members, the set becomes a table at once, even if some members are equal (t_set.c:
// setTypeCreate, setTypeMaybeConvert).
func (s *Set) Expect(first []byte, n int) {
	l := &s.ks.Limits
	if s.Len() == 0 && s.enc == setInts {
		if _, ok := ascii.ParseInt(first); !ok || n > l.SetMaxIntsetEntries {
			s.enc = setPack
		}
	}
	if s.enc == setInts && n > l.SetMaxIntsetEntries || s.enc == setPack && n > l.SetMaxListpackEntries {
		s.convert()
	}
}

// Add adds m and reports whether it is new.
func (s *Set) Add(m []byte) bool {
	switch s.enc {
	case setTable:
		_, added := s.table.Insert(m)
		return added
	case setPack:
		if s.pack.Find(s.pack.First(), m, 0) >= 0 {
			return false
		}
		return s.addPacked(m)
	}
	v, ok := ascii.ParseInt(m)
	if !ok {
		s.leaveInts(m)
		return true
	}
	i, found := slices.BinarySearch(s.ints, v)
	if found {
		return false
	}
	s.ints = slices.Insert(s.ints, i, v)
	if len(s.ints) > min(s.ks.Limits.SetMaxIntsetEntries, maxIntset) {
		s.convert()
	}
	return true
}

// addPacked appends m, which is no member yet, to the pack. It returns false if the pack may not
// grow.
func (s *Set) addPacked(m []byte) bool {
	l := &s.ks.Limits
	if s.pack.Len() < l.SetMaxListpackEntries && len(m) <= l.SetMaxListpackValue && s.pack.Bytes()+len(m) <= packSafeSize {
		s.pack.Append(m)
		return true
	}
	s.convert()
	s.table.Insert(m)
	return true
}

// leaveInts changes an intset to the first form that can hold its members and m, which is no
// integer.
func (s *Set) leaveInts(m []byte) {
	l := &s.ks.Limits
	var digits [20]byte
	longest := len(m)
	if n := len(s.ints); n > 0 {
		longest = max(longest, len(strconv.AppendInt(digits[:0], s.ints[0], 10)),
			len(strconv.AppendInt(digits[:0], s.ints[n-1], 10)))
	}
	if len(s.ints) >= l.SetMaxListpackEntries || longest > l.SetMaxListpackValue {
		s.convert()
		s.table.Insert(m)
		return
	}
	for _, v := range s.ints {
		s.pack.Append(strconv.AppendInt(digits[:0], v, 10))
	}
	s.pack.Append(m)
	s.ints, s.enc = nil, setPack
}

// convert makes the set a table.
func (s *Set) convert() {
	t := NewTable[struct{}](s.ks.Seed)
	for m := range s.All() {
		t.Insert(m)
	}
	s.ints, s.pack, s.table, s.enc = nil, Pack{}, t, setTable
}

// PreferInts makes a set an intset if all members are integers and the limit allows it. SINTERSTORE
// does so with its result (t_set.c: maybeConvertToIntset).
func (s *Set) PreferInts() {
	if s.enc == setInts || s.Len() > min(s.ks.Limits.SetMaxIntsetEntries, maxIntset) {
		return
	}
	ints := make([]int64, 0, s.Len())
	for m := range s.All() {
		v, ok := ascii.ParseInt(m)
		if !ok {
			return
		}
		ints = append(ints, v)
	}
	slices.Sort(ints)
	*s = Set{ks: s.ks, ints: ints}
}

// Remove removes m and reports whether it was a member.
func (s *Set) Remove(m []byte) bool {
	switch s.enc {
	case setTable:
		return s.table.Delete(m)
	case setPack:
		p := s.pack.Find(s.pack.First(), m, 0)
		if p >= 0 {
			s.pack.Delete(p)
		}
		return p >= 0
	}
	v, ok := ascii.ParseInt(m)
	if !ok {
		return false
	}
	i, found := slices.BinarySearch(s.ints, v)
	if found {
		s.ints = slices.Delete(s.ints, i, i+1)
	}
	return found
}

// All ranges over the members. A member is valid until the next one. The set must not change
// meanwhile.
func (s *Set) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		switch s.enc {
		case setTable:
			for n := range s.table.All() {
				if !yield(view(n.Key)) {
					return
				}
			}
		case setPack:
			for p := s.pack.First(); p >= 0; p = s.pack.Next(p) {
				if !yield(s.pack.Get(p)) {
					return
				}
			}
		default:
			digits := make([]byte, 0, 20)
			for _, v := range s.ints {
				if !yield(strconv.AppendInt(digits, v, 10)) {
					return
				}
			}
		}
	}
}

// Scan is one step of SSCAN. The small forms come as a whole, a table by its cursor.
func (s *Set) Scan(cursor uint64, fn func(m []byte)) uint64 {
	if s.enc == setTable {
		return s.table.Scan(cursor, func(n *Node[struct{}]) { fn(view(n.Key)) })
	}
	for m := range s.All() {
		fn(m)
	}
	return 0
}

// Random returns a random member. It is valid until the next change of the keyspace or the next
// call. The set must not be empty.
func (s *Set) Random(r *rand.Rand) []byte {
	switch s.enc {
	case setTable:
		return view(s.table.Random(r).Key)
	case setPack:
		return s.pack.Get(s.pack.Index(r.IntN(s.pack.Len())))
	}
	return strconv.AppendInt(s.ks.scratch[:0], s.ints[r.IntN(len(s.ints))], 10)
}

// Sample calls fn for k different random members, or for all members if there are at most k.
func (s *Set) Sample(r *rand.Rand, k int, fn func(m []byte)) {
	if s.enc == setTable && k < s.Len() {
		s.table.sample(r, k, func(n *Node[struct{}]) { fn(view(n.Key)) })
		return
	}
	left := s.Len()
	for m := range s.All() {
		if takeNext(r, k, left) {
			fn(m)
			k--
		}
		left--
	}
}
