package store

import "unsafe"

// collection is the pointer types that a key can hold besides a string.
type collection interface {
	*List | *Set | *ZSet | *Hash | *Stream
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
	return *(*T)(unsafe.Pointer(&e.ref)), nil
}

// WriteAt is ReadAt for a collection that may be changed. Settle accounts for the change.
func WriteAt[T collection](k Key) (T, error) {
	v, err := ReadAt[T](k)
	if v != nil {
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
	e := k.entry()
	return sizerOf(e.typ, e.ref).Len(), nil
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
		v = newCollection[T](db.ks)
		putAt(k, key, v)
	}
	return v, err
}

func newCollection[T collection](ks *Keyspace) T {
	var ref unsafe.Pointer
	switch typeOf[T]() {
	case TypeList:
		ref = unsafe.Pointer(NewList(ks))
	case TypeSet:
		ref = unsafe.Pointer(NewSet(ks))
	case TypeZSet:
		ref = unsafe.Pointer(NewZSet(ks))
	case TypeHash:
		ref = unsafe.Pointer(NewHash(ks))
	default:
		ref = unsafe.Pointer(NewStream(ks))
	}
	return *(*T)(unsafe.Pointer(&ref))
}

// Put stores a collection at key, over whatever key holds, without a TTL.
func Put[T collection](db *DB, key []byte, v T) { putAt(db.Lookup(key, LookupWrite), key, v) }

func putAt[T collection](k Key, name []byte, v T) {
	e := &k.db.keys.at(k.replace(name, false)).Val
	e.typ, e.enc, e.n = typeOf[T](), 0, 0
	e.ref = *(*unsafe.Pointer)(unsafe.Pointer(&v))
	k.db.ks.valueBytes += e.size()
	k.db.ks.track(e)
}
