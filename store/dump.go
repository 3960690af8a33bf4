package store

import (
	"iter"
	"unsafe"
)

// Value is what a key holds, without the key: what DUMP takes apart, and RESTORE puts together.
type Value struct{ e entry } // linked nowhere

// Values ranges over all keys, those included whose time has come. The keyspace must not change meanwhile.
func (db *DB) Values() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for n := range db.keys.All() {
			if !yield(n.Key, n.Val.value()) {
				return
			}
		}
	}
}

// value is e without its place among the keys that expire.
func (e *entry) value() Value {
	return Value{entry{typ: e.typ, enc: e.enc, ref: e.ref, n: e.n, expire: e.expire, lru: e.lru}}
}

// Expire is the unix time in ms at which the key of v expires, 0 for never.
func (v Value) Expire() int64 { return v.e.expire }

// Address is where the value is, for DEBUG OBJECT.
func (v Value) Address() unsafe.Pointer { return v.e.ref }

// Encoding is the answer of OBJECT ENCODING.
func (v Value) Encoding() string { return v.e.encoding() }

// Type tells which of the following to call.
func (v Value) Type() Type { return v.e.typ }

// Text is the value of a string.
func (v Value) Text() []byte {
	if v.e.enc == encInt {
		return v.e.appendString(nil)
	}
	return v.e.bytes()
}

// As is the value of a collection of that type.
func As[T collection](v Value) T { return *(*T)(unsafe.Pointer(&v.e.ref)) }

// TextValue is a string, of which it makes a copy.
func TextValue(text []byte) (v Value) {
	v.e.setString(text)
	return v
}

// ValueOf is a collection that no key holds yet.
func ValueOf[T collection](c T) Value {
	return Value{entry{typ: typeOf[T](), ref: *(*unsafe.Pointer)(unsafe.Pointer(&c))}}
}

// Nodes is the number of Packs.
func (l *List) Nodes() (n int) {
	for nd := l.head; nd != nil; nd = nd.next {
		n++
	}
	return n
}

// Packs ranges over the nodes, which must not be changed.
func (l *List) Packs() iter.Seq[*Pack] {
	return func(yield func(*Pack) bool) {
		for nd := l.head; nd != nil && yield(&nd.Pack); nd = nd.next {
		}
	}
}
