package store

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type zpair struct {
	member string
	score  float64
}

// zmodel is a sorted set that is obviously right: a sorted slice.
type zmodel []zpair

func (m zmodel) index(member string) int {
	return slices.IndexFunc(m, func(p zpair) bool { return p.member == member })
}

func (m *zmodel) set(member string, score float64) {
	m.remove(member)
	*m = append(*m, zpair{member, score})
	m.sort()
}

func (m *zmodel) remove(member string) bool {
	i := m.index(member)
	if i >= 0 {
		*m = slices.Delete(*m, i, i+1)
	}
	return i >= 0
}

func (m *zmodel) sort() {
	slices.SortFunc(*m, func(a, b zpair) int {
		return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.member, b.member))
	})
}

func pairsOf(z *ZSet, from, to int, rev bool) []zpair {
	got := []zpair{}
	for it := z.Range(from, to, rev); it.Next(); {
		got = append(got, zpair{string(it.Member), it.Score})
	}
	return got
}

// checkZSet compares everything a set answers about its order with the model.
func checkZSet(t *testing.T, z *ZSet, m zmodel) {
	t.Helper()
	require.Equal(t, len(m), z.Len())
	require.Equal(t, []zpair(m), pairsOf(z, 0, z.Len(), false))
	x := z.index()
	if x == nil {
		return
	}
	leaves, inners := checkTree(t, x.tree, x.tree.root, zpair{"", math.Inf(-1)}, nil)
	require.Equal(t, x.tree.leaves, leaves)
	require.Equal(t, x.tree.inners, inners)
}

func zless(a, b zpair) bool {
	return a.score < b.score || a.score == b.score && a.member < b.member
}

// checkTree checks the invariants of the tree below in: members between their
// separators, right sizes, no empty node.
func checkTree(t *testing.T, tree *zsetTree, in *zsetInner, low zpair, high *zpair) (leaves, inners int) {
	inners = 1
	for i := range in.n {
		lo, hi := low, high
		if i > 0 {
			lo = zpair{in.member[i], in.score[i]}
		}
		if i+1 < in.n {
			hi = &zpair{in.member[i+1], in.score[i+1]}
		}
		if kid := in.kid[i]; kid != nil {
			require.Equal(t, kid.total(), in.size[i])
			require.GreaterOrEqual(t, kid.n, 2)
			l, n := checkTree(t, tree, kid, lo, hi)
			leaves, inners = leaves+l, inners+n
			continue
		}
		l := in.leaf[i]
		leaves++
		require.Equal(t, l.n, int(in.size[i]))
		require.True(t, l.n > 0 || in.n == 1)
		for j := range l.n {
			p := zpair{tree.key(l.id[j]), l.score[j]}
			require.Equal(t, p.score, tree.members.at(l.id[j]).Val)
			require.False(t, zless(p, lo))
			require.True(t, hi == nil || zless(p, *hi))
		}
	}
	return leaves, inners
}

func newTestZSet(seed uint64, packMax int) (*ZSet, *rand.Rand) {
	ks := NewKeyspace(Options{Seed: seed})
	ks.Limits.ZSetMaxListpackEntries = packMax
	return NewZSet(ks), ks.Rand
}

func TestSortedSetAgreesWithSortedSlice(t *testing.T) {
	for _, tc := range []struct{ packMax, members, scores, steps int }{
		{128, 100, 10, 3000},    // stays a pack
		{16, 60, 8, 3000},       // becomes a tree of one leaf, many ties
		{0, 400, 1 << 30, 6000}, // leaves split and merge
		{0, 400, 1, 6000},       // one score: the members alone decide
	} {
		t.Run(fmt.Sprint(tc), func(t *testing.T) {
			z, r := newTestZSet(1, tc.packMax)
			var m zmodel
			for step := range tc.steps {
				member := fmt.Sprintf("m%d", r.IntN(tc.members))
				score := float64(r.IntN(tc.scores) - tc.scores/2)
				stepBoth(t, z, &m, r, member, score, step/500%2 == 1)
				if step%20 == 0 {
					checkZSet(t, z, m)
				}
			}
			checkZSet(t, z, m)
			checkZSet(t, cloneOf(z), m)
		})
	}
}

// stepBoth does one random thing to the set and the model. shrinking makes
// removals the more frequent.
func stepBoth(t *testing.T, z *ZSet, m *zmodel, r *rand.Rand, member string, score float64, shrinking bool) {
	op := r.IntN(10)
	if shrinking && op < 4 {
		op = 9
	}
	switch {
	case op < 8:
		_, want := z.Add([]byte(member), score, 0)
		require.Equal(t, want, score)
		m.set(member, score)
	case op == 8 && len(*m) > 0:
		from := r.IntN(len(*m))
		to := min(len(*m), from+r.IntN(4))
		z.RemoveRange(from, to)
		*m = slices.Delete(*m, from, to)
	default:
		require.Equal(t, m.remove(member), z.Remove([]byte(member)))
	}
	i := m.index(member)
	rank, got, ok := z.Rank([]byte(member))
	require.Equal(t, i >= 0, ok)
	if ok {
		require.Equal(t, i, rank)
		require.Equal(t, (*m)[i].score, got)
		got, ok = z.Score([]byte(member))
		require.True(t, ok)
		require.Equal(t, (*m)[i].score, got)
	}
}

