package store

import (
	"math"
	"strconv"
)

// text is the value as bytes: its own, or a scratch holding the number.
func (db *DB) text(e *entry) ([]byte, bool, error) {
	switch {
	case e == nil:
		return nil, false, nil
	case e.typ != TypeString:
		return nil, false, ErrWrongType
	case e.enc == encInt:
		return strconv.AppendInt(db.ks.scratch[:0], int64(e.n), 10), true, nil
	}
	return e.bytes(), true, nil
}

// Str returns the string at key. The bytes are good until the next change of
// the keyspace or the next call for another string.
func (db *DB) Str(key []byte) (b []byte, ok bool, err error) { return db.text(db.read(key)) }

// PeekStr is Str without counting and without refreshing the LRU clock.
func (db *DB) PeekStr(key []byte) (b []byte, ok bool, err error) { return db.text(db.peek(key)) }

// SetStr stores a string, over whatever was there.
func (db *DB) SetStr(key, val []byte, keepTTL bool) { db.setStr(key, val, keepTTL) }

// SetStrUntil is SetStr with a TTL: the key expires at the unix time at, in ms.
func (db *DB) SetStrUntil(key, val []byte, at int64) {
	db.setExpire(db.setStr(key, val, true), at)
}

func (db *DB) setStr(key, val []byte, keepTTL bool) uint32 {
	i := db.create(key, keepTTL)
	e := &db.keys.at(i).Val
	e.setString(val)
	db.ks.valueBytes += e.size()
	return i
}

// SetInt stores a number as a string, keeping the TTL. The caller knows that
// key holds a string or nothing.
func (db *DB) SetInt(key []byte, v int64) {
	e := &db.keys.at(db.create(key, true)).Val
	e.setInt(v)
	db.ks.valueBytes += e.size()
}

// Int is the number at key; ErrNotInt when the string is none.
func (db *DB) Int(key []byte) (v int64, ok bool, err error) { return number(db.write(key)) }

// PeekInt is Int without refreshing the LRU clock.
func (db *DB) PeekInt(key []byte) (v int64, ok bool, err error) { return number(db.peek(key)) }

func number(e *entry) (v int64, ok bool, err error) {
	switch {
	case e == nil:
		return 0, false, nil
	case e.typ != TypeString:
		return 0, false, ErrWrongType
	case e.enc == encInt:
		return int64(e.n), true, nil
	}
	if v, ok = ParseInt(e.bytes()); !ok {
		return 0, true, ErrNotInt
	}
	return v, true, nil
}

// IncrBy adds to the number at key (0 when absent), keeping the TTL.
func (db *DB) IncrBy(key []byte, delta int64) (int64, error) {
	if e := db.write(key); e != nil && e.typ == TypeString && e.enc == encInt {
		old := int64(e.n)
		if overflows(old, delta) {
			return 0, ErrOverflow
		}
		e.n = uint64(old + delta)
		return old + delta, nil
	}
	old, _, err := db.Int(key)
	if err != nil {
		return 0, err
	}
	if overflows(old, delta) {
		return 0, ErrOverflow
	}
	db.SetInt(key, old+delta)
	return old + delta, nil
}

func overflows(a, b int64) bool {
	return b > 0 && a > math.MaxInt64-b || b < 0 && a < math.MinInt64-b
}

// SetText stores text as it is, be it a number or not, keeping the TTL. The
// caller knows that key holds a string or nothing.
func (db *DB) SetText(key, text []byte) {
	e := &db.keys.at(db.create(key, true)).Val
	e.setText(text)
	db.ks.valueBytes += e.size()
}

// SetRaw stores bytes that become the store's own, over whatever was there; the
// encoding is raw however few they are.
func (db *DB) SetRaw(key, own []byte, keepTTL bool) {
	e := &db.keys.at(db.create(key, keepTTL)).Val
	e.typ, e.enc = TypeString, encRaw
	e.setBytes(own)
	db.ks.valueBytes += e.size()
}

// Append adds val behind the string at key and returns the new length. Over
// limit it does nothing and returns ErrStringLimit; a new key has no limit.
func (db *DB) Append(key, val []byte, limit int) (int, error) {
	e := db.write(key)
	if e == nil {
		db.setStr(key, val, false)
		return len(val), nil
	}
	if e.typ != TypeString {
		return 0, ErrWrongType
	}
	if e.enc == encInt {
		e.setText(e.appendString(nil))
		db.ks.valueBytes += e.size()
	}
	b := e.bytes()
	if len(val) > limit-len(b) {
		return 0, ErrStringLimit
	}
	db.ks.valueBytes -= e.size()
	b = append(b, val...)
	e.enc = encRaw
	e.setBytes(b)
	db.ks.valueBytes += e.size()
	return len(b), nil
}

// MutStr returns the string at key as bytes to be changed in place, at least n
// long, zeros added; the encoding becomes raw and the TTL stays. A longer result
// is made by calling with the new length.
func (db *DB) MutStr(key []byte, n int) ([]byte, error) {
	e := db.write(key)
	if e == nil {
		e = &db.keys.at(db.create(key, true)).Val
		e.enc = encRaw
	} else if e.typ != TypeString {
		return nil, ErrWrongType
	}
	db.ks.valueBytes -= e.size()
	if e.enc == encInt {
		e.setBytes(e.appendString(nil))
	}
	b := e.bytes()
	if short := n - len(b); short > 0 {
		b = append(b, make([]byte, short)...)
	}
	e.enc = encRaw
	e.setBytes(b)
	db.ks.valueBytes += e.size()
	return b, nil
}
