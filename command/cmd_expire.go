package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

func expireRows() []Row {
	const options = " [condition@7.0.0: NX | XX | GT | LT]"
	return []Row{
		{"expire", "key seconds" + options,
			-3, Write | Fast, keys(at(1, RW|Update)), "generic", "1.0.0",
			"O(1)",
			"Sets a key's time to live in seconds.", expire},
		{"pexpire", "key milliseconds" + options,
			-3, Write | Fast, keys(at(1, RW|Update)), "generic", "2.6.0",
			"O(1)",
			"Sets a key's time to live in milliseconds.", pexpire},
		{"expireat", "key unix-time-seconds:unix-time" + options,
			-3, Write | Fast, keys(at(1, RW|Update)), "generic", "1.2.0",
			"O(1)",
			"Sets a key's expiry to a Unix time in seconds.", expireAt},
		{"pexpireat", "key unix-time-milliseconds:unix-time" + options,
			-3, Write | Fast, keys(at(1, RW|Update)), "generic", "2.6.0",
			"O(1)",
			"Sets a key's expiry to a Unix time in milliseconds.", pexpireAt},
		{"ttl", "key",
			2, ReadOnly | Fast | NondeterministicOutput, keys(at(1, RO|Access)), "generic", "1.0.0",
			"O(1)",
			"Returns a key's time to live in seconds.", ttl},
		{"pttl", "key",
			2, ReadOnly | Fast | NondeterministicOutput, keys(at(1, RO|Access)), "generic", "2.6.0",
			"O(1)",
			"Returns a key's time to live in milliseconds.", pttl},
		{"expiretime", "key",
			2, ReadOnly | Fast, keys(at(1, RO|Access)), "generic", "7.0.0",
			"O(1)",
			"Returns a key's expiry as a Unix time in seconds.", expireTime},
		{"pexpiretime", "key",
			2, ReadOnly | Fast, keys(at(1, RO|Access)), "generic", "7.0.0",
			"O(1)",
			"Returns a key's expiry as a Unix time in milliseconds.", pexpireTime},
		{"persist", "key",
			2, Write | Fast, keys(at(1, RW|Update)), "generic", "2.2.0",
			"O(1)",
			"Removes the expiry of a key.", persist},
	}
}

// EXPIRE key seconds [NX | XX | GT | LT] (expire.c: expireCommand)
func expire(c *Call) error { return expireGeneric(c, 1000, c.Now) }

// PEXPIRE key milliseconds [NX | XX | GT | LT] (expire.c: pexpireCommand)
func pexpire(c *Call) error { return expireGeneric(c, 1, c.Now) }

// EXPIREAT key unix-time-seconds [NX | XX | GT | LT] (expire.c: expireatCommand)
func expireAt(c *Call) error { return expireGeneric(c, 1000, 0) }

// PEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT] (expire.c: pexpireatCommand)
func pexpireAt(c *Call) error { return expireGeneric(c, 1, 0) }

// expireConditions are the options of EXPIRE and its relatives.
type expireConditions struct{ nx, xx, gt, lt bool }

func parseExpireConditions(args [][]byte) (o expireConditions, err error) {
	for _, a := range args {
		switch {
		case is(a, "nx"):
			o.nx = true
		case is(a, "xx"):
			o.xx = true
		case is(a, "gt"):
			o.gt = true
		case is(a, "lt"):
			o.lt = true
		default:
			return o, errorf("ERR Unsupported option %s", a)
		}
	}
	switch {
	case o.nx && (o.xx || o.gt || o.lt):
		return o, store.Error("ERR NX and XX, GT or LT options at the same time are not compatible")
	case o.gt && o.lt:
		return o, store.Error("ERR GT and LT options at the same time are not compatible")
	}
	return o, nil
}

// allow reports whether a key that expires at old may expire at a new time. old is 0 for a key
// without expiry, which counts as infinite.
func (o *expireConditions) allow(old, at int64) bool {
	none := old == 0
	return !(o.nx && !none ||
		o.xx && none ||
		o.gt && (none || at <= old) ||
		o.lt && !none && at >= old)
}

// expireGeneric sets an expiry in units of unit ms, counted from base (expire.c:
// expireGenericCommand). A time in the past deletes the key, but not on a replica or while files are loaded.
func expireGeneric(c *Call, unit, base int64) error {
	key := c.Args[1]
	o, err := parseExpireConditions(c.Args[3:])
	if err != nil {
		return err
	}
	v, err := parseInt(c.Args[2])
	if err != nil {
		return err
	}
	if v > math.MaxInt64/unit || v < math.MinInt64/unit || v*unit > math.MaxInt64-base {
		return errorf("ERR invalid expire time in '%s' command", c.Cmd.Name)
	}
	at := v*unit + base
	found := c.DB.Lookup(key, store.LookupWrite)
	if !found.Exists() || !o.allow(found.Expire(), at) {
		c.Int(0)
		return nil
	}
	if c.past(at) {
		c.deletePast(found, key)
	} else {
		found.SetExpire(at)
		c.Changed(ClassGeneric, "expire", key)
		if c.Propagates() && (base != 0 || unit != 1) {
			c.Propagate(append([][]byte{[]byte("PEXPIREAT"), key, decimal(at)}, c.Args[3:]...)...)
		}
	}
	c.Int(1)
	return nil
}

// deletePast deletes a key that has got a time in the past.
func (c *Call) deletePast(found store.Key, key []byte) {
	found.Delete()
	class, event := ClassGeneric, "del"
	if c.Ex.Table.Manners.pastExpires {
		class, event = ClassExpired, "expired"
		c.KS.Stats.Expired++
	}
	c.Changed(class, event, key)
	c.Propagate(deletes(c.Ex.Cfg.LazyExpire), key)
}

// TTL key (expire.c: ttlCommand)
func ttl(c *Call) error { return ttlGeneric(c, c.Now, 1000) }

// PTTL key (expire.c: pttlCommand)
func pttl(c *Call) error { return ttlGeneric(c, c.Now, 1) }

// EXPIRETIME key (expire.c: expiretimeCommand)
func expireTime(c *Call) error { return ttlGeneric(c, 0, 1000) }

// PEXPIRETIME key (expire.c: pexpiretimeCommand)
func pexpireTime(c *Call) error { return ttlGeneric(c, 0, 1) }

// ttlGeneric replies with the expiry counted from base, in units of unit ms, rounded. The reply is
// -1 for a key without expiry and -2 for a missing key.
func ttlGeneric(c *Call, base, unit int64) error {
	found := c.DB.Lookup(c.Args[1], store.LookupNoTouch)
	switch {
	case !found.Exists():
		c.Int(-2)
	case found.Expire() == 0:
		c.Int(-1)
	default:
		// Unsigned, because rounding up may overflow.
		c.Int(int64((uint64(max(found.Expire()-base, 0)) + uint64(unit/2)) / uint64(unit)))
	}
	return nil
}

// PERSIST key (expire.c: persistCommand)
func persist(c *Call) error {
	found := c.DB.Lookup(c.Args[1], store.LookupWrite)
	if !found.Exists() || !found.Persist() {
		c.Int(0)
		return nil
	}
	c.Changed(ClassGeneric, "persist", c.Args[1])
	c.Int(1)
	return nil
}
