package store

// LookupFlags say which side effects a look-up leaves out (server.h: LOOKUP_*).
type LookupFlags uint8

// The flags of Lookup. LookupNone is the look-up of a command that reads: it counts a hit
// or a miss, announces a miss, and notes the access for LRU and LFU.
const (
	LookupNoTouch  LookupFlags = 1 << iota // do not note the access
	LookupNoNotify                         // do not announce a miss
	LookupNoStats                          // count neither a hit nor a miss
	LookupWrite                            // the command changes the key: count and announce nothing
	LookupNoExpire                         // do not delete an overdue key, which is missing all the same

	LookupNone      LookupFlags = 0
	LookupNoEffects             = LookupNoNotify | LookupNoStats | LookupNoTouch | LookupNoExpire
)

// Key is the result of a look-up: where a key and its value are, or that the key is missing.
// It is valid until the keyspace changes. A change of an existing key through its Key leaves
// it valid. After storing a missing key, look it up again.
//
// Methods that can store a missing key take the name that was looked up once more: four
// fields are as many as Go keeps in registers, and a name would be three of them.
type Key struct {
	db      *DB
	hash    uint32
	node    uint32 // 0 if the key is missing
	overdue uint32 // the node of an overdue key that the look-up has not deleted
}

// Lookup finds key (db.c: lookupKey). A key whose time has come is missing, whether or not
// the wheel has deleted it yet.
func (db *DB) Lookup(key []byte, flags LookupFlags) Key {
	k := Key{db: db, hash: db.keys.hash(key)}
	i := db.keys.lookup(key, k.hash)
	if i == 0 {
		db.missed(key, flags)
		return k
	}
	e := &db.keys.at(i).Val
	if e.timed != 0 && db.anyOverdue(i) && k.outlived(i, flags) {
		db.missed(key, flags)
		return k
	}
	k.node = i
	if flags&LookupNoTouch == 0 {
		db.ks.access(e)
	}
	if flags&(LookupNoStats|LookupWrite) == 0 {
		db.ks.Stats.Hits++
	}
	return k
}

// outlived deals with node i, of which something is late. It reports whether the key counts as missing. A
// command that writes never meets an overdue field, not even while overdue keys are kept.
func (k *Key) outlived(i uint32, flags LookupFlags) bool {
	due := k.db.due(i)
	keep := flags&LookupNoExpire != 0 || k.db.ks.KeepDue && (due || flags&LookupWrite == 0)
	switch {
	case !keep:
		return k.db.expire(i)
	case due:
		k.overdue = i
	}
	return due
}

func (db *DB) missed(key []byte, flags LookupFlags) {
	if flags&(LookupNoStats|LookupWrite) == 0 {
		db.ks.Stats.Misses++
	}
	if flags&(LookupNoNotify|LookupWrite) == 0 && db.ks.OnMiss != nil {
		db.ks.OnMiss(db, key)
	}
}

// Peek finds key as it is stored, even if it is overdue, and has no side effect at all
// (dict.c: dictFind).
func (db *DB) Peek(key []byte) Key {
	h := db.keys.hash(key)
	return Key{db: db, hash: h, node: db.keys.lookup(key, h)}
}

// entry is the entry of a key that exists.
func (k Key) entry() *entry { return &k.db.keys.at(k.node).Val }

// shown is entry as a command may see it: without overdue fields that are kept for now.
func (k Key) shown() *entry {
	e := k.entry()
	if e.timed&timedFields == 0 || !e.timedHash().overdue(k.db.ks.passed()) {
		return e
	}
	copied := e.cloneValue()
	copied.dropOverdue(k.db.ks.Now)
	return &copied
}

// Exists reports whether the look-up found the key. Methods that read or change a value
// need a key that exists, unless they say otherwise.
func (k Key) Exists() bool { return k.node != 0 }

// Overdue reports whether the key exists although its time has come. Only Peek finds such a key.
func (k Key) Overdue() bool { return k.node != 0 && k.db.due(k.node) }

// AnyOverdue is Overdue, or that of a field. A key with an overdue field exists.
func (k Key) AnyOverdue() bool { return k.node != 0 && k.db.anyOverdue(k.node) }

// Type is the type of the value.
func (k Key) Type() Type { return k.entry().typ }

// Elements is the number of elements of a collection.
func (k Key) Elements() int { return k.shown().len() }

// Encoding is the answer of OBJECT ENCODING.
func (k Key) Encoding() string { return k.entry().encoding() }

