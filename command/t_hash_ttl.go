package command

import "github.com/miniredisd/miniredisd/store"

// hashTTLRows are the commands for fields that expire one by one. The families have the same commands and
// check their arguments each in its own way: see t_hash_ttl_args.go.
func hashTTLRows() []Row {
	const (
		fields    = "(FIELDS numfields:integer field ...)"
		condition = " [condition: NX | XX | GT | LT] " + fields
		times     = "EX seconds | PX milliseconds | EXAT unix-time-seconds:unix-time " +
			"| PXAT unix-time-milliseconds:unix-time | "
		cost = "O(N) for N fields"
	)
	return []Row{
		{"hexpire", "key seconds" + condition,
			-6, Write | Fast, keys(at(1, RW|Update)), "hash", "7.4.0,9.0.0",
			cost,
			"Sets the time to live of fields of a hash in seconds.", hexpire},
		{"hpexpire", "key milliseconds" + condition,
			-6, Write | Fast, keys(at(1, RW|Update)), "hash", "7.4.0,9.0.0",
			cost,
			"Sets the time to live of fields of a hash in milliseconds.", hpexpire},
		{"hexpireat", "key unix-time-seconds:unix-time" + condition,
			-6, Write | Fast, keys(at(1, RW|Update)), "hash", "7.4.0,9.0.0",
			cost,
			"Sets the expiry of fields of a hash to a Unix time in seconds.", hexpireAt},
		{"hpexpireat", "key unix-time-milliseconds:unix-time" + condition,
			-6, Write | Fast, keys(at(1, RW|Update)), "hash", "7.4.0,9.0.0",
			cost,
			"Sets the expiry of fields of a hash to a Unix time in milliseconds.", hpexpireAt},
		{"httl", "key " + fields,
			-5, ReadOnly | Fast, keys(at(1, RO|Access)), "hash", "7.4.0,9.0.0",
			cost,
			"Returns the time to live of fields of a hash in seconds.", httl},
		{"hpttl", "key " + fields,
			-5, ReadOnly | Fast, keys(at(1, RO|Access)), "hash", "7.4.0,9.0.0",
			cost,
			"Returns the time to live of fields of a hash in milliseconds.", hpttl},
		{"hexpiretime", "key " + fields,
			-5, ReadOnly | Fast, keys(at(1, RO|Access)), "hash", "7.4.0,9.0.0",
			cost,
			"Returns the expiry of fields of a hash as a Unix time in seconds.", hexpireTime},
		{"hpexpiretime", "key " + fields,
			-5, ReadOnly | Fast, keys(at(1, RO|Access)), "hash", "7.4.0,9.0.0",
			cost,
			"Returns the expiry of fields of a hash as a Unix time in milliseconds.", hpexpireTime},
		{"hpersist", "key " + fields,
			-5, Write | Fast, keys(at(1, RW|Update)), "hash", "7.4.0,9.0.0",
			cost,
			"Removes the expiry of fields of a hash.", hpersist},
		{"hgetex", "key [expiration: " + times + "PERSIST] " + fields,
			-5, Write | Fast, keys(at(1, RW|Access|Update)), "hash", "8.0.0,9.0.0",
			cost,
			"Returns the values of fields of a hash, and sets or removes their expiry on request.", hgetex},
		{"hsetex", "key [key-condition: NX@,9.1.0 | XX@,9.1.0] [fields-condition: FNX | FXX] [expiration: " +
			times + "KEEPTTL] (FIELDS numfields:integer (data: field value) ...)",
			-6, Write | DenyOOM | Fast, keys(at(1, RW|Insert)), "hash", "8.0.0,9.0.0",
			cost,
			"Sets fields of a hash with an expiry, all of them or none.", hsetex},
		{"hgetdel", "key " + fields,
			-5, Write | Fast, keys(at(1, RW|Access|Delete)), "hash", "8.0.0,9.1.0",
			cost,
			"Returns the values of fields of a hash and deletes the fields.", hgetdel},
	}
}

// HEXPIRE key seconds [NX | XX | GT | LT] FIELDS numfields field ... (t_hash.c: hexpireCommand)
func hexpire(c *Call) error { return hexpireGeneric(c, ttlEX) }

// HPEXPIRE key milliseconds [NX | XX | GT | LT] FIELDS numfields field ... (t_hash.c: hpexpireCommand)
func hpexpire(c *Call) error { return hexpireGeneric(c, ttlPX) }

// HEXPIREAT key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field ... (t_hash.c: hexpireatCommand)
func hexpireAt(c *Call) error { return hexpireGeneric(c, ttlEXAT) }

// HPEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field ... (t_hash.c: hpexpireatCommand)
func hpexpireAt(c *Call) error { return hexpireGeneric(c, ttlPXAT) }

