package store

import (
	"runtime"
	"strconv"
	"unsafe"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// Type is the type of a value.
type Type uint8

// The types of values. Their numbers are not those of Redis.
const (
	TypeString Type = iota
	TypeList
	TypeSet
	TypeZSet
	TypeHash
	TypeStream
)

// String is the name of the type in the reply of TYPE.
func (t Type) String() string {
	return [...]string{"string", "list", "set", "zset", "hash", "stream"}[t]
}

// strEnc is the encoding of a string (object.c: tryObjectEncoding).
type strEnc uint8

const (
	encInt    strEnc = iota // the number is in entry.n, there are no bytes
	encEmbstr               // at most embstrLimit bytes, and not changed in place
	encRaw                  // longer, or changed in place
)

// embstrLimit is object.c: OBJ_ENCODING_EMBSTR_SIZE_LIMIT.
const embstrLimit = 44

// entry is what the keyspace knows about a key, without its name. In Redis these are an robj, a
// dictEntry and a place among the expires. Here they take 40 bytes, and 64 with the share of the
// table. typ says what ref points to: bytes, *List, *Hash and so on. Besides views of strings, ref
// is the only use of unsafe in this package. An interface and a slice header instead of ref would
// cost 24 bytes and one cache miss more for each key, a fifth of the memory of a lock.
type entry struct {
	ref    unsafe.Pointer
	n      uint64 // of a string: length and capacity, 32 bits each; of encInt: the number
	expire int64  // unix ms, 0 for never
	prev   uint32 // links of the wheel
	next   uint32
	lru    uint32 // 24 bits as in server.h: seconds, or LFU minutes and counter
	typ    Type
	enc    strEnc
}

// bytes is the value of a string that is not encInt.
func (e *entry) bytes() []byte {
	return unsafe.Slice((*byte)(e.ref), int(e.n>>32))[:uint32(e.n)]
}

func (e *entry) setBytes(b []byte) {
	e.ref = unsafe.Pointer(unsafe.SliceData(b))
	e.n = uint64(cap(b))<<32 | uint64(len(b))
}

// sizer is the methods of every collection that the keyspace needs.
type sizer interface {
	Len() int
	Encoding() string
	size() int
}

func sizerOf(typ Type, ref unsafe.Pointer) sizer {
	switch typ {
	case TypeList:
		return (*List)(ref)
	case TypeSet:
		return (*Set)(ref)
	case TypeZSet:
		return (*ZSet)(ref)
	case TypeHash:
		return (*Hash)(ref)
	default:
		return (*Stream)(ref)
	}
}

// size is the memory of the value alone, in bytes.
func (e *entry) size() int {
	if e.typ != TypeString {
		return sizerOf(e.typ, e.ref).size()
	}
	if e.enc == encInt {
		return 0
	}
	return allocSize(int(e.n >> 32))
}

func (e *entry) encoding() string {
	if e.typ != TypeString {
		return sizerOf(e.typ, e.ref).Encoding()
	}
	return [...]string{"int", "embstr", "raw"}[e.enc]
}

// cloneValue is a deep copy of the value, without TTL and links of the wheel.
func (e *entry) cloneValue() entry {
	c := entry{typ: e.typ, enc: e.enc, lru: e.lru, n: e.n}
	switch e.typ {
	case TypeString:
		if e.enc != encInt {
			c.setBytes(append([]byte(nil), e.bytes()...))
		}
	case TypeList:
		c.ref = unsafe.Pointer((*List)(e.ref).clone())
	case TypeSet:
		c.ref = unsafe.Pointer((*Set)(e.ref).clone())
	case TypeZSet:
		c.ref = unsafe.Pointer((*ZSet)(e.ref).clone())
	case TypeHash:
		c.ref = unsafe.Pointer((*Hash)(e.ref).clone())
	case TypeStream:
		c.ref = unsafe.Pointer((*Stream)(e.ref).clone())
	}
	return c
}

// setString stores val in the encoding that Redis chooses: as a number if printing the number gives
// val, else as bytes. It reuses the memory of the old value if val fits, so overwriting does not
// allocate.
func (e *entry) setString(val []byte) {
	if v, ok := ascii.ParseInt(val); ok {
		e.setInt(v)
		return
	}
	e.setText(val)
}

// setText stores val as bytes even if it spells a number.
func (e *entry) setText(val []byte) {
	enc := encRaw
	if len(val) <= embstrLimit {
		enc = encEmbstr
	}
	if e.typ == TypeString && e.enc != encInt && fits(int(e.n>>32), len(val)) {
		e.setBytes(append(e.bytes()[:0], val...))
	} else if len(val) <= copyStep {
		e.setBytes(append([]byte(nil), val...))
	} else {
		e.setBytes(copyInSteps(val))
	}
	e.typ, e.enc = TypeString, enc
}

// copyStep is the number of bytes copied in one piece. The collector can stop a goroutine only
// before and after such a copy, and meanwhile it interrupts the goroutine with signals. In one
// piece, a first SET of 200 MB took four times as long.
const copyStep = 1 << 20

func copyInSteps(val []byte) []byte {
	c := make([]byte, len(val))
	for at := 0; at < len(val); at += copyStep {
		copy(c[at:], val[at:min(at+copyStep, len(val))])
		runtime.Gosched()
	}
	return c
}

// fits reports whether n bytes may use a block of have bytes. They may not if they need a much
// smaller size class.
func fits(have, n int) bool { return n <= have && have <= allocSize(n)+allocSize(n)/4 }

func (e *entry) setInt(v int64) {
	e.typ, e.enc, e.ref, e.n = TypeString, encInt, nil, uint64(v)
}

// appendString appends the text of a string.
func (e *entry) appendString(dst []byte) []byte {
	if e.enc == encInt {
		return strconv.AppendInt(dst, int64(e.n), 10)
	}
	return append(dst, e.bytes()...)
}
