package command

import "github.com/miniredisd/miniredisd/store"

// watchers records which transactions watch which keys (multi.c: watchForKey). While count is 0, a
// change of a key costs one comparison.
//
//	dbs[0]["k"] ──> [ watched{by: tx1}, watched{by: tx2} ]
//	                      ^                   ^
//	tx1.watches ──────────┘   tx2.watches ────┘
type watchers struct {
	count int                     // watched keys, of all transactions
	dbs   []map[string][]*watched // by database and key; a map is nil before its first key
}

// watched is one key that a transaction watches (multi.c: watchedKey).
type watched struct {
	by    *Transaction
	db    int
	key   string
	index int  // position in the list of the key
	stale bool // the key was overdue when it was watched: its deletion is no change
}

// keepWatches is the number of watched keys that an idle transaction keeps room for.
const keepWatches = 64

func newWatchers(databases int) watchers {
	return watchers{dbs: make([]map[string][]*watched, databases)}
}

// watch adds key to the keys of t. A key that t watches already is not added again.
func (ws *watchers) watch(t *Transaction, db *store.DB, key []byte) {
	keys := ws.dbs[db.ID]
	if keys == nil {
		keys = map[string][]*watched{}
		ws.dbs[db.ID] = keys
	}
	// Either list may be very long. The shorter one also shows whether t watches key already.
	list := t.watches
	if all := keys[string(key)]; len(all) < len(list) {
		list = all
	}
	for _, w := range list {
		if w.by == t && w.db == db.ID && w.key == string(key) {
			return
		}
	}
	if found := db.Peek(key); found.AnyOverdue() && !found.Overdue() {
		db.Lookup(key, store.LookupNoTouch|store.LookupNoNotify|store.LookupNoStats) // fields that were overdue before
	}
	w := &watched{
		by: t, db: db.ID, key: string(key), index: len(keys[string(key)]), stale: db.Peek(key).Overdue(),
	}
	keys[w.key] = append(keys[w.key], w)
	t.watches = append(t.watches, w)
	t.watchBytes += len(key)
	ws.count++
}

// unwatch removes all keys of t.
func (ws *watchers) unwatch(t *Transaction) {
	for _, w := range t.watches {
		keys := ws.dbs[w.db]
		list := keys[w.key]
		last := len(list) - 1
		if last == 0 {
			delete(keys, w.key)
			continue
		}
		list[w.index] = list[last]
		list[w.index].index = w.index
		list[last] = nil
		keys[w.key] = list[:last]
	}
	ws.count -= len(t.watches)
	t.watchBytes = 0
	clear(t.watches)
	t.watches = t.watches[:0]
	if cap(t.watches) > keepWatches {
		t.watches = nil
	}
}

// touch marks the transactions that watch key: a command has changed it (multi.c: touchWatchedKey).
func (ws *watchers) touch(db int, key []byte) {
	if ws.count == 0 {
		return
	}
	for _, w := range ws.dbs[db][string(key)] {
		w.by.Dirty = true
	}
}

// removed is touch for a key that expired or was evicted.
func (ws *watchers) removed(db int, key string) {
	if ws.count == 0 {
		return
	}
	for _, w := range ws.dbs[db][key] {
		if w.stale {
			w.stale = false // for its watcher the key was gone before
			continue
		}
		w.by.Dirty = true
	}
}

// replaced is touch for all keys of a database whose content becomes that of to. A nil to stands for
// an empty database (multi.c: touchAllWatchedKeysInDb).
func (ws *watchers) replaced(from, to *store.DB) {
	if ws.count == 0 {
		return
	}
	for key, list := range ws.dbs[from.ID] {
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

// watchesOverdue reports whether the time of a watched key or of a field has come since WATCH, although it is
// not deleted yet (multi.c: isWatchedKeyExpired).
func (t *Transaction) watchesOverdue(ks *store.Keyspace) bool {
	for _, w := range t.watches {
		if w.stale {
			continue
		}
		if ks.DBs[w.db].Peek([]byte(w.key)).AnyOverdue() {
			return true
		}
	}
	return false
}
