package store

// The shape of a zsetTree: how its nodes split, fill up and merge. Nodes below a
// quarter full are merged with a neighbour when both together fill at most three
// quarters, so that the next split is not near.

// splitLeaf makes child i two, the second with the members from at on.
func (t *zsetTree) splitLeaf(in *zsetInner, i, at int) {
	l := in.leaf[i]
	r := &zsetLeaf{prev: l, next: l.next}
	t.leaves++
	r.take(l, at)
	l.next = r
	if r.next != nil {
		r.next.prev = r
	}
	in.open(i + 1)
	in.leaf[i+1], in.score[i+1], in.member[i+1] = r, r.score[0], t.key(r.id[0])
	in.size[i], in.size[i+1] = int32(l.n), int32(r.n)
}

// take appends the members of l from at on, and cuts them off there.
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

// refillInner merges child i, which has become small, with a neighbour, or
// evens them out: a node that remove passes through must not lose its last child.
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

// put copies n children of from to place i; n stays as it was.
func (in *zsetInner) put(i int, from *zsetInner, j, n int) {
	copy(in.size[i:], from.size[j:j+n])
	copy(in.score[i:], from.score[j:j+n])
	copy(in.member[i:], from.member[j:j+n])
	copy(in.leaf[i:], from.leaf[j:j+n])
	copy(in.kid[i:], from.kid[j:j+n])
}

// cut sets the number of children and lets go of what lies beyond.
func (in *zsetInner) cut(n int) {
	if n < in.n {
		clear(in.member[n:in.n])
		clear(in.leaf[n:in.n])
		clear(in.kid[n:in.n])
	}
	in.n = n
}
