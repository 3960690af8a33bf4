package hll

import (
	"iter"
	"slices"
	"strconv"
)

// run is one piece of the sparse form: n registers with the same value, written in size bytes.
type run struct {
	value   uint8
	n, size int
}

const (
	sparseMaxValue = 32 // of a register
	valueMaxRun    = 4
	zeroMaxRun     = 64 // in one byte
)

// runAt reads the run at p. If the end cuts the run off, a zero is assumed.
func runAt(b []byte, p int) run {
	c := b[p]
	switch {
	case c&0x80 != 0:
		return run{c>>2&31 + 1, int(c&3) + 1, 1}
	case c&0x40 == 0:
		return run{0, int(c) + 1, 1}
	case p+1 == len(b):
		return run{0, int(c&0x3f)<<8 + 1, 2}
	}
	return run{0, (int(c&0x3f)<<8 | int(b[p+1])) + 1, 2}
}

// appendRun writes n registers of one value. n may be 0.
func appendRun(b []byte, value uint8, n int) []byte {
	switch {
	case n == 0:
		return b
	case value > 0:
		return append(b, 0x80|(value-1)<<2|uint8(n-1))
	case n <= zeroMaxRun:
		return append(b, uint8(n-1))
	}
	return append(b, 0x40|uint8((n-1)>>8), uint8(n-1))
}

func (s Sketch) runs() iter.Seq[run] {
	return func(yield func(run) bool) {
		for p := headerSize; p < len(s); {
			r := runAt(s, p)
			if !yield(r) {
				return
			}
			p += r.size
		}
	}
}

// raiseSparse splits the run around the register in up to three. If that does not fit, it makes the
// sketch dense.
func (s *Sketch) raiseSparse(index int, value uint8, sparseMax int) (changed, sound bool) {
	if value > sparseMaxValue {
		return s.raiseDensified(index, value)
	}
	b := []byte(*s)
	var r run
	p, before, first := headerSize, headerSize, 0
	for ; p < len(b); before, p, first = p, p+r.size, first+r.n {
		if r = runAt(b, p); index < first+r.n {
			break
		}
	}
	if p+r.size > len(b) || p == len(b) {
		return false, false
	}
	if r.value >= value {
		return false, true
	}
	var room [5]byte
	split := appendRun(room[:0], r.value, index-first)
	split = appendRun(split, value, 1)
	split = appendRun(split, r.value, first+r.n-1-index)
	if more := len(split) - r.size; more > 0 && len(b)+more > sparseMax {
		return s.raiseDensified(index, value)
	}
	b = slices.Replace(b, p, p+r.size, split...)
	*s = joinRuns(b, before)
	s.Stale()
	return true, true
}

func (s *Sketch) raiseDensified(index int, value uint8) (changed, sound bool) {
	if !s.Densify() {
		return false, false
	}
	return raiseDense((*s)[headerSize:], index, value), true
}

// joinRuns joins neighbouring runs with the same value near a split. The range of its search is
// part of the format, because the bytes depend on it.
func joinRuns(b []byte, p int) []byte {
	for looks := 5; looks > 0 && p < len(b); looks-- {
		r := runAt(b, p)
		if r.value > 0 && p+1 < len(b) {
			next := runAt(b, p+1)
			if next.value == r.value && r.n+next.n <= valueMaxRun {
				appendRun(b[:p], r.value, r.n+next.n)
				b = slices.Delete(b, p+1, p+2)
				continue
			}
		}
		p += r.size
	}
	return b
}

// Decode writes the sparse form as words: "z" and "Z" for runs of zeros in one and two bytes, "v"
// for other runs.
func (s Sketch) Decode() string {
	var text []byte
	for r := range s.runs() {
		switch {
		case r.value > 0:
			text = strconv.AppendInt(append(text, " v:"...), int64(r.value), 10)
			text = append(text, ',')
		case r.size == 1:
			text = append(text, " z:"...)
		default:
			text = append(text, " Z:"...)
		}
		text = strconv.AppendInt(text, int64(r.n), 10)
	}
	return string(text[min(1, len(text)):])
}
