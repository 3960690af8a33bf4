package rdb

import (
	"encoding/binary"
	"iter"
	"strconv"

	"github.com/miniredisd/miniredisd/store"
)

// reader reads from b until it fails. It may get a whole payload: like Redis it accepts a value
// that extends into the footer.
type reader struct {
	b      []byte
	ks     *store.Keyspace // what the values it makes belong to
	file   *Source         // has more after b; nil for a payload
	failed bool
	empty  bool // it failed because a collection has no elements
}

// require fails unless ok, which holds for every undamaged payload.
func (p *reader) require(ok bool) { p.failed = p.failed || !ok }

// take returns the next n bytes. If there are fewer, it fails. It then returns zeros if n is the
// size of a number.
func (p *reader) take(n uint64) []byte {
	if n > uint64(len(p.b)) && !p.file.fill(n) {
		p.b, p.failed = nil, true
		return make([]byte, min(n, 8))
	}
	taken := p.b[:n:n]
	p.b = p.b[n:]
	return taken
}

// length reads a length or, if special, the code of a special form of a string (rdb.c:
// rdbLoadLenByRef).
func (p *reader) length() (n uint64, special bool) {
	first := p.take(1)[0]
	switch {
	case first>>6 == 0:
		return uint64(first), false
	case first>>6 == 1:
		return uint64(first&0x3f)<<8 | uint64(p.take(1)[0]), false
	case first>>6 == 3:
		return uint64(first & 0x3f), true
	case first == 0x80:
		return uint64(binary.BigEndian.Uint32(p.take(4))), false
	case first == 0x81:
		return binary.BigEndian.Uint64(p.take(8)), false
	}
	p.failed = true
	return 0, false
}

// number reads a number in the form of a length: a count, or half of a stream ID.
func (p *reader) number() uint64 {
	n, _ := p.length()
	return n
}

// left returns the number of remaining bytes.
func (p *reader) left() uint64 { return uint64(len(p.b)) + p.file.behind() }

// count reads the number of the following elements. It must be at least 1 and at most the number of
// remaining bytes, so a payload cannot claim memory for elements that it does not have.
func (p *reader) count() uint64 {
	n := p.number()
	p.filled(int(min(n, 1)))
	p.require(n <= p.left())
	return n
}

// filled fails for a collection without elements. Nothing of it is left to be read then.
func (p *reader) filled(elements int) {
	if elements == 0 && !p.failed {
		p.empty, p.failed = true, true
	}
}

// fixed reads 8 bytes: unix milliseconds, or a score.
func (p *reader) fixed() uint64 { return binary.LittleEndian.Uint64(p.take(8)) }

// The special forms of a string: a number of 8, 16 or 32 bits, and a compressed string.
const (
	formInt8 = iota
	formInt16
	formInt32
	formLZF
)

// text reads a string. It aliases the payload or belongs to the caller.
func (p *reader) text() []byte {
	n, special := p.length()
	if !special {
		return p.take(n)
	}
	switch n {
	case formInt8:
		return decimal(int64(int8(p.take(1)[0])))
	case formInt16:
		return decimal(int64(int16(binary.LittleEndian.Uint16(p.take(2)))))
	case formInt32:
		return decimal(int64(int32(binary.LittleEndian.Uint32(p.take(4)))))
	case formLZF:
		packed, unpacked := p.number(), p.number()
		text, ok := unpackLZF(p.take(packed), unpacked)
		p.require(ok)
		return text
	}
	p.failed = true
	return nil
}

func decimal(v int64) []byte { return strconv.AppendInt(nil, v, 10) }

// texts reads n strings.
func (p *reader) texts(n uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for ; n > 0 && !p.failed; n-- {
			if text := p.text(); p.failed || !yield(text) {
				return
			}
		}
	}
}

// pairs takes the elements of all in pairs. It fails if one is left.
func (p *reader) pairs(all iter.Seq[[]byte]) iter.Seq2[[]byte, []byte] {
	return func(yield func(first, second []byte) bool) {
		var first []byte
		half := false
		for v := range all {
			if half = !half; half {
				first = v
			} else if !yield(first, v) {
				return
			}
		}
		p.require(!half)
	}
}
