package rdb

import (
	"encoding/binary"
	"iter"
)

// The forms of collections in older servers. No server writes these forms any more.

const (
	zipHeader    = 10
	zipEnd       = 0xff
	zipUncounted = 0xffff
	zipLong      = 0xfe // a length of four bytes follows
)

// ziplist yields the entries of a ziplist, the predecessor of the listpack: 4 bytes for its whole
// size, 4 for the position of the last entry, 2 for the number of entries, the entries, and an end
// mark. Each entry begins with the size of the entry before it, so a change of one could change
// many (ziplist.c).
func (p *reader) ziplist(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		end := len(b) - 1
		if end < zipHeader || int64(binary.LittleEndian.Uint32(b)) != int64(len(b)) || b[end] != zipEnd {
			p.failed = true
			return
		}
		n, before, last := 0, 0, -1
		for i := zipHeader; i < end; n++ {
			said, width := zipBefore(b[i:end])
			entry, size := zipEntry(b[i+width : end])
			if width == 0 || said != before || size == 0 {
				p.failed = true
				return
			}
			if !yield(entry) {
				return
			}
			last, before = i, width+size
			i += before
		}
		p.require(n == 0 || int64(binary.LittleEndian.Uint32(b[4:])) == int64(last))
		claimed := int(binary.LittleEndian.Uint16(b[8:]))
		p.require(claimed == n || claimed == zipUncounted)
	}
}

// zipBefore reads the size of the entry before, and the width of that size.
func zipBefore(b []byte) (size, width int) {
	switch {
	case b[0] < zipLong:
		return int(b[0]), 1
	case b[0] == zipLong && len(b) >= 5:
		return int(binary.LittleEndian.Uint32(b[1:])), 5
	}
	return 0, 0
}

// zipEntry returns an entry and its size, without the size of the entry before. Both are empty if
// the entry is damaged.
func zipEntry(b []byte) (entry []byte, size int) {
	if len(b) == 0 {
		return nil, 0
	}
	header, n := 1, 0
	switch c := b[0]; {
	case c < 0x40:
		n = int(c)
	case c < 0x80 && len(b) >= 2:
		header, n = 2, int(c&0x3f)<<8|int(b[1])
	case c == 0x80 && len(b) >= 5:
		header, n = 5, int(binary.BigEndian.Uint32(b[1:]))
	case c > 0xf0 && c < zipLong: // the number is in the code itself
		return decimal(int64(c&0xf) - 1), 1
	default:
		width := zipWidth(c)
		if width == 0 || 1+width > len(b) {
			return nil, 0
		}
		return decimal(signed(b[1 : 1+width])), 1 + width
	}
	if n > len(b)-header {
		return nil, 0
	}
	return b[header : header+n : header+n], header + n
}

// zipWidth is the number of bytes of a number that follow a code.
func zipWidth(code byte) int {
	switch code {
	case 0xfe:
		return 1
	case 0xc0:
		return 2
	case 0xf0:
		return 3
	case 0xd0:
		return 4
	case 0xe0:
		return 8
	}
	return 0
}

// zipmap yields the fields and values of a hash from before ziplists. One byte is the number of
// fields, 254 if it is more than 253. For each field follow its length, the field, the length of
// the value, the number of unused bytes after the value, and the value. An end mark comes last
// (zipmap.c).
func (p *reader) zipmap(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		end := len(b) - 1
		if end < 1 || b[end] != zipEnd {
			p.failed = true
			return
		}
		m := reader{b: b[1:end]}
		n := 0
		for ; len(m.b) > 0; n++ {
			field := m.take(m.zipLength())
			length := m.zipLength()
			unused := m.take(1)[0]
			value := m.take(length)
			m.take(uint64(unused))
			if m.failed || !yield(field) || !yield(value) {
				break
			}
		}
		p.require(!m.failed && (b[0] == zipLong || int(b[0]) == n))
	}
}

// zipLength reads a length of a zipmap.
func (p *reader) zipLength() uint64 {
	switch c := p.take(1)[0]; c {
	case zipLong:
		return uint64(binary.LittleEndian.Uint32(p.take(4)))
	case zipEnd:
		p.failed = true
		return 0
	default:
		return uint64(c)
	}
}

// intset yields sorted integers: 4 bytes for their width, 4 for their number, and the integers
// (intset.c).
func (p *reader) intset(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		in := reader{b: b}
		width, n := uint64(binary.LittleEndian.Uint32(in.take(4))), uint64(binary.LittleEndian.Uint32(in.take(4)))
		if in.failed || width != 2 && width != 4 && width != 8 || n*width != uint64(len(in.b)) {
			p.failed = true
			return
		}
		for i, before := uint64(0), int64(0); i < n; i++ {
			v := signed(in.take(width))
			p.require(i == 0 || before < v)
			if p.failed || !yield(decimal(v)) {
				return
			}
			before = v
		}
	}
}
