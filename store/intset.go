package store

import (
	"encoding/binary"
	"slices"
)

// intset is the sorted integers of a small set, in one block (intset.c). All have the width of the
// widest: 2, 4 or 8 bytes.
type intset struct {
	b     []byte
	width int
}

// intWidth is the width in bytes that v needs.
func intWidth(v int64) int {
	switch {
	case v == int64(int16(v)):
		return 2
	case v == int64(int32(v)):
		return 4
	}
	return 8
}

func (s intset) len() int { return len(s.b) / s.width }

func (s intset) at(i int) int64 {
	switch s.width {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(s.b[2*i:])))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(s.b[4*i:])))
	}
	return int64(binary.LittleEndian.Uint64(s.b[8*i:]))
}

func (s intset) put(i int, v int64) {
	switch s.width {
	case 2:
		binary.LittleEndian.PutUint16(s.b[2*i:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(s.b[4*i:], uint32(v))
	default:
		binary.LittleEndian.PutUint64(s.b[8*i:], uint64(v))
	}
}

// search returns the place of v, or the place where v belongs.
func (s intset) search(v int64) (i int, found bool) {
	lo, hi := 0, s.len()
	if hi > 0 && s.at(hi-1) < v {
		return hi, false
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s.at(mid) < v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < s.len() && s.at(lo) == v
}

// insert puts v at place i. A set that becomes wider keeps its room for further integers.
func (s *intset) insert(i int, v int64) {
	if w := intWidth(v); w > s.width {
		wide := intset{slices.Grow([]byte(nil), w*max(cap(s.b)/s.width, s.len()+1)), w}
		wide.b = wide.b[:w*s.len()]
		for k := range s.len() {
			wide.put(k, s.at(k))
		}
		*s = wide
	}
	n := len(s.b)
	if n+s.width > cap(s.b) {
		s.b = append(slices.Grow([]byte(nil), n+s.width+n/4), s.b...)
	}
	s.b = s.b[:n+s.width]
	copy(s.b[(i+1)*s.width:], s.b[i*s.width:n])
	s.put(i, v)
}

func (s *intset) remove(i int) {
	s.b = slices.Delete(s.b, i*s.width, (i+1)*s.width)
}

// newIntset is an empty set with room for n integers of a width.
func newIntset(width, n int) intset { return intset{slices.Grow([]byte(nil), width*n), width} }
