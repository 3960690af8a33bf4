package lab

import (
	"cmp"
	"slices"
)

// The bounds of what the log reads of a value. A larger one is Unread.
const (
	MostParts = 128
	MostBytes = 64 << 10 // of a string
)

// Reduce leaves in two whole values of a key only the parts that differ, and reports whether anything does. The parts
// of other types than a list are sorted by name. Values that are too large to compare differ if wrote is set: somebody
// has changed a key meanwhile.
func (c *Change) Reduce(wrote bool) (differs bool) {
	was, is := c.Before, c.After
	switch {
	case was == nil || is == nil:
		return was != is
	case was.Type != is.Type:
		return true
	case was.Unread || is.Unread:
		was.Parts, is.Parts, was.Unread, is.Unread = nil, nil, true, true
		differs = wrote || was.Len != is.Len
	case was.Type == "list":
		was.Parts, is.Parts = differingElements(was.Parts, is.Parts)
	default:
		was.Parts, is.Parts = differingParts(was.Parts, is.Parts)
		differs = was.Text != is.Text
	}
	return differs || len(was.Parts)+len(is.Parts) > 0 || was.Deadline != is.Deadline
}

// differingParts leaves out the parts that are in both.
func differingParts(was, is []Part) (gone, added []Part) {
	for len(was) > 0 && len(is) > 0 {
		switch order := cmp.Compare(was[0].Name, is[0].Name); {
		case order < 0:
			gone, was = append(gone, was[0]), was[1:]
		case order > 0:
			added, is = append(added, is[0]), is[1:]
		default:
			if was[0] != is[0] {
				gone, added = append(gone, was[0]), append(added, is[0])
			}
			was, is = was[1:], is[1:]
		}
	}
	return append(gone, was...), append(added, is...)
}

// differingElements leaves out the longest sequence of elements that both have, in this order.
func differingElements(was, is []Part) (gone, added []Part) {
	common := make([][]uint8, len(was)+1) // [i][j]: of was[i:] and is[j:]
	for i := range common {
		common[i] = make([]uint8, len(is)+1)
	}
	for i, a := range slices.Backward(was) {
		for j, b := range slices.Backward(is) {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a == b {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(was) && j < len(is) {
		switch {
		case was[i] == is[j]:
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			gone, i = append(gone, was[i]), i+1
		default:
			added, j = append(added, is[j]), j+1
		}
	}
	return append(gone, was[i:]...), append(added, is[j:]...)
}
