package command

import "github.com/miniredisd/miniredisd/store"

// flushAll removes all keys and returns how many there were.
func (ex *Executor) flushAll() int {
	for _, db := range ex.KS.DBs {
		ex.replaced(db, nil)
	}
	ex.invalidateAll()
	n := ex.KS.FlushAll()
	for _, db := range ex.KS.DBs {
		ex.exchanged(db)
	}
	return n
}

// ReplaceKeys has the keys of a snapshot take the place of all there are. Who watches or has
// cached keys learns of it as from FLUSHALL, who waits for a key that is there now gets it.
func (ex *Executor) ReplaceKeys(s store.Snapshot) {
	fresh := ex.KS.Databases(s)
	for i, db := range ex.KS.DBs {
		ex.replaced(db, fresh[i])
	}
	ex.invalidateAll()
	ex.KS.Replace(fresh)
	for _, db := range ex.KS.DBs {
		ex.exchanged(db)
	}
}
