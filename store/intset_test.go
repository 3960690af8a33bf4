package store

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIntsetsAreAsWideAsTheirWidestInteger(t *testing.T) {
	for width, edges := range map[int][]int64{
		2: {math.MinInt16, -1, 0, 1, math.MaxInt16},
		4: {math.MinInt32, math.MinInt16 - 1, math.MaxInt16 + 1, math.MaxInt32},
		8: {math.MinInt64, math.MinInt32 - 1, math.MaxInt32 + 1, math.MaxInt64},
	} {
		for _, v := range edges {
			require.Equal(t, width, intWidth(v), v)
		}
	}
	s := NewSet(NewKeyspace(Options{}))
	var want []string
	for i, v := range []int64{7, math.MinInt16, 300_000, -1, math.MaxInt64, math.MinInt64, 8} {
		text := fmt.Append(nil, v)
		require.True(t, s.Add(text))
		require.False(t, s.Add(text))
		want = append(want, string(text))
		require.Equal(t, []int{2, 2, 4, 4, 8, 8, 8}[i], s.ints().width)
		require.ElementsMatch(t, want, membersOf(s))
	}
	numbers := s.ints()
	for i := range numbers.len() - 1 {
		require.Less(t, numbers.at(i), numbers.at(i+1))
	}
	for _, text := range slices.Clone(want) {
		require.True(t, s.Remove([]byte(text)))
		require.False(t, s.Has([]byte(text)))
	}
	require.Zero(t, s.Len())
}
