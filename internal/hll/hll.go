// Package hll counts the distinct elements of a set without storing them. It is a HyperLogLog in
// the byte format of Redis, so a value can be read with GET from one server and written with SET to
// another.
//
// Every element is hashed. Fourteen bits of the hash choose one of 16,384 registers. The other bits
// are read as coin tosses, and the register keeps the longest run of heads so far, plus one. A run
// of length n occurs once in 2^n elements, so the registers give the number of distinct elements,
// with an error of 0.81 percent. An element that occurs again changes nothing. Two sketches are
// merged by taking the larger of each pair of registers.
//
//	sketch   | "HYLL" | form | 3 bytes 0 | cached count, 8 bytes little-endian | registers ... |
//	dense    6 bits for each register, lowest bits first
//	sparse   00zzzzzz           z+1 registers are 0
//	         01zzzzzz zzzzzzzz  z+1 registers are 0
//	         1vvvvvnn           n+1 registers are v+1
//
// The highest bit of the cached count means that the count is out of date. A sketch begins sparse.
// It becomes dense when a register does not fit or the sparse form is too long.
//
// The package is pure functions of bytes. Any goroutine may call them.
package hll

import (
	"encoding/binary"
	"math/bits"
)

const (
	indexBits  = 14
	hashBits   = 64 - indexBits // the other bits
	registers  = 1 << indexBits
	headerSize = 16
	denseSize  = headerSize + registers*registerBits/8
	formAt     = 4
	countAt    = 8
	staleAt    = countAt + 7 // the byte with the bit for "out of date"
)

// The forms of a sketch in its header.
const (
	dense byte = iota
	sparse
)

// Sketch is the bytes of a HyperLogLog for which Valid is true. A method may change them in place.
// Methods with a pointer receiver may replace them.
type Sketch []byte

// New returns a sketch without elements.
func New() Sketch {
	s := make(Sketch, headerSize, headerSize+16)
	copy(s, "HYLL")
	s[formAt] = sparse
	return appendRun(s, 0, registers)
}

// Valid reports whether a string looks like a sketch. Errors in the sparse form are found only when
// it is used.
func Valid(b []byte) bool {
	return len(b) >= headerSize && string(b[:4]) == "HYLL" &&
		(b[formAt] == sparse || b[formAt] == dense && len(b) == denseSize)
}

// Dense reports whether the sketch has the dense form.
func (s Sketch) Dense() bool { return s[formAt] == dense }

// Add counts an element. The sketch becomes dense before its sparse form exceeds sparseMax bytes.
// sound is false for a broken sketch.
func (s *Sketch) Add(element []byte, sparseMax int) (changed, sound bool) {
	index, run := place(element)
	return s.raise(index, run, sparseMax)
}

// raise sets a register to value if it is lower.
func (s *Sketch) raise(index int, value uint8, sparseMax int) (changed, sound bool) {
	if s.Dense() {
		return raiseDense((*s)[headerSize:], index, value), true
	}
	return s.raiseSparse(index, value, sparseMax)
}

// place is the register of an element and the value that the element gives it.
func place(element []byte) (index int, run uint8) {
	h := murmur64(element, 0xadc83b19)
	tosses := h>>indexBits | 1<<hashBits // the bit above the tosses ends the longest run
	return int(h & (registers - 1)), uint8(bits.TrailingZeros64(tosses) + 1)
}

// Cached is the latest computed count, false if the sketch has changed since.
func (s Sketch) Cached() (uint64, bool) {
	return binary.LittleEndian.Uint64(s[countAt:]), s[staleAt]&0x80 == 0
}

// Cache stores a count that was computed.
func (s Sketch) Cache(count uint64) { binary.LittleEndian.PutUint64(s[countAt:], count) }

// Stale marks the cached count as out of date.
func (s Sketch) Stale() { s[staleAt] |= 0x80 }

// Union has the largest value of each register of several sketches.
type Union [registers]uint8

// Take merges a sketch into u. It returns false if the sketch is broken.
func (u *Union) Take(s Sketch) (sound bool) {
	if s.Dense() {
		u.takeDense(s[headerSize:])
		return true
	}
	return u.takeSparse(s)
}

// takeSparse ignores what follows a run of values beyond the last register, as Redis does here. Count does
// not (hyperloglog.c: hllMerge, hllSparseRegHisto).
func (u *Union) takeSparse(s Sketch) (sound bool) {
	i := 0 // the register of the run at p
	for p := headerSize; p < len(s); {
		if c := s[p]; c < zeroMaxRun { // the most common run, without a call
			i += int(c) + 1
			p++
			continue
		}
		r := runAt(s, p)
		if r.value > 0 {
			if i+r.n > registers {
				break
			}
			for j, old := range u[i : i+r.n] {
				u[i+j] = max(old, r.value)
			}
		}
		i += r.n
		p += r.size
	}
	return i == registers
}

// Merge raises the registers of s to those of u.
func (s *Sketch) Merge(u *Union, sparseMax int) {
	for i, value := range u {
		if value > 0 {
			s.raise(i, value, sparseMax)
		}
	}
}

// murmur64 is Austin Appleby's MurmurHash64A.
func murmur64(b []byte, seed uint64) uint64 {
	const m, r = 0xc6a4a7935bd1e995, 47
	h := seed ^ uint64(len(b))*m
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * m
		h = (h ^ (k^k>>r)*m) * m
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		h = (h ^ binary.LittleEndian.Uint64(tail[:])) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}
