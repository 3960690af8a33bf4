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
type Set struct{ handle }

// maxIntset bounds an intset whatever the configuration allows (t_set.c: intsetMaxEntries).
const maxIntset = 1 << 30

// NewSet returns an empty set.
func NewSet(ks *Keyspace) *Set { return &Set{unbound(ks, TypeSet, encInts16)} }

// table is the form hashtable. The set must have it.
func (s *Set) table() *Table[struct{}] { return (*Table[struct{}])(s.e.ref) }

// isInts reports whether the set is an intset.
func (s *Set) isInts() bool { return s.e.enc >= encInts16 }

// ints is the form intset. The set must have it. A change of the copy is stored with setInts.
func (s *Set) ints() intset { return intset{s.e.bytes(), 2 << (s.e.enc - encInts16)} }

func (s *Set) setInts(ints intset) {
	s.e.setBytes(ints.b)
	s.e.enc = encInts16 + encoding(ints.width/4)
}

// Len is the number of members.
func (s *Set) Len() int {
	switch {
	case s.e.enc == encTable:
		return s.table().Len()
	case s.isInts():
		return s.ints().len()
	}
	l := s.e.pack()
	return l.Len()
}

// Encoding is the reply of OBJECT ENCODING.
func (s *Set) Encoding() string { return s.e.encoding() }

// Has reports whether m is a member.
func (s *Set) Has(m []byte) bool {
	switch s.e.enc {
	case encTable:
		return s.table().Find(m) != nil
	case encPack:
		l := s.e.pack()
		return l.Find(l.First(), m, 0) >= 0
	}
	v, ok := ascii.ParseInt(m)
	if ok {
		_, ok = s.ints().search(v)
	}
	return ok
}

// Expect prepares the set for a command that adds n members, of which first is the first. If a form
// may not hold n members, the set becomes a table at once, even if some members are equal (t_set.c:
// setTypeCreate, setTypeMaybeConvert).
func (s *Set) Expect(first []byte, n int) {
	l := &s.ks.Limits
	if s.isInts() && s.Len() == 0 {
		if _, ok := ascii.ParseInt(first); !ok || n > l.SetMaxIntsetEntries {
			s.e.ref, s.e.n, s.e.enc = nil, 0, encPack
		}
	}
	if s.isInts() && n > l.SetMaxIntsetEntries || s.e.enc == encPack && n > l.SetMaxListpackEntries {
		s.convert()
	}
}

// Reserve gives an empty set the memory for members, which Expect has prepared it for.
func (s *Set) Reserve(members [][]byte) {
	switch {
	case s.e.ref != nil || len(members) < 2:
	case !s.isInts():
		s.e.reserve(packSize(members))
	default:
		v, _ := ascii.ParseInt(members[0])
		s.setInts(newIntset(intWidth(v), len(members)))
	}
}

// Add adds m and reports whether it is new.
func (s *Set) Add(m []byte) bool {
	switch s.e.enc {
	case encTable:
		_, added := s.table().Insert(m)
		return added
	case encPack:
		l := s.e.pack()
		if l.Find(l.First(), m, 0) >= 0 {
			return false
		}
		s.addPacked(&l, m)
		return true
	}
	v, ok := ascii.ParseInt(m)
	if !ok {
		s.leaveInts(m)
		return true
	}
	ints := s.ints()
	i, found := ints.search(v)
	if found {
		return false
	}
	ints.insert(i, v)
	s.setInts(ints)
	if ints.len() > min(s.ks.Limits.SetMaxIntsetEntries, maxIntset) {
		s.convert()
	}
	return true
}

// addPacked adds m, which is no member yet, to the pack l of the set, or to a table if the pack may
// not grow.
func (s *Set) addPacked(l *Pack, m []byte) {
	lim := &s.ks.Limits
	if l.Len() < lim.SetMaxListpackEntries && len(m) <= lim.SetMaxListpackValue && l.Bytes()+len(m) <= packSafeSize {
		l.Append(m)
		s.e.setPack(l)
		return
	}
	s.convert().Insert(m)
}

// leaveInts changes an intset to the first form that can hold its members and m, which is no
// integer.
func (s *Set) leaveInts(m []byte) {
	lim, ints := &s.ks.Limits, s.ints()
	longest := len(m)
	if n := ints.len(); n > 0 {
		longest = max(longest, digits(ints.at(0)), digits(ints.at(n-1)))
	}
	if ints.len() >= lim.SetMaxListpackEntries || longest > lim.SetMaxListpackValue {
		s.convert().Insert(m)
		return
	}
	var l Pack
	for text := range s.All() {
		l.Append(text)
	}
	l.Append(m)
	s.e.setPack(&l)
}

