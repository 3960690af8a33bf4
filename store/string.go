package store

import (
	"math"
	"strconv"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// Str returns the string at key for a command that reads. The bytes are valid until the
// next change of the keyspace or the next call for another string.
func (db *DB) Str(key []byte) (b []byte, ok bool, err error) {
	k := db.Lookup(key, LookupNone)
	b, err = k.Str()
	return b, k.node != 0 && err == nil, err
}

// SetStr stores a string at key, over whatever key holds (db.c: setKey).
func (db *DB) SetStr(key, val []byte, keepTTL bool) {
	db.Lookup(key, LookupWrite).SetStr(key, val, keepTTL)
}

// Str is the string, nil for a missing key. The bytes are valid until the next change of
// the keyspace or the next call for another string.
func (k Key) Str() ([]byte, error) {
	if k.node == 0 {
		return nil, nil
	}
	e := k.entry()
	switch {
	case e.typ != TypeString:
		return nil, ErrWrongType
	case e.enc == encInt:
		return strconv.AppendInt(k.db.ks.scratch[:0], int64(e.n), 10), nil
	}
	return e.bytes(), nil
}

// Lend says that a reply refers to bytes of the string. From now on the bytes stay as they are: the next
// change of the string puts other bytes in their place. The string must be raw.
func (k Key) Lend() { k.entry().enc = encLent }

// Int is the number that a string spells, 0 for a missing key; ErrNotInt if it spells none.
func (k Key) Int() (int64, error) {
	if k.node == 0 {
		return 0, nil
	}
	e := k.entry()
	switch {
	case e.typ != TypeString:
		return 0, ErrWrongType
	case e.enc == encInt:
		return int64(e.n), nil
	}
	v, ok := ascii.ParseInt(e.bytes())
	if !ok {
		return 0, ErrNotInt
	}
	return v, nil
}

// Private reports whether Redis keeps the number of this key apart from those of other keys. A copy is
// (object.c: dupStringObject).
func (k Key) Private() bool { return k.entry().lp == private }

// SetStr stores a string, over whatever the key holds (db.c: setKey). The key may be missing.
func (k Key) SetStr(name, val []byte, keepTTL bool) { k.setStr(name, val, keepTTL) }

// SetStrUntil is SetStr with a TTL: the key expires at the unix time at, in ms.
func (k Key) SetStrUntil(name, val []byte, at int64) { k.db.setExpire(k.setStr(name, val, true), at) }

// setStr is SetStr (db.c: setKey). It returns the node of the key.
func (k Key) setStr(name, val []byte, keepTTL bool) uint32 {
	i := k.replace(name, keepTTL)
	e := &k.db.keys.at(i).Val
	e.setString(val)
	k.db.ks.valueBytes += e.stringSize()
	return i
}

// SetText stores text even where it spells a number, and keeps the TTL. The key holds a
// string, or is missing.
func (k Key) SetText(name, text []byte) {
	e := &k.db.keys.at(k.replace(name, true)).Val
	e.setText(text)
	k.db.ks.valueBytes += e.size()
}

// SetRaw stores bytes that become the store's own, over whatever the key holds. The
// encoding is raw even if they are few. The key may be missing. SetRaw returns the memory of the raw
// string that it replaces, which now belongs to the caller, or nil.
func (k Key) SetRaw(name, own []byte, keepTTL bool) (old []byte) {
	e := &k.db.keys.at(k.replace(name, keepTTL)).Val
	if e.enc == encRaw {
		old = e.bytes()
	}
	e.typ, e.enc = TypeString, encRaw
	e.setBytes(own)
	k.db.ks.valueBytes += e.size()
	return old
}

// IncrBy adds to the number, which is 0 for a missing key, and keeps the TTL.
func (k Key) IncrBy(name []byte, delta int64) (int64, error) {
	if k.node != 0 {
		if e := k.entry(); e.enc == encInt && !overflows(int64(e.n), delta) {
			k.db.keep(k.node)
			e.n += uint64(delta)
			e.lp = 0
			return int64(e.n), nil
		}
	}
	old, err := k.Int()
	if err != nil {
		return 0, err
	}
	if overflows(old, delta) {
		return 0, ErrOverflow
	}
	e := &k.db.keys.at(k.replace(name, true)).Val
	e.setInt(old + delta)
	k.db.ks.valueBytes += e.size()
	return old + delta, nil
}

func overflows(a, b int64) bool {
	return b > 0 && a > math.MaxInt64-b || b < 0 && a < math.MinInt64-b
}

// Append adds val to the end of the string and returns the new length. If the result were
// longer than limit, it changes nothing and returns ErrStringLimit. A missing key has no limit.
func (k Key) Append(name, val []byte, limit int) (int, error) {
	if k.node == 0 {
		k.setStr(name, val, false)
		return len(val), nil
	}
	e, ks := k.entry(), k.db.ks
	if e.typ != TypeString {
		return 0, ErrWrongType
	}
	k.db.keep(k.node)
	if e.enc == encInt {
		e.setText(e.appendString(nil))
		ks.valueBytes += e.size()
	}
	b := e.bytes()
	if len(val) > limit-len(b) {
		return 0, ErrStringLimit
	}
	ks.valueBytes -= e.size()
	b = append(b, val...)
	if e.enc != encLent {
		e.enc = encRaw
	}
	e.setBytes(b)
	ks.valueBytes += e.size()
	return len(b), nil
}

// MutStr returns the string as bytes, of which those from from to n may be changed in place. It adds
// zeros where the string is shorter than n, makes the encoding raw and keeps the TTL. A missing key
// is stored.
func (k Key) MutStr(name []byte, from, n int) ([]byte, error) {
	e, ks := (*entry)(nil), k.db.ks
	if k.node == 0 {
		e = &k.db.keys.at(k.add(name)).Val
		e.enc = encRaw
	} else if e = k.entry(); e.typ != TypeString {
		return nil, ErrWrongType
	} else {
		k.db.keep(k.node)
	}
	ks.valueBytes -= e.size()
	if e.enc == encInt {
		e.setBytes(e.appendString(nil))
	}
	b := e.bytes()
	if e.enc == encLent {
		b = append(make([]byte, 0, max(n, len(b))), b...)
	}
	if ks.lentTexts != nil {
		ks.changeText(e, from, n)
	}
	if short := n - len(b); short > 0 {
		b = append(b, make([]byte, short)...)
	}
	e.enc = encRaw
	e.setBytes(b)
	ks.valueBytes += e.size()
	return b, nil
}
