package store

import "strings"

// This file splits, fills and merges the nodes of a zsetTree. A node below a quarter full is merged
// with a neighbour if both together fill at most three quarters of a node. So the next split is not
// near.

// splitLeaf splits child i in two. The second gets the members from at on.
func (t *zsetTree) splitLeaf(in *zsetInner, i, at int) {
	l := t.own(in, i)
	r := &zsetLeaf{prev: l, next: l.next, since: t.loan}
	t.leaves++
	r.take(l, at)
	l.next = r
	if r.next != nil {
		r.next.prev = r
	}
	in.open(i + 1)
	in.leaf[i+1], in.score[i+1], in.member[i+1] = r, r.score[0], strings.Clone(t.key(r.id[0]))
	in.size[i], in.size[i+1] = int32(l.n), int32(r.n)
}

// take moves the members of l from at on to the end of r.
func (r *zsetLeaf) take(l *zsetLeaf, at int) {
	copy(r.score[r.n:], l.score[at:l.n])
	copy(r.id[r.n:], l.id[at:l.n])
	r.n += l.n - at
	l.n = at
}

// refillLeaf merges child i, which has become small, with a neighbour.
func (t *zsetTree) refillLeaf(in *zsetInner, i int) {
	i = max(i-1, 0)
	if in.n == 1 {
		return
	}
	l, r := in.leaf[i], in.leaf[i+1]
	if l.n > 0 && r.n > 0 && l.n+r.n > zsetLeafCap*3/4 {
		return
	}
	l, r = t.own(in, i), t.own(in, i+1)
	l.take(r, 0)
	l.next = r.next
	if l.next != nil {
		l.next.prev = l
	}
	t.leaves--
	in.size[i] += in.size[i+1]
	in.drop(i + 1)
}

func (t *zsetTree) splitInner(in *zsetInner, i int) {
	const half = zsetInnerCap / 2
	l, r := in.kid[i], &zsetInner{}
	t.inners++
	r.put(0, l, half, l.n-half)
	r.cut(l.n - half)
	l.cut(half)
	in.open(i + 1)
	in.kid[i+1], in.score[i+1], in.member[i+1] = r, r.score[0], r.member[0]
	in.size[i], in.size[i+1] = l.total(), r.total()
}

// refillInner merges child i, which has become small, with a neighbour, or moves children between
// the two. A node that remove passes through must not lose its last child.
func (t *zsetTree) refillInner(in *zsetInner, i int) {
	i = max(i-1, 0)
	l, r := in.kid[i], in.kid[i+1]
	r.score[0], r.member[0] = in.score[i+1], in.member[i+1]
	all := l.n + r.n
	if all <= zsetInnerCap*3/4 {
		l.put(l.n, r, 0, r.n)
		l.cut(all)
		in.size[i] += in.size[i+1]
		in.drop(i + 1)
		t.inners--
		return
	}
	half := all / 2
	if k := half - l.n; k > 0 {
		l.put(l.n, r, 0, k)
		r.put(0, r, k, r.n-k)
	} else {
		r.put(-k, r, 0, r.n)
		r.put(0, l, half, -k)
	}
	l.cut(half)
	r.cut(all - half)
	in.score[i+1], in.member[i+1] = r.score[0], r.member[0]
	in.size[i], in.size[i+1] = l.total(), r.total()
}

func (in *zsetInner) total() (n int32) {
	for _, k := range in.size[:in.n] {
		n += k
	}
	return n
}

// open makes room for a child i.
func (in *zsetInner) open(i int) {
	in.put(i+1, in, i, in.n-i)
	in.n++
	in.leaf[i], in.kid[i] = nil, nil
}

// drop removes child i.
func (in *zsetInner) drop(i int) {
	in.put(i, in, i+1, in.n-i-1)
	in.cut(in.n - 1)
}

// put copies n children of from to position i. The number of children stays the same.
func (in *zsetInner) put(i int, from *zsetInner, j, n int) {
	copy(in.size[i:], from.size[j:j+n])
	copy(in.score[i:], from.score[j:j+n])
	copy(in.member[i:], from.member[j:j+n])
	copy(in.leaf[i:], from.leaf[j:j+n])
	copy(in.kid[i:], from.kid[j:j+n])
}

// cut sets the number of children and releases the others.
func (in *zsetInner) cut(n int) {
	if n < in.n {
		clear(in.member[n:in.n])
		clear(in.leaf[n:in.n])
		clear(in.kid[n:in.n])
	}
	in.n = n
}
