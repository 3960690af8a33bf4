package store

import "strings"

// Snapshot is the keys of all databases at one time, with their values and deadlines. It has no
// statistics and no random state, because these belong to no key.
type Snapshot [][]saved

type saved struct {
	key   string
	value entry // in no wheel
}

// Snapshot copies every key that is not overdue.
func (ks *Keyspace) Snapshot() Snapshot {
	all := make(Snapshot, len(ks.DBs))
	for i, db := range ks.DBs {
		for n := range db.keys.All() {
			if !n.Val.due(ks.Now) {
				all[i] = append(all[i], saved{strings.Clone(n.Key()), n.Val.copied()})
			}
		}
	}
	return all
}

// copied is a deep copy with the deadline.
func (e *entry) copied() entry {
	c := e.cloneValue()
	c.expire = e.expire
	return c
}

// Len is the number of keys.
func (s Snapshot) Len() (n int) {
	for _, keys := range s {
		n += len(keys)
	}
	return n
}

// Databases makes databases that hold a copy of a snapshot, for Replace. A key that expired since
// the snapshot is dropped silently, and no key is reported as new. Redis does the same when it
// loads an RDB file (rdb.c: rdbLoadRioWithLoadingCtx).
func (ks *Keyspace) Databases(s Snapshot) (dbs []*DB) {
	ks.Quietly(func() {
		for i, keys := range s {
			db := newDB(ks, i)
			for k := range keys {
				if !keys[k].value.due(ks.Now) {
					name := []byte(keys[k].key)
					db.Peek(name).adopt(name, keys[k].value.copied())
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

// Replace replaces all databases by dbs.
func (ks *Keyspace) Replace(dbs []*DB) {
	ks.FlushAll()
	copy(ks.DBs, dbs)
}
