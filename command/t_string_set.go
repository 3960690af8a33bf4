package command

import (
	"math"
	"slices"

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