// hexpireGeneric sets the expiry of fields. A time in the past deletes them. The reply for each field is -2
// if there is none, 0 if the condition does not hold, 1 if the expiry is set, 2 if the field is deleted.
func hexpireGeneric(c *Call, unit ttlUnit) error {
	at, o, fields, err := parseHexpire(c, unit)
	if err != nil {
		return err
	}
	h, err := store.WriteFields(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	done := fieldChange{at: at}
	c.Array(len(fields))
	for _, field := range fields {
		old, ok := int64(0), false
		if h.Hash != nil {
			old, ok = h.Expire(field)
		}
		switch {
		case !ok:
			c.Int(-2)
		case !o.allow(old, at):
			c.Int(0)
		case c.past(at):
			done.set(c, &h, field)
			c.Int(2)
		default:
			done.set(c, &h, field)
			c.Int(1)
		}
	}
	done.report(c, &h)
	return nil
}

// fieldChange is what a command does to the expiry of fields.
type fieldChange struct {
	at               int64 // the new expiry
	timed, persisted int   // fields that got it, and that lost theirs
	written          int   // fields with a new value
	deleted          int   // fields that the client deletes
	idle             bool  // HSETEX has set a time in the past for fields that were not there

	propagate [][]byte // the timed fields, if somebody listens
}

// set gives a field, which exists, the expiry. If the time is in the past, the field goes.
func (done *fieldChange) set(c *Call, h *store.Fields, field []byte) {
	if c.past(done.at) {
		h.Delete(field)
	} else {
		h.SetExpire(field, done.at)
	}
	done.timed++
	if c.Propagates() {
		done.propagate = append(done.propagate, field)
	}
}

func (done *fieldChange) persist(h *store.Fields, field []byte) bool {
	persisted := h.Persist(field)
	if persisted {
		done.persisted++
	}
	return persisted
}

// report tells everybody who wants to know, and deletes the hash if no field is left. When a time in the past
// has deleted fields, they have expired for Valkey. For Redis they were deleted.
func (done *fieldChange) report(c *Call, h *store.Fields) {
	n := done.timed + done.persisted + done.written + done.deleted
	if n == 0 {
		return
	}
	key, left := c.Args[1], 0
	if h.Hash != nil {
		left = h.Len()
	}
	if left == 0 {
		c.DB.Delete(key)
	}
	if !done.idle {
		c.Touched(key)
		c.Count(n - 1)
	}
	past := done.timed > 0 && c.past(done.at)
	done.propagateTimes(c, past)
	expires := c.Cmd.dialect.Has(pastExpires)
	if done.written > 0 {
		c.Notify(ClassHash, "hset", key)
	}
	if done.timed > 0 && (!past || expires && done.written > 0) {
		c.Notify(ClassHash, "hexpire", key)
	}
	if done.persisted > 0 {
		c.Notify(ClassHash, "hpersist", key)
	}
	switch {
	case past && expires:
		c.Notify(ClassHash, "hexpired", key)
	case past || done.deleted > 0:
		c.Notify(ClassHash, "hdel", key)
	}
	if left == 0 {
		c.Notify(ClassGeneric, "del", key)
	}
}

// propagateTimes propagates the moment at which fields expire, or that they are gone because it has passed. HSETEX
// does its own for fields that it has written.
func (done *fieldChange) propagateTimes(c *Call, past bool) {
	switch {
	case len(done.propagate) == 0:
	case past:
		c.Propagate(append([][]byte{[]byte("HDEL"), c.Args[1]}, done.propagate...)...)
	default:
		c.Propagate(append([][]byte{[]byte("HPEXPIREAT"), c.Args[1], decimal(done.at), []byte("FIELDS"),
			decimal(int64(len(done.propagate)))}, done.propagate...)...)
	}
}

// HTTL key FIELDS numfields field ... (t_hash.c: httlCommand)
func httl(c *Call) error { return httlGeneric(c, c.Now, 1000) }

// HPTTL key FIELDS numfields field ... (t_hash.c: hpttlCommand)
func hpttl(c *Call) error { return httlGeneric(c, c.Now, 1) }

// HEXPIRETIME key FIELDS numfields field ... (t_hash.c: hexpiretimeCommand)
func hexpireTime(c *Call) error { return httlGeneric(c, 0, 1000) }

// HPEXPIRETIME key FIELDS numfields field ... (t_hash.c: hpexpiretimeCommand)
func hpexpireTime(c *Call) error { return httlGeneric(c, 0, 1) }

// httlGeneric replies for each field with its expiry counted from base, in units of unit ms, with -1 if it has
// none, and with -2 if there is no such field.
func httlGeneric(c *Call, base, unit int64) error {
	fields, err := parseFields(c)
	if err != nil {
		return err
	}
	h, err := store.Read[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	c.Array(len(fields))
	for _, field := range fields {
		at, ok := int64(0), false
		if h != nil {
			at, ok = h.Expire(field)
		}
		switch {
		case !ok:
			c.Int(-2)
		case at == 0:
			c.Int(-1)
		default:
			// Unsigned, because rounding up may overflow.
			c.Int(int64((uint64(max(at-base, 0)) + uint64(unit/2)) / uint64(unit)))
		}
	}
	return nil
}

// HPERSIST key FIELDS numfields field ... (t_hash.c: hpersistCommand)
func hpersist(c *Call) error {
	fields, err := parseFields(c)
	if err != nil {
		return err
	}
	h, err := store.WriteFields(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	done := fieldChange{}
	c.Array(len(fields))
	for _, field := range fields {
		ok := false
		if h.Hash != nil {
			_, ok = h.Get(field)
		}
		switch {
		case !ok:
			c.Int(-2)
		case done.persist(&h, field):
			c.Int(1)
		default:
			c.Int(-1)
		}
	}
	done.report(c, &h)
	return nil
}
