// Package doctor finds mistakes of lock clients in the commands that a server sees.
//
// It is a state machine without sockets and without a clock. The server reports every command that
// has run (Command), connections that end (Disconnected), keys that expire (Expired) and the loss
// of all keys (Lost), each with its time. Findings returns the mistakes. Only the goroutine that
// executes commands may call a Doctor. The doctors of several masters share a Ledger, which has a
// mutex.
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
// One mistake needs no such evidence: a SETNX that an EXPIRE follows at once is wrong for any key.
//
// # Who owns a lock
//
// Connections are pooled: one connection may take a lock and another one may release it. A
// connection counts as the owner if it took the lock or has ever sent its token. A token that
// differs only after its last colon counts too: the threads of one process have such tokens. A
// script that reads the key before it changes it has compared the token.
//
// # What it leaves out
//
//   - Semaphores in lists, sorted sets and counters. Libraries keep them by scripts. An application that
//     does so by hand (ZCARD, then ZADD) looks like one that keeps a ranking.
//   - A lock that a client looks up and then sets without NX. Reads of absent keys are most of what a
//     cache does, too many to remember.
//   - Locks that live as long as a subscription.
//   - Hashes with several owners at once (read locks): the doctor reports no misuse of them.
//
// RENAME, MOVE, SWAPDB and the FLUSH commands are not findings, because no known client does that
// to its own locks. They end the lock, and the finding about a second holder names the command. A
// copy of a lock by COPY or RESTORE is not a lock: nobody took it.
//
// Clients with one name are one holder if their tokens are equal, or if they have none: the
// connections of a pool look like that. So two processes that share name and token count as one
// holder.
//
// Memory is bounded. The doctor remembers the newest few thousand of everything, and 128 bytes of
// each argument. It reports a pattern once for each class of keys (the name without numbers and
// ids) and each class of client names.
package doctor

// Event is a command that has run.
type Event struct {
	Time    int64 // unix ms of the server's clock, which a test may set
	Mono    int64 // ns of a clock that no test moves, for measuring how much time has passed
	Client  int64
	Name    string // CLIENT SETNAME
	DB      int
	Command string // the name in lower case; for a subcommand script|load
	Args    [][]byte
	By      string // "" if the client sent it, else Exec or the script's SHA1
	Reply   []byte // in RESP2 or RESP3
}

// Exec is Event.By for the commands of a transaction.
const Exec = "exec"

// Doctor watches one server. The zero value is not usable: see New.
type Doctor struct {
	ledger *Ledger
	master int

	holds   *bounded[lockKey, *hold]
	past    *bounded[lockKey, []ended] // leases that ended
	clients *bounded[int64, *client]
	scripts *bounded[string, *script]
	locks   *bounded[string, bool]  // classes of names of earlier locks
	taken   *bounded[lockKey, bool] // locks that their holders lost and may not know it yet

	found  *bounded[string, *Finding]
	logged map[Pattern]bool
	log    func(Finding)

	run []op // the commands of the running script so far
	tx  []op // the commands of the running EXEC so far
}

// lockKey is a key in a database.
type lockKey struct {
	db   int
	name string
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
	d := &Doctor{ledger: ledger, master: master, log: log}
	d.Reset()
	return d
}

// Reset drops all findings and all memory.
func (d *Doctor) Reset() {
	d.holds = newBounded[lockKey, *hold](maxHolds)
	d.past = newBounded[lockKey, []ended](maxHolds)
	d.clients = newBounded[int64, *client](maxClients)
	d.scripts = newBounded[string, *script](maxScripts)
	d.locks = newBounded[string, bool](maxClasses)
	d.taken = newBounded[lockKey, bool](maxHolds)
	d.found = newBounded[string, *Finding](maxFindings)
	d.logged = map[Pattern]bool{}
	d.run, d.tx = nil, nil
	if d.ledger != nil {
		d.ledger.forget(d.master)
	}
}

