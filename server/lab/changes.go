package lab

import (
	"cmp"
	"slices"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/store"
)

// What has happened to the watched keys, whatever the reason. The log need not know any command for that:
//
//	store.DB.keep ──> touching            what was the key, before it changes?
//	the command ends, or the timer ──> changed   what is it now? The entry gets the difference
//
// Nobody keeps a copy of a key that does not change.

// touchedKey is a watched key that may have changed since the last entry.
type touchedKey struct {
	db    int
	key   string
	was   *lab.Value // nil if there was no such key
	at    int64      // unix ms
	dirty int64      // what Stats.Dirty was
}

// keyAt names a key.
type keyAt struct {
	db  int
	key string
}

// touches are the touched keys, in the order of the changes.
type touches struct {
	all    []touchedKey
	places map[keyAt]struct{} // of all keys, if they are more than a few
}

const fewTouches = 8

func (ts *touches) has(db int, key []byte) bool {
	if ts.places != nil {
		_, has := ts.places[keyAt{db, string(key)}]
		return has
	}
	return slices.ContainsFunc(ts.all, func(t touchedKey) bool { return t.db == db && t.key == string(key) })
}

func (ts *touches) add(t touchedKey) {
	ts.all = append(ts.all, t)
	switch {
	case ts.places != nil:
		ts.places[keyAt{t.db, t.key}] = struct{}{}
	case len(ts.all) > fewTouches:
		ts.places = map[keyAt]struct{}{}
		for _, t := range ts.all {
			ts.places[keyAt{t.db, t.key}] = struct{}{}
		}
	}
}

func (ts *touches) forget() {
	clear(ts.all)
	ts.all, ts.places = ts.all[:0], nil
}

// watchKeys makes the store tell of the keys while the log watches some.
func (l *State) watchKeys() {
	if len(l.history.Globs()) == 0 {
		l.touches.forget()
		l.KS.SetOnTouch(nil)
		return
	}
	l.KS.SetOnTouch(l.touching)
}

// touching notes what a key was. It is called in the middle of a change.
func (l *State) touching(db *store.DB, key []byte, is bool) {
	if !l.history.Watches(key) || l.stored != nil { // a server that is down has no keys
		return
	}
	if l.touches.has(db.ID, key) {
		return
	}
	t := touchedKey{db: db.ID, key: string(key), at: l.KS.Now, dirty: l.KS.Stats.Dirty}
	if is {
		t.was = labValue(db.Peek(key).Value())
	}
	l.touches.add(t)
}

// touchAll notes what all watched keys were, because the keyspace goes away.
func (l *State) touchAll() {
	for _, db := range l.KS.DBs {
		for key := range db.Values() {
			l.touching(db, []byte(key), true)
		}
	}
}

// changed returns the changes since the last entry. While a server loads keys, it has a half of them, so it has none.
func (l *State) changed(why lab.Cause) (all []lab.Change) {
	if len(l.touches.all) == 0 || l.IsLoading() {
		return nil
	}
	for i := range l.touches.all {
		all = l.appendChange(all, &l.touches.all[i], why)
	}
	l.touches.forget()
	return all
}

// changedKey is changed for one key.
func (l *State) changedKey(db int, key string, why lab.Cause) (one []lab.Change) {
	i := slices.IndexFunc(l.touches.all, func(t touchedKey) bool { return t.db == db && t.key == key })
	if i < 0 {
		return nil
	}
	one = l.appendChange(nil, &l.touches.all[i], why)
	l.touches.all = slices.Delete(l.touches.all, i, i+1)
	delete(l.touches.places, keyAt{db, key}) // nil if there are few
	return one
}

func (l *State) appendChange(all []lab.Change, t *touchedKey, why lab.Cause) []lab.Change {
	var is *lab.Value
	if now := l.KS.DBs[t.db].Peek([]byte(t.key)); now.Exists() {
		is = labValue(now.Value())
	}
	c := lab.Change{DB: t.db, Key: lab.Printable(t.key), Cause: why, Before: t.was, After: is}
	if !c.Reduce(l.KS.Stats.Dirty != t.dirty) {
		return all
	}
	if t.at != l.Ex.Now.Wall/1e6 {
		c.At = t.at
	}
	return append(all, c)
}

// logChanged logs changes that belong to no other entry. what is the event.
func (l *State) logChanged(what string, changes []lab.Change) {
	if len(changes) > 0 {
		e := l.newEntry(nil, what)
		e.Outcome, e.Changes = lab.Executed, changes
		e.Key, e.DB = changes[0].Key, changes[0].DB
		l.history.Add(e)
	}
}

// logHidden logs what a request has changed that the log does not show otherwise: one of the master, or one without a
// connection.
func (l *State) logHidden(sess *command.Session, cmd *command.Command, args [][]byte, reply []byte) {
	changes := l.changed(lab.ByCommand)
	if len(changes) == 0 {
		return
	}
	e := l.newEntry(nil, lab.EventCommand)
	e.Key, e.DB, e.Outcome, e.Changes = changes[0].Key, sess.DB, lab.OutcomeOf(nil, reply, true), changes
	if sess.Master {
		e.Event = lab.EventApplied
		e.Offset++ // the place moves when this unit of the stream is executed: see Propagation.Effect
	} else {
		l.describe(&e, cmd, args, reply)
	}
	l.history.Add(e)
}

// watch adds a glob to the log, with the keys that it did not watch before.
func (l *State) watch(w lab.Watch) {
	found := l.found(func(key []byte) bool { return store.MatchPattern(w.Pattern, key) && !l.history.Watches(key) })
	l.history.Watch(w)
	l.arm()
	l.watchKeys()
	l.logChanged(lab.EventWatched, found)
}

// found returns keys as they are now, at most mostFound. What another one was comes with its first change.
func (l *State) found(watched func(key []byte) bool) (found []lab.Change) {
	for _, db := range l.KS.DBs {
		for key, v := range db.Values() {
			if len(found) == mostFound {
				break
			}
			if watched([]byte(key)) && !db.Peek([]byte(key)).Overdue() {
				found = append(found, lab.Change{DB: db.ID, Key: lab.Printable(key), After: labValue(v)})
			}
		}
	}
	slices.SortFunc(found, func(a, b lab.Change) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Key, b.Key)) })
	return found
}

// mostFound bounds the keys of an EventWatched.
const mostFound = 1024
