package store

import (
	"unsafe"
)

// DB is one database. Every method that takes a key finds it expired when its
// time has come, whether or not the wheel got there first: this is the one door
// to the keyspace (db.c: lookupKey), so that commands never think of expiry.
// Keys are copied when they are stored; bytes that are returned belong to the
// store and are good until the next change.
type DB struct {
	ID    int
	ks    *Keyspace
	keys  *Table[entry]
	wheel wheel
}

func newDB(ks *Keyspace, id int) *DB {
	return &DB{ID: id, ks: ks, keys: ks.newTable()}
}

// find returns the node number of a key that is alive, or 0.
func (db *DB) find(key []byte) uint32 {
	i := db.keys.find(key)
	if i == 0 {
		return 0
	}
	if db.keys.at(i).Val.due(db.ks.Now) {
		if !db.ks.KeepDue {
			db.expire(i)
		}
		return 0
	}
	return i
}

// read is find for a command that reads: it counts and refreshes the LRU clock.
func (db *DB) read(key []byte) *entry {
	i := db.find(key)
	if i == 0 {
		db.miss(key)
		return nil
	}
	db.ks.Stats.Hits++
	e := &db.keys.at(i).Val
	db.ks.access(e)
	return e
}

func (db *DB) miss(key []byte) {
	db.ks.Stats.Misses++
	if db.ks.OnMiss != nil {
		db.ks.OnMiss(db, key)
	}
}

// write is find for a command that writes.
func (db *DB) write(key []byte) *entry {
	i := db.find(key)
	if i == 0 {
		return nil
	}
	e := &db.keys.at(i).Val
	db.ks.access(e)
	return e
}

// peek is find without any side effect but expiry.
func (db *DB) peek(key []byte) *entry {
	if i := db.find(key); i != 0 {
		return &db.keys.at(i).Val
	}
	return nil
}

// create returns the node of key for a new value: the old value is gone from
// the accounts, the TTL too unless keepTTL.
func (db *DB) create(key []byte, keepTTL bool) uint32 {
	h := db.keys.hash(key)
	i := db.keys.lookup(key, h)
	if i != 0 && db.keys.at(i).Val.due(db.ks.Now) {
		db.expire(i)
		i = 0
	}
	if i == 0 {
		i = db.keys.add(string(key), h)
		db.keys.at(i).Val.lru = db.ks.newLRU()
		if db.ks.OnNew != nil {
			db.ks.OnNew(db, key)
		}
		return i
	}
	e := &db.keys.at(i).Val
	db.lose(e, key)
	if e.expire != 0 && !keepTTL {
		db.wheel.remove(db.keys, i)
		e.expire = 0
	}
	db.ks.access(e)
	return i
}

// remove deletes node i.
func (db *DB) remove(i uint32) {
	n := db.keys.at(i)
	db.lose(&n.Val, view(n.Key))
	if n.Val.expire != 0 {
		db.wheel.remove(db.keys, i)
	}
	db.keys.remove(i)
}

// lose takes a value that is about to go out of the accounts.
func (db *DB) lose(e *entry, key []byte) {
	db.ks.valueBytes -= e.size()
	if db.ks.OnStreamGone != nil && e.typ == TypeStream {
		db.ks.OnStreamGone(db, key)
	}
}

// expire deletes node i because its time has come.
func (db *DB) expire(i uint32) {
	key := db.keys.at(i).Key
	db.remove(i)
	db.ks.Stats.Expired++
	if db.ks.OnExpired != nil {
		db.ks.OnExpired(db, key)
	}
}

// Len is the number of keys, those included whose time has come unnoticed.
func (db *DB) Len() int { return db.keys.Len() }

// Expires is the number of keys with a TTL.
func (db *DB) Expires() int { return db.wheel.count }

// TableBytes is the memory of the table that finds the keys.
func (db *DB) TableBytes() int { return db.keys.Mem() }