func TestSortedSetOfManyLevelsKeepsItsShape(t *testing.T) {
	z, r := newTestZSet(2, 0)
	scores := map[string]float64{}
	const n = 30_000 // three levels of inner nodes need no more than 64*64*72
	for i := range n {
		member := fmt.Sprint(i)
		scores[member] = r.Float64()
		z.Add([]byte(member), scores[member], 0)
	}
	sorted := func() zmodel {
		m := make(zmodel, 0, len(scores))
		for member, score := range scores {
			m = append(m, zpair{member, score})
		}
		m.sort()
		return m
	}
	checkZSet(t, z, sorted())
	full := z.e.size()
	for i := range n {
		if member := fmt.Sprint(i); i%50 != 0 {
			require.True(t, z.Remove([]byte(member)))
			delete(scores, member)
		} else {
			scores[member] += 0.00001
			z.Add([]byte(member), scores[member], 0)
		}
	}
	m := sorted()
	checkZSet(t, z, m)
	require.Less(t, z.index().tree.mem(), full/10)
	for i, p := range m {
		rank, _, _ := z.Rank([]byte(p.member))
		require.Equal(t, i, rank)
		require.Equal(t, []zpair{p}, pairsOf(z, i, i+1, false))
	}
	slices.Reverse(m)
	require.Equal(t, []zpair(m), pairsOf(z, 0, z.Len(), true))
	z.RemoveRange(0, z.Len())
	checkZSet(t, z, zmodel{})
	require.Equal(t, 1, z.index().tree.leaves)
}

func TestSortedSetGrowingAtItsEndFillsItsLeaves(t *testing.T) {
	z, _ := newTestZSet(3, 0)
	for i := range 10_000 {
		z.Add(fmt.Append(nil, i), float64(i), 0)
	}
	require.Less(t, z.index().tree.leaves, 10_000/60)
}

func TestRangesByScoreAndByMemberAgreeWithSortedSlice(t *testing.T) {
	for _, packMax := range []int{128, 0} {
		z, r := newTestZSet(4, packMax)
		var m zmodel
		for range 120 {
			member, score := fmt.Sprintf("%03d", r.IntN(1000)), float64(r.IntN(40))
			z.Add([]byte(member), score, 0)
			m.set(member, score)
		}
		for range 2000 {
			q := ScoreRange{float64(r.IntN(44) - 2), float64(r.IntN(44) - 2), r.IntN(2) == 0, r.IntN(2) == 0}
			want := []zpair{}
			for _, p := range m {
				if p.score >= q.Min && p.score <= q.Max && !(q.MinEx && p.score == q.Min) && !(q.MaxEx && p.score == q.Max) {
					want = append(want, p)
				}
			}
			from, to := z.ByScore(&q)
			require.Equal(t, want, pairsOf(z, from, to, false), q)
		}
		testLexRanges(t, z.ks, r)
	}
}

func testLexRanges(t *testing.T, ks *Keyspace, r *rand.Rand) {
	z := NewZSet(ks)
	var m zmodel
	for range 120 {
		member := strings.Repeat("a", r.IntN(3)) + fmt.Sprint(r.IntN(300))
		z.Add([]byte(member), 0, 0)
		m.set(member, 0)
	}
	bound := func() LexBound {
		return LexBound{[]byte(strings.Repeat("a", r.IntN(3)) + fmt.Sprint(r.IntN(300))), r.IntN(2) == 0, max(-1,
			min(1, r.IntN(12)-2-3)) * (r.IntN(4) / 3)}
	}
	for range 2000 {
		q := LexRange{bound(), bound()}
		want := []zpair{}
		for _, p := range m {
			lo, hi := strings.Compare(p.member, string(q.Min.Member)), strings.Compare(p.member, string(q.Max.Member))
			above := q.Min.Inf < 0 || q.Min.Inf == 0 && (lo > 0 || lo == 0 && !q.Min.Ex)
			below := q.Max.Inf > 0 || q.Max.Inf == 0 && (hi < 0 || hi == 0 && !q.Max.Ex)
			if above && below {
				want = append(want, p)
			}
		}
		from, to := z.ByLex(&q)
		require.Equal(t, want, pairsOf(z, from, to, false), q)
	}
}

func TestAddObeysItsConditions(t *testing.T) {
	for _, packMax := range []int{128, 0} {
		for _, tc := range []struct {
			flags  ZFlags
			old    float64
			score  float64
			res    ZResult
			result float64
		}{
			{0, 1, 2, ZUpdated, 2},
			{0, 1, 1, ZSame, 1},
			{ZNX, 1, 2, ZRefused, 1},
			{ZXX, 1, 2, ZUpdated, 2},
			{ZGT, 1, 2, ZUpdated, 2},
			{ZGT, 1, 0, ZRefused, 1},
			{ZGT, 1, 1, ZRefused, 1},
			{ZLT, 1, 0, ZUpdated, 0},
			{ZLT, 1, 2, ZRefused, 1},
			{ZIncr, 1, 2, ZUpdated, 3},
			{ZIncr, 1, 0, ZSame, 1},
			{ZIncr | ZGT, 1, -1, ZRefused, 1},
			{ZIncr, math.Inf(1), math.Inf(-1), ZNaN, math.Inf(1)},
		} {
			z, _ := newTestZSet(5, packMax)
			z.Add([]byte("m"), tc.old, 0)
			res, score := z.Add([]byte("m"), tc.score, tc.flags)
			require.Equal(t, tc.res, res, tc)
			require.Equal(t, tc.result, score, tc)
			stored, _ := z.Score([]byte("m"))
			require.Equal(t, tc.result, stored, tc)
			res, _ = z.Add([]byte("new"), 1, tc.flags)
			require.Equal(t, tc.flags&ZXX != 0, res == ZRefused, tc)
		}
	}
}
