// Package doctor finds mistakes of lock clients in the commands that a server sees.
//
// It is a state machine without sockets and without a clock. The server reports every command that
// has run (Command), connections that end (Disconnected), keys that expire (Expired) and the loss
// of all keys (Lost), each with its time. Findings returns the mistakes. Only the goroutine that
// executes commands may call a Doctor. The doctors of several masters share a Ledger, which has a
// mutex. Who holds a lock, and who may believe that it does, is the subject of package holders: a
// doctor tells it what each command did to a lock, and reads it for the mistakes of several masters.
//
// # What is a lock
//
// Redis does not know locks. The doctor recognises a possible lock by the way its key is created:
//
//   - SET with NX, and SETNX, outside and inside scripts and transactions. The value is the owner's
//     token.
//   - In a script: SET with a TTL of a key that the script has just found absent, if the value can be a
//     token. Multi-key locks do that: EXISTS, then SET PX.
//   - In a script: a hash that was absent, is written, and gets a TTL in the same run. The field is the
//     owner's token. Re-entrant locks count in it.
//
// Caches, defaults, counters, throttles and unique names are created in the same way. So the doctor
// says nothing about a key until something else shows that it is a lock:
//
//   - its name;
//   - a script that compares the value before it deletes the key;
//   - an earlier lock whose name is of the same class;
//   - a value that looks random, with a TTL or with a client that tries for the key again and again.
//
// Two mistakes need no such evidence: a SETNX that an EXPIRE follows at once is wrong for any key, and so is a
// renewal by SET IFEQ that drops the TTL.
//
// # Whose command it was
//
// A holder is the pair of a client and a token, as granted. A holder holds from its grant until the lease
// that it asked for is over, or until it gives the lock up. Another client that deletes, replaces or
// shortens the lock has not ended that hold. So the question of author.go decides all verdicts: which
// holder can a release or a renewal come from? The table of commands.go says what a command does.
//
//	Command ──> op with its row ──> apply ──> take, renew, remove ... ──> authors: one holder, several, none
//	                                                                          │
//	                                                         package holders <┘
//
// The findings about single clients are more lenient than that. Connections are pooled: one connection
// may take a lock and another one may release it. Therefore a connection counts as the owner if it took
// the lock or has ever sent its token. A token that differs only after its last colon counts too: the
// threads of one process have such tokens. A script that reads the key before it changes it has compared
// the token.
//
// # What it leaves out
//
//   - Semaphores in lists, sorted sets and counters. Libraries keep them by scripts. An application that
//     does so by hand (ZCARD, then ZADD) looks like one that keeps a ranking.
//   - A lock that a client looks up and then sets without NX. Reads of absent keys are most of what a
//     cache does, too many to remember.
//   - Locks that live as long as a subscription.
//   - Hashes with several owners at once (read locks): the doctor reports no mistakes with them. The
//     verdict judges them.
//
// RENAME, MOVE, SWAPDB and the FLUSH commands are not findings, because no known client does that
// to its own locks. They end the lock, and the finding about a second holder names the command. A
// copy of a lock by COPY or RESTORE is not a lock: nobody took it.
//
// Memory is bounded. The doctor remembers the newest few thousand of everything, and 128 bytes of
// each argument. It reports a pattern once for each class of keys (the name without numbers and
// ids) and each class of client names.
package doctor

