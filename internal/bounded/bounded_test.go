package bounded

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMapForgetsItsOldestEntry(t *testing.T) {
	b := NewMap[int, string](2)
	b.Put(1, "a")
	b.Put(2, "b")
	b.Put(1, "c") // it keeps its place
	b.Put(3, "d")
	_, found := b.Find(1)
	require.False(t, found)
	require.Equal(t, "b", b.Get(2))
	require.Equal(t, 2, b.Len())
	for k := range b.All() {
		b.Delete(k)
	}
	require.Zero(t, b.Len())
}

// Deleted keys stay in the order for a while, and not for ever.
func TestTheOrderIsBounded(t *testing.T) {
	b := NewMap[int, bool](10)
	for i := range 1000 {
		b.Put(i, true)
		b.Delete(i)
		require.LessOrEqual(t, len(b.order), 2*b.max)
	}
}

func TestARingKeepsItsNewestItems(t *testing.T) {
	var r Ring[int]
	for _, i := range []int{1, 2, 2, 3, 4} {
		r.Add(i, 3)
	}
	require.False(t, r.Has(1))
	require.Equal(t, []int{2, 3, 4}, slices.Sorted(slices.Values(r.Items())))
}
