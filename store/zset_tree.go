package store

import "unsafe"

// The fan-outs of zsetTree. A leaf fills the allocator's class of 896 bytes. An inner node with its
// separators takes about 3 KiB.
const (
	zsetLeafCap  = 72
	zsetInnerCap = 64
)

// zsetTree orders the members of a large sorted set by (score, member) and knows the rank of each.
// It is a counted B+-tree. Redis has a skiplist with spans instead (t_zset.c: zslInsert). Among
// 100,000 members, a search here reads three or four blocks that are in the cache. In a skiplist it
// reads some forty nodes that are not. A member costs about 17 bytes here and 45 there.
//
// The tree names a member by the number of its node in the table of the set. So it holds no copy of
// the bytes, and the collector finds two pointers in a leaf instead of one for each member.
//
//	zsetInner   | size 41 72 ... | least (score, member) of each child |
//	               |  '----------------.
//	zsetLeaf    | scores, members | <-> | scores, members | <-> ...
type zsetTree struct {
	members *Table[float64]
	root    *zsetInner // never nil, even with a single leaf
	inners  int
	leaves  int
	path    []*int32 // the sizes that descend changed
	loan    *loan    // of the leaves that were not made for it; nil for none
}

type zsetLeaf struct {
	prev, next *zsetLeaf
	score      [zsetLeafCap]float64
	id         [zsetLeafCap]uint32
	n          int
	since      *loan // the loan during which it was made: it is not lent
}

// zsetInner has its children in leaf on the lowest level, else in kid. Child i holds the members
// that are not less than least i and less than least i+1. least 0 is unused. A separator stays when
// the member it was taken from is removed, so separators hold bytes and not numbers.
type zsetInner struct {
	n      int
	size   [zsetInnerCap]int32 // members below each child
	score  [zsetInnerCap]float64
	member [zsetInnerCap]string
	leaf   [zsetInnerCap]*zsetLeaf
	kid    [zsetInnerCap]*zsetInner
}

func newZSetTree(members *Table[float64]) *zsetTree {
	t := &zsetTree{members: members, root: &zsetInner{n: 1}, inners: 1, leaves: 1}
	t.root.leaf[0] = &zsetLeaf{}
	return t
}

func (t *zsetTree) clone(members *Table[float64]) *zsetTree {
	var end *zsetLeaf
	return &zsetTree{members: members, root: t.root.clone(&end), inners: t.inners, leaves: t.leaves}
}

// lend is a tree that shares the leaves. Their links change.
func (t *zsetTree) lend(members *Table[float64], to *loan) *zsetTree {
	t.loan = to
	return &zsetTree{members: members, root: t.root.lend(), inners: t.inners, leaves: t.leaves}
}

func (in *zsetInner) lend() *zsetInner {
	c := *in
	for i, kid := range in.kid[:in.n] {
		if kid != nil {
			c.kid[i] = kid.lend()
		}
	}
	return &c
}

// own returns child i of in, a leaf, for a change of its members.
func (t *zsetTree) own(in *zsetInner, i int) *zsetLeaf {
	if l := in.leaf[i]; t.loan == nil || l.since == t.loan {
		return l
	}
	return t.unlend(in, i)
}

// unlend puts a copy of a lent leaf in its place.
func (t *zsetTree) unlend(in *zsetInner, i int) *zsetLeaf {
	if t.loan.isOver {
		t.loan = nil
		return in.leaf[i]
	}
	l := *in.leaf[i]
	l.since = t.loan
	if l.prev != nil {
		l.prev.next = &l
	}
	if l.next != nil {
		l.next.prev = &l
	}
	in.leaf[i] = &l
	return &l
}

// clone copies what is below in. end is the last leaf of the copy so far.
func (in *zsetInner) clone(end **zsetLeaf) *zsetInner {
	c := *in
	for i := range in.n {
		if in.kid[i] != nil {
			c.kid[i] = in.kid[i].clone(end)
			continue
		}
		leaf := *in.leaf[i]
		leaf.since = nil
		if leaf.prev, leaf.next = *end, nil; leaf.prev != nil {
			leaf.prev.next = &leaf
		}
		c.leaf[i], *end = &leaf, &leaf
	}
	return &c
}

func (t *zsetTree) mem() int {
	return t.leaves*allocSize(int(unsafe.Sizeof(zsetLeaf{}))) + t.inners*allocSize(int(unsafe.Sizeof(zsetInner{})))
}

func (t *zsetTree) key(id uint32) string { return t.members.at(id).Key() }

