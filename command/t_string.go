package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

func stringRows() []Row {
	const (
		reading   = "O(N) to return N bytes"
		appending = "O(N) for N appended bytes (amortized)"
		patching  = "O(N) for N written bytes"
		expiry    = "EX seconds | PX milliseconds | EXAT unix-time-seconds:unix-time " +
			"| PXAT unix-time-milliseconds:unix-time"
		setExpiry = "EX seconds@2.6.12 | PX milliseconds@2.6.12 | EXAT unix-time-seconds@6.2.0:unix-time " +
			"| PXAT unix-time-milliseconds@6.2.0:unix-time"
		setCondition = " | IFEQ ifeq-value@8.4.0,8.1.0 | IFNE ifne-value@8.4.0,9.2.0 " +
			"| IFDEQ ifdeq-digest@8.4.0, | IFDNE ifdne-digest@8.4.0,"
	)
	number := keys(at(1, RW|Access|Update))
	return []Row{
		{"set", "key value [condition@2.6.12: NX | XX" + setCondition + "] [GET@6.2.0] " +
			"[expiration: " + setExpiry + " | KEEPTTL@6.0.0]",
			-3, Write | DenyOOM, keys(varying(1, RW|Access|Update, setUses)), "string", "1.0.0",
			"O(1)",
			"Stores a string, with an expiry or a condition on request.", set},
		{"setnx", "key value",
			3, Write | DenyOOM | Fast, keys(at(1, OW|Insert)), "string", "1.0.0",
			"O(1)",
			"Stores a string if the key does not exist.", setnx},
		{"setex", "key seconds value",
			4, Write | DenyOOM, keys(at(1, OW|Update)), "string", "2.0.0",
			"O(1)",
			"Stores a string with a time to live in seconds.", setex},
		{"psetex", "key milliseconds value",
			4, Write | DenyOOM, keys(at(1, OW|Update)), "string", "2.6.0",
			"O(1)",
			"Stores a string with a time to live in milliseconds.", psetex},
		{"mset", "(data: key value) ...",
			-3, Write | DenyOOM | RequestMultiShard | ResponseAllSucceeded, keys(span(1, -1, 2, OW|Update)),
			"string", "1.0.1",
			"O(N) for N keys",
			"Stores several strings.", mset},
		{"msetnx", "(data: key value) ...",
			-3, Write | DenyOOM, keys(span(1, -1, 2, OW|Insert)), "string", "1.0.1",
			"O(N) for N keys",
			"Stores several strings if none of the keys exists.", msetnx},
		{"get", "key",
			2, ReadOnly | Fast, keys(at(1, RO|Access)), "string", "1.0.0",
			"O(1)",
			"Returns a string.", get},
		{"mget", "key ...",
			-2, ReadOnly | Fast | RequestMultiShard, keys(span(1, -1, 1, RO|Access)), "string", "1.0.0",
			"O(N) for N keys",
			"Returns several strings.", mget},
		{"getset", "key value",
			3, Write | DenyOOM | Fast, keys(at(1, RW|Access|Update)), "string", "1.0.0",
			"O(1)",
			"Stores a string and returns the old one.", getset},
		{"getdel", "key",
			2, Write | Fast, keys(at(1, RW|Access|Delete)), "string", "6.2.0",
			"O(1)",
			"Returns a string and deletes its key.", getdel},
		{"getex", "key [expiration: " + expiry + " | PERSIST]",
			-2, Write | Fast, keys(at(1, RW|Access|Update)), "string", "6.2.0",
			"O(1)",
			"Returns a string and changes or removes its expiry.", getex},
		{"strlen", "key",
			2, ReadOnly | Fast, keys(at(1, RO)), "string", "2.2.0",
			"O(1)",
			"Returns the length of a string in bytes.", strlen},
		{"getrange", "key start end",
			4, ReadOnly, keys(at(1, RO|Access)), "string", "2.4.0",
			reading,
			"Returns a part of a string.", getrange},
		{"substr", "key start end",
			4, ReadOnly, keys(at(1, RO|Access)), "string", "1.0.0",
			reading,
			"Does the same as GETRANGE, under its old name.", getrange},
		{"append", "key value",
			3, Write | DenyOOM | Fast, keys(at(1, RW|Insert)), "string", "2.0.0",
			appending,
			"Appends bytes to a string. Creates the key if it does not exist.", appendTo},
		{"setrange", "key offset value",
			4, Write | DenyOOM, keys(at(1, RW|Update)), "string", "2.2.0",
			patching,
			"Overwrites a part of a string from an offset on.", setrange},
		{"incr", "key",
			2, Write | DenyOOM | Fast, number, "string", "1.0.0",
			"O(1)",
			"Increments an integer by one.", incr},
		{"decr", "key",
			2, Write | DenyOOM | Fast, number, "string", "1.0.0",
			"O(1)",
			"Decrements an integer by one.", decr},
		{"incrby", "key increment",
			3, Write | DenyOOM | Fast, number, "string", "1.0.0",
			"O(1)",
			"Increments an integer by a number.", incrby},
		{"decrby", "key decrement",
			3, Write | DenyOOM | Fast, number, "string", "1.0.0",
			"O(1)",
			"Decrements an integer by a number.", decrby},
		{"incrbyfloat", "key increment:double",
			3, Write | DenyOOM | Fast, number, "string", "2.6.0",
			"O(1)",
			"Increments a number that may have a fraction.", incrbyfloat},
		{"lcs", "key1:key key2:key [LEN] [IDX] [MINMATCHLEN min-match-len:integer] [WITHMATCHLEN]",
			-3, ReadOnly, keys(span(1, 2, 1, RO|Access)), "string", "7.0.0",
			"O(N*M) for strings of N and M bytes",
			"Finds the longest common subsequence of two strings.", lcs},
	}
}

