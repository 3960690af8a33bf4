package rdb

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// A listpack is 4 bytes for its size, 2 for the number of entries, the entries, and an end mark.
// An entry is a number or a string, which its first byte says. Its length follows, for reading
// backwards (listpack.c):
//
//	0vvvvvvv                 a number from 0 to 127
//	110vvvvv v               13 bits, and with a sign, as all that follow
//	f1 f2 f3 f4              16, 24, 32, 64 bits, little endian
//	10nnnnnn                 a string of up to 63 bytes
//	1110nnnn n               up to 4095 bytes, big endian
//	f0 nnnn                  up to 4 GB, little endian
const (
	packHeader = 6
	packEnd    = 0xff
	packNumber = 0xf1 // 16 bits; the next three codes are wider by a byte, a byte, and four
	packLong   = 0xf0

	// packUncounted is the number of entries of a listpack whose count does not fit in two bytes.
	packUncounted = math.MaxUint16
)

// packWriter appends a listpack to b as an RDB string: its length, then its bytes.
type packWriter struct {
	f     *form
	b     []byte
	start int // of the listpack in b
	n     int // entries
}

// longestLength is the size of a length that does not fit in two bytes.
const longestLength = 5

func (f *form) pack(b []byte) packWriter {
	var room [longestLength + packHeader]byte // filled in by done
	return packWriter{f: f, b: append(b, room[:]...), start: len(b) + longestLength}
}

// text adds a string, as a number if it spells one.
func (w *packWriter) text(v []byte) {
	if i, ok := ascii.ParseInt(v); ok {
		w.number(i)
		return
	}
	start, n := len(w.b), len(v)
	switch {
	case n < 1<<6:
		w.b = append(w.b, 0x80|byte(n))
	case n < 1<<12:
		w.b = append(w.b, 0xe0|byte(n>>8), byte(n))
	default:
		w.b = binary.LittleEndian.AppendUint32(append(w.b, packLong), uint32(n))
	}
	w.b = append(w.b, v...)
	w.close(start)
}

func (w *packWriter) number(v int64) {
	start := len(w.b)
	switch {
	case v >= 0 && v < 1<<7:
		w.b = append(w.b, byte(v))
	case v >= -1<<12 && v < 1<<12:
		w.b = append(w.b, 0xc0|byte(v>>8)&0x1f, byte(v))
	case v == int64(int16(v)):
		w.b = binary.LittleEndian.AppendUint16(append(w.b, packNumber), uint16(v))
	case v >= -1<<23 && v < 1<<23:
		w.b = append(w.b, packNumber+1, byte(v), byte(v>>8), byte(v>>16))
	case v == int64(int32(v)):
		w.b = binary.LittleEndian.AppendUint32(append(w.b, packNumber+2), uint32(v))
	default:
		w.b = binary.LittleEndian.AppendUint64(append(w.b, packNumber+3), uint64(v))
	}
	w.close(start)
}

// close ends the entry that began at start.
func (w *packWriter) close(start int) {
	w.b = appendBack(w.b, len(w.b)-start)
	w.n++
}

// done returns b with the whole listpack. The listpack moves to the end of its length.
func (w *packWriter) done() []byte {
	w.b = append(w.b, packEnd)
	pack := w.b[w.start:]
	binary.LittleEndian.PutUint32(pack, uint32(len(pack)))
	binary.LittleEndian.PutUint16(pack[4:], uint16(min(w.n, packUncounted)))
	return w.f.raw(w.b[:w.start-longestLength], pack)
}

// appendBack writes the length of an entry with 7 bits in each byte, the lowest bits last. All
// bytes but the first are marked. Two widths lack their highest value (listpack.c:
// lpEncodeBacklen).
func appendBack(b []byte, n int) []byte {
	if n < 1<<7 {
		return append(b, byte(n))
	}
	width := 1
	for _, bound := range [...]int{1<<7 - 1, 1<<14 - 2, 1<<21 - 2, 1<<28 - 2} {
		if n > bound {
			width++
		}
	}
	b = append(b, byte(n>>(7*(width-1))))
	for width--; width > 0; width-- {
		b = append(b, 0x80|byte(n>>(7*(width-1))))
	}
	return b
}

// packReader iterates over a listpack. Entries alias the listpack or belong to the caller.
type packReader struct {
	b       []byte // entries and end mark
	n       int    // entries read
	claimed int    // entries there are said to be
	failed  bool
}

func readPack(b []byte) *packReader {
	if len(b) <= packHeader || int64(binary.LittleEndian.Uint32(b)) != int64(len(b)) || b[len(b)-1] != packEnd {
		return &packReader{failed: true}
	}
	return &packReader{b: b[packHeader:], claimed: int(binary.LittleEndian.Uint16(b[4:]))}
}

// next returns false at the end, and if the listpack is damaged.
func (r *packReader) next() (entry []byte, ok bool) {
	if len(r.b) <= 1 || r.failed {
		r.failed = r.failed || r.claimed != r.n && r.claimed != packUncounted
		return nil, false
	}
	entry, size := packEntry(r.b[:len(r.b)-1])
	if size == 0 {
		r.failed = true
		return nil, false
	}
	r.b = r.b[size:]
	r.n++
	return entry, true
}

// number returns the next entry, which must be a number.
func (r *packReader) number() int64 {
	entry, _ := r.next()
	v, ok := ascii.ParseInt(entry)
	r.failed = r.failed || !ok
	return v
}

// done reports whether all entries were read without an error.
func (r *packReader) done() bool {
	_, more := r.next()
	return !more && !r.failed
}

// packEntry returns the first entry of b and its size, which is 0 if the entry is damaged.
func packEntry(b []byte) (entry []byte, size int) {
	header, n := packLengths(b)
	if header == 0 || n > len(b)-header {
		return nil, 0
	}
	var back [5]byte
	size = header + n
	way := appendBack(back[:0], size)
	if !bytes.HasPrefix(b[size:], way) {
		return nil, 0
	}
	body := b[header:size:size]
	switch c := b[0]; {
	case c < 0x80:
		body = decimal(int64(c))
	case c>>5 == 6:
		v := int64(c&0x1f)<<8 | int64(body[0])
		body = decimal(v << 51 >> 51)
	case c >= packNumber:
		body = decimal(signed(body))
	}
	return body, size + len(way)
}

// packLengths returns the start and the length of the body of an entry.
func packLengths(b []byte) (header, n int) {
	switch c := b[0]; {
	case c < 0x80:
		return 1, 0
	case c < 0xc0:
		return 1, int(c & 0x3f)
	case c < 0xe0:
		return 1, 1
	case c < packLong:
		if len(b) < 2 {
			return 0, 0
		}
		return 2, int(c&0xf)<<8 | int(b[1])
	case c == packLong:
		if len(b) < 5 {
			return 0, 0
		}
		return 5, int(binary.LittleEndian.Uint32(b[1:]))
	case c <= packNumber+3:
		return 1, [...]int{2, 3, 4, 8}[c-packNumber]
	}
	return 0, 0
}

// signed is a little endian number of up to 8 bytes.
func signed(b []byte) int64 {
	var v uint64
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	shift := 64 - 8*len(b)
	return int64(v<<shift) >> shift
}

// listpack yields the entries of a listpack.
func (p *reader) listpack(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		r := readPack(b)
		for entry, ok := r.next(); ok; entry, ok = r.next() {
			if !yield(entry) {
				return
			}
		}
		p.require(!r.failed)
	}
}
