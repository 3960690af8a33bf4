package command

import (
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/store"
)

// Class is a set of classes of keyspace events (server.h: NOTIFY_*).
type Class uint16

// The classes that commands fire, each with its letter in notify-keyspace-events. The last two
// choose the channels that events go to.
const (
	ClassGeneric Class = 1 << iota // g
	ClassString                    // $
	ClassList                      // l
	ClassSet                       // s
	ClassHash                      // h
	ClassZSet                      // z
	ClassExpired                   // x
	ClassEvicted                   // e
	ClassStream                    // t
	classNew                       // n: a key was created
	classMiss                      // m: a read found no key
	toKeyspace                     // K: to __keyspace@0__:key
	toKeyevent                     // E: to __keyevent@0__:event
)

// classAll is the letter A.
const classAll = ClassGeneric | ClassString | ClassList | ClassSet | ClassHash | ClassZSet |
	ClassExpired | ClassEvicted | ClassStream

// parseClasses reads notify-keyspace-events. Without K or E the other letters have no effect. The
// letter d, for modules, is ignored.
func parseClasses(letters string) (classes Class) {
	for i, letter := range "g$lshzxetnmKE" {
		if strings.ContainsRune(letters, letter) {
			classes |= 1 << i
		}
	}
	if strings.Contains(letters, "A") {
		classes |= classAll
	}
	if classes&(toKeyspace|toKeyevent) == 0 {
		return 0
	}
	return classes
}

// events passes on what happens to keys. Commands report their changes through Call.Changed. The
// keyspace reports what no command asks for: keys that expire, are evicted, appear or are missed.
type events struct {
	ex     *Executor
	wanted Class // of notify-keyspace-events

	onNew, onMiss, onStreamGone func(*store.DB, []byte) // the keyspace's callbacks, made once
}

// start makes the callbacks of an executor's events.
func (ev *events) start(ex *Executor) {
	ev.ex, ev.onNew, ev.onMiss, ev.onStreamGone = ex, ev.added, ev.missed, ex.Waiters.streamGone
	ks := ex.KS
	ks.OnExpired, ks.OnEvicted, ks.OnFieldsExpired = ev.expired, ev.evicted, ev.fieldsExpired
}

// listen sets the callbacks of the keyspace that somebody needs now. The others stay nil, so that
// the keyspace does not call them. Clients that wait for keys need some of them.
func (ev *events) listen() {
	ks, waiters := ev.ex.KS, &ev.ex.Waiters
	ks.OnNew, ks.OnMiss, ks.OnStreamGone = nil, nil, nil
	if ev.wanted&classNew != 0 || waiters.keys > 0 {
		ks.OnNew = ev.onNew
	}
	if ev.wanted&classMiss != 0 {
		ks.OnMiss = ev.onMiss
	}
	if waiters.orGone > 0 {
		ks.OnStreamGone = ev.onStreamGone
	}
}

// fire publishes an event if a client may listen, to the key's channel first
// (notify.c: notifyKeyspaceEvent).
func (ev *events) fire(db int, event string, key []byte) {
	subs, m := ev.ex.Subs, &ev.ex.messages
	if subs.Len(pubsub.Channel)+subs.Len(pubsub.Pattern) == 0 {
		return
	}
	if ev.wanted&toKeyspace != 0 {
		m.channel = append(appendEventChannel(m.channel[:0], "__keyspace@", db), key...)
		m.publish(m.channel, []byte(event))
	}
	if ev.wanted&toKeyevent != 0 {
		m.channel = append(appendEventChannel(m.channel[:0], "__keyevent@", db), event...)
		m.publish(m.channel, key)
	}
}

func appendEventChannel(b []byte, kind string, db int) []byte {
	return append(strconv.AppendInt(append(b, kind...), int64(db), 10), "__:"...)
}

// modified tells watchers and tracking clients that session by has changed key
// (db.c: signalModifiedKey).
func (ev *events) modified(db int, key []byte, by *Session) {
	ex := ev.ex
	ex.watchers.touch(db, key)
	if ex.Tracking.active() {
		if ex.Scripts.run.on {
			by = nil // in BCAST mode a client hears of changes by its own scripts, even with NOLOOP
		}
		ex.Tracking.invalidate(key, by)
	}
}

// removed is modified for a key that expired or was evicted.
func (ev *events) removed(db int, key string) {
	ex := ev.ex
	ex.watchers.removed(db, key)
	if ex.Tracking.active() {
		ex.Tracking.invalidate([]byte(key), nil)
	}
}

func (ev *events) expired(db *store.DB, key string) {
	ex := ev.ex
	ex.Propagation.KeyGone(db, key, ex.Cfg.LazyExpire)
	ev.removed(db.ID, key)
	if ev.wanted&ClassExpired != 0 {
		ev.fire(db.ID, "expired", []byte(key))
	}
	if ex.Observer != nil {
		ex.Observer.Expired(db, key)
	}
}

// dropped is told of a key that was deleted because another node of the cluster has it.
func (ev *events) dropped(db *store.DB, key string) {
	ev.ex.Propagation.KeyGone(db, key, false)
	ev.modified(db.ID, []byte(key), nil)
	if ev.wanted&ClassGeneric != 0 {
		ev.fire(db.ID, "del", []byte(key))
	}
}

// fieldsExpired is told of fields of a hash whose time had come. gone says that the hash went with its last
// field. For Redis the event is one of hashes, for Valkey one of what expires.
func (ev *events) fieldsExpired(db *store.DB, key string, gone bool) {
	ex := ev.ex
	if gone {
		ex.Propagation.KeyGone(db, key, ex.Cfg.LazyExpire)
		ev.removed(db.ID, key)
	} else {
		ev.modified(db.ID, []byte(key), nil)
	}
	class := ClassHash
	if ex.Table.Dialect.Has(xEvents) {
		class = ClassExpired
	}
	if ev.wanted&class != 0 {
		ev.fire(db.ID, "hexpired", []byte(key))
	}
	if !gone {
		if ex.Observer != nil {
			ex.Observer.FieldsExpired(db, key)
		}
		return
	}
	if ev.wanted&ClassGeneric != 0 {
		ev.fire(db.ID, "del", []byte(key))
	}
	if ex.Observer != nil {
		ex.Observer.Expired(db, key)
	}
}

func (ev *events) evicted(db *store.DB, key string) {
	ex := ev.ex
	ex.Propagation.KeyGone(db, key, ex.Cfg.LazyEviction)
	ev.removed(db.ID, key)
	if ev.wanted&ClassEvicted != 0 {
		ev.fire(db.ID, "evicted", []byte(key))
	}
	if ex.Observer != nil {
		ex.Observer.Evicted(db, key)
	}
}

func (ev *events) added(db *store.DB, key []byte) {
	ev.ex.Waiters.ready(db.ID, key)
	if ev.wanted&classNew != 0 {
		ev.fire(db.ID, "new", key)
	}
}

func (ev *events) missed(db *store.DB, key []byte) { ev.fire(db.ID, "keymiss", key) }
