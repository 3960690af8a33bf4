package store

import (
	"math/rand/v2"
	"slices"
	"unsafe"
)

// Limits are the sizes up to which a collection keeps its compact encoding (redis.conf:
// hash-max-listpack-entries and its like).
type Limits struct {
	HashMaxListpackEntries int
	HashMaxListpackValue   int // bytes
	SetMaxIntsetEntries    int
	SetMaxListpackEntries  int
	SetMaxListpackValue    int // bytes
	ZSetMaxListpackEntries int
	ZSetMaxListpackValue   int // bytes
	ListMaxListpackSize    int // entries, or -1..-5 for 4, 8, 16, 32, 64 KB
	ListCompressDepth      int // accepted; nodes are never compressed
	StreamNodeMaxBytes     int
	StreamNodeMaxEntries   int
}

// DefaultLimits returns the limits of redis.conf 7.2.
func DefaultLimits() Limits {
	return Limits{
		HashMaxListpackEntries: 512, HashMaxListpackValue: 64,
		SetMaxIntsetEntries: 512, SetMaxListpackEntries: 128, SetMaxListpackValue: 64,
		ZSetMaxListpackEntries: 128, ZSetMaxListpackValue: 64,
		ListMaxListpackSize: -2,
		StreamNodeMaxBytes:  4096, StreamNodeMaxEntries: 100,
	}
}

// DefaultPackedThreshold is Redis's value, in bytes. DEBUG QUICKLIST-PACKED-THRESHOLD changes it.
const DefaultPackedThreshold = 1 << 30

// Options configure a Keyspace. The zero value gives 16 databases and seed 0.
type Options struct {
	Databases int
	Seed      uint64
}

// Keyspace is all databases and the state that they share.
type Keyspace struct {
	DBs    []*DB
	Limits Limits
	Seed   *Seed
	Rand   *rand.Rand // for every random choice that a client can see

	// Now is the unix time in milliseconds. It stands still while a command, a transaction or a
	// script runs: a key that has not expired at the start lives to the end.
	Now int64

	// LFU makes look-ups count accesses instead of noting the time (maxmemory-policy *-lfu).
	LFU          bool
	LFULogFactor int // lfu-log-factor
	LFUDecayTime int // lfu-decay-time, minutes

	expireFrom int // the database where the next ExpireDue begins

	// OnExpired and OnEvicted are called after an expired or evicted key is deleted. Both may be nil.
	OnExpired func(db *DB, key string)
	OnEvicted func(db *DB, key string)

	// OnFieldsExpired is called after fields of a hash have expired. If gone, the key went with its last
	// field. It may be nil.
	OnFieldsExpired func(db *DB, key string, gone bool)

	// OnFieldLate is called before a field expires, unless the hash goes with it. It may be nil.
	OnFieldLate func(db *DB, key string, field []byte)

	// FieldsInPacks makes OBJECT ENCODING say listpackex of small hashes with fields that have a deadline,
	// as Redis does. Valkey keeps all of them in a table.
	FieldsInPacks bool

	// OnNew is called after a key was added, OnMiss when a read does not find its key. Both may be
	// nil. key is valid until they return.
	OnNew  func(db *DB, key []byte)
	OnMiss func(db *DB, key []byte)

	// OnStreamGone is called when a stream is deleted or overwritten, but not when a whole
	// database is. It may be nil.
	OnStreamGone func(db *DB, key []byte)

	// OnTouch is called before a key changes, and after it was added. If is, the key exists, and Peek shows what it
	// was. A call does not mean that the key changes. Watch sets it.
	OnTouch func(db *DB, key []byte, is bool)

	// MaxMemory is maxmemory in bytes, 0 for no bound. Policy is maxmemory-policy.
	MaxMemory int64
	Policy    Policy

	// PackedThreshold is the size in bytes from which an element of a list has a node of its own
	// (quicklist.c: packed_threshold).
	PackedThreshold int

	// Overhead is the memory outside of the keyspace that counts for MaxMemory, in bytes.
	Overhead int

	// KeepDue keeps overdue keys until they are overwritten. No command finds them (CLIENT PAUSE).
	KeepDue bool

	// Loading makes overdue keys and fields live on: a log of commands, which is executed again, says when they
	// have gone (db.c: keyIsExpired).
	Loading bool

	// NoTouch keeps look-ups from noting an access (CLIENT NO-TOUCH).
	NoTouch bool

	Stats Stats

	mayGrow    func(bytes int) bool // fits: one function for the tables of all databases
	valueBytes int                  // of the values of all keys, as accounted for
	tracked    []tracked            // collections handed out for writing since the last Settle
	handles    [16]handle
	opened     int // handles in use since the last Settle
	scratch    [20]byte
	edited     quicklist                    // the small list that a command edits
	spareNode  []byte                       // memory of the latest list node that became empty, for the next one
	lentTexts  map[unsafe.Pointer]*lentText // by the memory of the strings; nil if a capture lends none
	prefetched byte                         // the sum of what Prefetch has read, which keeps the reads alive
}

// Stats are the counters of the keyspace in INFO.
type Stats struct {
	Hits, Misses, Expired, Evicted, Dirty int64

	LazyFreed int64 // values that Redis would free in the background

	WheelSlots, WheelTimers int64 // slots that the wheels have emptied, and timers that were in them
}

// tracked is a collection that a command may change, with the size that the accounts have for it.
type tracked struct {
	e      *entry
	before int
}

