package command

import (
	"github.com/miniredisd/miniredisd/store"
)

// watched is one key that a session watches (multi.c: watchedKey). It stands in a
// list of its transaction and in one of its key.
type watched struct {
	by    *Transaction
	db    int
	key   string
	index int  // in the key's list
	stale bool // its time had come when it was watched: to be deleted is no change
}

// watchers is who watches which key of which database. Without anybody, a change
// costs a look at count.
type watchers struct {
	count int
	dbs   []map[string][]*watched
}

// keepWatches is the number of watched keys that an idle transaction keeps room for.
const keepWatches = 64

func (ex *Executor) watch(t *Transaction, db *store.DB, key []byte) {
	if ex.watchers.dbs == nil {
		ex.watchers.dbs = make([]map[string][]*watched, len(ex.KS.DBs))
	}
	of := ex.watchers.dbs[db.ID]
	if of == nil {
		of = map[string][]*watched{}
		ex.watchers.dbs[db.ID] = of
	}
	// Either list may be very long. The shorter one says as well whether t watches key already.
	list := t.watches
	if all := of[string(key)]; len(all) < len(list) {
		list = all
	}
	for _, w := range list {
		if w.by == t && w.db == db.ID && w.key == string(key) {
			return
		}
	}
	w := &watched{
		by: t, db: db.ID, key: string(key), index: len(of[string(key)]), stale: db.Peek(key).Overdue(),
	}
	of[w.key] = append(of[w.key], w)
	t.watches = append(t.watches, w)
	t.watchBytes += len(key)
	ex.watchers.count++
	ex.observers++
}

// unwatch forgets all that t watches.
func (ex *Executor) unwatch(t *Transaction) {
	for _, w := range t.watches {
		of := ex.watchers.dbs[w.db]
		list := of[w.key]
		last := len(list) - 1
		if last == 0 {
			delete(of, w.key)
			continue
		}
		list[w.index] = list[last]
		list[w.index].index = w.index
		list[last] = nil
		of[w.key] = list[:last]
	}
	ex.watchers.count -= len(t.watches)
	ex.observers -= len(t.watches)
	t.watchBytes = 0
	clear(t.watches)
	t.watches = t.watches[:0]
	if cap(t.watches) > keepWatches {
		t.watches = nil
	}
}

// touch tells those who watch key that it has changed.
func (ex *Executor) touch(db int, key []byte) {
	for _, w := range ex.watchers.dbs[db][string(key)] {
		w.by.Dirty = true
	}
}

// vanished is touch for a key that was deleted without a command's asking for it.
func (ex *Executor) vanished(db int, key string) {
	for _, w := range ex.watchers.dbs[db][key] {
		if w.stale {
			w.stale = false // gone already for whoever watched it
			continue
		}
		w.by.Dirty = true
	}
}

// replaced tells those who watch a key of from that to has taken the place of the
// whole database; nil for nothing (multi.c: touchAllWatchedKeysInDb).
func (ex *Executor) replaced(from, to *store.DB) {
	if ex.watchers.count == 0 {
		return
	}
	for key, list := range ex.watchers.dbs[from.ID] {
		before := from.Peek([]byte(key)).Exists()
		after, due := false, false
		if to != nil {
			found := to.Peek([]byte(key))
			after, due = found.Exists(), found.Overdue()
		}
		if !before && !after {
			continue
		}
		for _, w := range list {
			switch {
			case w.stale && !after:
				w.stale = false
			case w.stale && due:
			case !before && due:
				w.stale = true
			default:
				w.by.Dirty = true
			}
		}
	}
}

// watchedIsDue tells whether the time of a key has come since it was watched,
// though nobody has deleted it yet.
func (ex *Executor) watchedIsDue(t *Transaction) bool {
	for _, w := range t.watches {
		if w.stale {
			continue
		}
		if ex.KS.DBs[w.db].Peek([]byte(w.key)).Overdue() {
			return true
		}
	}
	return false
}