// GET key (t_string.c: getCommand)
func get(c *Call) error {
	found := c.DB.Lookup(c.Args[1], store.LookupNone)
	val, err := found.Str()
	if err != nil {
		return err
	}
	if !found.Exists() {
		c.Null()
		return nil
	}
	c.BulkStr(found, val)
	return nil
}

// MGET key ... (t_string.c: mgetCommand)
func mget(c *Call) error {
	c.Array(len(c.Args) - 1)
	for _, key := range c.Args[1:] {
		found := c.DB.Lookup(key, store.LookupNone)
		if val, err := found.Str(); found.Exists() && err == nil {
			c.BulkStr(found, val)
		} else {
			c.Null()
		}
	}
	return nil
}

// SETNX key value (t_string.c: setnxCommand)
func setnx(c *Call) error {
	found := c.DB.Lookup(c.Args[1], store.LookupWrite)
	if found.Exists() {
		c.Int(0)
		return nil
	}
	putStr(c, c.Args[1], found, c.Args[2], &setOptions{})
	c.Int(1)
	return nil
}

// SETEX key seconds value (t_string.c: setexCommand)
func setex(c *Call) error { return setFor(c, ttlEX) }

// PSETEX key milliseconds value (t_string.c: psetexCommand)
func psetex(c *Call) error { return setFor(c, ttlPX) }

func setFor(c *Call, unit ttlUnit) error {
	o := setOptions{unit: unit, ttl: c.Args[2]}
	if err := o.resolveTTL(c); err != nil {
		return err
	}
	putStr(c, c.Args[1], c.DB.Lookup(c.Args[1], store.LookupWrite), c.Args[3], &o)
	c.OK()
	return nil
}

// MSET (key value) ... (t_string.c: msetCommand)
func mset(c *Call) error {
	if len(c.Args)%2 == 0 {
		return errArity(c.Cmd.Name)
	}
	storePairs(c)
	c.OK()
	return nil
}

// MSETNX (key value) ... (t_string.c: msetnxCommand)
func msetnx(c *Call) error {
	if len(c.Args)%2 == 0 {
		return errArity(c.Cmd.Name)
	}
	for i := 1; i < len(c.Args); i += 2 {
		if c.DB.Lookup(c.Args[i], store.LookupWrite).Exists() {
			c.Int(0)
			return nil
		}
	}
	storePairs(c)
	c.Int(1)
	return nil
}

func storePairs(c *Call) {
	for i := 1; i < len(c.Args); i += 2 {
		c.DB.SetStr(c.Args[i], c.Args[i+1], false)
		c.Changed(ClassString, "set", c.Args[i])
	}
}