// NewKeyspace makes a keyspace with empty databases.
func NewKeyspace(o Options) *Keyspace {
	if o.Databases == 0 {
		o.Databases = 16
	}
	ks := &Keyspace{
		Limits:          DefaultLimits(),
		Seed:            NewSeed(o.Seed),
		LFULogFactor:    10,
		LFUDecayTime:    1,
		PackedThreshold: DefaultPackedThreshold,
	}
	ks.SeedRand(o.Seed)
	ks.mayGrow = ks.fits
	ks.DBs = make([]*DB, o.Databases)
	for i := range ks.DBs {
		ks.DBs[i] = newDB(ks, i)
	}
	return ks
}

// newTable makes the table of a database. The table postpones growing that would exceed MaxMemory,
// because the next command would then evict keys (server.c: dictExpandAllowed).
func (ks *Keyspace) newTable() *Table[entry] {
	t := NewTable[entry](ks.Seed)
	t.fits = ks.mayGrow
	return t
}

// SeedRand restarts the random numbers, as in a new keyspace with that seed.
func (ks *Keyspace) SeedRand(seed uint64) {
	ks.Rand = rand.New(rand.NewPCG(mix(seed), mix(seed+2)))
}

// Settle accounts for the collections that were handed out for writing. The executor calls it after
// every command.
func (ks *Keyspace) Settle() {
	ks.opened = 0
	if len(ks.tracked) == 0 {
		return
	}
	for _, t := range ks.tracked {
		ks.valueBytes += t.e.size() - t.before
	}
	clear(ks.tracked)
	ks.tracked = ks.tracked[:0]
}

// track remembers the size of a collection that a command may change.
func (ks *Keyspace) track(e *entry) {
	for i := range ks.tracked {
		if ks.tracked[i].e == e {
			return
		}
	}
	ks.tracked = append(ks.tracked, tracked{e, e.size()})
}

// untrack returns the size that the accounts have for e, whose value goes away.
func (ks *Keyspace) untrack(e *entry) int {
	for i, t := range ks.tracked {
		if t.e == e {
			ks.tracked = slices.Delete(ks.tracked, i, i+1)
			return t.before
		}
	}
	return e.size()
}

// fits reports whether more bytes stay within MaxMemory (evict.c: overMaxmemoryAfterAlloc).
func (ks *Keyspace) fits(more int) bool {
	return ks.MaxMemory == 0 || int64(ks.Bytes()+ks.Overhead+more) <= ks.MaxMemory
}

// Bytes estimates the memory of the keyspace.
func (ks *Keyspace) Bytes() int {
	sum := ks.valueBytes
	for _, db := range ks.DBs {
		sum += db.keys.Mem() + db.wheel.mem() + db.fields.mem()
	}
	return sum
}

// NextDeadline is the unix time in ms at which ExpireDue has work, or -1.
func (ks *Keyspace) NextDeadline() int64 {
	earliest := int64(-1)
	for _, db := range ks.DBs {
		for _, w := range [...]*wheel{&db.wheel, &db.fields} {
			if w.count == 0 {
				continue
			}
			if at, _, _, ok := w.next(); ok && (earliest < 0 || at < earliest) {
				earliest = at
			}
		}
	}
	return earliest
}

// expireBudget is the number of keys and fields that one ExpireDue moves or deletes in all databases together: about
// a tenth of a millisecond of work, if nobody has to hear of it.
const expireBudget = 1000

// ExpireDue deletes keys and fields whose time has come at Now (expire.c: activeExpireCycle). It returns false if more
// are due. Each call begins after the database where the one before has stopped, so that none waits for ever.
func (ks *Keyspace) ExpireDue() (done bool) {
	left := expireBudget
	for range ks.DBs {
		db := ks.DBs[ks.expireFrom]
		ks.expireFrom = (ks.expireFrom + 1) % len(ks.DBs)
		if left = ks.advance(&db.wheel, left, db.fireKey); left >= 0 {
			left = ks.advance(&db.fields, left, db.fireFields)
		}
		if left < 0 {
			return false
		}
	}
	return true
}

// advance turns a wheel to Now. It returns what is left of the budget, less than 0 if more is due.
func (ks *Keyspace) advance(w *wheel, budget int, fire func(i uint32) int) (left int) {
	if w.count == 0 {
		w.now = ks.Now
		return budget
	}
	if ks.Now < w.now-1 {
		w.rewind(ks.Now)
	}
	left = w.turn(ks.Now, budget, fire)
	ks.Stats.WheelSlots += int64(w.slots)
	ks.Stats.WheelTimers += int64(w.moved)
	return left
}

// passed is the unix time in ms before which deadlines have passed.
func (ks *Keyspace) passed() int64 {
	if ks.Loading {
		return 0
	}
	return ks.Now
}

// FlushAll empties every database and returns the number of keys.
func (ks *Keyspace) FlushAll() int {
	n := 0
	for _, db := range ks.DBs {
		n += db.Flush()
	}
	return n
}

// Swap exchanges two databases. Clients that selected one of them then see the other's keys.
func (ks *Keyspace) Swap(i, j int) {
	if a, b := ks.DBs[i], ks.DBs[j]; ks.OnTouch != nil {
		a.touchAll(a)
		a.touchAll(b)
		b.touchAll(b)
		b.touchAll(a)
	}
	ks.DBs[i], ks.DBs[j] = ks.DBs[j], ks.DBs[i]
	ks.DBs[i].ID, ks.DBs[j].ID = i, j
}
