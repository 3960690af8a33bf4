package miniredis

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// RedisDB is one database of a server.
type RedisDB struct {
	m  *Miniredis
	id int
}

// The errors that methods return. Other errors have the text of the server's reply.
var (
	ErrKeyNotFound           = errors.New("ERR no such key")
	ErrWrongType             = errors.New("WRONGTYPE Operation against a key holding the wrong kind of value")
	ErrNotValidHllValue      = errors.New("WRONGTYPE Key is not a valid HyperLogLog string value.")
	ErrIntValueError         = errors.New("ERR value is not an integer or out of range")
	ErrIntValueOverflowError = errors.New("ERR increment or decrement would overflow")
	ErrFloatValueError       = errors.New("ERR value is not a valid float")
)

// DB returns a database.
func (m *Miniredis) DB(i int) *RedisDB { return &RedisDB{m, i} }

// Select selects the database of the methods of m.
func (m *Miniredis) Select(i int) { m.RedisDB = m.DB(i) }

// SwapDB swaps two databases.
func (m *Miniredis) SwapDB(i, j int) bool {
	_, err := m.do("SWAPDB", strconv.Itoa(i), strconv.Itoa(j))
	return err == nil
}

// server returns the server, with this database selected.
func (db *RedisDB) server() *miniredistest.Server {
	if db.m.srv == nil {
		db.m.t.Fatalf("miniredis: the server is closed")
	}
	db.m.asked.Add(1)
	return db.m.srv.DB(db.id)
}

// do executes a command in the database.
func (db *RedisDB) do(args ...string) (resp.Value, error) {
	v, err := db.server().Try(args...)
	if err == nil {
		return v, nil
	}
	for _, known := range []error{
		ErrWrongType, ErrNotValidHllValue, ErrIntValueError, ErrIntValueOverflowError, ErrFloatValueError,
	} {
		if err.Error() == known.Error() {
			return v, known
		}
	}
	return v, err
}

// must is do for a command that cannot get an error. It fails the test.
func (db *RedisDB) must(args ...string) resp.Value {
	v, err := db.do(args...)
	if err != nil {
		db.m.t.Fatalf("miniredis: %s: %v", strings.Join(args, " "), err)
	}
	return v
}

// number executes a command that replies with an integer.
func (db *RedisDB) number(args ...string) (int, error) {
	v, err := db.do(args...)
	return int(v.Int), err
}

// text executes a command that replies with a string. Nil is ErrKeyNotFound.
func (db *RedisDB) text(args ...string) (string, error) {
	v, err := db.do(args...)
	if err == nil && v.Null {
		err = ErrKeyNotFound
	}
	return v.Str, err
}

// texts executes a command that replies with strings. No string is ErrKeyNotFound: Redis deletes a
// collection with its last element.
func (db *RedisDB) texts(args ...string) ([]string, error) {
	v, err := db.do(args...)
	if err == nil && len(v.Elems) == 0 {
		err = ErrKeyNotFound
	}
	return stringsOf(v), err
}

func stringsOf(v resp.Value) (all []string) {
	for _, e := range v.Elems {
		all = append(all, e.Str)
	}
	return all
}

// float executes a command that replies with a number as text.
func (db *RedisDB) float(args ...string) (float64, error) {
	text, err := db.text(args...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// has returns ErrKeyNotFound if there is no such key.
func (db *RedisDB) has(k string) error {
	if !db.Exists(k) {
		return ErrKeyNotFound
	}
	return nil
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Keys returns all keys, sorted.
func (db *RedisDB) Keys() []string {
	keys := stringsOf(db.must("KEYS", "*"))
	slices.Sort(keys)
	return keys
}

// Exists reports whether there is a key.
func (db *RedisDB) Exists(k string) bool { return db.must("EXISTS", k).Int == 1 }

// Type returns the type of a value, or "" for no key.
func (db *RedisDB) Type(k string) string {
	if t := db.must("TYPE", k).Str; t != "none" {
		return t
	}
	return ""
}

// Del deletes a key, and reports whether there was one.
func (db *RedisDB) Del(k string) bool { return db.must("DEL", k).Int == 1 }

// Unlink is Del.
func (db *RedisDB) Unlink(k string) bool { return db.must("UNLINK", k).Int == 1 }

// TTL returns how long a key stays, or 0 if it has no TTL or does not exist.
func (db *RedisDB) TTL(k string) time.Duration {
	return time.Duration(max(db.must("PTTL", k).Int, 0)) * time.Millisecond
}

// SetTTL sets the TTL of a key. 0 removes it.
func (db *RedisDB) SetTTL(k string, ttl time.Duration) {
	if ttl == 0 {
		db.must("PERSIST", k)
		return
	}
	db.must("PEXPIRE", k, strconv.FormatInt(ttl.Milliseconds(), 10))
}

// FlushDB deletes all keys of the database.
func (db *RedisDB) FlushDB() { db.must("FLUSHDB") }

// FlushAll deletes all keys of all databases.
func (m *Miniredis) FlushAll() { m.must("FLUSHALL") }

// Dump describes every key of the database in a line.
func (m *Miniredis) Dump() string { return m.server().Dump() }

// Copy copies a key. It replaces a key that exists.
func (m *Miniredis) Copy(srcDB int, src string, destDB int, dest string) error {
	copied, err := m.DB(srcDB).number("COPY", src, dest, "DB", strconv.Itoa(destDB), "REPLACE")
	if err == nil && copied == 0 {
		err = ErrKeyNotFound
	}
	return err
}
