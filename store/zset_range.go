package store

import (
	"cmp"
	"iter"
	"slices"
	"unsafe"
)

// zsetBound is a place between the members of a sorted set: before the members that are equal to it
// or, if after is set, after them. It compares by score. With lex it compares only by the bytes of the
// member, which is an order only if all scores are equal.
type zsetBound struct {
	score  float64
	member string
	lex    bool
	after  bool
}

// above reports whether a member lies before the bound.
func (b *zsetBound) above(score float64, member string) bool {
	if b.lex {
		return member < b.member || b.after && member == b.member
	}
	return score < b.score || b.after && score == b.score
}

// ScoreRange is the interval of ZRANGEBYSCORE.
type ScoreRange struct {
	Min, Max     float64
	MinEx, MaxEx bool // the end itself is not included
}

// LexBound is one end of the interval of ZRANGEBYLEX.
type LexBound struct {
	Member []byte
	Ex     bool // the member itself is not included
	Inf    int  // -1 is before every member, 1 after
}

// LexRange is the interval of ZRANGEBYLEX.
type LexRange struct{ Min, Max LexBound }

// ByScore returns the ranks of the members in r: from <= rank < to.
func (z *ZSet) ByScore(r *ScoreRange) (from, to int) {
	from = z.below(&zsetBound{score: r.Min, after: r.MinEx})
	return from, max(from, z.below(&zsetBound{score: r.Max, after: !r.MaxEx}))
}

// ByLex is ByScore for an interval of members. Where scores differ, the result has no meaning, as
// in Redis.
func (z *ZSet) ByLex(r *LexRange) (from, to int) {
	from = z.belowLex(&r.Min, r.Min.Ex)
	return from, max(from, z.belowLex(&r.Max, !r.Max.Ex))
}

func (z *ZSet) belowLex(b *LexBound, after bool) int {
	switch b.Inf {
	case -1:
		return 0
	case 1:
		return z.Len()
	}
	return z.below(&zsetBound{member: string(b.Member), lex: true, after: after})
}

// below counts the members before b.
func (z *ZSet) below(b *zsetBound) int {
	if x := z.index(); x != nil {
		return x.tree.below(b)
	}
	n, l := 0, z.e.pack()
	for p := l.First(); p >= 0; p = l.Next(p) {
		score, m := unpackEntry(l.Get(p))
		if !b.above(score, unsafe.String(unsafe.SliceData(m), len(m))) {
			break
		}
		n++
	}
	return n
}

// ZIter iterates over members in order. Member aliases the set, which must not change meanwhile.
type ZIter struct {
	Member []byte
	Score  float64

	left  int
	rev   bool
	pack  Pack
	pos   Pos
	table *Table[float64]
	leaf  *zsetLeaf
	i     int
}

// Range iterates over the ranks from <= rank < to, and backwards if rev.
func (z *ZSet) Range(from, to int, rev bool) ZIter {
	it := ZIter{left: to - from, rev: rev}
	if it.left <= 0 {
		return it
	}
	if rev {
		from = to - 1
	}
	if x := z.index(); x != nil {
		it.table = x.table
		it.leaf, it.i = x.tree.at(from)
	} else {
		it.pack = z.e.pack()
		it.pos = it.pack.Index(from)
	}
	return it
}

// Descending ranges over the members of a set that has the large form, the greatest first. Unlike Range it does not
// follow the links between leaves, so it can read a set that is lent.
func (z *ZSet) Descending() iter.Seq2[[]byte, float64] {
	return func(yield func(member []byte, score float64) bool) {
		t := z.index().tree
		t.descending(t.root, yield)
	}
}

func (t *zsetTree) descending(in *zsetInner, yield func(member []byte, score float64) bool) bool {
	for i := in.n - 1; i >= 0; i-- {
		if kid := in.kid[i]; kid != nil {
			if !t.descending(kid, yield) {
				return false
			}
			continue
		}
		l := in.leaf[i]
		for j := l.n - 1; j >= 0; j-- {
			if !yield(t.members.at(l.id[j]).key(), l.score[j]) {
				return false
			}
		}
	}
	return true
}

