package store

import (
	"iter"
	"unsafe"
)

// Value is the value of a key without the key. DUMP takes a Value apart, and RESTORE builds one.
type Value struct {
	e      entry
	expire int64 // unix ms, 0 for never
	ks     *Keyspace
}

// Values ranges over all keys, overdue ones included. The keyspace must not change meanwhile. A name
// is valid until its key is deleted.
func (db *DB) Values() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i := db.keys.nextLive(0); i != 0; i = db.keys.nextLive(i + 1) {
			n := db.keys.at(i)
			if !yield(n.Key(), db.value(i)) {
				return
			}
		}
	}
}

// value is the value of node i.
func (db *DB) value(i uint32) Value { return Value{db.keys.at(i).Val, db.deadline(i), db.ks} }

// Expire is the unix time in ms at which the key of v expires, 0 for never.
func (v Value) Expire() int64 { return v.expire }

// DropOverdue deletes the fields of a hash whose time has come, from a value that no key holds yet. It
// reports whether none is left.
func (v *Value) DropOverdue() (empty bool) { return v.ks != nil && v.e.dropOverdue(v.ks.passed()) }

// Address is the address of the value, for DEBUG OBJECT.
func (v Value) Address() unsafe.Pointer { return v.e.ref }

// Encoding is the reply of OBJECT ENCODING.
func (v Value) Encoding() string { return v.e.encoding() }

// Type is the type of the value. It decides whether Text or which As may be called.
func (v Value) Type() Type { return v.e.typ }

// Text is the bytes of a string.
func (v Value) Text() []byte {
	switch v.e.enc {
	case encInt:
		return v.e.appendString(nil)
	case encPaged:
		return (*lentText)(v.e.ref).bytes()
	}
	return v.e.bytes()
}

// As returns the collection. T must be the type of the value.
func As[T collection](v Value) T {
	ref := v.e.ref
	if v.e.typ.handled() {
		ref = unsafe.Pointer(&handle{v.ks, &v.e})
	}
	return *(*T)(unsafe.Pointer(&ref))
}

// TextValue makes a string from a copy of text.
func TextValue(text []byte) (v Value) {
	v.e.setString(text)
	return v
}

// ValueOf makes a Value of a collection that no key holds yet.
func ValueOf[T collection](c T) Value {
	ref := *(*unsafe.Pointer)(unsafe.Pointer(&c))
	if typeOf[T]().handled() {
		h := (*handle)(ref)
		return Value{e: *h.e, ks: h.ks}
	}
	return Value{e: entry{typ: typeOf[T](), blob: blob{ref: ref}}}
}