// Value is the value. It aliases the keyspace, which must not change meanwhile.
func (k Key) Value() Value { return k.db.value(k.node) }

// Expire is the unix time in ms at which the key expires, 0 for never.
func (k Key) Expire() int64 { return k.db.deadline(k.node) }

// SetExpire makes the key expire at the unix time at, in ms. If at is in the past, the
// next look-up or the wheel deletes the key.
func (k Key) SetExpire(at int64) { k.db.setExpire(k.node, at) }

// Persist drops the TTL and reports whether there was one.
func (k Key) Persist() bool {
	if k.entry().timed&timedKey == 0 {
		return false
	}
	k.db.persist(k.node)
	return true
}

// Delete removes the key.
func (k Key) Delete() { k.db.remove(k.node) }

// MoveTo moves value and TTL to the key name of any database, over whatever that key holds.
func (k Key) MoveTo(to Key, name []byte) {
	k.db.keep(k.node) // which may change the entry
	value, at := *k.entry(), k.Expire()
	k.Delete() // only takes the deadlines of fields out of the wheel: value has them still
	to.adopt(name, value, at)
}

// CopyTo puts a deep copy of the value, TTL included, under the key name of any database,
// over whatever that key holds.
func (k Key) CopyTo(to Key, name []byte) {
	c := k.entry().cloneValue()
	if c.enc == encInt {
		c.lp = private
	}
	c.setLRU(k.db.ks.newLRU())
	to.adopt(name, c, k.Expire())
}

// Put stores v, over whatever the key holds. The key expires at the unix time at, in ms,
// unless at is 0. past replaces the access that storing is, where it says something.
func (k Key) Put(name []byte, v Value, at int64, past Past) {
	v.e.setLRU(k.db.ks.newLRU())
	k.db.ks.applyPast(&v.e, past)
	k.adopt(name, v.e, at)
}

// adopt stores an entry and its deadline, 0 for none. The key becomes a new one, even if it exists.
func (k Key) adopt(name []byte, value entry, at int64) {
	if k.node != 0 {
		k.Delete()
		k.node = 0
	}
	i := k.replace(name, false)
	e := &k.db.keys.at(i).Val
	value.timed &= timedFields
	*e = value
	if e.timed != 0 {
		e.timedHash().bind(k.db, i)
	}
	k.db.ks.valueBytes += e.size()
	if at != 0 {
		k.db.setExpire(i, at)
	}
}

// replace makes k ready for a new value and returns its node (db.c: dbSetValue). The old value leaves the
// accounts. Its TTL goes too, unless keepTTL.
func (k Key) replace(name []byte, keepTTL bool) uint32 {
	if k.node == 0 {
		return k.add(name)
	}
	k.db.keep(k.node)
	e := k.entry()
	if k.db.ks.lentTexts != nil && k.db.ks.lentTexts[e.ref] != nil {
		e.enc = encLent // the memory is not used again
	}
	k.db.lose(e, name)
	if e.timed&timedFields != 0 {
		e.timedHash().unbind()
		e.timed &^= timedFields
	}
	if e.timed != 0 && !keepTTL {
		k.db.persist(k.node)
	}
	return k.node
}

// add puts a missing key into the database.
func (k Key) add(name []byte) uint32 {
	db := k.db
	if k.overdue != 0 {
		db.expire(k.overdue)
	}
	i := db.keys.add(name, k.hash)
	db.keepNothing(i)
	db.keys.at(i).Val.setLRU(db.ks.newLRU())
	if db.ks.OnNew != nil {
		db.ks.OnNew(db, name)
	}
	return i
}

// setExpire gives node i a deadline in unix ms, in place of the one that it may have.
func (db *DB) setExpire(i uint32, at int64) {
	db.keep(i)
	e := &db.keys.at(i).Val
	if e.timed&timedKey != 0 {
		db.wheel.remove(i)
	}
	if db.wheel.count == 0 {
		db.wheel.now = db.ks.Now
	}
	e.timed |= timedKey
	db.wheel.add(i, max(at, 1)) // 0 means never; both are long past
}

// persist takes the deadline of node i away.
func (db *DB) persist(i uint32) {
	db.keep(i)
	db.wheel.remove(i)
	db.keys.at(i).Val.timed &^= timedKey
}

// deadline is the unix time in ms at which node i expires, 0 for never.
func (db *DB) deadline(i uint32) int64 {
	if db.keys.at(i).Val.timed&timedKey == 0 {
		return 0
	}
	return db.wheel.at(i).expire
}