// Command reports a command that has run. The commands of a script or a transaction come first,
// then the script or EXEC itself.
func (d *Doctor) Command(e Event) {
	if !d.Concerns(e.Command, e.DB, e.Args, e.By) {
		return
	}
	o := newOp(e)
	switch {
	case o.runsScript():
		d.script(o, d.run)
		d.run = d.run[:0]
	case o.by == Exec:
		if len(d.tx) < maxRun {
			d.tx = append(d.tx, o)
		}
	case o.by != "":
		if len(d.run) < maxRun {
			d.run = append(d.run, o)
		}
	case o.name == "exec":
		d.transaction(o, d.tx)
		d.tx = d.tx[:0]
	default:
		d.request(o)
	}
}

// Concerns reports whether Command would look at a command. It is fast, and most commands have
// nothing to do with a lock.
func (d *Doctor) Concerns(command string, db int, args [][]byte, by string) bool {
	if len(command) == 3 && len(args) <= 3 && by == "" && d.knowsNone() { // GET, SET, DEL, TTL: most commands
		return false
	}
	switch command {
	case "setnx", "eval", "evalsha", "fcall", "watch", "unwatch", "exec", "discard",
		"flushall", "flushdb", "swapdb", "script|load", "script|flush":
		return true
	case "publish", "spublish":
		return by != ""
	case "set":
		return by != "" || len(args) > 3 && hasOption(args, "nx") || d.knows(db, args, false)
	case "get", "getrange", "hget", "hexists", "exists", "pttl", "ttl", "type",
		"hset", "hmset", "hsetnx", "hincrby", "hdel":
		return by != "" && by != Exec || d.knows(db, args, false)
	case "rename", "renamenx", "move":
		return d.knows(db, args, true)
	case "setex", "psetex", "getset", "expire", "pexpire", "expireat", "pexpireat", "persist", "getdel":
		return by != "" || d.knows(db, args, false)
	case "del", "unlink":
		return by != "" || d.knows(db, args, true)
	}
	return false
}

func (d *Doctor) knowsNone() bool { return len(d.holds.m)+len(d.past.m)+len(d.taken.m) == 0 }

// knows reports whether the first key, or with all any key, is a lock or was one until its holder
// lost it.
func (d *Doctor) knows(db int, args [][]byte, all bool) bool {
	if d.knowsNone() || len(args) < 2 {
		return false
	}
	keys := args[1:2]
	if all {
		keys = args[1:]
	}
	for _, name := range keys {
		k := lockKey{db, string(name)}
		if d.holds.m[k] != nil || d.past.m[k] != nil || d.taken.m[k] {
			return true
		}
	}
	return false
}

// Disconnected reports that a connection has ended. time is unix ms.
func (d *Doctor) Disconnected(id, time int64) {
	c := d.clients.m[id]
	if c == nil {
		return
	}
	for _, k := range c.loose.items {
		if h := d.holds.m[k]; h != nil && h.client == id && h.until == 0 && d.isLock(k, h) {
			d.orphaned(k, h, time)
		}
	}
	d.clients.delete(id)
}

// Expired reports that a key has expired. time is unix ms.
func (d *Doctor) Expired(db int, key string, time int64) {
	if len(d.holds.m) == 0 {
		return
	}
	k := lockKey{db, key}
	h := d.holds.m[k]
	if h == nil {
		return
	}
	past := append(d.past.m[k], ended{hold: h, at: time})
	if len(past) > 4 {
		past = past[1:]
	}
	d.past.put(k, past)
	d.drop(k, h, EndExpired, time)
}

// Lost reports that all keys are gone without a command, as after a crash. time is unix ms.
func (d *Doctor) Lost(time int64) {
	for k, h := range d.holds.all() {
		d.drop(k, h, EndLost, time)
	}
	d.clients = newBounded[int64, *client](maxClients)
}

// ClockMoved reports that a test moved the clock, from and to in unix ms. together means that the
// clocks of all masters move by the same request.
func (d *Doctor) ClockMoved(from, to int64, together bool) {
	if d.ledger != nil {
		d.ledger.Moved(d.master, from, to, together)
	}
}

// Findings returns the findings so far, the oldest first. now is unix ms of the server's clock.
func (d *Doctor) Findings(now int64) []Finding {
	for k, h := range d.holds.all() {
		if h.until == 0 && now-h.taken.Time >= patience && d.isLock(k, h) {
			d.withoutTTL(k, h, Step{})
		}
	}
	return d.list()
}
