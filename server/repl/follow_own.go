package repl

import (
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/store"
)

// ownKeys are the keys to which clients of a writable replica have given a time. The master knows nothing of them, so
// this server deletes them itself (expire.c: rememberSlaveKeyWithExpire).
type ownKeys struct {
	all   map[ownKey]bool
	timer *reactor.Timer
}

type ownKey struct {
	db   int
	name string
}

// ownPeriod is how often the server looks at them.
const ownPeriod = 100 * time.Millisecond

// remember is told of each command of a client that has changed something.
func (f *following) remember(c *command.Call) {
	for _, found := range c.Cmd.AppendKeys(nil, c.Args) {
		name := c.Args[found.Index]
		if k := c.DB.Peek(name); k.Exists() && k.Expire() != 0 {
			if f.own.all == nil {
				f.own.all = map[ownKey]bool{}
			}
			f.own.all[ownKey{c.DB.ID, string(name)}] = true
		}
	}
	if len(f.own.all) > 0 && f.own.timer == nil {
		f.own.timer = f.s.Replicas.later(ownPeriod, f.expireOwn)
	}
}

// expireOwn deletes those whose time is over, and forgets those that have none (expire.c: expireSlaveKeys).
func (f *following) expireOwn() {
	f.own.timer = nil
	for own := range f.own.all {
		db := f.s.KS.DBs[own.db]
		switch k := db.Peek([]byte(own.name)); {
		case k.Overdue() && !f.s.Ex.Refusals.Has(command.Pauses) && !f.s.Debugging.NoExpire:
			f.s.KS.KeepDue = false
			db.Lookup([]byte(own.name), store.LookupNoNotify|store.LookupNoStats)
			f.s.KS.KeepDue = true
			delete(f.own.all, own)
		case !k.Exists() || k.Expire() == 0:
			delete(f.own.all, own)
		}
	}
	if len(f.own.all) > 0 {
		f.own.timer = f.s.Replicas.later(ownPeriod, f.expireOwn)
	}
}

// forgetOwn leaves the keys to what deletes those of a master.
func (f *following) forgetOwn() {
	if f.own.timer != nil {
		f.s.Replicas.cancelLater(f.own.timer)
	}
	f.own = ownKeys{}
}
