package command

import (
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Call is one execution of a command: everything that the command's function gets. The embedded Writer
// is the client's output, so c.Int(1) replies.
type Call struct {
	*resp.Writer
	Args [][]byte  // Args[0] is the name. They point into the input buffer: copy what you keep.
	DB   *store.DB // the selected database
	KS   *store.Keyspace
	Sess *Session
	Ex   *Executor
	Cmd  *Command
	Cfg  *config.Config
	Now  int64 // unix ms; stands still during a transaction or script
}

// Changed reports that the command has changed key (db.c: signalModifiedKey; notify.c: notifyKeyspaceEvent). A
// command calls it once for each changed key, after the change. It counts the change, notifies watchers and
// tracking clients, and fires the event.
func (c *Call) Changed(class Class, event string, key []byte) {
	c.KS.Stats.Dirty++
	c.Moved(class, event, key)
}

// Touched is Changed for a change without a keyspace event.
func (c *Call) Touched(key []byte) {
	c.KS.Stats.Dirty++
	c.Ex.events.modified(c.DB.ID, key, c.Sess)
}

// Moved is Changed for a second key of the same change: the change is not counted again.
func (c *Call) Moved(class Class, event string, key []byte) {
	c.Ex.events.modified(c.DB.ID, key, c.Sess)
	c.Notify(class, event, key)
}

// Notify fires a further keyspace event of a change that Changed has reported, if anybody wants it (notify.c:
// notifyKeyspaceEvent).
func (c *Call) Notify(class Class, event string, key []byte) {
	if c.Ex.events.wanted&class != 0 {
		c.Ex.events.fire(c.DB.ID, event, key)
	}
}

// in returns the same call in another database, for what it has changed there.
func (c *Call) in(db int) *Call {
	other := *c
	other.DB = c.KS.DBs[db]
	return &other
}

// BulkStr replies with val, which is the string at key or a part of it. It does not copy a long one.
func (c *Call) BulkStr(key store.Key, val []byte) {
	if c.Refers(len(val)) {
		key.Lend()
		c.BulkRef(val)
		return
	}
	c.Bulk(val)
}

// keep returns arg, with room to grow, if the command may store it instead of a copy, else nil (networking.c:
// processMultibulkBuffer). From then on the bytes no longer belong to the input buffer. A script may not keep
// them: it can use the argument again.
func (c *Call) keep(arg []byte) []byte {
	ex := c.Ex
	given := ex.Given
	if given == nil || len(arg) != len(given) || &arg[0] != &given[0] || ex.Scripts.run.on {
		return nil
	}
	ex.Given = nil
	return given
}

// UseProtocol replies in RESP2 or RESP3 from now on, to this command too.
func (c *Call) UseProtocol(version int) { c.Sess.Proto, c.Proto = version, version }

// cutOff reports whether the client was closed because its output is too long. A command that lets the
// client choose the length of the reply asks it while the reply grows, and then stops.
func (c *Call) cutOff() bool {
	ex := c.Ex
	return len(c.Buf)+c.RefLen > ex.OutputTrigger && !ex.Scripts.run.on && ex.Host.CloseIfOverLimit(c.Sess)
}

// Count adds n changes, for a command that changes many elements of one key
// (INFO: rdb_changes_since_last_save).
func (c *Call) Count(n int) { c.KS.Stats.Dirty += int64(n) }

// length replies with the number of elements of a collection.
func (c *Call) length(n int, err error) error {
	if err != nil {
		return err
	}
	c.Int(int64(n))
	return nil
}

// flag replies with 1 or 0.
func (c *Call) flag(yes bool) {
	if yes {
		c.Int(1)
	} else {
		c.Int(0)
	}
}

// elementsRemoved reports that n elements of the collection at key were removed, and deletes the
// key if no element is left.
func (c *Call) elementsRemoved(class Class, event string, key []byte, n, left int) {
	if left == 0 {
		c.DB.Delete(key)
	}
	c.Changed(class, event, key)
	c.Count(n - 1)
	if left == 0 {
		c.Notify(ClassGeneric, "del", key)
	}
}
