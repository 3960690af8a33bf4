package store

import "unsafe"

// collection is the set of pointer types a key can hold besides a string.
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

func as[T collection](e *entry) (T, error) {
	if e == nil {
		return nil, nil
	}
	if e.typ != typeOf[T]() {
		return nil, ErrWrongType
	}
	return *(*T)(unsafe.Pointer(&e.ref)), nil
}

// Read returns the collection at key for a command that reads: nil when there
// is none, ErrWrongType when key holds another type.
func Read[T collection](db *DB, key []byte) (T, error) { return as[T](db.read(key)) }

// ReadToChange is Read for a command that changes the collection though Redis counts
// it as one that reads: those of consumer groups.
func ReadToChange[T collection](db *DB, key []byte) (T, error) {
	e := db.read(key)
	v, err := as[T](e)
	if v != nil {
		db.ks.touch(e)
	}
	return v, err
}

// ReadLen is the number of elements of the collection at key, 0 when there is none.
func ReadLen[T collection](db *DB, key []byte) (int, error) {
	e := db.read(key)
	if v, err := as[T](e); v == nil {
		return 0, err
	}
	return sizerOf(e.typ, e.ref).Len(), nil
}

// Write returns the collection at key for a command that changes it.
func Write[T collection](db *DB, key []byte) (T, error) {
	e := db.write(key)
	v, err := as[T](e)
	if v != nil {
		db.ks.touch(e)
	}
	return v, err
}

// WriteOrNew is Write that stores an empty collection when there is none; the
// caller puts something in before the command ends.
func WriteOrNew[T collection](db *DB, key []byte) (T, error) {
	v, err := Write[T](db, key)
	if v != nil || err != nil {
		return v, err
	}
	v = newCollection[T](db.ks)
	Put(db, key, v)
	return v, nil
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

// Put stores a collection under key, over whatever was there, without a TTL.
func Put[T collection](db *DB, key []byte, v T) {
	e := &db.keys.at(db.create(key, false)).Val
	e.typ, e.enc, e.n = typeOf[T](), 0, 0
	e.ref = *(*unsafe.Pointer)(unsafe.Pointer(&v))
	db.ks.valueBytes += e.size()
	db.ks.touch(e)
}

// DropIfEmpty deletes key when its collection has nothing left.
func (db *DB) DropIfEmpty(key []byte) bool {
	i := db.find(key)
	if i == 0 {
		return false
	}
	e := &db.keys.at(i).Val
	if e.typ == TypeString || e.typ == TypeStream || sizerOf(e.typ, e.ref).Len() > 0 {
		return false
	}
	db.remove(i)
	return true
}
