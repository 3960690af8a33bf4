package rdb

import (
	"encoding/binary"
	"iter"
)

// What the collections of older servers lie in. Nothing writes these any more.

const (
	zipHeader    = 10
	zipEnd       = 0xff
	zipUncounted = 0xffff
	zipLong      = 0xfe // a length of four bytes follows
)

// ziplist yields the entries of a ziplist, the listpack of old: 4 bytes of its whole
// size, 4 of where the last entry is, 2 of the number of entries, the entries, and an end
// mark. An entry has the size of the one before it in front, which made the change of
// one the change of many (ziplist.c).
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

// zipBefore reads the size of the entry before, and how wide that stands there.
func zipBefore(b []byte) (size, width int) {
	switch {
	case b[0] < zipLong:
		return int(b[0]), 1
	case b[0] == zipLong && len(b) >= 5:
		return int(binary.LittleEndian.Uint32(b[1:])), 5
	}
	return 0, 0
}

// zipEntry is an entry and what it takes, without the size of the one before; nothing if
// it is damaged.
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

// zipWidth is how many bytes of a number follow a code.
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

// zipmap yields the fields and values of what hashes were before ziplists: the number of
// fields in one byte, 254 when it is more than 253, then for each its length, itself, the length of the value, how many
// bytes are unused behind that, and the value; at last an end mark (zipmap.c).
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

// intset yields sorted integers: 4 bytes of how wide each is, 4 of how many there are,
// and they (intset.c).
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
