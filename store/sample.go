package store

import (
	"math/rand/v2"
	"unsafe"
)

// view returns the bytes of a key without a copy. They must not be changed.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// takeNext decides whether to take the next of left elements if k are wanted. Asked for each
// element in turn, it makes every choice of k elements equally likely.
func takeNext(r *rand.Rand, k, left int) bool { return k >= left || r.IntN(left) < k }

// sample calls fn for k different random nodes. The table must have at least k. If k is small,
// sample draws nodes until k differ. Else it lists all nodes and draws without replacement. The
// border is that of t_set.c: SRANDMEMBER_SUB_STRATEGY_MUL.
func (t *Table[V]) sample(r *rand.Rand, k int, fn func(*Node[V])) {
	if k*3 <= t.Len() {
		seen := make(map[*Node[V]]struct{}, k)
		for len(seen) < k {
			n := t.Random(r)
			if _, dup := seen[n]; !dup {
				seen[n] = struct{}{}
				fn(n)
			}
		}
		return
	}
	nodes := make([]*Node[V], 0, t.Len())
	for n := range t.All() {
		nodes = append(nodes, n)
	}
	for i := range k {
		j := i + r.IntN(len(nodes)-i)
		nodes[i], nodes[j] = nodes[j], nodes[i]
		fn(nodes[i])
	}
}
