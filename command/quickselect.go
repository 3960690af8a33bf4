package command

import (
	"math/bits"
	"slices"
)

// selectFirst moves the n smallest of order to its front, in no order (quickselect). After too many bad
// pivots it sorts the rest.
func selectFirst[T any](order []T, n int, compare func(a, b T) int) {
	for tries := 4 * bits.Len(uint(len(order))); 0 < n && n < len(order); tries-- {
		if tries == 0 || len(order) <= 16 {
			slices.SortFunc(order, compare)
			return
		}
		ends := []T{order[0], order[len(order)/2], order[len(order)-1]}
		slices.SortFunc(ends, compare)
		low, high := 0, len(order)-1
		for low <= high {
			for compare(order[low], ends[1]) < 0 {
				low++
			}
			for compare(order[high], ends[1]) > 0 {
				high--
			}
			if low <= high {
				order[low], order[high] = order[high], order[low]
				low++
				high--
			}
		}
		switch {
		case n <= high:
			order = order[:high+1]
		case n >= low:
			order, n = order[low:], n-low
		default:
			return
		}
	}
}
