package store

import (
	"encoding/binary"
	"unsafe"
)

// text is a byte string in a pointer: the value of a field of a large hash. The zero value is empty.
//
//	ref ──> | free (1 byte) | length (uvarint) | the bytes | ...
//
// The size of the block is a multiple of 8 bytes. free counts the multiples of 8 bytes after the end
// of the bytes.
type text struct{ ref unsafe.Pointer }

const (
	maxFree  = 255
	textRoom = 4 << 10 // bytes that copies share
)

// read is the block from its start to the end of the bytes, and the place where the bytes begin.
func (t text) read() (block []byte, at int) {
	if t.ref == nil {
		return nil, 0
	}
	n, at := 0, 1
	for shift := 0; ; shift += 7 {
		c := *(*byte)(unsafe.Add(t.ref, at))
		at++
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			return unsafe.Slice((*byte)(t.ref), at+n), at
		}
	}
}

// bytes is the string. It aliases the block.
func (t text) bytes() []byte {
	b, at := t.read()
	return b[at:len(b):len(b)]
}

// mem is the memory of the block, in bytes.
func (t text) mem() int {
	b, _ := t.read()
	if b == nil {
		return 0
	}
	return (len(b)+7)&^7 + 8*int(b[0])
}

// clone copies the block to the end of room, or to a new room if it does not fit. It returns what is left of the room.
func (t text) clone(room []byte) (c text, left []byte) {
	size := t.mem()
	if size == 0 {
		return text{}, room
	}
	if size > len(room) {
		room = make([]byte, max(size, textRoom))
	}
	b, _ := t.read()
	copy(room, b)
	return text{unsafe.Pointer(unsafe.SliceData(room))}, room[size:]
}

// set copies v, into the same block if v needs about as much.
func (t *text) set(v []byte) {
	var length [binary.MaxVarintLen64]byte
	k := 1 + binary.PutUvarint(length[1:], uint64(len(v)))
	size := t.mem()
	if need := k + len(v); !fits(size, need) || (size-need)/8 > maxFree {
		size = allocSize(need)
		t.ref = unsafe.Pointer(unsafe.SliceData(make([]byte, size)))
	}
	length[0] = uint8(min((size-k-len(v))/8, maxFree))
	b := unsafe.Slice((*byte)(t.ref), size)
	copy(b, length[:k])
	copy(b[k:], v)
}
