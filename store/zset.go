package store

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"unsafe"
)

// ZSet is a sorted set: members with scores, ordered by score and then by the
// bytes of the member. While it is small it is a Pack in that order, one
// entry a member with the score's 8 bytes in front; past the limits of
// zset-max-listpack-* it is a table for finding members and a tree for their
// order, and stays so (t_zset.c: zsetConvert).
type ZSet struct {
	ks    *Keyspace
	pack  Pack
	table *Table[float64] // nil while the pack is in use
	tree  *zsetTree
}

// ZFlags are the conditions of ZADD.
type ZFlags uint8

// Their combinations are checked by the command.
const (
	ZIncr ZFlags = 1 << iota // add the score to the old one
	ZNX                      // only new members
	ZXX                      // only members that are there
	ZGT                      // change a score only to a greater one
	ZLT                      // change a score only to a lesser one
)

// ZResult is what Add has done.
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

// Encoding is what OBJECT ENCODING answers. The large form goes by the name of
// what Redis has in its place.
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

// Add gives member a score, as far as flags allow, and returns the score it has then.
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

// decide tells what becomes of a member that has the score old already.
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
		return ZSame, score // which may be a zero of another sign
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

// packedEntry appends the entry of member. Zero loses its sign, as it does in
// Redis's listpack, where it becomes an integer.
func packedEntry(buf, member []byte, score float64) []byte {
	if score == 0 {
		score = 0
	}
	return append(binary.LittleEndian.AppendUint64(buf, math.Float64bits(score)), member...)
}

func packedScore(entry []byte) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(entry))
}

// locate is where the pack has member, or -1.
func (z *ZSet) locate(member []byte) Pos {
	for p := z.pack.First(); p >= 0; p = z.pack.Next(p) {
		if string(z.pack.Get(p)[8:]) == string(member) {
			return p
		}
	}
	return -1
}

// Unpack gives a set of any size the form of a large one, for good.
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

// Rank is the number of members before member, and its score.
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

// Remove takes member out and tells whether it was there.
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

// RemoveRange takes out the members of rank from up to, not including, to.
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

// Random is the rank of a member by chance. The set must not be empty.
func (z *ZSet) Random(r *rand.Rand) (rank int) { return r.IntN(z.Len()) }

// Scan is one step of ZSCAN: a pack comes as a whole, a table by its cursor.
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
