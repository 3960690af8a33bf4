package store

import (
	"math/rand/v2"
	"unsafe"
)

// view is the bytes of a key without a copy. Nobody may write to them.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// takeNext decides about one of the left elements still to come when k of them
// are wanted: asked for each in turn, every choice of k is equally likely.
func takeNext(r *rand.Rand, k, left int) bool { return k >= left || r.IntN(left) < k }

// sample calls fn for k different nodes by chance; there must be that many.
// Few of many are drawn until k differ; otherwise all are listed and drawn from
// without return (t_set.c: SRANDMEMBER_SUB_STRATEGY_MUL has the same border).
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
