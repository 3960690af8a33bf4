package store

import "strings"

// Snapshot is the keys of all databases at one time, with their values and deadlines. It has no
// statistics and no random state, because these belong to no key.
type Snapshot [][]saved

type saved struct {
	key    string
	value  entry
	expire int64 // unix ms, 0 for never
}

// Snapshot copies every key that is not overdue.
func (ks *Keyspace) Snapshot() Snapshot {
	all := make(Snapshot, len(ks.DBs))
	for i, db := range ks.DBs {
		for id := db.keys.nextLive(0); id != 0; id = db.keys.nextLive(id + 1) {
			if n := db.keys.at(id); !db.due(id) {
				all[i] = append(all[i], saved{strings.Clone(n.Key()), n.Val.cloneValue(), db.deadline(id)})
			}
		}
	}
	return all
}

// Len is the number of keys.
func (s Snapshot) Len() (n int) {
	for _, keys := range s {
		n += len(keys)
	}
	return n
}

// Databases makes databases that hold a copy of a snapshot, for Replace. A key or a field that expired
// since the snapshot is dropped silently, and no key is reported as new. Redis does the same when it
// loads an RDB file (rdb.c: rdbLoadRioWithLoadingCtx).
func (ks *Keyspace) Databases(s Snapshot) (dbs []*DB) {
	ks.Quietly(func() {
		for i, keys := range s {
			db := newDB(ks, i)
			for k := range keys {
				s := &keys[k]
				if s.expire != 0 && s.expire < ks.Now {
					continue
				}
				if value := s.value.cloneValue(); !value.dropOverdue(ks.Now) {
					name := []byte(s.key)
					db.Peek(name).adopt(name, value, s.expire)
				}
			}
			dbs = append(dbs, db)
		}
	})
	return dbs
}

// Quietly calls load, which restores keys. None of them is reported as new.
func (ks *Keyspace) Quietly(load func()) {
	report := ks.OnNew
	ks.OnNew = nil
	load()
	ks.OnNew = report
}

// EmptyDatabases makes databases for Replace, one for each that there is.
func (ks *Keyspace) EmptyDatabases() (dbs []*DB) {
	for i := range ks.DBs {
		dbs = append(dbs, newDB(ks, i))
	}
	return dbs
}

// Replace replaces all databases by dbs.
func (ks *Keyspace) Replace(dbs []*DB) {
	ks.FlushAll()
	for i, db := range dbs {
		if ks.OnTouch != nil {
			ks.DBs[i].touchAll(db)
		}
		ks.DBs[i] = db
		db.seen = ks.OnTouch != nil || db.image != nil
	}
}
