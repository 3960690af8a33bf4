package command

import (
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

// Propagation says, as commands, what has changed. Whoever executes them again, in this order and at any later
// time, gets the same data (server.c: alsoPropagate, propagateNow).
//
//	INCRBYFLOAT f 0.1    SET f 3.1 KEEPTTL            the result: a sum of floats can differ elsewhere
//	EXPIRE k 10          PEXPIREAT k 1700000010000    the moment: time goes on
//	SPOP s               SREM s b                     what chance has chosen
//	the key k expires    DEL k                        so nobody who executes this looks at the time
//
// A command that has changed something propagates as it came. If that is not enough, its function calls
// Call.Propagate, and then only that counts. All commands of one execution unit (a request, with what it did
// inside EXEC or a script) are one MULTI ... EXEC. Redis feeds its file and its replicas in this way.
type Propagation struct {
	ex   *Executor
	feed func(unit []byte) // nil while nobody listens

	unit []byte // the requests of the current unit
	ops  int    // their number, without SELECT
	db   int    // the database that the last request has selected, -1 for none
	open bool   // a command runs, so the unit is not over
	told bool   // the running command has called Propagate
}

// Listen calls feed at the end of each execution unit that has changed something, until it is called with nil. The
// bytes are whole requests, valid until feed returns. The first one is SELECT.
func (p *Propagation) Listen(feed func(unit []byte)) {
	p.feed, p.db = feed, -1
	p.ex.KS.OnFieldLate = nil
	if feed != nil {
		p.ex.KS.OnFieldLate = p.fieldGone
	}
}

// Propagate propagates a request in place of the running command, or one more.
func (c *Call) Propagate(args ...[]byte) {
	c.NotAsItCame()
	c.Ex.Propagation.add(c.DB.ID, args...)
}

// NotAsItCame keeps the running command from propagating as it came (server.c: preventCommandPropagation).
func (c *Call) NotAsItCame() { c.Ex.Propagation.told = true }

// Propagates reports whether anybody listens. A command asks it before it works for Propagate alone.
func (c *Call) Propagates() bool { return c.Ex.Propagation.feed != nil }

// past reports whether an expiry at a time in ms deletes the key or field at once. While a log of commands is
// executed again, none does: a later command may have changed it (expire.c: checkAlreadyExpired).
func (c *Call) past(at int64) bool { return at <= c.Now && !c.KS.Loading }

// decimal is a number as an argument.
func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// begin begins a command. One that has panicked may have left told. A command that was renamed propagates under its own
// name: a name that only this configuration knows would make an append only file useless.
func (p *Propagation) begin(c *Call) {
	p.open, p.told = true, false
	if p.ex.Table.renamed {
		name, _, _ := strings.Cut(c.Cmd.Name, "|")
		c.Args = slices.Clone(c.Args)
		c.Args[0] = []byte(name)
	}
}

// ran ends a command that has run. dirty is what Stats.Dirty was before.
func (p *Propagation) ran(c *Call, dirty int64) {
	if !p.told && c.KS.Stats.Dirty > dirty && c.Cmd.Flags&RunsQueue == 0 && c.Cmd.Script == noScript {
		p.add(c.Sess.DB, c.Args...) // SWAPDB has given c.DB another ID
	}
	p.told = false
	if p.ex.Depth == 0 {
		p.open = false
		p.end()
	}
}

// keyGone propagates that a key has expired or was evicted (db.c: propagateDeletion).
func (p *Propagation) keyGone(db *store.DB, key string) {
	if p.feed != nil {
		p.add(db.ID, []byte("DEL"), []byte(key))
		p.alone()
	}
}

// fieldGone propagates that a field of a hash has expired.
func (p *Propagation) fieldGone(db *store.DB, key string, field []byte) {
	p.add(db.ID, []byte("HDEL"), []byte(key), field)
	p.alone()
}

// alone ends the unit of a change that no command has made.
func (p *Propagation) alone() {
	if !p.open {
		p.end()
	}
}

// add adds a request to the unit (aof.c: feedAppendOnlyFile).
func (p *Propagation) add(db int, args ...[]byte) {
	if p.feed == nil {
		return
	}
	if p.ops == 0 {
		p.unit = append(p.unit[:0], multiRequest...)
	}
	p.ops++
	if db != p.db {
		p.db = db
		p.unit = resp.AppendRequest(p.unit, []byte("SELECT"), decimal(int64(db)))
	}
	p.unit = resp.AppendRequest(p.unit, args...)
}

// end hands the unit over. Only several requests need the MULTI in front (server.c: propagatePendingCommands).
func (p *Propagation) end() {
	switch p.ops {
	case 0:
		return
	case 1:
		p.feed(p.unit[len(multiRequest):])
	default:
		p.unit = append(p.unit, execRequest...)
		p.feed(p.unit)
	}
	p.ops = 0
	if cap(p.unit) > keepUnit {
		p.unit = nil
	}
}

// abandon ends the unit of a command that has panicked. What other commands of the unit have changed stays.
func (p *Propagation) abandon() {
	p.open, p.told = false, false
	p.end()
}

const (
	multiRequest = "*1\r\n$5\r\nMULTI\r\n"
	execRequest  = "*1\r\n$4\r\nEXEC\r\n"
)

// keepUnit is the size up to which the memory of a unit is used again.
const keepUnit = 64 << 10
