package store

import "unsafe"

// collection is the pointer types that a key can hold besides a string.
type collection interface {
	*List | *Set | *ZSet | *Hash | *Stream
}

// handle is a List, a Set, a ZSet or a Hash while a command uses it: the place of the value, which stays in
// the entry of its key. So a small collection is one block, without a struct of its own. Handles hold
// no state, and a keyspace lends the same ones to every command. A Stream has no handle: there ref
// points to the Stream itself.
type handle struct {
	ks *Keyspace
	e  *entry
}

// open returns a handle of e for the rest of the command. A key that is opened twice takes one place.
func (ks *Keyspace) open(e *entry) *handle {
	for i := range ks.handles[:ks.opened] {
		if ks.handles[i].e == e {
			return &ks.handles[i]
		}
	}
	if ks.opened == len(ks.handles) {
		return &handle{ks, e}
	}
	h := &ks.handles[ks.opened]
	h.ks, h.e = ks, e
	ks.opened++
	return h
}

// unbound is a handle of a collection that no key holds.
func unbound(ks *Keyspace, typ Type, enc encoding) handle {
	return handle{ks, &entry{typ: typ, enc: enc}}
}

// handled reports whether collections of the type have handles.
func (t Type) handled() bool { return t != TypeStream }

// collectionIn returns the collection in e, which must have its type.
func collectionIn[T collection](ks *Keyspace, e *entry) T {
	ref := e.ref
	if e.typ.handled() {
		ref = unsafe.Pointer(ks.open(e))
	}
	return *(*T)(unsafe.Pointer(&ref))
}

func typeOf[T collection]() Type {
	var zero T
	switch any(zero).(type) {
	case *List:
		return TypeList
	case *Set:
		return TypeSet
	case *ZSet:
		return TypeZSet
	case *Hash:
		return TypeHash
	default:
		return TypeStream
	}
}

// ReadAt returns the collection of a key that was looked up: nil if the key is missing,
// ErrWrongType if it holds another type. The collection must not be changed.
func ReadAt[T collection](k Key) (T, error) {
	if k.node == 0 {
		return nil, nil
	}
	e := k.entry()
	if e.typ != typeOf[T]() {
		return nil, ErrWrongType
	}
	if e.timed&timedFields != 0 {
		e = k.shown()
	}
	return collectionIn[T](k.db.ks, e), nil
}

// WriteAt is ReadAt for a collection that may be changed. Settle accounts for the change.
func WriteAt[T collection](k Key) (T, error) {
	v, err := ReadAt[T](k)
	if v != nil {
		k.db.keep(k.node)
		k.db.ks.track(k.entry())
	}
	return v, err
}

// Read returns the collection at key for a command that reads.
func Read[T collection](db *DB, key []byte) (T, error) { return ReadAt[T](db.Lookup(key, LookupNone)) }

// ReadToChange is Read for a command that changes the collection although Redis counts it
// as one that reads: the commands of consumer groups.
func ReadToChange[T collection](db *DB, key []byte) (T, error) {
	return WriteAt[T](db.Lookup(key, LookupNone))
}

// ReadLen is the number of elements of the collection at key, 0 if key is missing.
func ReadLen[T collection](db *DB, key []byte) (int, error) {
	k := db.Lookup(key, LookupNone)
	if v, err := ReadAt[T](k); v == nil {
		return 0, err
	}
	return k.Elements(), nil
}

// Write returns the collection at key for a command that changes it.
func Write[T collection](db *DB, key []byte) (T, error) {
	return WriteAt[T](db.Lookup(key, LookupWrite))
}

// WriteOrNew is Write that stores an empty collection if key is missing. The caller puts
// an element in before the command ends.
func WriteOrNew[T collection](db *DB, key []byte) (T, error) {
	k := db.Lookup(key, LookupWrite)
	v, err := WriteAt[T](k)
	if v == nil && err == nil {
		v = collectionIn[T](k.db.ks, putAt(k, key, empty[T](k.db.ks)))
	}
	return v, err
}

// empty is the entry of an empty collection.
func empty[T collection](ks *Keyspace) entry {
	e := entry{typ: typeOf[T]()}
	switch e.typ {
	case TypeStream:
		e.ref = unsafe.Pointer(NewStream(ks))
	case TypeSet:
		e.enc = encInts16
	}
	return e
}

// Put stores a collection at key, over whatever key holds, without a TTL. From then on v is what key
// holds.
func Put[T collection](db *DB, key []byte, v T) {
	e := putAt(db.Lookup(key, LookupWrite), key, ValueOf(v).e)
	if e.typ.handled() {
		(*(**handle)(unsafe.Pointer(&v))).e = e
	}
}

func putAt(k Key, name []byte, v entry) *entry {
	i := k.replace(name, false)
	e := &k.db.keys.at(i).Val
	e.typ, e.enc, e.lp, e.n, e.ref = v.typ, v.enc, v.lp, v.n, v.ref
	if v.timed&timedFields != 0 {
		e.timed |= timedFields
		e.timedHash().bind(k.db, i)
	}
	k.db.ks.valueBytes += e.size()
	k.db.ks.track(e)
	return e
}