// Next moves to the next member, or to the first one. It returns false at the end.
func (it *ZIter) Next() bool {
	if it.left <= 0 {
		return false
	}
	it.left--
	if it.leaf == nil {
		it.nextPacked()
		return true
	}
	n := it.table.at(it.leaf.id[it.i])
	it.Member, it.Score = n.key(), n.Val
	switch {
	case it.left == 0:
	case it.rev:
		if it.i--; it.i < 0 {
			it.leaf = it.leaf.prev
			it.i = it.leaf.n - 1
		}
	default:
		if it.i++; it.i == it.leaf.n {
			it.leaf, it.i = it.leaf.next, 0
		}
	}
	return true
}

func (it *ZIter) nextPacked() {
	it.Score, it.Member = unpackEntry(it.pack.Get(it.pos))
	if it.rev {
		it.pos = it.pack.Prev(it.pos)
	} else {
		it.pos = it.pack.Next(it.pos)
	}
}

// ZSetBuilder collects members and scores in any order and makes a sorted set of them. Commands
// that store a combination of sets use it.
type ZSetBuilder struct {
	ks      *Keyspace
	table   *Table[float64]
	longest int
}

// NewZSetBuilder returns an empty builder.
func NewZSetBuilder(ks *Keyspace) *ZSetBuilder {
	return &ZSetBuilder{ks: ks, table: NewTable[float64](ks.Seed)}
}

// Slot returns the place for the score of member. It is valid until the next call.
func (b *ZSetBuilder) Slot(member []byte) (score *float64, added bool) {
	n, added := b.table.Insert(member)
	b.longest = max(b.longest, len(member))
	return &n.Val, added
}

// Len is the number of members so far.
func (b *ZSetBuilder) Len() int { return b.table.Len() }

// Sorted ranges over members and scores in the order of a sorted set.
func (b *ZSetBuilder) Sorted() iter.Seq2[[]byte, float64] {
	return func(yield func(member []byte, score float64) bool) {
		for _, i := range b.order() {
			if n := b.table.at(i); !yield(n.key(), n.Val) {
				return
			}
		}
	}
}

// order is the numbers of all nodes in the order of a sorted set.
func (b *ZSetBuilder) order() []uint32 {
	t := b.table
	ids := make([]uint32, 0, t.live)
	for i := t.nextLive(0); i != 0; i = t.nextLive(i + 1) {
		ids = append(ids, i)
	}
	slices.SortFunc(ids, func(i, j uint32) int {
		a, b := t.at(i), t.at(j)
		return cmp.Or(cmp.Compare(a.Val, b.Val), cmp.Compare(a.Key(), b.Key()))
	})
	return ids
}

// FinishPacked is Finish for a set that is a listpack already: its members may have any length.
func (b *ZSetBuilder) FinishPacked() *ZSet {
	b.longest = 0
	return b.Finish()
}

// Finish makes the set, in the small form if the limits allow it. The builder must not be used
// afterwards.
func (b *ZSetBuilder) Finish() *ZSet {
	z, l := NewZSet(b.ks), &b.ks.Limits
	if b.Len() <= l.ZSetMaxListpackEntries && b.longest <= l.ZSetMaxListpackValue {
		var buf [80]byte
		var pack Pack
		for member, score := range b.Sorted() {
			pack.Append(packedEntry(buf[:0], member, score))
		}
		if pack.n > 0 {
			z.e.setPack(&pack)
		}
		return z
	}
	x := newZSetIndex(b.table)
	for _, i := range b.order() {
		x.tree.insert(x.table.at(i).Val, i)
	}
	z.e.setRef(unsafe.Pointer(x))
	return z
}
