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

// form is how a value is written.
type form struct {
	version int

	// Of a file only:
	named  bool // the name stands after the type
	name   []byte
	packer *packer      // compresses strings, nil for none
	spill  func([]byte) // takes what is written while there may be much more, nil to keep all
}

// spillAt is the number of bytes at which a form spills. A string of that size is not copied.
const spillAt = 64 << 10

// begin writes the type of a value.
func (f *form) begin(b []byte, kind byte) []byte {
	b = append(b, kind)
	if f.named {
		b = f.text(b, f.name)
	}
	return b
}

// text writes a string, as a number if it spells one of up to 32 bits.
func (f *form) text(b, text []byte) []byte {
	const longestInt32 = 11
	if f.spill != nil && len(b) >= spillAt {
		f.spill(b)
		b = b[:0]
	}
	if len(text) <= longestInt32 {
		if v, ok := ascii.ParseInt(text); ok && v == int64(int32(v)) {
			return appendInt32(b, int32(v))
		}
	}
	return f.raw(b, text)
}

// raw writes a string that spells no number, compressed if that saves something. text may be what b has after
// its end, a few bytes further.
func (f *form) raw(b, text []byte) []byte {
	const shortest = 20 // rdb.c: rdbSaveRawString
	if f.packer != nil && len(text) > shortest {
		if packed := f.packer.pack(text); packed != nil {
			b = appendNumber(append(b, 0xc0|formLZF), uint64(len(packed)))
			return append(appendNumber(b, uint64(len(text))), packed...)
		}
	}
	b = appendNumber(b, uint64(len(text)))
	if f.spill != nil && len(text) >= spillAt {
		f.spill(b)
		f.spill(text)
		return b[:0]
	}
	return append(b, text...)
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