// GETSET key value (t_string.c: getsetCommand)
func getset(c *Call) error {
	if err := get(c); err != nil {
		return err
	}
	putStr(c, c.Args[1], c.DB.Lookup(c.Args[1], store.LookupWrite), c.Args[2], &setOptions{})
	c.Propagate([]byte("SET"), c.Args[1], c.Args[2])
	return nil
}

// GETDEL key (t_string.c: getdelCommand)
func getdel(c *Call) error {
	if err := get(c); err != nil {
		return err
	}
	if c.DB.Delete(c.Args[1]) {
		c.Changed(ClassGeneric, "del", c.Args[1])
		c.Propagate([]byte("DEL"), c.Args[1])
	}
	return nil
}

// GETEX key [EX seconds | PX milliseconds | ... | PERSIST] (t_string.c: getexCommand)
func getex(c *Call) error {
	var o setOptions
	if err := o.parse(c.Cmd, c.Args[2:], true); err != nil {
		return err
	}
	first := c.Ex.Table.Manners.expiryFirst
	if first {
		if err := o.resolveTTL(c); err != nil {
			return err
		}
	}
	key := c.Args[1]
	found := c.DB.Lookup(key, store.LookupNone)
	if !found.Exists() {
		c.Null()
		return nil
	}
	val, err := found.Str()
	if err != nil {
		return err
	}
	if !first {
		if err := o.resolveTTL(c); err != nil {
			return err
		}
	}
	c.BulkStr(found, val)
	switch {
	case o.unit != ttlNone && c.past(o.expireAt):
		c.deletePast(found, key)
	case o.unit != ttlNone:
		found.SetExpire(o.expireAt)
		c.Changed(ClassGeneric, "expire", key)
		if c.Propagates() {
			c.Propagate([]byte("PEXPIREAT"), key, decimal(o.expireAt))
		}
	case o.persist && found.Persist():
		c.Changed(ClassGeneric, "persist", key)
		c.Propagate([]byte("PERSIST"), key)
	}
	return nil
}

// STRLEN key (t_string.c: strlenCommand)
func strlen(c *Call) error {
	val, _, err := c.DB.Str(c.Args[1])
	if err != nil {
		return err
	}
	c.Int(int64(len(val)))
	return nil
}

// GETRANGE key start end (t_string.c: getrangeCommand)
// SUBSTR key start end (t_string.c: getrangeCommand)
func getrange(c *Call) error {
	from, err := parseInt(c.Args[2])
	if err != nil {
		return err
	}
	to, err := parseInt(c.Args[3])
	if err != nil {
		return err
	}
	found := c.DB.Lookup(c.Args[1], store.LookupNone)
	val, err := found.Str()
	if err != nil {
		return err
	}
	from, to = clampRange(from, to, int64(len(val)))
	c.BulkStr(found, val[from:to])
	return nil
}

// APPEND key value (t_string.c: appendCommand)
func appendTo(c *Call) error {
	n, err := c.DB.Lookup(c.Args[1], store.LookupWrite).Append(c.Args[1], c.Args[2], stringLimit(c))
	if err != nil {
		return err
	}
	c.Changed(ClassString, "append", c.Args[1])
	c.Int(int64(n))
	return nil
}

// SETRANGE key offset value (t_string.c: setrangeCommand)
func setrange(c *Call) error {
	key, part := c.Args[1], c.Args[3]
	offset, err := parseInt(c.Args[2])
	if err != nil {
		return err
	}
	if offset < 0 {
		return errOffset
	}
	found := c.DB.Lookup(key, store.LookupWrite)
	val, err := found.Str()
	if err != nil {
		return err
	}
	if len(part) == 0 {
		c.Int(int64(len(val)))
		return nil
	}
	limit := int64(stringLimit(c))
	if offset > limit || int64(len(part)) > limit-offset {
		return errStringLimit
	}
	val, err = found.MutStr(key, int(offset), int(offset)+len(part))
	if err != nil {
		return err
	}
	copy(val[offset:], part)
	c.Changed(ClassString, "setrange", key)
	c.Int(int64(len(val)))
	return nil
}

// stringLimit returns the size in bytes to which commands may grow a string. The store counts the
// bytes of a string in 32 bits, so a larger proto-max-bulk-len has no effect here.
func stringLimit(c *Call) int { return int(min(c.Cfg.ProtoMaxBulkLen, math.MaxInt32)) }
