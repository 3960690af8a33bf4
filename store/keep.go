package store

// Two want a key as it was before a change: the capture that is under way, and Keyspace.OnTouch. Every change of the
// store goes through one of these functions, whatever its reason. While nobody wants it, that costs one comparison.
//
//	keep         a key is about to change, or to be deleted
//	keepNothing  a key is new
//	keepAll      a database is about to lose all keys
//	touchAll     a database is about to get other keys

// keep shows node i, which is about to change.
func (db *DB) keep(i uint32) {
	if db.seen {
		db.keepSeen(i)
	}
}

func (db *DB) keepSeen(i uint32) {
	if db.tellsTouches() {
		db.ks.OnTouch(db, db.keys.at(i).key(), true)
	}
	if db.image != nil {
		db.image.keep(i)
	}
}

// keepNothing says that node i has a new key. No capture wants it.
func (db *DB) keepNothing(i uint32) {
	if !db.seen {
		return
	}
	if db.tellsTouches() {
		db.ks.OnTouch(db, db.keys.at(i).key(), false)
	}
	if db.image != nil && i < db.image.limit {
		db.image.done[i/64] |= 1 << (i % 64)
	}
}

// keepAll leaves the table of a database, which is about to get a new one, to the capture that is under way.
func (db *DB) keepAll() {
	if !db.seen {
		return
	}
	if db.tellsTouches() {
		db.touchAll(db)
	}
	if db.image != nil {
		former := *db
		db.image.db = &former
		db.dropImage()
	}
}

// tellsTouches reports whether OnTouch is to be told of db. A database that is being loaded, and that no client sees
// yet, is none of the keyspace.
func (db *DB) tellsTouches() bool { return db.ks.OnTouch != nil && db.ks.DBs[db.ID] == db }

// touchAll tells OnTouch that db is about to change where other has a key.
func (db *DB) touchAll(other *DB) {
	for i := other.keys.nextLive(0); i != 0; i = other.keys.nextLive(i + 1) {
		key := other.keys.at(i).key()
		db.ks.OnTouch(db, key, db.Peek(key).Exists())
	}
}

// SetOnTouch sets OnTouch, or takes it away.
func (ks *Keyspace) SetOnTouch(touched func(db *DB, key []byte, is bool)) {
	ks.OnTouch = touched
	for _, db := range ks.DBs {
		db.seen = touched != nil || db.image != nil
	}
}