// search is the place in the leaf of the first member that is not less than (score, key).
func (t *zsetTree) search(l *zsetLeaf, score float64, key string) int {
	lo, hi := 0, l.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s := l.score[mid]; s < score || s == score && t.key(l.id[mid]) < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// child is the number of the child where (score, key) is or belongs.
func (in *zsetInner) child(score float64, key string) int {
	lo, hi := 1, in.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s := in.score[mid]; s < score || s == score && in.member[mid] <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// insert adds the member id, which is not in the tree. It splits full nodes on the way down, so
// there is always room for the second half of a split.
func (t *zsetTree) insert(score float64, id uint32) {
	key := t.key(id)
	if t.root.n == zsetInnerCap {
		old := t.root
		t.root = &zsetInner{n: 1}
		t.root.kid[0], t.root.size[0] = old, int32(old.total())
		t.inners++
		t.splitInner(t.root, 0)
	}
	in := t.root
	for {
		i := in.child(score, key)
		if kid := in.kid[i]; kid != nil {
			if kid.n == zsetInnerCap {
				t.splitInner(in, i)
				i = in.child(score, key)
			}
			in.size[i]++
			in = in.kid[i]
			continue
		}
		if in.leaf[i].n == zsetLeafCap {
			// A set that grows at its end keeps its leaves full.
			l, at := in.leaf[i], zsetLeafCap/2
			if l.next == nil && t.search(l, score, key) == l.n {
				at = zsetLeafCap * 15 / 16
			}
			t.splitLeaf(in, i, at)
			i = in.child(score, key)
		}
		in.size[i]++
		l := t.own(in, i)
		l.insertAt(t.search(l, score, key), score, id)
		return
	}
}

func (l *zsetLeaf) insertAt(i int, score float64, id uint32) {
	copy(l.score[i+1:l.n+1], l.score[i:l.n])
	copy(l.id[i+1:l.n+1], l.id[i:l.n])
	l.score[i], l.id[i] = score, id
	l.n++
}

// remove removes the member id, which is in the tree with that score.
func (t *zsetTree) remove(score float64, id uint32) {
	in, i, at := t.descend(score, id)
	t.takeOut(in, i, at)
}

// move gives a member a new score. If the member stays between the same neighbours, only one number
// changes. Else it is removed and inserted.
func (t *zsetTree) move(old, score float64, id uint32) {
	in, i, at := t.descend(old, id)
	l, key := in.leaf[i], t.key(id)
	if at > 0 && at < l.n-1 && t.less(l, at-1, score, key) && !t.less(l, at+1, score, key) {
		t.own(in, i).score[at] = score
		for _, size := range t.path {
			*size++
		}
		return
	}
	t.takeOut(in, i, at)
	t.insert(score, id)
}

func (t *zsetTree) less(l *zsetLeaf, i int, score float64, key string) bool {
	return l.score[i] < score || l.score[i] == score && t.key(l.id[i]) < key
}

// descend finds the member id, which is in the tree with that score. It returns the leaf (child i
// of in) and the place in it. On the way it subtracts the member from the counts of the nodes and
// makes sure that they can lose a child.
func (t *zsetTree) descend(score float64, id uint32) (in *zsetInner, i, at int) {
	key := t.key(id)
	in, t.path = t.root, t.path[:0]
	for {
		i = in.child(score, key)
		kid := in.kid[i]
		if kid != nil && kid.n <= zsetInnerCap/4 && in.n > 1 {
			t.refillInner(in, i)
			i = in.child(score, key)
			kid = in.kid[i]
		}
		in.size[i]--
		t.path = append(t.path, &in.size[i])
		if kid == nil {
			return in, i, in.leaf[i].find(score, id)
		}
		in = kid
	}
}

// find is the place of the member id in the leaf that holds it. Comparing numbers among equal
// scores is cheaper than loading the members' bytes.
func (l *zsetLeaf) find(score float64, id uint32) int {
	lo, hi := 0, l.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if l.score[mid] < score {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for l.id[lo] != id {
		lo++
	}
	return lo
}

// takeOut removes the member at a place that descend found.
func (t *zsetTree) takeOut(in *zsetInner, i, at int) {
	l := t.own(in, i)
	copy(l.score[at:], l.score[at+1:l.n])
	copy(l.id[at:], l.id[at+1:l.n])
	l.n--
	if l.n <= zsetLeafCap/4 {
		t.refillLeaf(in, i)
	}
	for t.root.n == 1 && t.root.kid[0] != nil {
		t.root = t.root.kid[0]
		t.inners--
	}
}

// rank counts the members that are less than (score, key).
func (t *zsetTree) rank(score float64, key string) int {
	in, sum := t.root, 0
	for {
		i := in.child(score, key)
		for _, n := range in.size[:i] {
			sum += int(n)
		}
		if in.kid[i] == nil {
			return sum + t.search(in.leaf[i], score, key)
		}
		in = in.kid[i]
	}
}

// at is the place of the member with that rank, which must exist.
func (t *zsetTree) at(rank int) (*zsetLeaf, int) {
	in := t.root
	for {
		i := 0
		for rank >= int(in.size[i]) {
			rank -= int(in.size[i])
			i++
		}
		if in.kid[i] == nil {
			return in.leaf[i], rank
		}
		in = in.kid[i]
	}
}

// below counts the members before b.
func (t *zsetTree) below(b *zsetBound) int {
	in, sum := t.root, 0
	for {
		lo, hi := 1, in.n
		for lo < hi {
			mid := int(uint(lo+hi) >> 1)
			if b.above(in.score[mid], in.member[mid]) {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		for _, n := range in.size[:lo-1] {
			sum += int(n)
		}
		if in.kid[lo-1] == nil {
			return sum + t.leafBelow(in.leaf[lo-1], b)
		}
		in = in.kid[lo-1]
	}
}

func (t *zsetTree) leafBelow(l *zsetLeaf, b *zsetBound) int {
	lo, hi, key := 0, l.n, ""
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if b.lex {
			key = t.key(l.id[mid])
		}
		if b.above(l.score[mid], key) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
