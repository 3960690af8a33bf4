package store

import (
	"math"
	"strings"
)

// DB is one database. Commands find keys with Lookup, which hides expiry from them. Keys are copied
// when they are stored. Returned bytes belong to the store and are valid until its next change.
type DB struct {
	ID     int
	ks     *Keyspace
	keys   *Table[entry]
	image  *image // of the capture that is under way, or nil
	seen   bool   // somebody wants keys as they were before a change: see keep
	wheel  wheel  // the deadlines of keys
	fields wheel  // of each hash with fields that have a deadline: the earliest of them
}

func newDB(ks *Keyspace, id int) *DB {
	return &DB{ID: id, ks: ks, keys: ks.newTable()}
}

// find returns the node of key, or 0 if key is missing or overdue. It deletes an overdue key.
func (db *DB) find(key []byte) uint32 {
	i := db.keys.find(key)
	if i == 0 || !db.anyOverdue(i) {
		return i
	}
	if db.ks.KeepDue && !db.due(i) || !db.ks.KeepDue && !db.expire(i) {
		return i
	}
	return 0
}

// remove deletes node i.
func (db *DB) remove(i uint32) {
	db.keep(i)
	n := db.keys.at(i)
	db.lose(&n.Val, n.key())
	if n.Val.timed != 0 {
		db.untime(i)
	}
	db.keys.remove(i)
}

// lose subtracts a value from the accounts before it is deleted or overwritten.
func (db *DB) lose(e *entry, key []byte) {
	if e.typ == TypeString {
		db.ks.valueBytes -= e.stringSize()
		return
	}
	db.ks.valueBytes -= db.ks.untrack(e)
	if db.ks.OnStreamGone != nil && e.typ == TypeStream {
		db.ks.OnStreamGone(db, key)
	}
}

// untime takes the deadlines of node i out of the wheels. Its value goes away, or to another key.
func (db *DB) untime(i uint32) {
	e := &db.keys.at(i).Val
	if e.timed&timedKey != 0 {
		db.wheel.remove(i)
	}
	if e.timed&timedFields != 0 {
		e.timedHash().unbind()
	}
	e.timed = 0
}

// expire deletes what is late of node i: the key, or fields of its hash. It reports whether the key is gone.
func (db *DB) expire(i uint32) (gone bool) {
	if db.keys.at(i).Val.timed&timedKey != 0 && db.wheel.at(i).expire < db.ks.passed() {
		db.expireKey(i)
		return true
	}
	_, gone = db.expireFields(i, math.MaxInt)
	return gone
}

// expireKey deletes node i because its time has come.
func (db *DB) expireKey(i uint32) {
	key := strings.Clone(db.keys.at(i).Key())
	db.remove(i)
	db.ks.Stats.Expired++
	if db.ks.OnExpired != nil {
		db.ks.OnExpired(db, key)
	}
}

// Len is the number of keys. It includes overdue keys that nothing has looked up yet.
func (db *DB) Len() int { return db.keys.Len() }

// Expect makes room for that many keys, unless there are some already.
func (db *DB) Expect(keys int) { db.keys.expect(keys) }

// Expires is the number of keys with a TTL.
func (db *DB) Expires() int { return db.wheel.count }

// TableBytes is the memory of the table of the keys, in bytes.
func (db *DB) TableBytes() int { return db.keys.Mem() }

// AverageTTL is the mean time in ms until the keys with a TTL expire.
func (db *DB) AverageTTL() int64 {
	n := int64(db.wheel.count)
	if n == 0 {
		return 0
	}
	return max(int64(db.wheel.sum-uint64(n)*uint64(db.ks.Now))/n, 0)
}

// Delete removes key and reports whether it existed.
func (db *DB) Delete(key []byte) bool {
	i := db.find(key)
	if i != 0 {
		db.remove(i)
	}
	return i != 0
}

// Flush removes all keys and returns their number.
func (db *DB) Flush() int {
	n := db.Len()
	db.keepAll()
	for node := range db.keys.All() {
		db.ks.valueBytes -= node.Val.size()
	}
	db.keys = db.ks.newTable()
	db.wheel, db.fields = wheel{now: db.wheel.now}, wheel{now: db.fields.now}
	return n
}

// RandomKey returns a random key, which is valid until the keyspace changes. It may be overdue if
// KeepDue is set and a hundred tries find no other.
func (db *DB) RandomKey() (key string, ok bool) {
	for tries := 0; ; tries++ {
		i := db.keys.random(db.ks.Rand)
		if i == 0 {
			return "", false
		}
		n := db.keys.at(i)
		if !db.due(i) || db.ks.KeepDue && tries == 100 {
			return n.Key(), true
		}
		db.Delete(n.key())
	}
}

// due reports whether the last millisecond of a key has passed, or that of the last field of its hash. A
// key lives through the whole of that millisecond, so that no lock loses a part of its lease.
func (db *DB) due(i uint32) bool {
	e := &db.keys.at(i).Val
	return e.timed&timedKey != 0 && db.wheel.at(i).expire < db.ks.passed() ||
		e.timed&timedFields != 0 && e.timedHash().spent(db.ks.passed())
}

// anyOverdue reports whether the last millisecond of a key has passed, or that of any field of its hash.
func (db *DB) anyOverdue(i uint32) bool {
	e := &db.keys.at(i).Val
	return e.timed&timedKey != 0 && db.wheel.at(i).expire < db.ks.passed() ||
		e.timed&timedFields != 0 && e.timedHash().overdue(db.ks.passed())
}

// Scan is Table.Scan over the keys. wants selects keys by name, and emit gets the selected keys.
// Both get a name that is valid until the key is deleted. Selected keys that are overdue are deleted
// instead; other overdue keys stay (db.c: scanGenericCommand).
func (db *DB) Scan(cursor uint64, wants func(key string) bool, emit func(key string, typ Type)) uint64 {
	var due []string
	next := db.keys.scan(cursor, func(i uint32) {
		n := db.keys.at(i)
		switch {
		case !wants(n.Key()):
		case db.due(i):
			due = append(due, strings.Clone(n.Key()))
		default:
			emit(n.Key(), n.Val.typ)
		}
	})
	for _, key := range due {
		db.find(view(key))
	}
	return next
}

// Some returns up to n keys that are not overdue, those of the front of the table.
func (db *DB) Some(n int) (keys []string) {
	for i := db.keys.nextLive(0); i != 0 && len(keys) < n; i = db.keys.nextLive(i + 1) {
		if !db.due(i) {
			keys = append(keys, strings.Clone(db.keys.at(i).Key()))
		}
	}
	return keys
}

// Each calls fn for every key that is not overdue. fn must not change the keyspace, and key is valid
// until the key is deleted.
func (db *DB) Each(fn func(key string, typ Type)) {
	for i := db.keys.nextLive(0); i != 0; i = db.keys.nextLive(i + 1) {
		if n := db.keys.at(i); !db.due(i) {
			fn(n.Key(), n.Val.typ)
		}
	}
}