// AverageTTL is the milliseconds that keys with a TTL have left.
func (db *DB) AverageTTL() int64 {
	n := int64(db.wheel.count)
	if n == 0 {
		return 0
	}
	return max(int64(db.wheel.sum-uint64(n)*uint64(db.ks.Now))/n, 0)
}

// Exists tells whether key is there, without a trace in statistics or LRU.
func (db *DB) Exists(key []byte) bool { return db.find(key) != 0 }

// Stored tells whether key is there and whether its time has come, which leaves it
// there for once.
func (db *DB) Stored(key []byte) (there, due bool) {
	i := db.keys.find(key)
	return i != 0, i != 0 && db.keys.at(i).Val.due(db.ks.Now)
}

// Touch is Exists for TOUCH and COPY: it counts as a read and as a use.
func (db *DB) Touch(key []byte) bool { return db.read(key) != nil }

// Use is Exists for a command that changes the key: it counts as a use.
func (db *DB) Use(key []byte) bool { return db.write(key) != nil }

// Look is Type for EXISTS and TYPE: it counts as a read, but not as
// a use, so that looking at a key does not keep it (server.h: LOOKUP_NOTOUCH).
func (db *DB) Look(key []byte) (Type, bool) {
	e := db.peek(key)
	if e == nil {
		db.miss(key)
		return 0, false
	}
	db.ks.Stats.Hits++
	return e.typ, true
}

// Inspect is Look for OBJECT, whose misses are counted but not told
// (server.h: LOOKUP_NONOTIFY).
func (db *DB) Inspect(key []byte) bool {
	if db.find(key) == 0 {
		db.ks.Stats.Misses++
		return false
	}
	db.ks.Stats.Hits++
	return true
}

// Type returns what key holds.
func (db *DB) Type(key []byte) (Type, bool) {
	e := db.peek(key)
	if e == nil {
		return 0, false
	}
	return e.typ, true
}

// Encoding is the answer of OBJECT ENCODING.
func (db *DB) Encoding(key []byte) (string, bool) {
	e := db.peek(key)
	if e == nil {
		return "", false
	}
	return e.encoding(), true
}

// MemUsage estimates the bytes key and value hold.
func (db *DB) MemUsage(key []byte) (int, bool) {
	i := db.find(key)
	if i == 0 {
		return 0, false
	}
	n := db.keys.at(i)
	return int(unsafe.Sizeof(*n)) + 4 + allocSize(len(n.Key)) + n.Val.size(), true
}

// Delete removes key and tells whether it was there.
func (db *DB) Delete(key []byte) bool {
	i := db.find(key)
	if i != 0 {
		db.remove(i)
	}
	return i != 0
}

// Flush removes everything and returns how many keys went.
func (db *DB) Flush() int {
	n := db.Len()
	for node := range db.keys.All() {
		db.ks.valueBytes -= node.Val.size()
	}
	now := db.wheel.now
	db.keys = db.ks.newTable()
	db.wheel = wheel{now: now}
	return n
}

// ExpireAt is the unix time in ms at which key expires, -1 for never.
func (db *DB) ExpireAt(key []byte) (ms int64, ok bool) {
	e := db.peek(key)
	switch {
	case e == nil:
		return 0, false
	case e.expire == 0:
		return -1, true
	}
	return e.expire, true
}

// ReadExpire is ExpireAt for a command that reads: it counts as a hit or a miss.
func (db *DB) ReadExpire(key []byte) (ms int64, ok bool) {
	ms, ok = db.ExpireAt(key)
	if ok {
		db.ks.Stats.Hits++
	} else {
		db.miss(key)
	}
	return ms, ok
}

// SetExpire has key expire at the unix time at, in ms. A time that has come
// leaves the deletion to the next lookup or tick.
func (db *DB) SetExpire(key []byte, at int64) bool {
	i := db.find(key)
	if i == 0 {
		return false
	}
	db.setExpire(i, at)
	return true
}

