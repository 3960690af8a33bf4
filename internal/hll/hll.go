// Package hll counts the distinct elements of a set without keeping them: HyperLogLog, in the byte format of
// Redis, so that a value can be read with GET from one server and written with SET to another.
//
// Every element is hashed. Fourteen bits of the hash choose one of 16,384 registers; the rest is read as a
// sequence of coin tosses, and the register keeps the longest run of heads it has seen, plus one. Runs of
// length n come up once in 2^n elements, so the registers tell how many distinct elements there were, within
// 0.81 percent, and an element that comes again changes nothing. Two sketches are merged by taking the larger
// of each pair of registers.
//
//	sketch   | "HYLL" | form | 3 bytes 0 | cached count, 8 bytes little-endian | registers ... |
//	dense    6 bits a register, lowest bits first
//	sparse   00zzzzzz           z+1 registers are 0
//	         01zzzzzz zzzzzzzz  z+1 registers are 0
//	         1vvvvvnn           n+1 registers are v+1
//
// The highest bit of the cached count says that it is out of date. A sketch begins sparse and becomes dense when
// a register does not fit or the form has grown too long.
//
// The package is pure functions of bytes; any goroutine may call them. What it leaves out: values with other
// numbers of registers, which the format has no room for.
package hll

import (
	"encoding/binary"
	"math/bits"
)

const (
	indexBits  = 14
	hashBits   = 64 - indexBits // those that are left for the run
	registers  = 1 << indexBits
	headerSize = 16
	denseSize  = headerSize + registers*registerBits/8
	formAt     = 4
	countAt    = 8
	staleAt    = countAt + 7 // the byte with the bit that says so
)

// The forms of a sketch, as the header has them.
const (
	dense byte = iota
	sparse
)

// Sketch is the bytes of a HyperLogLog, of which Valid is true. A method may change them in place; those with a
// pointer receiver may also replace them.
type Sketch []byte

// New has seen no element.
func New() Sketch {
	s := make(Sketch, headerSize, headerSize+16)
	copy(s, "HYLL")
	s[formAt] = sparse
	return appendRun(s, 0, registers)
}

// Valid tells whether a string looks like a sketch. Whether the sparse form is sound is found out in use.
func Valid(b []byte) bool {
	return len(b) >= headerSize && string(b[:4]) == "HYLL" &&
		(b[formAt] == sparse || b[formAt] == dense && len(b) == denseSize)
}

// Dense tells the form.
func (s Sketch) Dense() bool { return s[formAt] == dense }

// Add counts an element in. The sparse form is given up before it gets longer than sparseMax bytes. sound is
// false for a broken sketch.
func (s *Sketch) Add(element []byte, sparseMax int) (changed, sound bool) {
	index, run := place(element)
	return s.raise(index, run, sparseMax)
}

// raise sets a register unless it is that high already.
func (s *Sketch) raise(index int, value uint8, sparseMax int) (changed, sound bool) {
	if s.Dense() {
		return raiseDense((*s)[headerSize:], index, value), true
	}
	return s.raiseSparse(index, value, sparseMax)
}

// place is the register an element belongs to, and what it would set it to.
func place(element []byte) (index int, run uint8) {
	h := murmur64(element, 0xadc83b19)
	tosses := h>>indexBits | 1<<hashBits // the bit above them ends the longest run
	return int(h & (registers - 1)), uint8(bits.TrailingZeros64(tosses) + 1)
}

// Cached is the count as it was computed last; false when the sketch has changed since then.
func (s Sketch) Cached() (uint64, bool) {
	return binary.LittleEndian.Uint64(s[countAt:]), s[staleAt]&0x80 == 0
}

// Cache keeps a count that was computed.
func (s Sketch) Cache(count uint64) { binary.LittleEndian.PutUint64(s[countAt:], count) }

// Stale marks the cached count as out of date.
func (s Sketch) Stale() { s[staleAt] |= 0x80 }

// Union has the largest of each register of several sketches.
type Union [registers]uint8

// Take merges a sketch into u; false when it is broken.
func (u *Union) Take(s Sketch) (sound bool) {
	if s.Dense() {
		for i := range u {
			u[i] = max(u[i], denseRegister(s[headerSize:], i))
		}
		return true
	}
	i := 0
	for r := range s.runs() {
		if i+r.n > registers {
			return false
		}
		if r.value > 0 {
			for j := range r.n {
				u[i+j] = max(u[i+j], r.value)
			}
		}
		i += r.n
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
