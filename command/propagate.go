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
//
// A file and replicas can listen, and each has a unit of its own: each must be told the database, and only replicas
// hear of messages.
type Propagation struct {
	ex       *Executor
	file     feed
	replicas feed
	others   func(c *Call) // see OnChange
	isOn     bool          // somebody listens

	open  bool // a command runs, so the unit is not over
	told  bool // the running command has called Propagate
	again bool // it comes from a file, so replicas have had it

	// Offset is the end of the stream that replicas get. The server moves it.
	Offset int64
}

// feed is what one listener gets.
type feed struct {
	to   func(unit []byte) // nil while nobody listens
	unit []byte            // the requests of the current unit
	ops  int               // their number, without SELECT
	db   int               // the database that the last request has selected, -1 for none
}

// Listen calls fn at the end of each execution unit that has changed something, until it is called with nil. The
// bytes are whole requests, valid until fn returns. The first one is SELECT.
func (p *Propagation) Listen(fn func(unit []byte)) { p.listen(&p.file, fn) }

// Replicate is Listen for the stream of replicas. An EXEC that ends the stream is not in it.
func (p *Propagation) Replicate(fn func(unit []byte)) { p.listen(&p.replicas, fn) }

// OnChange calls fn after each command that has changed something and is not the master's, until it is called with nil.
func (p *Propagation) OnChange(fn func(c *Call)) {
	p.others = fn
	p.listens()
}

func (p *Propagation) listen(f *feed, fn func(unit []byte)) {
	f.to, f.db = fn, -1
	if fn == nil {
		f.ops = 0 // an EXEC has ended it, after changes of its own
	}
	p.listens()
}

func (p *Propagation) listens() {
	p.isOn = p.file.to != nil || p.replicas.to != nil || p.others != nil
	p.ex.KS.OnFieldLate = nil
	if p.isOn {
		p.ex.KS.OnFieldLate = p.fieldGone
	}
}

// Reselect makes the next unit for replicas begin with SELECT: one of them does not know what was selected.
func (p *Propagation) Reselect() { p.replicas.db = -1 }

// Effect is the offset from which on a replica has what was changed last: the end of the stream, or the first byte of a
// unit that is not over. Replicas execute units as a whole.
func (p *Propagation) Effect() int64 {
	if p.replicas.ops > 0 {
		return p.Offset + 1
	}
	return p.Offset
}

// Propagate propagates a request in place of the running command, or one more.
func (c *Call) Propagate(args ...[]byte) {
	c.NotAsItCame()
	c.Ex.Propagation.add(c.DB.ID, args...)
}

// NotAsItCame keeps the running command from propagating as it came (server.c: preventCommandPropagation).
func (c *Call) NotAsItCame() { c.Ex.Propagation.told = true }

// IsOn reports whether anybody listens.
func (p *Propagation) IsOn() bool { return p.isOn }

// Propagates reports whether anybody listens. A command asks it before it works for Propagate alone.
func (c *Call) Propagates() bool { return c.Ex.Propagation.isOn }

// past reports whether an expiry at a time in ms deletes the key or field at once. While a log of commands is
// executed again, none does: a later command may have changed it. On a replica none does, because the master deletes
// (expire.c: checkAlreadyExpired).
func (c *Call) past(at int64) bool {
	return at <= c.Now && !c.KS.Loading && !c.Ex.Refusals.Has(IsReplica|Loads)
}

// decimal is a number as an argument.
func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// begin begins a command. One that has panicked may have left told. A command that was renamed propagates under its own
// name: a name that only this configuration knows would make an append only file useless. What SCAN and RANDOMKEY find
// expired is no unit, because nobody has named these keys (server.h: CMD_TOUCHES_ARBITRARY_KEYS).
func (p *Propagation) begin(c *Call) {
	p.open, p.told = p.ex.Depth > 0 || c.Cmd.Flags&TouchesAny == 0, false
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
	if p.others != nil && c.KS.Stats.Dirty > dirty && !c.Sess.Master {
		p.others(c)
	}
	if p.ex.Depth == 0 {
		p.open = false
		p.end()
		c.Sess.Offset = p.Offset
	}
}

// propagateMessage propagates PUBLISH or SPUBLISH to replicas, for their subscribers.
func (c *Call) propagateMessage() {
	if p := &c.Ex.Propagation; !p.again {
		p.replicas.add(c.DB.ID, c.Args...)
	}
}

// Selected is the database in which the stream of replicas continues. whole is false inside of a transaction that has
// changed something: then the keys are not those of any place in the stream.
func (p *Propagation) Selected() (db int, whole bool) {
	return max(p.replicas.db, 0), p.replicas.ops == 0
}

// KeyGone propagates that a key has expired or was evicted (db.c: propagateDeletion).
func (p *Propagation) KeyGone(db *store.DB, key string, lazy bool) {
	if p.isOn {
		p.add(db.ID, deletes(lazy), []byte(key))
		p.alone()
	}
}

// deletes is the command that deletes a key elsewhere. With lazy, a Redis there frees a large value in another thread.
func deletes(lazy bool) []byte {
	if lazy {
		return []byte("UNLINK")
	}
	return []byte("DEL")
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

// add adds a request to the units (aof.c: feedAppendOnlyFile; replication.c: replicationFeedSlaves).
func (p *Propagation) add(db int, args ...[]byte) {
	p.file.add(db, args...)
	if !p.again {
		p.replicas.add(db, args...)
	}
}

func (f *feed) add(db int, args ...[]byte) {
	if f.to == nil {
		return
	}
	if f.ops == 0 {
		f.unit = append(f.unit[:0], multiRequest...)
	}
	f.ops++
	if db != f.db {
		f.db = db
		f.unit = resp.AppendRequest(f.unit, []byte("SELECT"), decimal(int64(db)))
	}
	f.unit = resp.AppendRequest(f.unit, args...)
}

// end hands the units over.
func (p *Propagation) end() {
	p.file.end()
	p.replicas.end()
}

// end hands the unit over. Only several requests need the MULTI in front (server.c: propagatePendingCommands).
func (f *feed) end() {
	switch f.ops {
	case 0:
		return
	case 1:
		f.to(f.unit[len(multiRequest):])
	default:
		f.unit = append(f.unit, execRequest...)
		f.to(f.unit)
	}
	f.ops = 0
	if cap(f.unit) > keepUnit {
		f.unit = nil
	}
}

// abandon ends the unit of a command that has panicked. What other commands of the unit have changed stays.
func (p *Propagation) abandon() {
	p.open, p.told = false, false
	p.end()
}

// cutOff throws the unit away. Nobody listens any more: the keys have a half, and nothing that follows from it counts.
func (p *Propagation) cutOff() {
	p.file.to, p.file.ops, p.replicas.to, p.replicas.ops, p.others = nil, 0, nil, 0, nil
	p.listens()
}

const (
	multiRequest = "*1\r\n$5\r\nMULTI\r\n"
	execRequest  = "*1\r\n$4\r\nEXEC\r\n"
)

// keepUnit is the size up to which the memory of a unit is used again.
const keepUnit = 64 << 10