func (db *DB) setExpire(i uint32, at int64) {
	e := &db.keys.at(i).Val
	if e.expire != 0 {
		db.wheel.remove(db.keys, i)
	}
	if db.wheel.count == 0 {
		db.wheel.now = db.ks.Now
	}
	e.expire = max(at, 1) // 0 means none; both are long past
	db.wheel.add(db.keys, i)
}

// Persist drops the TTL of key and tells whether there was one.
func (db *DB) Persist(key []byte) bool {
	i := db.find(key)
	if i == 0 || db.keys.at(i).Val.expire == 0 {
		return false
	}
	db.wheel.remove(db.keys, i)
	db.keys.at(i).Val.expire = 0
	return true
}

// Rename moves the value and TTL of src to dst, over whatever dst held. src must exist.
func (db *DB) Rename(src, dst []byte) {
	i := db.find(src)
	if i == 0 || string(src) == string(dst) {
		return
	}
	old := db.keys.at(i).Val
	old.prev, old.next = 0, 0
	db.remove(i)
	db.adopt(dst, old)
}

// Move takes key to another database; false when it is absent here or present there.
func (db *DB) Move(key []byte, to *DB) bool {
	i := db.find(key)
	if i == 0 || to.Exists(key) {
		return false
	}
	old := db.keys.at(i).Val
	old.prev, old.next = 0, 0
	db.remove(i)
	to.adopt(key, old)
	return true
}

// Copy puts a deep copy of src, TTL included, under dst of another or the same
// database, over whatever was there. src must exist.
func (db *DB) Copy(src []byte, to *DB, dst []byte) {
	e := db.peek(src)
	if e == nil {
		return
	}
	c := e.cloneValue()
	c.expire, c.lru = e.expire, db.ks.newLRU()
	to.adopt(dst, c)
}

// adopt stores an entry that is linked nowhere under key, which is a new key even
// where there was one.
func (db *DB) adopt(key []byte, value entry) {
	db.Delete(key)
	i := db.create(key, false)
	e := &db.keys.at(i).Val
	at := value.expire
	value.expire = 0
	*e = value
	db.ks.valueBytes += e.size()
	if at != 0 {
		db.setExpire(i, at)
	}
}

// RandomKey returns a key by chance. While those whose time has come stay, it may be one of them
// if there seem to be no others.
func (db *DB) RandomKey() (key string, ok bool) {
	for tries := 0; ; tries++ {
		n := db.keys.Random(db.ks.Rand)
		if n == nil {
			return "", false
		}
		if !n.Val.due(db.ks.Now) || db.ks.KeepDue && tries == 100 {
			return n.Key, true
		}
		db.Delete([]byte(n.Key))
	}
}

// due tells whether the key's last millisecond has passed: rounding must not take
// anything from the lease of a lock.
func (e *entry) due(now int64) bool { return e.expire != 0 && e.expire < now }

// Scan is Table.Scan over the keys: wants is asked about each one, emit gets
// those it wants. What it wants of the keys whose time has come is deleted
// instead, the others stay (db.c: scanGenericCommand).
func (db *DB) Scan(cursor uint64, wants func(key string) bool, emit func(key string, typ Type)) uint64 {
	var due []string
	next := db.keys.Scan(cursor, func(n *Node[entry]) {
		switch {
		case !wants(n.Key):
		case n.Val.due(db.ks.Now):
			due = append(due, n.Key)
		default:
			emit(n.Key, n.Val.typ)
		}
	})
	for _, key := range due {
		db.find(view(key))
	}
	return next
}

// Each calls fn for every key that is alive. fn must not change the keyspace.
func (db *DB) Each(fn func(key string, typ Type)) {
	for n := range db.keys.All() {
		if !n.Val.due(db.ks.Now) {
			fn(n.Key, n.Val.typ)
		}
	}
}
