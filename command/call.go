package command

import (
	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Call is one command being executed: what its function gets.
//
// The embedded Writer is the end of the client's output: c.Int(1) replies.
type Call struct {
	*resp.Writer
	Args [][]byte // Args[0] is the name; they alias the input buffer: copy what is to be kept
	DB   *store.DB
	KS   *store.Keyspace
	Sess *Session
	Ex   *Executor
	Cmd  *Command
	Cfg  *config.Config
	Now  int64 // unix ms, the same for a whole transaction or script
}

// Changed is called once for every key a command has changed, after the change:
// it counts the change, tells those who watch the key, and fires the keyspace event.
func (c *Call) Changed(class Class, event string, key []byte) {
	c.changedIn(c.DB.ID, class, event, key)
}

func (c *Call) changedIn(db int, class Class, event string, key []byte) {
	c.KS.Stats.Dirty++
	c.movedIn(db, class, event, key)
}

// Touched is Changed where Redis fires no keyspace event.
func (c *Call) Touched(key []byte) {
	c.KS.Stats.Dirty++
	c.Ex.modified(c.DB.ID, key, c.Sess)
}

// Moved is Changed for the other key of a change that has been counted.
func (c *Call) Moved(class Class, event string, key []byte) { c.movedIn(c.DB.ID, class, event, key) }

func (c *Call) movedIn(db int, class Class, event string, key []byte) {
	c.Ex.modified(db, key, c.Sess)
	c.notifyIn(db, class, event, key)
}

// Notify fires a keyspace event that comes with a change told by Changed.
func (c *Call) Notify(class Class, event string, key []byte) { c.notifyIn(c.DB.ID, class, event, key) }

func (c *Call) notifyIn(db int, class Class, event string, key []byte) {
	if c.Ex.events.wanted&class != 0 {
		c.Ex.events.fire(db, event, key)
	}
}

// cutOff reports whether the client is closed for the length of its output, so that what is left of
// the reply does not matter. A reply whose length the client chooses asks it as it grows.
func (c *Call) cutOff() bool {
	ex := c.Ex
	return len(c.Buf) > ex.OutputTrigger && !ex.Scripts.run.on && ex.Host.CloseIfOverLimit(c.Sess)
}

// Count adds n to the number of changes, for commands that change many elements
// of one key (INFO: rdb_changes_since_last_save).
func (c *Call) Count(n int) { c.KS.Stats.Dirty += int64(n) }

// length answers with the number of elements of a collection.
func (c *Call) length(n int, err error) error {
	if err != nil {
		return err
	}
	c.Int(int64(n))
	return nil
}

// flag answers yes or no as commands older than booleans do.
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

// emptyScan is the reply of a scan that has nothing to go through.
func (c *Call) emptyScan() {
	c.Array(2)
	c.BulkString("0")
	c.Array(0)
}
