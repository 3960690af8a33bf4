package command

import (
	"math"
	"slices"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// setOptions are the options of SET and of GETEX.
type setOptions struct {
	nx, xx, get, keepTTL, persist bool

	unit     ttlUnit
	ttl      []byte // the argument after unit, not parsed yet
	expireAt int64  // unit and ttl as a Unix time in ms

	when    condition // of SET alone
	operand []byte    // the argument after it
}

// ttlUnit is the option that gives an expiry.
type ttlUnit uint8

const (
	ttlNone ttlUnit = iota
	ttlEX           // seconds from now
	ttlPX           // milliseconds from now
	ttlEXAT         // Unix time in seconds
	ttlPXAT         // Unix time in milliseconds
)

// SET key value [NX | XX | IFEQ value | ...] [GET] [EX seconds | ... | KEEPTTL] (t_string.c: setCommand)
func set(c *Call) error {
	var o setOptions
	if len(c.Args) > 3 {
		if err := o.parse(c.Cmd, c.Args[3:], false); err != nil {
			return err
		}
		if err := o.resolveTTL(c); err != nil {
			return err
		}
	}
	key := c.Args[1]
	if o.get {
		if err := get(c); err != nil {
			return err
		}
	}
	found := c.DB.Lookup(key, store.LookupWrite)
	skip := o.nx && found.Exists() || o.xx && !found.Exists()
	if o.when != noCondition {
		holds, err := o.when.holds(found, o.operand)
		if err != nil {
			return err
		}
		skip = !holds
	}
	if skip {
		if !o.get {
			c.Null()
		}
		return nil
	}
	if o.unit != ttlNone && c.Ex.Table.Manners.pastSet && c.past(o.expireAt) {
		if found.Exists() {
			c.deletePast(found, key)
		}
	} else {
		putStr(c, key, found, c.Args[2], &o)
	}
	if !o.get {
		c.OK()
	}
	switch {
	case !c.Propagates() || o.unit != ttlNone && o.unit != ttlPXAT: // putStr has propagated it
	case o.when != noCondition:
		c.propagateSet(&o)
	case o.get && o.unit == ttlNone:
		c.Propagate(without(c.Args, 3, "get")...)
	}
	return nil
}

// propagateSet propagates a SET whose condition holds. Others may not know the condition.
func (c *Call) propagateSet(o *setOptions) {
	words := [][]byte{[]byte("SET"), c.Args[1], c.Args[2]}
	switch {
	case o.unit == ttlPXAT && c.Ex.Table.Manners.pastSet && c.past(o.expireAt):
		return // deletePast has propagated it
	case o.unit == ttlPXAT:
		words = append(words, []byte("PXAT"), decimal(o.expireAt))
	case o.keepTTL:
		words = append(words, []byte("KEEPTTL"))
	}
	c.Propagate(words...)
}

// without returns args without a word, wherever it stands from a place on.
func without(args [][]byte, from int, word string) [][]byte {
	return append(slices.Clone(args[:from]), slices.DeleteFunc(slices.Clone(args[from:]), func(arg []byte) bool {
		return is(arg, word)
	})...)
}

// putStr stores a string for every form of SET (t_string.c: setGenericCommand).
func putStr(c *Call, key []byte, found store.Key, val []byte, o *setOptions) {
	expires := o.unit != ttlNone
	kept := c.keep(val)
	switch {
	case kept != nil:
		c.Ex.Replaced = found.SetRaw(key, kept, o.keepTTL || expires)
		if expires {
			c.DB.Peek(key).SetExpire(o.expireAt)
		}
	case expires:
		found.SetStrUntil(key, val, o.expireAt)
	default:
		found.SetStr(key, val, o.keepTTL)
	}
	c.Changed(ClassString, "set", key)
	if expires {
		c.Notify(ClassGeneric, "expire", key)
	}
	if expires && o.unit != ttlPXAT && c.Propagates() {
		c.Propagate([]byte("SET"), key, val, []byte("PXAT"), decimal(o.expireAt))
	}
}

// parse reads the options of SET or, with getex, of GETEX. An option may be repeated: the last
// expiry counts (t_string.c: parseExtendedStringArgumentsOrReply).
func (o *setOptions) parse(cmd *Command, args [][]byte, getex bool) error {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch unit := ttlUnitOf(a); {
		case !getex && !o.xx && o.when == noCondition && is(a, "nx"):
			o.nx = true
		case !getex && !o.nx && o.when == noCondition && is(a, "xx"):
			o.xx = true
		case !getex && is(a, "get"):
			o.get = true
		case !getex && o.unit == ttlNone && is(a, "keepttl"):
			o.keepTTL = true
		case getex && o.unit == ttlNone && is(a, "persist"):
			o.persist = true
		case unit != ttlNone && (o.unit == ttlNone || o.unit == unit) && !o.keepTTL && !o.persist && i+1 < len(args):
			i++
			o.unit, o.ttl = unit, args[i]
		case !o.nx && !o.xx && o.when == noCondition && i+1 < len(args) && cmd.comparesBy(a):
			i++
			o.when, o.operand = conditionOf(a), args[i]
		default:
			return errSyntax
		}
	}
	return nil
}

func ttlUnitOf(a []byte) ttlUnit {
	switch {
	case is(a, "ex"):
		return ttlEX
	case is(a, "px"):
		return ttlPX
	case is(a, "exat"):
		return ttlEXAT
	case is(a, "pxat"):
		return ttlPXAT
	}
	return ttlNone
}

// resolveTTL turns unit and ttl into a Unix time in milliseconds
// (t_string.c: getExpireMillisecondsOrReply).
func (o *setOptions) resolveTTL(c *Call) error {
	if o.unit == ttlNone {
		return nil
	}
	v, err := parseInt(o.ttl)
	if err != nil {
		return err
	}
	invalid := v <= 0
	if o.unit == ttlEX || o.unit == ttlEXAT {
		invalid = invalid || v > math.MaxInt64/1000
		v *= 1000
	}
	if o.unit == ttlEX || o.unit == ttlPX {
		invalid = invalid || v > math.MaxInt64-c.Now
		v += c.Now
	}
	if invalid {
		return errorf("ERR invalid expire time in '%s' command", c.Cmd.Name)
	}
	o.expireAt = v
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

// GETSET key value (t_string.c: getsetCommand)
func getset(c *Call) error {
	if err := get(c); err != nil {
		return err
	}
	putStr(c, c.Args[1], c.DB.Lookup(c.Args[1], store.LookupWrite), c.Args[2], &setOptions{})
	c.Propagate([]byte("SET"), c.Args[1], c.Args[2])
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

// comparesBy reports whether a word is a condition that the dialect gives to cmd.
func (c *Command) comparesBy(word []byte) bool {
	return len(c.options) > 0 && conditionOf(word) != noCondition && c.Offers(ascii.ToLower(string(word)))
}

// setUses returns how SET uses its key: with GET it also reads the old value
// (db.c: setGetKeys). In Redis a condition reads it, too.
func setUses(cmd *Command, args [][]byte) KeyFlag {
	for _, arg := range args[min(3, len(args)):] {
		if is(arg, "get") || cmd.comparesBy(arg) && cmd.dialect.Has(comparingReads) {
			return RW | Access | Update
		}
	}
	return OW | Update
}
