package store

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"unsafe"
)

// ZSet is a sorted set: members with scores, in the order of scores and then of the members' bytes.
// A small one is a Pack in that order. Each entry of the pack is a score and a member. Past the limits
// of zset-max-listpack-* it is a table that finds members and a tree that orders them, and it never
// changes back (t_zset.c: zsetConvert).
type ZSet struct{ handle }

// zsetIndex is the large form.
type zsetIndex struct {
	table *Table[float64]
	tree  *zsetTree
}

// ZFlags are the conditions of ZADD. The command checks which of them go together.
type ZFlags uint8

// The conditions of ZADD.
const (
	ZIncr ZFlags = 1 << iota // add the score to the old one
	ZNX                      // only new members
	ZXX                      // only existing members
	ZGT                      // change a score only to a greater one
	ZLT                      // change a score only to a lesser one
)

// ZResult is what Add did.
type ZResult uint8

// The results of Add.
const (
	ZRefused ZResult = iota // a condition did not hold
	ZSame                   // the member has that score already
	ZUpdated
	ZAdded
	ZNaN // the sum is not a number; nothing was changed
)

// NewZSet returns an empty sorted set.
func NewZSet(ks *Keyspace) *ZSet { return &ZSet{unbound(ks, TypeZSet, encPack)} }

// index is the large form, or nil.
func (z *ZSet) index() *zsetIndex {
	if z.e.enc == encTable {
		return (*zsetIndex)(z.e.ref)
	}
	return nil
}

// Len is the number of members.
func (z *ZSet) Len() int {
	if x := z.index(); x != nil {
		return x.table.Len()
	}
	l := z.e.pack()
	return l.Len()
}

// Encoding is the reply of OBJECT ENCODING. The large form has the name of Redis's large form.
func (z *ZSet) Encoding() string { return z.e.encoding() }

func (x *zsetIndex) size() int {
	return int(unsafe.Sizeof(*x)+unsafe.Sizeof(*x.tree)) + x.table.size() + x.tree.mem()
}

func (x *zsetIndex) clone() *zsetIndex {
	members := x.table.clone() // the nodes keep their numbers
	return &zsetIndex{members, x.tree.clone(members)}
}

func (x *zsetIndex) lend(to *loan) *zsetIndex {
	members := x.table.lend(to)
	return &zsetIndex{members, x.tree.lend(members, to)}
}

func newZSetIndex(t *Table[float64]) *zsetIndex { return &zsetIndex{t, newZSetTree(t)} }

// Expect prepares the set for a command that adds n members, of which first is the first. If a pack may
// not hold n members, the set becomes large at once, even if some members are equal (t_zset.c:
// zsetTypeCreate, zsetTypeMaybeConvert).
func (z *ZSet) Expect(first []byte, n int) {
	l := &z.ks.Limits
	if z.e.enc == encPack && (n > l.ZSetMaxListpackEntries || z.e.ref == nil && len(first) > l.ZSetMaxListpackValue) {
		z.enlarge()
	}
}

// ExpectLong makes the set large if a pack may not hold one of the members in pairs: any, member, any, member.
func (z *ZSet) ExpectLong(pairs [][]byte) {
	for i := 1; i < len(pairs) && z.e.enc == encPack; i += 2 {
		if len(pairs[i]) > z.ks.Limits.ZSetMaxListpackValue {
			z.enlarge()
		}
	}
}

// Reserve gives an empty set, which Expect has prepared, the memory for scores and the members in pairs:
// any, member, any, member.
func (z *ZSet) Reserve(scores []float64, pairs [][]byte) {
	if z.e.ref != nil || len(scores) < 2 {
		return
	}
	var buf [16]byte
	size := 0
	for i, score := range scores {
		size += entryLen(len(packedEntry(buf[:0], nil, score)) + len(pairs[2*i+1]))
	}
	z.e.reserve(size)
}

