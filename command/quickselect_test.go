package command

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSelectFirstFindsWhatSortingWould(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 2, 16, 17, 100, 5000} {
		for _, n := range []int{0, size / 10, size / 3, max(size-1, 0), size} {
			for name, fill := range map[string]func(i int) uint32{
				"random":  func(int) uint32 { return rng.Uint32() },
				"few":     func(int) uint32 { return rng.Uint32N(3) },
				"rising":  func(i int) uint32 { return uint32(i) },
				"falling": func(i int) uint32 { return uint32(size - i) },
				"organ":   func(i int) uint32 { return uint32(min(i, size-i)) },
			} {
				order := make([]uint32, size)
				for i := range order {
					order[i] = fill(i)
				}
				want := slices.Clone(order)
				slices.Sort(want)
				selectFirst(order, n, cmp.Compare[uint32])
				slices.Sort(order[:n])
				require.Equal(t, want[:n], order[:n], "%d of %d, %s", n, size, name)
			}
		}
	}
}