import (
	"github.com/miniredisd/miniredisd/internal/bounded"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// Event is a command that has run.
type Event struct {
	Time    int64 // unix ms of the server's clock, which a test may set
	Mono    int64 // ns of a clock that no test moves, for measuring how much time has passed
	Client  int64
	Request int64  // the number of the client's request, from 1; 0 means unknown
	Name    string // CLIENT SETNAME
	DB      int
	Command string // the name in lower case; for a subcommand script|load
	Args    [][]byte
	By      string // "" if the client sent it, else Exec or the script's SHA1
	Reply   []byte // in RESP2 or RESP3
	Lost    bool   // the client does not get the reply
	Late    bool   // the client gets the reply later, and nothing shows when
	Held    bool   // the server has not executed it, or not yet; Reply is the error of one that it refused
	Other   bool   // a SET NX or SETNX that found a value of another type than a string
	Real    int64  // unix ms of the machine's clock, which no test moves; 0 means unknown
	Script  string // that the command runs: its SHA1, or the function's name; "" means unknown
	Evicts  string // maxmemory-policy, if maxmemory is set and the policy evicts keys; else ""
}

// Exec is Event.By for the commands of a transaction.
const Exec = "exec"

// Doctor watches one server. The zero value is not usable: see New.
type Doctor struct {
	ledger *Ledger
	master int
	means  map[string]meaning
	recent [64]known // see meaning
	least  int       // entries that the bounds of memory leave room for
	epoch  int64     // grows when the server starts again, which ends all connections

	holds   *bounded.Map[holders.Key, *hold]
	grants  *bounded.Map[holders.Key, []*hold] // that their holders did not give up, the oldest first
	uses    *bounded.Map[holders.Key, *uses]
	coming  map[holders.Key]coming             // of a history
	seen    map[holders.Key]bool               // locks of a history that have appeared in it
	names   names                              // of all that was granted
	past    *bounded.Map[holders.Key, []ended] // leases that ended
	back    *bounded.Map[holders.Key, []ended] // holds that their holders released
	clients *bounded.Map[int64, *client]
	scripts *bounded.Map[string, *script]
	texts   map[string]text                  // of scripts: see op
	locks   *bounded.Map[string, bool]       // classes of names of earlier locks
	taken   *bounded.Map[holders.Key, bool]  // locks that their holders lost and may not know it yet
	alike   *bounded.Map[holders.Key, ended] // the last holds whose tokens had two users
	polls   *bounded.Map[holders.Key, *attempts]

	found  *bounded.Map[string, *Finding]
	logged map[Pattern]bool
	log    func(Finding)

	later later // the commands of the running script so far, while they concern no lock
	run   []op  // the commands of the running script so far, if one of them may concern a lock
	tx    []op  // the commands of the running EXEC so far

	shifted bool    // a test has moved the clock by a second or more
	replica bool    // the node follows another one
	stream  *stream // of a master that may have replicas
	follows *stream // of a replica; nil if it has been one since its history began
	offset  int64   // of the events that follow
	again   *told   // the event that the doctor is told once more
}

// The bounds of memory.
const (
	maxHolds    = 4096
	maxClients  = 2048
	maxScripts  = 256
	maxClasses  = 1024
	maxFindings = 256
	maxRun      = 128 // commands of one script or transaction
)

// New returns the doctor of a server. It calls log, unless nil, with the first finding of each
// pattern. Several masters share a ledger, and master is the number of this one in it, from 0. A
// lone server has no ledger (nil).
func New(log func(Finding), ledger *Ledger, master int) *Doctor {
	return newDoctor(log, ledger, master, 0)
}

// Over returns a doctor that reads a history of so many entries. It forgets nothing of them.
func Over(entries int, ledger *Ledger, master int) *Doctor {
	return newDoctor(nil, ledger, master, entries+1)
}

func newDoctor(log func(Finding), ledger *Ledger, master, least int) *Doctor {
	d := &Doctor{ledger: ledger, master: master, log: log, means: commands(), least: least}
	d.Reset()
	return d
}

// most returns a bound of memory.
func (d *Doctor) most(n int) int { return max(n, d.least) }

// Reset drops all findings and all memory.
func (d *Doctor) Reset() {
	d.coming = map[holders.Key]coming{}
	d.forgetLocks()
	d.forgetStream()
	d.found = bounded.NewMap[string, *Finding](maxFindings)
	d.logged = map[Pattern]bool{}
	if d.ledger != nil {
		d.ledger.forget(d.master)
	}
}

// forgetLocks drops all memory but the findings.
func (d *Doctor) forgetLocks() {
	d.seen = map[holders.Key]bool{}
	d.holds = bounded.NewMap[holders.Key, *hold](d.most(maxHolds))
	d.grants = bounded.NewMap[holders.Key, []*hold](d.most(maxHolds))
	d.names = names{}
	d.uses = bounded.NewMap[holders.Key, *uses](d.most(maxHolds))
	d.past = bounded.NewMap[holders.Key, []ended](d.most(maxHolds))
	d.back = bounded.NewMap[holders.Key, []ended](d.most(maxHolds))
	d.clients = bounded.NewMap[int64, *client](d.most(maxClients))
	d.scripts = bounded.NewMap[string, *script](d.most(maxScripts))
	d.texts = map[string]text{}
	d.locks = bounded.NewMap[string, bool](maxClasses)
	d.taken = bounded.NewMap[holders.Key, bool](d.most(maxHolds))
	d.alike = bounded.NewMap[holders.Key, ended](d.most(maxHolds))
	d.polls = bounded.NewMap[holders.Key, *attempts](d.most(maxHolds))
	d.later, d.run, d.tx = later{}, nil, nil
}

// Command reports a command that has run. The commands of a script or a transaction come first,
// then the script or EXEC itself.
func (d *Doctor) Command(e *Event) {
	m := d.meaning(e.Command)
	switch {
	case !d.concerns(m, e.Command, e.DB, e.Args, e.By) && !d.awaits(e), d.replica && !e.concernsReplica(m):
	case d.keeps():
		kept := e.keep()
		d.tell(func(d *Doctor) { d.command(kept) })
	case d.passes(e, m):
	default:
		d.command(*e)
	}
}

func (d *Doctor) command(e Event) {
	o := d.op(e)
	if o.waits() {
		if o.by == "" {
			d.awaited(o, e.Reply, e.Held)
		}
		return
	}
	switch {
	case o.wasRefused():
		d.sent(o, whyRefused)
	case e.Held:
		d.sent(o, whySent)
	}
	d.apart(o)
	if e.Held {
		return
	}
	d.ledger.follows(o)
	d.firstSight(o)
	switch {
	case o.does.has(runs):
		d.script(o, d.run)
		d.run = d.run[:0]
	case o.by == Exec:
		if len(d.tx) < d.most(maxRun) {
			d.tx = append(d.tx, o)
		}
	case o.by != "":
		if len(d.run) < d.most(maxRun) {
			d.run = append(d.run, o)
		}
	case o.name == "exec":
		d.transaction(o, d.tx)
		d.tx = d.tx[:0]
	default:
		d.request(o)
	}
}

// Disconnected reports that a connection has ended. time is unix ms.
func (d *Doctor) Disconnected(id, time int64) {
	c := d.clients.Get(id)
	if c == nil {
		return
	}
	for _, k := range c.loose.Items() {
		if h := d.holds.Get(k); h != nil && h.client == id && h.until == 0 && d.isLock(k, h) {
			d.orphaned(k, h, time)
		}
	}
	d.clients.Delete(id)
}

// Expired reports that a key has expired. time is unix ms.
func (d *Doctor) Expired(db int, key string, time int64) {
	switch {
	case d.keeps():
		d.tell(func(d *Doctor) { d.expired(db, key, time) })
	case !d.replica:
		d.expired(db, key, time)
	}
}

func (d *Doctor) expired(db int, key string, time int64) {
	k := holders.Key{DB: db, Name: key}
	h := d.holds.Get(k)
	if h == nil {
		d.heldBefore(op{time: time, db: db, args: []string{"", key}}, k)
		return
	}
	d.outlives(k, h, time)
	past := append(d.past.Get(k), ended{hold: h, at: time})
	d.past.Put(k, past[max(0, len(past)-maxEnded):])
	d.drop(k, h, holders.EndExpired, time)
}

// Evicted reports that a key was evicted. time is unix ms.
func (d *Doctor) Evicted(db int, key string, time int64) {
	switch {
	case d.keeps():
		d.tell(func(d *Doctor) { d.evicted(db, key, time) })
	case !d.replica:
		d.evicted(db, key, time)
	}
}

// Lost reports that all keys are gone without a command, as after a crash. time is unix ms.
func (d *Doctor) Lost(time int64) {
	switch {
	case d.keeps():
		d.tell(func(d *Doctor) { d.lost(time) })
	case !d.replica:
		d.lost(time)
	}
}

func (d *Doctor) lost(time int64) {
	for k, h := range d.holds.All() {
		d.drop(k, h, holders.EndLost, time)
	}
	d.restarted()
}

// Differs reports that a server has started again without a key, or with an older value of it. why says what was on
// disk. time is unix ms.
func (d *Doctor) Differs(db int, key string, time int64, why string) {
	switch {
	case d.keeps():
		d.tell(func(d *Doctor) { d.differs(db, key, time, why) })
	case !d.replica:
		d.differs(db, key, time, why)
	}
}

func (d *Doctor) differs(db int, key string, time int64, why string) {
	k := holders.Key{DB: db, Name: key}
	if h := d.holds.Get(k); h != nil {
		h.ended = holders.Step{Time: time, Command: RestartedWithout + why}
		d.drop(k, h, holders.EndLost, time)
	}
}

// Expires reports that a server has started again with another expiry of a key, in unix ms; 0 means never. Its holder
// does not know of that. why says what was on disk.
func (d *Doctor) Expires(db int, key string, until int64, why string) {
	switch {
	case d.keeps():
		d.tell(func(d *Doctor) { d.expires(db, key, until, why) })
	case !d.replica:
		d.expires(db, key, until, why)
	}
}

func (d *Doctor) expires(db int, key string, until int64, why string) {
	k := holders.Key{DB: db, Name: key}
	if h := d.holds.Get(k); h != nil {
		h.until, h.ended = until, holders.Step{Command: RestartedWithout + why}
		if d.ledger != nil {
			d.ledger.Holders.Apart(d.master, k, h.order)
		}
	}
}

// Restarted reports that the server has started again, with its keys or without them.
func (d *Doctor) Restarted() {
	switch {
	case d.keeps():
		d.tell((*Doctor).restarted)
	case !d.replica:
		d.restarted()
	}
}

func (d *Doctor) restarted() {
	d.epoch++
	d.later.forget()
	d.run, d.tx = nil, nil
	d.clients = bounded.NewMap[int64, *client](d.most(maxClients))
}

// ClockMoved reports that a test moved the clock, from and to in unix ms. together means that the
// clocks of all masters move by the same request.
func (d *Doctor) ClockMoved(from, to int64, together bool) {
	d.shifted = d.shifted || max(to-from, from-to) >= skewed
	if d.ledger != nil {
		d.ledger.Holders.Moved(d.master, from, to, together)
	}
}

// Findings returns the findings so far, the oldest first. now is unix ms of the server's clock.
func (d *Doctor) Findings(now int64) []Finding {
	for k, h := range d.holds.All() {
		if h.until == 0 && !h.forced && now-h.taken.Time >= patience && d.isLock(k, h) {
			d.withoutTTL(k, h, holders.Step{})
		}
		if !d.replica && h.until > 0 && h.until <= now { // it has not ended here: it has moved to another node
			d.outlives(k, h, h.until)
		}
	}
	return d.list()
}