// Add sets the score of member if flags allow it. It returns the score that member has then.
func (z *ZSet) Add(member []byte, score float64, flags ZFlags) (ZResult, float64) {
	x := z.index()
	if x == nil {
		return z.addPacked(member, score, flags)
	}
	id := x.table.find(member)
	if id == 0 {
		if flags&ZXX != 0 {
			return ZRefused, 0
		}
		x.add(member, score)
		return ZAdded, score
	}
	old := x.table.at(id).Val
	res, score := flags.decide(old, score)
	if res == ZUpdated {
		x.tree.move(old, score, id)
		x.table.at(id).Val = score // also in a lent table: its readers take the scores of the leaves
	}
	return res, score
}

// decide returns the result and the new score for a member that has the score old.
func (f ZFlags) decide(old, score float64) (ZResult, float64) {
	if f&ZNX != 0 {
		return ZRefused, old
	}
	if f&ZIncr != 0 {
		if score += old; math.IsNaN(score) {
			return ZNaN, old
		}
	}
	switch {
	case f&ZGT != 0 && score <= old, f&ZLT != 0 && score >= old:
		return ZRefused, old
	case score == old:
		return ZSame, score // the new zero may have the other sign
	}
	return ZUpdated, score
}

// add adds a member that is new.
func (x *zsetIndex) add(member []byte, score float64) {
	id, _ := x.table.insert(member)
	x.table.at(id).Val = score
	x.tree.insert(score, id)
}

func (z *ZSet) addPacked(member []byte, score float64, flags ZFlags) (ZResult, float64) {
	l := z.e.pack()
	p := locate(&l, member)
	if p < 0 {
		if flags&ZXX != 0 {
			return ZRefused, 0
		}
		lim := &z.ks.Limits
		if l.Len() >= lim.ZSetMaxListpackEntries || len(member) > lim.ZSetMaxListpackValue ||
			l.Bytes()+len(member) > packSafeSize {
			z.enlarge().add(member, score)
			return ZAdded, score
		}
		z.insertPacked(&l, member, score)
		return ZAdded, score
	}
	old, _ := unpackEntry(l.Get(p))
	res, score := flags.decide(old, score)
	if res == ZUpdated {
		l.Delete(p)
		z.insertPacked(&l, member, score)
	}
	return res, score
}

func (z *ZSet) insertPacked(l *Pack, member []byte, score float64) {
	var buf [80]byte
	v := packedEntry(buf[:0], member, score)
	if p := place(l, member, score); p >= 0 {
		l.InsertBefore(p, v)
	} else {
		l.Append(v)
	}
	z.e.setPack(l)
}

// place is the position of the first entry after (score, member), or -1. Like locate, it reads the
// bytes of the pack itself: both visit half of the entries in each ZADD.
func place(l *Pack, member []byte, score float64) Pos {
	b := l.b
	for p := int(l.head); p < len(b); p = l.after(p) {
		n, at := int(b[p]), p+1
		if n >= 0x80 {
			n, at = l.long(p)
		}
		end := at + n
		s := float64(b[at])
		if b[at] > 0x7f {
			k := int(b[at] & 0x7f)
			s = longScore(b[at+1:], k)
			at += k
		}
		if s > score || s == score && string(b[at+1:end]) > string(member) {
			return p
		}
	}
	return -1
}

// packedEntry appends the entry of member. Zero loses its sign, as in Redis's listpack, where it
// becomes an integer.
//
//	integers 0 to 127    score | member
//	other scores         0x80 + k | the first k bytes of the float64 | member
//
// The bytes that are left out are zeros. Integers and short fractions have many.
func packedEntry(buf, member []byte, score float64) []byte {
	if score >= 0 && score <= 0x7f && score == float64(byte(score)) {
		buf = append(buf, byte(score))
	} else {
		float := math.Float64bits(score)
		k := 8 - bits.TrailingZeros64(float)/8
		buf = binary.BigEndian.AppendUint64(append(buf, 0x80|byte(k)), float)
		buf = buf[:len(buf)-8+k]
	}
	return append(buf, member...)
}

// unpackEntry takes an entry of the pack apart.
func unpackEntry(e []byte) (score float64, member []byte) {
	if e[0] <= 0x7f {
		return float64(e[0]), e[1:]
	}
	k := int(e[0] & 0x7f)
	return longScore(e[1:], k), e[1+k:]
}

