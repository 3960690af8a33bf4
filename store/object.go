package store

import (
	"encoding/binary"
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

// encoding is the form of a value within its type.
type encoding uint8

// The encodings. Those of collections are the first, because a deleted entry is all zeros: an empty pack.
// The encodings of strings are those of object.c: tryObjectEncoding.
const (
	encPack   encoding = iota // small collections: ref points to the block of a Pack
	encTable                  // large ones: ref points to a *Table, *hashTable, *zsetIndex or *quicklist
	encInt                    // strings: the number is in entry.n, there are no bytes
	encEmbstr                 // strings of at most embstrLimit bytes, not changed in place
	encRaw                    // strings that are longer, or were changed in place
	encLent                   // raw, and the bytes must not change, because a reply may refer to them
	encPaged                  // raw, in a capture: ref points to a *lentText
	encInts16                 // sets: ref points to the block of an intset
	encInts32
	encInts64
)

// timedBy says what of a key has a deadline. It is 0 for most keys, which is all that a look-up asks.
type timedBy uint8

const (
	timedKey    timedBy = 1 << iota // the key: its deadline is in DB.wheel
	timedFields                     // fields of the hash: ref points to a *timedHash
)

// private is entry.lp of a number that Redis does not share with other keys, although it is small.
const private = 1

// embstrLimit is object.c: OBJ_ENCODING_EMBSTR_SIZE_LIMIT.
const embstrLimit = 44

// entry is what the keyspace knows about a key, without its name and its deadline. In Redis these
// are an robj and a dictEntry. Here they take 24 bytes, and 33 with the links of the table. typ and
// enc say what ref points to: a block of bytes, *quicklist, *Table and so on. So files that read a
// value use unsafe. An interface and a slice header instead of blob would cost 24 bytes and one cache
// miss more for each key.
type entry struct {
	blob           // of encInt: n is the number; of a large collection: ref points to it
	lruLow  uint16 // see lru
	lruHigh uint8
	timed   timedBy
	typ     Type
	enc     encoding
	lp      uint16 // of a small list: the size of its entries in Redis's listpack; of encInt: see private
}

// blob is a block of bytes, as a slice in 16 bytes.
type blob struct {
	ref unsafe.Pointer
	n   uint64 // capacity and length, 32 bits each
}

func (b *blob) cap() int { return int(b.n >> 32) }

// bytes is a string that is not encInt, a small collection, or a value of a hash.
func (b *blob) bytes() []byte { return unsafe.Slice((*byte)(b.ref), b.cap())[:uint32(b.n)] }

func (b *blob) setBytes(v []byte) {
	b.ref = unsafe.Pointer(unsafe.SliceData(v))
	b.n = uint64(cap(v))<<32 | uint64(len(v))
}

// pack is the value of a collection that is encPack. A change of the copy is stored with setPack.
func (e *entry) pack() Pack {
	if e.ref == nil {
		return Pack{}
	}
	b := e.bytes()
	if cap(b) <= smallBlock {
		return Pack{b: b, n: uint32(b[0]), head: uint32(b[1])}
	}
	return Pack{b: b, n: binary.LittleEndian.Uint32(b), head: binary.LittleEndian.Uint32(b[4:])}
}

func (e *entry) setPack(l *Pack) {
	if cap(l.b) <= smallBlock {
		l.b[0], l.b[1] = uint8(l.n), uint8(l.head)
	} else {
		binary.LittleEndian.PutUint32(l.b, l.n)
		binary.LittleEndian.PutUint32(l.b[4:], l.head)
	}
	e.setBytes(l.b)
	e.enc = encPack
}

// reserveMax bounds the memory that reserve allocates, in bytes. Larger arguments may not fit a pack.
const reserveMax = 8192

// reserve gives an empty collection a pack with room for entries of that many bytes together. A command
// that adds several entries then allocates once.
func (e *entry) reserve(bytes int) {
	if bytes <= reserveMax {
		var l Pack
		l.settle(block(nil, bytes))
		e.setPack(&l)
	}
}

// setRef makes a large form of a collection the value.
func (e *entry) setRef(ref unsafe.Pointer) { e.ref, e.n, e.enc = ref, 0, encTable }

func (e *entry) stringSize() int {
	if e.enc == encInt {
		return 0
	}
	return allocSize(e.cap())
}

// size is the memory of the value alone, in bytes.
func (e *entry) size() int {
	switch {
	case e.typ == TypeStream:
		return (*Stream)(e.ref).size()
	case e.typ == TypeString:
		return e.stringSize()
	case e.enc != encTable:
		return allocSize(e.cap())
	case e.typ == TypeList:
		return (*quicklist)(e.ref).size()
	case e.typ == TypeSet:
		return (*Table[struct{}])(e.ref).size()
	case e.typ == TypeZSet:
		return (*zsetIndex)(e.ref).size()
	}
	if e.timed&timedFields != 0 {
		return e.timedHash().size()
	}
	return (*hashTable)(e.ref).size()
}

// len is the number of elements of a collection.
func (e *entry) len() int {
	switch e.typ {
	case TypeList:
		return (&List{handle{e: e}}).Len()
	case TypeStream:
		return (*Stream)(e.ref).Len()
	case TypeSet:
		return (&Set{handle{e: e}}).Len()
	case TypeZSet:
		return (&ZSet{handle{e: e}}).Len()
	}
	return (&Hash{handle{e: e}}).Len()
}

func (e *entry) encoding() string {
	switch e.typ {
	case TypeString:
		return e.stringEncoding()
	case TypeStream:
		return (*Stream)(e.ref).Encoding()
	}
	switch {
	case e.enc == encPack:
		return "listpack"
	case e.enc == encTable && e.typ == TypeList:
		return (*quicklist)(e.ref).encoding()
	case e.enc == encTable && e.typ == TypeZSet:
		return "skiplist"
	case e.timed&timedFields != 0 && e.timedHash().packed:
		return "listpackex"
	case e.enc == encTable:
		return "hashtable"
	}
	return "intset"
}

func (e *entry) stringEncoding() string {
	switch e.enc {
	case encInt:
		return "int"
	case encEmbstr:
		return "embstr"
	}
	return "raw"
}

// cloneValue is a deep copy of the value, without TTL and links of the wheel.
func (e *entry) cloneValue() entry {
	c := *e
	c.ref, c.timed = nil, e.timed&timedFields
	switch {
	case e.typ == TypeStream:
		c.ref = unsafe.Pointer((*Stream)(e.ref).clone())
	case e.enc == encInt:
	case e.enc == encPack:
		l := e.pack()
		l = l.clone()
		c.setPack(&l)
	case e.typ == TypeString || e.enc != encTable:
		c.setBytes(append([]byte(nil), e.bytes()...))
	case e.typ == TypeList:
		c.ref = unsafe.Pointer((*quicklist)(e.ref).clone())
	case e.typ == TypeSet:
		c.ref = unsafe.Pointer((*Table[struct{}])(e.ref).clone())
	case e.typ == TypeZSet:
		c.ref = unsafe.Pointer((*zsetIndex)(e.ref).clone())
	case e.timed&timedFields != 0:
		c.ref = unsafe.Pointer(e.timedHash().clone())
	default:
		c.ref = unsafe.Pointer((*hashTable)(e.ref).clone())
	}
	return c
}

// setString stores val in the encoding that Redis chooses (object.c: tryObjectEncoding): as a number if
// printing the number gives val, else as bytes. It reuses the memory of the old value if val fits, so
// overwriting does not allocate.
func (e *entry) setString(val []byte) {
	if v, ok := ascii.ParseInt(val); ok {
		e.setInt(v)
		return
	}
	e.setText(val)
}

// setText stores val as bytes even if it spells a number (object.c: createRawStringObject).
func (e *entry) setText(val []byte) {
	enc := encRaw
	if len(val) <= embstrLimit {
		enc = encEmbstr
	}
	if e.typ == TypeString && (e.enc == encEmbstr || e.enc == encRaw) && fits(e.cap(), len(val)) {
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
	e.typ, e.enc, e.ref, e.n, e.lp = TypeString, encInt, nil, uint64(v), 0
}

// appendString appends the text of a string.
func (e *entry) appendString(dst []byte) []byte {
	if e.enc == encInt {
		return strconv.AppendInt(dst, int64(e.n), 10)
	}
	return append(dst, e.bytes()...)
}
