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
	bitDiff  // of the first string alone
	bitDiff1 // of the others, and not of the first
	bitAndOr // of the first and of one of the others
	bitOne   // of exactly one string
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
	ones := func(word []byte) int { return bits.OnesCount64(binary.LittleEndian.Uint64(word)) }
	var n0, n1, n2, n3 int // four sums, so that an addition need not wait for the one before
	for ; len(b) >= 64; b = b[64:] {
		w := (*[64]byte)(b)
		n0 += ones(w[0:]) + ones(w[32:])
		n1 += ones(w[8:]) + ones(w[40:])
		n2 += ones(w[16:]) + ones(w[48:])
		n3 += ones(w[24:]) + ones(w[56:])
	}
	n = n0 + n1 + n2 + n3
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

// bitopStep is how many bytes are combined at a time.
const bitopStep = 4096

// combineBits writes the combination of all sources into dst, which is as long as the longest
// source. Shorter sources are padded with zeros. dst may be the memory of any source: each part of
// the result is written when the last source is read.
func combineBits(op bitOp, dst []byte, sources [][]byte) {
	var room [bitopStep]byte
	switch op {
	case bitNot:
		invertBits(dst, sources[0], &room)
		return
	case bitDiff, bitDiff1, bitAndOr, bitOne:
		combineBytes(op, dst, sources)
		return
	}
	for at := 0; at < len(dst); at += len(room) {
		end := min(at+len(room), len(dst))
		part, sum := room[:end-at], bytesBetween(sources[0], at, end)
		if len(sum) < len(part) {
			clear(part[copy(part, sum):])
			sum = part
		}
		if len(sources) == 1 {
			copy(dst[at:end], sum)
		}
		for i, source := range sources[1:] {
			if i == len(sources)-2 {
				part = dst[at:end]
			}
			combineTwo(op, part, sum, bytesBetween(source, at, end))
			sum = part
		}
	}
}

// bytesBetween returns those bytes of b whose index is in from:to.
func bytesBetween(b []byte, from, to int) []byte { return b[min(from, len(b)):min(to, len(b))] }

// combineTwo writes the combination of x and y to dst, which is as long as x. y may be shorter. dst may
// be the memory of x or y.
func combineTwo(op bitOp, dst, x, y []byte) {
	n := len(y)
	switch op {
	case bitAnd:
		andBits(dst[:n], x[:n], y)
		clear(dst[n:])
		return
	case bitOr:
		orBits(dst[:n], x[:n], y)
	case bitXor:
		subtle.XORBytes(dst, x, y)
	}
	copy(dst[n:], x[n:])
}

// andBits and orBits are for slices of equal length.
func andBits(dst, x, y []byte) {
	word := binary.LittleEndian
	for len(dst) >= 64 && len(x) >= 64 && len(y) >= 64 {
		d, a, b := (*[64]byte)(dst), (*[64]byte)(x), (*[64]byte)(y)
		word.PutUint64(d[:], word.Uint64(a[:])&word.Uint64(b[:]))
		word.PutUint64(d[8:], word.Uint64(a[8:])&word.Uint64(b[8:]))
		word.PutUint64(d[16:], word.Uint64(a[16:])&word.Uint64(b[16:]))
		word.PutUint64(d[24:], word.Uint64(a[24:])&word.Uint64(b[24:]))
		word.PutUint64(d[32:], word.Uint64(a[32:])&word.Uint64(b[32:]))
		word.PutUint64(d[40:], word.Uint64(a[40:])&word.Uint64(b[40:]))
		word.PutUint64(d[48:], word.Uint64(a[48:])&word.Uint64(b[48:]))
		word.PutUint64(d[56:], word.Uint64(a[56:])&word.Uint64(b[56:]))
		dst, x, y = dst[64:], x[64:], y[64:]
	}
	for i, c := range y {
		dst[i] = x[i] & c
	}
}

func orBits(dst, x, y []byte) {
	word := binary.LittleEndian
	for len(dst) >= 64 && len(x) >= 64 && len(y) >= 64 {
		d, a, b := (*[64]byte)(dst), (*[64]byte)(x), (*[64]byte)(y)
		word.PutUint64(d[:], word.Uint64(a[:])|word.Uint64(b[:]))
		word.PutUint64(d[8:], word.Uint64(a[8:])|word.Uint64(b[8:]))
		word.PutUint64(d[16:], word.Uint64(a[16:])|word.Uint64(b[16:]))
		word.PutUint64(d[24:], word.Uint64(a[24:])|word.Uint64(b[24:]))
		word.PutUint64(d[32:], word.Uint64(a[32:])|word.Uint64(b[32:]))
		word.PutUint64(d[40:], word.Uint64(a[40:])|word.Uint64(b[40:]))
		word.PutUint64(d[48:], word.Uint64(a[48:])|word.Uint64(b[48:]))
		word.PutUint64(d[56:], word.Uint64(a[56:])|word.Uint64(b[56:]))
		dst, x, y = dst[64:], x[64:], y[64:]
	}
	for i, c := range y {
		dst[i] = x[i] | c
	}
}

// invertBits writes the inverse of src to dst, which is as long. The library has fast code for
// exclusive or: a bit is inverted by a one.
func invertBits(dst, src []byte, ones *[bitopStep]byte) {
	for i := range ones[:min(len(src), bitopStep)] {
		ones[i] = 0xff
	}
	for at := 0; at < len(src); at += bitopStep {
		subtle.XORBytes(dst[at:], src[at:], ones[:])
	}
}

// combineBytes is combineBits for the operations of Redis 8.2, byte by byte.
func combineBytes(op bitOp, dst []byte, sources [][]byte) {
	for at := range dst {
		first := byteAt(sources[0], at)
		once, twice := byte(0), byte(0) // the bits that at least so many of the others have
		for _, source := range sources[1:] {
			b := byteAt(source, at)
			once, twice = once|b, twice|once&b
		}
		switch op {
		case bitDiff:
			dst[at] = first &^ once
		case bitDiff1:
			dst[at] = once &^ first
		case bitAndOr:
			dst[at] = first & once
		default:
			dst[at] = (first ^ once) &^ twice
		}
	}
}

func byteAt(b []byte, at int) byte {
	if at < len(b) {
		return b[at]
	}
	return 0
}
