package store

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEncodingFollowsTheLimitsOneWay(t *testing.T) {
	z, _ := newTestZSet(6, 3)
	for i := range 3 {
		z.Add(fmt.Append(nil, i), 0, 0)
	}
	require.Equal(t, "listpack", z.Encoding())
	z.Add([]byte("3"), 0, 0)
	require.Equal(t, "skiplist", z.Encoding())
	z.RemoveRange(0, 3)
	require.Equal(t, "skiplist", z.Encoding())

	z, _ = newTestZSet(6, 3)
	z.Add([]byte(strings.Repeat("x", 64)), 0, 0)
	require.Equal(t, "listpack", z.Encoding())
	z.Add([]byte(strings.Repeat("y", 65)), 0, 0)
	require.Equal(t, "skiplist", z.Encoding())
}

func TestBuilderMakesTheSetThatAddingWouldHaveMade(t *testing.T) {
	for _, n := range []int{0, 5, 128, 129, 5000} {
		z, r := newTestZSet(7, 128)
		b := NewZSetBuilder(z.ks)
		for range n {
			member, score := fmt.Append(nil, r.IntN(n*2)), float64(r.IntN(50))
			z.Add(member, score, 0)
			slot, _ := b.Slot(member)
			*slot = score
		}
		built := b.Finish()
		require.Equal(t, z.Encoding(), built.Encoding())
		checkZSet(t, built, pairsOf(z, 0, z.Len(), false))
	}
}

func TestScanReturnsEveryMemberOfASortedSetThroughout(t *testing.T) {
	z, _ := newTestZSet(8, 0)
	for i := range 1000 {
		z.Add(fmt.Append(nil, i), 1, 0)
	}
	seen := map[string]bool{}
	for cursor, i := uint64(0), 1000; ; i++ {
		cursor = z.Scan(cursor, func(member []byte, _ float64) { seen[string(member)] = true })
		if cursor == 0 {
			break
		}
		z.Add(fmt.Append(nil, i), 1, 0)
	}
	for i := range 1000 {
		require.True(t, seen[fmt.Sprint(i)], i)
	}
}

// BenchmarkZSetRescore is ZADD's hot path: 100,000 members get random scores.
func BenchmarkZSetRescore(b *testing.B) {
	z, r := newTestZSet(9, 0)
	members := make([][]byte, 100_000)
	for i := range members {
		members[i] = fmt.Appendf(nil, "e:%012d", i)
		z.Add(members[i], float64(r.IntN(100_000)), 0)
	}
	for b.Loop() {
		z.Add(members[r.IntN(len(members))], float64(r.IntN(100_000)), 0)
	}
}

func TestRescoringAllocatesNothing(t *testing.T) {
	for _, packMax := range []int{1000, 0} {
		z, r := newTestZSet(10, packMax)
		members := make([][]byte, 500)
		for i := range members {
			members[i] = fmt.Append(nil, i)
			z.Add(members[i], float64(i), 0)
		}
		allocs := testing.AllocsPerRun(2000, func() {
			z.Add(members[r.IntN(len(members))], float64(r.IntN(500)), 0)
		})
		require.Zero(t, allocs)
	}
}

func TestUnpackingASmallSetKeepsItsOrderAndIsAccountedFor(t *testing.T) {
	ks := NewKeyspace(Options{Databases: 1})
	db := ks.DBs[0]
	z := NewZSet(ks)
	z.Add([]byte("b"), 1, 0)
	z.Add([]byte("a"), 2, 0)
	Put(db, []byte("z"), z)
	ks.Settle()

	z, err := Write[*ZSet](db, []byte("z"))
	require.NoError(t, err)
	z.Unpack()
	z.Unpack()
	ks.Settle()
	require.Equal(t, "skiplist", z.Encoding())
	require.Equal(t, sizes(db), ks.valueBytes)
	it := z.Range(0, 2, false)
	require.True(t, it.Next())
	require.Equal(t, "b", string(it.Member))
	require.True(t, it.Next())
	require.Equal(t, "a", string(it.Member))
	require.False(t, it.Next())
}

func TestASmallSetKeepsEveryScoreExactly(t *testing.T) {
	z, _ := newTestZSet(11, 1000)
	scores := []float64{
		0, 1, -1, 0.5, 0.1, 126, 127, 128, 255, 256, 1000, 1e17, 1700000000123, math.Pi, math.Copysign(0, -1),
		math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1),
	}
	for _, member := range []string{"", "m", "a longer member"} {
		for i, score := range scores {
			name := fmt.Append(nil, member, i)
			z.Add(name, score, 0)
			got, ok := z.Score(name)
			require.True(t, ok)
			require.Equal(t, score, got)
		}
	}
	require.Equal(t, "listpack", z.Encoding())
	require.Equal(t, 3*len(scores), z.Len())
	last := math.Inf(-1)
	for it := z.Range(0, z.Len(), false); it.Next(); last = it.Score {
		require.GreaterOrEqual(t, it.Score, last)
	}
}
