package command

import (
	"crypto/subtle"
	"encoding/binary"
	"math/bits"
)

// Strings as rows of bits: bit 0 is the highest of the first byte. A position is
// counted in int64, a part from:to leaves out the last.

// bitOp is an operation of BITOP.
type bitOp uint8

const (
	bitAnd bitOp = iota
	bitOr
	bitXor
	bitNot
)

// getBits reads the width <= 64 bits at offset as an unsigned number. What is
// behind the end of b is zero.
func getBits(b []byte, offset, width int64) uint64 {
	var window [9]byte
	if at := offset >> 3; at < int64(len(b)) {
		copy(window[:], b[at:])
	}
	shift := offset & 7
	v := binary.BigEndian.Uint64(window[:])<<shift | uint64(window[8])>>(8-shift)
	return v >> (64 - width)
}

// setBits writes the low width <= 64 bits of v at offset; b must reach that far.
func setBits(b []byte, offset, width int64, v uint64) {
	for width > 0 {
		room := 8 - offset&7 // bits from offset to the end of its byte
		n := min(room, width)
		part := byte(v>>(width-n)) << (room - n)
		mask := byte(1<<n-1) << (room - n)
		b[offset>>3] = b[offset>>3]&^mask | part&mask
		offset, width = offset+n, width-n
	}
}

// countBits counts the bits set in from:to, whole bytes first and then without
// what stands beside the part in the bytes at its ends.
func countBits(b []byte, from, to int64) int64 {
	if from >= to {
		return 0
	}
	first, last := b[from>>3], b[(to-1)>>3]
	n := onesCount(b[from>>3 : (to+7)>>3])
	n -= bits.OnesCount8(first &^ (0xff >> (from & 7)))
	if end := to & 7; end != 0 {
		n -= bits.OnesCount8(last << end)
	}
	return int64(n)
}

func onesCount(b []byte) (n int) {
	for len(b) >= 32 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b)) +
			bits.OnesCount64(binary.LittleEndian.Uint64(b[8:])) +
			bits.OnesCount64(binary.LittleEndian.Uint64(b[16:])) +
			bits.OnesCount64(binary.LittleEndian.Uint64(b[24:]))
		b = b[32:]
	}
	for _, c := range b {
		n += bits.OnesCount8(c)
	}
	return n
}

// findBit returns the position of the first bit in from:to that is bit, or -1.
func findBit(b []byte, bit byte, from, to int64) int64 {
	other := uint64(bit) - 1 // eight bytes of bits that are not the one
	for from < to {
		if from&7 == 0 {
			from += 8 * sameWords(b[from>>3:to>>3], other)
			if from >= to {
				break
			}
		}
		if hits := (b[from>>3] ^ byte(other)) & (0xff >> (from & 7)); hits != 0 {
			pos := from&^7 + int64(bits.LeadingZeros8(hits))
			if pos >= to {
				return -1
			}
			return pos
		}
		from = from&^7 + 8
	}
	return -1
}

// sameWords counts the bytes before the first word of eight that is another one.
func sameWords(b []byte, word uint64) int64 {
	rest := b
	for len(rest) >= 8 && binary.LittleEndian.Uint64(rest) == word {
		rest = rest[8:]
	}
	return int64(len(b) - len(rest))
}

// combineBits returns x op y, made in the memory of x where it is long enough.
// The shorter one counts as filled up with zeros.
func combineBits(op bitOp, x, y []byte) []byte {
	if short := len(y) - len(x); short > 0 {
		x = append(x, make([]byte, short)...)
	}
	switch op {
	case bitAnd:
		clear(x[len(y):])
		andBits(x[:len(y)], y)
	case bitOr:
		orBits(x[:len(y)], y)
	case bitXor:
		subtle.XORBytes(x, x, y)
	}
	return x
}

func andBits(x, y []byte) {
	for len(x) >= 8 && len(y) >= 8 {
		binary.LittleEndian.PutUint64(x, binary.LittleEndian.Uint64(x)&binary.LittleEndian.Uint64(y))
		x, y = x[8:], y[8:]
	}
	for i, c := range y {
		x[i] &= c
	}
}

func orBits(x, y []byte) {
	for len(x) >= 8 && len(y) >= 8 {
		binary.LittleEndian.PutUint64(x, binary.LittleEndian.Uint64(x)|binary.LittleEndian.Uint64(y))
		x, y = x[8:], y[8:]
	}
	for i, c := range y {
		x[i] |= c
	}
}

func invertBits(x []byte) {
	for len(x) >= 8 {
		binary.LittleEndian.PutUint64(x, ^binary.LittleEndian.Uint64(x))
		x = x[8:]
	}
	for i := range x {
		x[i] = ^x[i]
	}
}
