// Package doctor finds what users of locks do wrong, from the commands a server sees.
//
// It is a state machine without sockets or a clock: the server tells it of every
// command that has run (Command), of connections that end (Disconnected), of keys
// that expire (Expired) and of all keys getting lost (Lost), each with its time, and
// asks for the Findings. Only the goroutine that executes commands may call a
// Doctor; a Ledger is shared by the doctors of several masters and has a mutex.
//
// # What is a lock
//
// Redis does not know locks, so they are recognised by how a key is created:
//
//   - SET with NX, and SETNX, outside and inside scripts and transactions. The value is
//     the owner's token.
//   - in a script: SET with a TTL of a key the script has just seen to be absent
//     (EXISTS, then SET PX, is how multi-key locks are taken), if the value can be a token.
//   - in a script: a hash that was absent, is written and gets a TTL in the same run. The
//     field is the owner's token (re-entrant locks count in it).
//
// Caches, defaults, counters, throttles and names that are taken for good are made in the
// same way. So nothing is said about a key until something else makes it a lock: its name,
// a script that compares the value before it deletes the key, an earlier lock of the same
// class of names, or a value that looks random, with a TTL or with somebody who tries for the
// key again and again. Only a SETNX that is followed at once by EXPIRE is wrong whatever
// the key is for.
//
// # Who owns a lock
//
// Connections are pooled, so the one that took a lock need not be the one that frees it.
// A connection is given the benefit of the doubt when it took the lock or has ever
// carried its token (or one that is equal up to the last colon, as those of the threads
// of one process are). A script that reads the key before it changes it is taken to have
// compared the token.
//
// # What it leaves out
//
// Semaphores in lists, sorted sets and counters: libraries keep them by scripts, and what
// an application does by hand (ZCARD, then ZADD) looks the same as for a ranking, so that only
// a name could tell them apart. A lock that is looked for and then set without NX: reads of
// keys that are not there are most of what a cache does, too many to remember. Locks kept
// by pub/sub presence. Hashes that several own at once (read locks), which are never said to be
// misused.
//
// RENAME, MOVE, SWAPDB and the FLUSHes of a lock are no finding, as no client is known to do
// that to its own locks. They do end it, so that a second holder is told by what command it
// came to be. What COPY or RESTORE makes of a lock is not one: nobody has taken it.
//
// Clients with one name are one holder where their tokens are the same or none, as those of
// a pool are: that two processes hold a lock is not seen when they share both.
//
// Memory is bounded: of everything that is remembered only the newest few thousand
// are, with arguments cut to 128 bytes. A pattern is reported once for each class of
// keys (the name with numbers and ids taken out) and each class of client names.
package doctor

// Event is a command that has run.
type Event struct {
	Time    int64 // unix ms of the server's clock, which a test may set
	Mono    int64 // ns of a clock that nobody sets; it only says how much time has passed
	Client  int64
	Name    string // CLIENT SETNAME
	DB      int
	Command string // the name in lower case, as script|load for a subcommand
	Args    [][]byte
	By      string // "" for what the client sent itself, else Exec or the script's SHA1
	Reply   []byte // as it is written to the client, RESP2 or RESP3
}

// Exec is who runs the commands of a transaction.
const Exec = "exec"

// Doctor watches one server. The zero value is not ready: use New.
type Doctor struct {
	ledger *Ledger
	master int

	holds   *bounded[lockKey, *hold]
	past    *bounded[lockKey, []ended] // leases that ran out
	clients *bounded[int64, *client]
	scripts *bounded[string, *script]
	locks   *bounded[string, bool]  // classes of names that locks have had
	taken   *bounded[lockKey, bool] // that were taken from their holders, who do not know it yet

	found  *bounded[string, *Finding]
	logged map[Pattern]bool
	log    func(Finding)

	run []op // what the script under way has done so far
	tx  []op // the same for the EXEC under way
}

// lockKey is a key of a database.
type lockKey struct {
	db   int
	name string
}

// The bounds of what is remembered.
const (
	maxHolds    = 4096
	maxClients  = 2048
	maxScripts  = 256
	maxClasses  = 1024
	maxFindings = 256
	maxRun      = 128 // commands of one script or transaction
)

// New makes the doctor of a server. Log, unless nil, is given the first finding of
// each pattern. Masters that are to be looked at together share a ledger, in which this
// one has the number master, from 0; without others ledger is nil.
func New(log func(Finding), ledger *Ledger, master int) *Doctor {
	d := &Doctor{ledger: ledger, master: master, log: log}
	d.Reset()
	return d
}

// Reset forgets all findings and everything that was seen.
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

// Command is told of every command that has run: first of those inside a script or
// transaction, then of the script or EXEC itself.
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

// Concerns tells whether Command would look at a command. It is quick, and hardly any
// command has to do with a lock.
func (d *Doctor) Concerns(command string, db int, args [][]byte, by string) bool {
	if len(command) == 3 && len(args) <= 3 && by == "" && d.knowsNone() { // GET, SET, DEL, TTL: what there is most of
		return false
	}
	switch command {
	case "setnx", "eval", "evalsha", "fcall", "watch", "unwatch", "exec", "discard", "flushall", "flushdb", "swapdb", "script|load", "script|flush":
		return true
	case "publish", "spublish":
		return by != ""
	case "set":
		return by != "" || len(args) > 3 && hasOption(args, "nx") || d.knows(db, args, false)
	case "get", "getrange", "hget", "hexists", "exists", "pttl", "ttl", "type", "hset", "hmset", "hsetnx", "hincrby", "hdel":
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

// knows tells whether the key, or one of all, is a lock now, or was taken from its holder
// by time or by others.
func (d *Doctor) knows(db int, args [][]byte, all bool) bool {
	if d.knowsNone() || len(args) < 2 {
		return false
	}
	keys := args[1:2]
	if all {
		keys = args[1:]
	}
	for _, k := range keys {
		if d.holds.m[lockKey{db, string(k)}] != nil || d.past.m[lockKey{db, string(k)}] != nil || d.taken.m[lockKey{db, string(k)}] {
			return true
		}
	}
	return false
}

// Disconnected is told when a connection has ended.
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

// Expired is told when a key has reached the end of its time to live.
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

// Lost is told when all keys are gone without anybody's command, as after a crash.
func (d *Doctor) Lost(time int64) {
	for k, h := range d.holds.all() {
		d.drop(k, h, EndLost, time)
	}
	d.clients = newBounded[int64, *client](maxClients)
}

// ClockMoved is told when the clock is moved by hand, together with those of all masters or
// alone.
func (d *Doctor) ClockMoved(from, to int64, together bool) {
	if d.ledger != nil {
		d.ledger.Moved(d.master, from, to, together)
	}
}

// Findings are those so far, oldest first. Now is the time on the server's clock.
func (d *Doctor) Findings(now int64) []Finding {
	for k, h := range d.holds.all() {
		if h.until == 0 && now-h.taken.Time >= patience && d.isLock(k, h) {
			d.withoutTTL(k, h, Step{})
		}
	}
	return d.list()
}