// longScore reads a score of k bytes. b may have more bytes.
func longScore(b []byte, k int) float64 {
	if len(b) < 8 {
		var whole [8]byte
		copy(whole[:], b)
		b = whole[:]
	}
	unused := 64 - 8*k
	return math.Float64frombits(binary.BigEndian.Uint64(b) >> unused << unused)
}

// locate is the position of member in the pack, or -1.
func locate(l *Pack, member []byte) Pos {
	tail := byte(0) // members tend to differ at their ends
	if len(member) > 0 {
		tail = member[len(member)-1]
	}
	b := l.b
	for p := int(l.head); p < len(b); p = l.after(p) {
		n, at := int(b[p]), p+1
		if n >= 0x80 {
			n, at = l.long(p)
		}
		end := at + n
		if b[at] > 0x7f {
			at += int(b[at] & 0x7f)
		}
		at++
		if end-at == len(member) && (at == end || b[end-1] == tail && string(b[at:end]) == string(member)) {
			return p
		}
	}
	return -1
}

// Unpack gives the set the large form, whatever its size.
func (z *ZSet) Unpack() {
	if z.index() == nil {
		z.enlarge()
	}
}

func (z *ZSet) enlarge() *zsetIndex {
	x, l := newZSetIndex(NewTable[float64](z.ks.Seed)), z.e.pack()
	for p := l.First(); p >= 0; p = l.Next(p) {
		score, member := unpackEntry(l.Get(p))
		x.add(member, score)
	}
	z.e.setRef(unsafe.Pointer(x))
	return x
}

// Score is the score of member.
func (z *ZSet) Score(member []byte) (score float64, ok bool) {
	if x := z.index(); x != nil {
		if n := x.table.Find(member); n != nil {
			return n.Val, true
		}
		return 0, false
	}
	l := z.e.pack()
	if p := locate(&l, member); p >= 0 {
		score, _ = unpackEntry(l.Get(p))
		return score, true
	}
	return 0, false
}

// Rank returns the number of members before member, and the score of member.
func (z *ZSet) Rank(member []byte) (rank int, score float64, ok bool) {
	if x := z.index(); x != nil {
		n := x.table.Find(member)
		if n == nil {
			return 0, 0, false
		}
		return x.tree.rank(n.Val, n.Key()), n.Val, true
	}
	l := z.e.pack()
	for p := l.First(); p >= 0; p = l.Next(p) {
		if score, m := unpackEntry(l.Get(p)); string(m) == string(member) {
			return rank, score, true
		}
		rank++
	}
	return 0, 0, false
}

// Remove removes member and reports whether it existed.
func (z *ZSet) Remove(member []byte) bool {
	x := z.index()
	if x == nil {
		l := z.e.pack()
		p := locate(&l, member)
		if p >= 0 {
			l.Delete(p)
			z.e.setPack(&l)
		}
		return p >= 0
	}
	id := x.table.find(member)
	if id == 0 {
		return false
	}
	x.tree.remove(x.table.at(id).Val, id)
	x.table.remove(id)
	return true
}

// RemoveRange removes the members with ranks from <= rank < to.
func (z *ZSet) RemoveRange(from, to int) {
	if from >= to {
		return
	}
	x := z.index()
	if x == nil {
		l := z.e.pack()
		l.DeleteN(l.Index(from), to-from)
		z.e.setPack(&l)
		return
	}
	for ; from < to; to-- {
		leaf, i := x.tree.at(from)
		id := leaf.id[i]
		x.tree.remove(leaf.score[i], id)
		x.table.remove(id)
	}
}

// Random is the rank of a random member. The set must not be empty.
func (z *ZSet) Random(r *rand.Rand) (rank int) { return r.IntN(z.Len()) }

// Scan is one step of ZSCAN. A pack comes as a whole, a table by its cursor.
func (z *ZSet) Scan(cursor uint64, fn func(member []byte, score float64)) uint64 {
	if x := z.index(); x != nil {
		return x.table.Scan(cursor, func(n *Node[float64]) { fn(n.key(), n.Val) })
	}
	l := z.e.pack()
	for p := l.First(); p >= 0; p = l.Next(p) {
		score, member := unpackEntry(l.Get(p))
		fn(member, score)
	}
	return 0
}
