package rdb

import (
	"encoding/binary"
	"math"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// appendNumber writes a length, or a number in the form of a length, in 6, 14, 32 or 64 bits.
func appendNumber(b []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(b, byte(n))
	case n < 1<<14:
		return append(b, 0x40|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 0x80), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0x81), n)
}

// appendText writes a string, as a number if it spells one of up to 32 bits.
func appendText(b, text []byte) []byte {
	const longestInt32 = 11
	if len(text) <= longestInt32 {
		if v, ok := ascii.ParseInt(text); ok && v == int64(int32(v)) {
			return appendInt32(b, int32(v))
		}
	}
	return append(appendNumber(b, uint64(len(text))), text...)
}

func appendInt32(b []byte, v int32) []byte {
	const special = 0xc0
	switch {
	case v == int32(int8(v)):
		return append(b, special|formInt8, byte(v))
	case v == int32(int16(v)):
		return binary.LittleEndian.AppendUint16(append(b, special|formInt16), uint16(v))
	}
	return binary.LittleEndian.AppendUint32(append(b, special|formInt32), uint32(v))
}
