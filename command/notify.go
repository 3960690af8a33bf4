package command

import (
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/store"
)

// Class is a class of keyspace events (server.h: NOTIFY_*).
type Class uint16

// The classes that commands fire; the letters are those of notify-keyspace-events.
// The last two are no classes but the kinds of channels events go to.
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
	classNew                       // n: a key that was not there
	classMiss                      // m: a read of a key that is not there
	toKeyspace                     // K
	toKeyevent                     // E
)

const classAll = ClassGeneric | ClassString | ClassList | ClassSet | ClassHash | ClassZSet | ClassExpired | ClassEvicted | ClassStream // A

// parseClasses reads notify-keyspace-events. Classes without a kind of channel, and
// the other way round, come to nothing. The letter d is for modules.
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

// configureEvents asks the keyspace for what only it sees: for the events that hardly
// anybody wants, and on behalf of clients that wait for keys.
func (ex *Executor) configureEvents() {
	ex.notify = parseClasses(ex.Cfg.NotifyEvents)
	ex.configureReports()
}

func (ex *Executor) configureReports() {
	ks := ex.KS
	ks.OnNew, ks.OnMiss, ks.OnStreamGone = nil, nil, nil
	if ex.notify&classNew != 0 || ex.waiters.keys > 0 {
		ks.OnNew = ex.reportNew
	}
	if ex.notify&classMiss != 0 {
		ks.OnMiss = ex.reportMiss
	}
	if ex.waiters.orGone > 0 {
		ks.OnStreamGone = ex.reportGone
	}
}

func (ex *Executor) keyAdded(db *store.DB, key []byte) {
	ex.ready(db.ID, key)
	if ex.notify&classNew != 0 {
		ex.fire(db.ID, "new", key)
	}
}

func (ex *Executor) keyMissed(db *store.DB, key []byte) { ex.fire(db.ID, "keymiss", key) }

// modified tells who wants to know that by has changed a key (db.c: signalModifiedKey).
func (ex *Executor) modified(db int, key []byte, by *Session) {
	if ex.watchers.count > 0 {
		ex.touch(db, key)
	}
	if ex.script.on {
		by = nil // what a script does, its caller is told in BCAST mode, NOLOOP or not
	}
	ex.invalidate(key, by)
}

// gone is modified for a key that nobody's command has deleted.
func (ex *Executor) gone(db int, key string) {
	if ex.watchers.count > 0 {
		ex.vanished(db, key)
	}
	ex.invalidate([]byte(key), nil)
}

func (ex *Executor) keyExpired(db *store.DB, key string) {
	if ex.observers > 0 {
		ex.gone(db.ID, key)
	}
	if ex.notify&ClassExpired != 0 {
		ex.fire(db.ID, "expired", []byte(key))
	}
	if ex.Observed {
		ex.Host.Expired(db, key)
	}
}

func (ex *Executor) keyEvicted(db *store.DB, key string) {
	if ex.observers > 0 {
		ex.gone(db.ID, key)
	}
	if ex.notify&ClassEvicted != 0 {
		ex.fire(db.ID, "evicted", []byte(key))
	}
}

// fire publishes an event somebody may want: to the key's channel first
// (notify.c: notifyKeyspaceEvent).
func (ex *Executor) fire(db int, event string, key []byte) {
	if ex.Subs.Len(pubsub.Channel)+ex.Subs.Len(pubsub.Pattern) == 0 {
		return
	}
	if ex.notify&toKeyspace != 0 {
		ex.channel = append(appendEventChannel(ex.channel[:0], "__keyspace@", db), key...)
		ex.publish(ex.channel, []byte(event))
	}
	if ex.notify&toKeyevent != 0 {
		ex.channel = append(appendEventChannel(ex.channel[:0], "__keyevent@", db), event...)
		ex.publish(ex.channel, key)
	}
}

func appendEventChannel(b []byte, kind string, db int) []byte {
	return append(strconv.AppendInt(append(b, kind...), int64(db), 10), "__:"...)
}
