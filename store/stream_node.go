package store

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// streamNode is a run of consecutive entries in one byte slice. So a stream of a million entries is
// ten thousand objects for the collector and not ten million.
//
//	b:      head entry entry ...
//	head:   count, then the field names of the entry that opened the node
//	entry:  flags, length of rest, rest, length of all before (read backwards)
//	rest:   ms - first.ms, seq - first.seq, then the values alone if the field names are
//	        those of the head, else count and field, value pairs
//
// Numbers are varints. The difference of sequences is a zigzag varint. Strings have their length
// before them. A deleted entry keeps its place, with a flag, until its whole node is dropped. Redis
// does the same, and the result of XADD MAXLEN ~ depends on it.
type streamNode struct {
	first, last StreamID // of the entries ever added; a deletion does not change them
	b           []byte
	body        int // offset of the first entry
	live, dead  int
	packed      int   // size of the same node in Redis, which decides when the node is full
	since       *loan // the loan during which it was made: it is not lent
}

const (
	streamDead = 1 << iota
	streamSameFields
)

// newStreamNode makes a node for an entry. It takes the memory free if the entry fits there.
func newStreamNode(id StreamID, args [][]byte, free []byte) *streamNode {
	n := &streamNode{first: id, last: id}
	fields := len(args) / 2
	n.packed = listpackFrame + listpackNumber(0)*3 + listpackNumber(int64(fields))
	size := uvarintLen(uint64(fields))
	for i := 0; i < len(args); i += 2 {
		size += stringLen(args[i])
		n.packed += listpackString(args[i])
	}
	n.b = free
	if size += n.bodySize(id, args, true) + 8; cap(n.b) < size {
		n.b = make([]byte, 0, size)
	}
	n.b = binary.AppendUvarint(n.b, uint64(fields))
	for i := 0; i < len(args); i += 2 {
		n.b = appendString(n.b, args[i])
	}
	n.body = len(n.b)
	return n
}

// add appends an entry. id is above every other ID of the node.
func (n *streamNode) add(id StreamID, args [][]byte) {
	same := n.sameFields(args)
	body := n.bodySize(id, args, same)
	total := 1 + uvarintLen(uint64(body)) + body
	b := slices.Grow(n.b, total+uvarintLen(uint64(total)))
	fields := len(args) / 2
	flags, elems := byte(0), 4+2*fields
	if same {
		flags, elems = streamSameFields, 3+fields
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(body))
	b = binary.AppendUvarint(b, id.Ms-n.first.Ms)
	b = binary.AppendVarint(b, int64(id.Seq-n.first.Seq))
	n.packed += listpackNumber(0) + listpackNumber(int64(id.Ms-n.first.Ms)) + listpackNumber(int64(id.Seq-n.first.Seq)) +
		listpackNumber(int64(elems)) + listpackNumber(int64(n.live+1)) - listpackNumber(int64(n.live))
	if !same {
		b = binary.AppendUvarint(b, uint64(fields))
		n.packed += listpackNumber(int64(fields))
	}
	for i, v := range args {
		if same && i%2 == 0 {
			continue
		}
		b = appendString(b, v)
		n.packed += listpackString(v)
	}
	n.b = appendBackLen(b, total)
	n.last = id
	n.live++
}

// kill flags the entry at off as deleted.
func (n *streamNode) kill(off int) {
	n.b[off] |= streamDead
	n.packed += listpackNumber(int64(n.live-1)) - listpackNumber(int64(n.live)) +
		listpackNumber(int64(n.dead+1)) - listpackNumber(int64(n.dead))
	n.live--
	n.dead++
}

func (n *streamNode) sameFields(args [][]byte) bool {
	count, p := uvarint(n.b, 0)
	if int(count) != len(args)/2 {
		return false
	}
	for i := 0; i < len(args); i += 2 {
		var f []byte
		if f, p = stringAt(n.b, p); string(f) != string(args[i]) {
			return false
		}
	}
	return true
}

func (n *streamNode) bodySize(id StreamID, args [][]byte, same bool) int {
	d := int64(id.Seq - n.first.Seq)
	size := uvarintLen(id.Ms-n.first.Ms) + uvarintLen(uint64(d<<1)^uint64(d>>63))
	if !same {
		size += uvarintLen(uint64(len(args) / 2))
	}
	for i, v := range args {
		if !same || i%2 == 1 {
			size += stringLen(v)
		}
	}
	return size
}

// next is the offset after the entry at off.
func (n *streamNode) next(off int) int {
	body, p := uvarint(n.b, off+1)
	end := p + int(body)
	return end + uvarintLen(uint64(end-off))
}

// prev is the offset of the entry that ends at end.
func (n *streamNode) prev(end int) int {
	var total, shift int
	for i := end - 1; ; i-- {
		c := n.b[i]
		total |= int(c&0x7f) << shift
		if c < 0x80 {
			return i - total
		}
		shift += 7
	}
}

// id reads the ID of the entry at off. p is the offset of its fields.
func (n *streamNode) id(off int) (id StreamID, p int) {
	_, p = uvarint(n.b, off+1)
	ms, p := uvarint(n.b, p)
	z, p := uvarint(n.b, p)
	return StreamID{n.first.Ms + ms, n.first.Seq + (z>>1 ^ -(z & 1))}, p
}

// seal fits the memory of a full node to its entries. It returns memory for the next node, which will
// be about as large. So a stream that grows makes no garbage.
func (n *streamNode) seal() (free []byte) {
	if cap(n.b)-len(n.b) <= len(n.b)/16 {
		return make([]byte, 0, cap(n.b))
	}
	free = n.b[:0]
	n.b = slices.Clone(n.b)
	return free
}

func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func stringLen(v []byte) int { return uvarintLen(uint64(len(v))) + len(v) }

func appendString(b, v []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func uvarint(b []byte, p int) (uint64, int) {
	if c := b[p]; c < 0x80 {
		return uint64(c), p + 1
	}
	v, n := binary.Uvarint(b[p:])
	return v, p + n
}

func stringAt(b []byte, p int) ([]byte, int) {
	n, p := uvarint(b, p)
	end := p + int(n)
	return b[p:end:end], end
}

// appendBackLen appends a varint whose last byte has the low bits, for reading backwards.
func appendBackLen(b []byte, v int) []byte {
	for i := uvarintLen(uint64(v)) - 1; i >= 0; i-- {
		c := byte(v>>(7*i)) & 0x7f
		if i < uvarintLen(uint64(v))-1 {
			c |= 0x80
		}
		b = append(b, c)
	}
	return b
}
