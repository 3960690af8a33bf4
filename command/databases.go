package command

import (
	"github.com/miniredisd/miniredisd/luaeval"
	"github.com/miniredisd/miniredisd/store"
)

// Empty deletes all keys and function libraries (db.c: emptyData).
func (ex *Executor) Empty() {
	ex.flushAll()
	ex.Scripts.functions = luaeval.NewLibraries()
}

// flushAll deletes all keys and returns their number.
func (ex *Executor) flushAll() (keys int) {
	for _, db := range ex.KS.DBs {
		ex.watchers.replaced(db, nil)
	}
	ex.Tracking.invalidateAll()
	keys = ex.KS.FlushAll()
	for _, db := range ex.KS.DBs {
		ex.Waiters.replaced(db)
	}
	return keys
}

// ReplaceKeys puts the keys of a snapshot in place of all keys.
func (ex *Executor) ReplaceKeys(s store.Snapshot) {
	ex.ReplaceDatabases(ex.KS.Databases(s))
}

// ReplaceDatabases puts databases in place of all others. Watchers and tracking clients are notified as by FLUSHALL.
// Clients that wait for a key that exists now are served.
func (ex *Executor) ReplaceDatabases(fresh []*store.DB) {
	for i, db := range ex.KS.DBs {
		ex.watchers.replaced(db, fresh[i])
	}
	ex.Tracking.invalidateAll()
	ex.KS.Replace(fresh)
	for _, db := range ex.KS.DBs {
		ex.Waiters.replaced(db)
	}
}
