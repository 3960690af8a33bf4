package store

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

func collect(seq iter.Seq[[]byte]) (all []string) {
	for m := range seq {
		all = append(all, string(m))
	}
	return all
}

func TestCommonAndWithoutAskAllOtherSets(t *testing.T) {
	ks := NewKeyspace(Options{Seed: 1})
	r := rand.New(rand.NewPCG(1, 2))
	sizes := []int{1, 20, 300, 3 * prefetchMin}
	some := func() *Set {
		s := NewSet(ks)
		n := sizes[r.IntN(len(sizes))]
		word := r.IntN(2) == 0
		for range n {
			if m := r.IntN(n + 10); word {
				s.Add(fmt.Append(nil, "w", m))
			} else {
				s.Add(fmt.Append(nil, m))
			}
		}
		return s
	}
	for range amount.Count(40, 200) {
		s, others := some(), []*Set{some(), some()}[:r.IntN(3)]
		var common, without []string
		for m := range s.All() {
			has := func(o *Set) bool { return o.Has(m) }
			if !slices.ContainsFunc(others, has) {
				without = append(without, string(m))
			}
			if !slices.ContainsFunc(others, func(o *Set) bool { return !has(o) }) {
				common = append(common, string(m))
			}
		}
		require.Equal(t, common, collect(s.Common(others)))
		require.Equal(t, without, collect(s.Without(others)))
		for range s.Common(others) {
			break // an early end calls nothing further
		}
	}
}

func BenchmarkSetCommon(b *testing.B) {
	ks := NewKeyspace(Options{Seed: 1})
	small, large := NewSet(ks), NewSet(ks)
	for i := range 100_000 {
		if m := fmt.Append(nil, "member-", i); i%10 == 0 {
			small.Add(m)
			large.Add(m)
		} else {
			large.Add(m)
		}
	}
	for _, c := range []struct {
		name string
		all  iter.Seq[[]byte]
	}{{"Common", small.Common([]*Set{large})}, {"Has", func(yield func([]byte) bool) {
		for m := range small.All() {
			if large.Has(m) && !yield(m) {
				return
			}
		}
	}}} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				for range c.all {
				}
			}
		})
	}
}