// digits is the length of v as text.
func digits(v int64) int {
	var text [20]byte
	return len(strconv.AppendInt(text[:0], v, 10))
}

// convert makes the set a table.
func (s *Set) convert() *Table[struct{}] {
	t := NewTable[struct{}](s.ks.Seed)
	for m := range s.All() {
		t.Insert(m)
	}
	s.e.setRef(unsafe.Pointer(t))
	return t
}

// PreferInts makes a set an intset if all members are integers and the limit allows it. SINTERSTORE
// does so with its result (t_set.c: maybeConvertToIntset).
func (s *Set) PreferInts() {
	if s.isInts() || s.Len() > min(s.ks.Limits.SetMaxIntsetEntries, maxIntset) {
		return
	}
	all, width := make([]int64, 0, s.Len()), 2
	for m := range s.All() {
		v, ok := ascii.ParseInt(m)
		if !ok {
			return
		}
		all = append(all, v)
		width = max(width, intWidth(v))
	}
	slices.Sort(all)
	ints := newIntset(width, len(all))
	for i, v := range all {
		ints.insert(i, v)
	}
	s.setInts(ints)
}

// AddPacked is Add that leaves a pack a pack.
func (s *Set) AddPacked(m []byte) bool {
	if s.e.enc != encPack {
		return s.Add(m)
	}
	l := s.e.pack()
	if l.Find(l.First(), m, 0) >= 0 {
		return false
	}
	l.Append(m)
	s.e.setPack(&l)
	return true
}

// Unpack makes the set a table, whatever its size.
func (s *Set) Unpack() {
	if s.e.enc != encTable {
		s.convert()
	}
}

// Become gives the set the members and the form of other, which must not be used afterwards.
func (s *Set) Become(other *Set) { s.e.blob, s.e.enc = other.e.blob, other.e.enc }

// Remove removes m and reports whether it was a member.
func (s *Set) Remove(m []byte) bool {
	switch s.e.enc {
	case encTable:
		return s.table().Delete(m)
	case encPack:
		l := s.e.pack()
		p := l.Find(l.First(), m, 0)
		if p >= 0 {
			l.Delete(p)
			s.e.setPack(&l)
		}
		return p >= 0
	}
	v, ok := ascii.ParseInt(m)
	if !ok {
		return false
	}
	ints := s.ints()
	i, found := ints.search(v)
	if found {
		ints.remove(i)
		s.setInts(ints)
	}
	return found
}

// All ranges over the members. A member is valid until the next one. The set must not change
// meanwhile.
func (s *Set) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		switch s.e.enc {
		case encTable:
			for n := range s.table().All() {
				if !yield(n.key()) {
					return
				}
			}
		case encPack:
			l := s.e.pack()
			for p := l.First(); p >= 0; p = l.Next(p) {
				if !yield(l.Get(p)) {
					return
				}
			}
		default:
			text, ints := make([]byte, 0, 20), s.ints()
			for i := range ints.len() {
				if !yield(strconv.AppendInt(text, ints.at(i), 10)) {
					return
				}
			}
		}
	}
}

// Scan is one step of SSCAN. The small forms come as a whole, a table by its cursor.
func (s *Set) Scan(cursor uint64, fn func(m []byte)) uint64 {
	if s.e.enc == encTable {
		return s.table().Scan(cursor, func(n *Node[struct{}]) { fn(n.key()) })
	}
	for m := range s.All() {
		fn(m)
	}
	return 0
}

// Random returns a random member. It is valid until the next change of the keyspace or the next
// call. The set must not be empty.
func (s *Set) Random(r *rand.Rand) []byte {
	switch s.e.enc {
	case encTable:
		return s.table().Random(r).key()
	case encPack:
		l := s.e.pack()
		return l.Get(l.Index(r.IntN(l.Len())))
	}
	ints := s.ints()
	return strconv.AppendInt(s.ks.scratch[:0], ints.at(r.IntN(ints.len())), 10)
}

// Sample calls fn for k different random members, or for all members if there are at most k.
func (s *Set) Sample(r *rand.Rand, k int, fn func(m []byte)) {
	if s.e.enc == encTable && k < s.Len() {
		s.table().sample(r, k, func(n *Node[struct{}]) { fn(n.key()) })
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
