package store

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"unsafe"
)

// ZSet is a sorted set: members with scores, in the order of scores and then of the members' bytes.
// A small one is a Pack in that order. Each entry of the pack is the 8 bytes of the score and the
// member. Past the limits of zset-max-listpack-* it is a table that finds members and a tree that
// orders them, and it never changes back (t_zset.c: zsetConvert).
type ZSet struct {
	ks    *Keyspace
	pack  Pack
	table *Table[float64] // nil while the pack is in use
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
func NewZSet(ks *Keyspace) *ZSet { return &ZSet{ks: ks} }

// Len is the number of members.
func (z *ZSet) Len() int {
	if z.table != nil {
		return z.table.Len()
	}
	return z.pack.Len()
}

// Encoding is the reply of OBJECT ENCODING. The large form has the name of Redis's large form.
func (z *ZSet) Encoding() string {
	if z.table != nil {
		return "skiplist"
	}
	return "listpack"
}

func (z *ZSet) size() int {
	n := int(unsafe.Sizeof(*z))
	if z.table != nil {
		return n + int(unsafe.Sizeof(*z.table)+unsafe.Sizeof(*z.tree)) + z.table.Mem() + z.tree.mem()
	}
	return n + z.pack.Mem()
}

func (z *ZSet) clone() *ZSet {
	c := NewZSet(z.ks)
	if z.table == nil {
		c.pack = z.pack.clone()
		return c
	}
	c.enlarge()
	for it := z.Range(0, z.Len(), false); it.Next(); {
		c.addLarge(it.Member, it.Score)
	}
	return c
}

// Add sets the score of member if flags allow it. It returns the score that member has then.
func (z *ZSet) Add(member []byte, score float64, flags ZFlags) (ZResult, float64) {
	if z.table == nil {
		return z.addPacked(member, score, flags)
	}
	id := z.table.find(member)
	if id == 0 {
		if flags&ZXX != 0 {
			return ZRefused, 0
		}
		z.addLarge(member, score)
		return ZAdded, score
	}
	n := z.table.at(id)
	old := n.Val
	res, score := flags.decide(old, score)
	if res == ZUpdated {
		z.tree.move(old, score, id)
		n.Val = score
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

func (z *ZSet) addLarge(member []byte, score float64) {
	id, _ := z.table.insert(member)
	z.table.at(id).Val = score
	z.tree.insert(score, id)
}

func (z *ZSet) addPacked(member []byte, score float64, flags ZFlags) (ZResult, float64) {
	p := z.locate(member)
	if p < 0 {
		if flags&ZXX != 0 {
			return ZRefused, 0
		}
		l := &z.ks.Limits
		if z.pack.Len() >= l.ZSetMaxListpackEntries || len(member) > l.ZSetMaxListpackValue ||
			z.pack.Bytes()+len(member) > packSafeSize {
			z.enlarge()
			z.addLarge(member, score)
			return ZAdded, score
		}
		z.insertPacked(member, score)
		return ZAdded, score
	}
	res, score := flags.decide(packedScore(z.pack.Get(p)), score)
	if res == ZUpdated {
		z.pack.Delete(p)
		z.insertPacked(member, score)
	}
	return res, score
}

func (z *ZSet) insertPacked(member []byte, score float64) {
	var buf [80]byte
	v := packedEntry(buf[:0], member, score)
	for p := z.pack.First(); p >= 0; p = z.pack.Next(p) {
		e := z.pack.Get(p)
		if s := packedScore(e); s > score || s == score && string(e[8:]) > string(member) {
			z.pack.InsertBefore(p, v)
			return
		}
	}
	z.pack.Append(v)
}

// packedEntry appends the entry of member. Zero loses its sign, as in Redis's listpack, where it
// becomes an integer.
func packedEntry(buf, member []byte, score float64) []byte {
	if score == 0 {
		score = 0
	}
	return append(binary.LittleEndian.AppendUint64(buf, math.Float64bits(score)), member...)
}

func packedScore(entry []byte) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(entry))
}

// locate is the position of member in the pack, or -1.
func (z *ZSet) locate(member []byte) Pos {
	for p := z.pack.First(); p >= 0; p = z.pack.Next(p) {
		if string(z.pack.Get(p)[8:]) == string(member) {
			return p
		}
	}
	return -1
}

// Unpack gives the set the large form, whatever its size.
func (z *ZSet) Unpack() {
	if z.table == nil {
		z.enlarge()
	}
}

func (z *ZSet) enlarge() {
	z.table = NewTable[float64](z.ks.Seed)
	z.tree = newZSetTree(z.table)
	old := z.pack
	z.pack = Pack{}
	for p := old.First(); p >= 0; p = old.Next(p) {
		e := old.Get(p)
		z.addLarge(e[8:], packedScore(e))
	}
}

// Score is the score of member.
func (z *ZSet) Score(member []byte) (score float64, ok bool) {
	if z.table != nil {
		if n := z.table.Find(member); n != nil {
			return n.Val, true
		}
		return 0, false
	}
	if p := z.locate(member); p >= 0 {
		return packedScore(z.pack.Get(p)), true
	}
	return 0, false
}

// Rank returns the number of members before member, and the score of member.
func (z *ZSet) Rank(member []byte) (rank int, score float64, ok bool) {
	if z.table != nil {
		n := z.table.Find(member)
		if n == nil {
			return 0, 0, false
		}
		return z.tree.rank(n.Val, n.Key), n.Val, true
	}
	for p := z.pack.First(); p >= 0; p = z.pack.Next(p) {
		if e := z.pack.Get(p); string(e[8:]) == string(member) {
			return rank, packedScore(e), true
		}
		rank++
	}
	return 0, 0, false
}

// Remove removes member and reports whether it existed.
func (z *ZSet) Remove(member []byte) bool {
	if z.table == nil {
		p := z.locate(member)
		if p >= 0 {
			z.pack.Delete(p)
		}
		return p >= 0
	}
	id := z.table.find(member)
	if id == 0 {
		return false
	}
	z.tree.remove(z.table.at(id).Val, id)
	z.table.remove(id)
	return true
}

// RemoveRange removes the members with ranks from <= rank < to.
func (z *ZSet) RemoveRange(from, to int) {
	if from >= to {
		return
	}
	if z.table == nil {
		z.pack.DeleteN(z.pack.Index(from), to-from)
		return
	}
	for ; from < to; to-- {
		l, i := z.tree.at(from)
		id := l.id[i]
		z.tree.remove(l.score[i], id)
		z.table.remove(id)
	}
}

// Random is the rank of a random member. The set must not be empty.
func (z *ZSet) Random(r *rand.Rand) (rank int) { return r.IntN(z.Len()) }

// Scan is one step of ZSCAN. A pack comes as a whole, a table by its cursor.
func (z *ZSet) Scan(cursor uint64, fn func(member []byte, score float64)) uint64 {
	if z.table != nil {
		return z.table.Scan(cursor, func(n *Node[float64]) { fn(view(n.Key), n.Val) })
	}
	for p := z.pack.First(); p >= 0; p = z.pack.Next(p) {
		e := z.pack.Get(p)
		fn(e[8:], packedScore(e))
	}
	return 0
}
