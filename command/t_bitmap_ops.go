package command

import (
	"crypto/subtle"
	"encoding/binary"
	"math/bits"
)

// A bitmap is a string read as a row of bits: bit 0 is the highest bit of the first byte. Offsets
// are int64. A range from:to excludes to.

// bitOp is an operation of BITOP.
type bitOp uint8

const (
	bitAnd bitOp = iota
	bitOr
	bitXor
	bitNot
)

// getBits reads up to 64 bits at offset as an unsigned number. Bits beyond the end of b are 0.
func getBits(b []byte, offset, width int64) uint64 {
	var window [9]byte
	if at := offset >> 3; at < int64(len(b)) {
		copy(window[:], b[at:])
	}
	shift := offset & 7
	v := binary.BigEndian.Uint64(window[:])<<shift | uint64(window[8])>>(8-shift)
	return v >> (64 - width)
}

// setBits writes the low width bits of v at offset, up to 64. b must be long enough.
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

// countBits counts the bits that are 1 in from:to. It counts whole bytes, then subtracts the bits
// before from in the first byte and those from to on in the last.
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
	other := uint64(bit) - 1 // 64 times the bit that is not searched
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

// sameWords returns how many bytes at the beginning of b are in 8-byte words equal to word.
func sameWords(b []byte, word uint64) int64 {
	rest := b
	for len(rest) >= 8 && binary.LittleEndian.Uint64(rest) == word {
		rest = rest[8:]
	}
	return int64(len(b) - len(rest))
}

// combineBits writes the combination of all sources into dst, which is as long as the longest
// source. Shorter sources are padded with zeros. dst may be the memory of any source: each part of
// the result is complete before it is copied to dst.
func combineBits(op bitOp, dst []byte, sources [][]byte) {
	var room [4096]byte
	for at := 0; at < len(dst); at += len(room) {
		end := min(at+len(room), len(dst))
		part := room[:end-at]
		clear(part[copy(part, bytesBetween(sources[0], at, end)):])
		for _, source := range sources[1:] {
			y := bytesBetween(source, at, end)
			switch op {
			case bitAnd:
				andBits(part, y)
				clear(part[len(y):])
			case bitOr:
				orBits(part, y)
			case bitXor:
				subtle.XORBytes(part, part, y)
			}
		}
		if op == bitNot {
			invertBits(part)
		}
		copy(dst[at:end], part)
	}
}

// bytesBetween returns those bytes of b whose index is in from:to.
func bytesBetween(b []byte, from, to int) []byte { return b[min(from, len(b)):min(to, len(b))] }

func andBits(x, y []byte) {
	for len(x) >= 32 && len(y) >= 32 {
		binary.LittleEndian.PutUint64(x, binary.LittleEndian.Uint64(x)&binary.LittleEndian.Uint64(y))
		binary.LittleEndian.PutUint64(x[8:], binary.LittleEndian.Uint64(x[8:])&binary.LittleEndian.Uint64(y[8:]))
		binary.LittleEndian.PutUint64(x[16:], binary.LittleEndian.Uint64(x[16:])&binary.LittleEndian.Uint64(y[16:]))
		binary.LittleEndian.PutUint64(x[24:], binary.LittleEndian.Uint64(x[24:])&binary.LittleEndian.Uint64(y[24:]))
		x, y = x[32:], y[32:]
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
