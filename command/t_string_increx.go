package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

// boundedRows has INCREX, which adds within bounds and sets an expiry. A rate limiter needs all of it in one step.
func boundedRows() []Row {
	const increment = "[increment: BYFLOAT float:double | BYINT integer:integer]"
	return []Row{
		{"increx", "key [condition: NX@,9.2.0 | XX@,9.2.0] " + increment + " [LBOUND lowerbound] [UBOUND upperbound] " +
			"[SATURATE] [expiration: EX seconds | PX milliseconds | EXAT unix-time-seconds:unix-time " +
			"| PXAT unix-time-milliseconds:unix-time | PERSIST] [ENX]",
			-2, Write | DenyOOM | Fast, keys(at(1, RW|Access|Update)), "string", "8.8.0,9.2.0",
			"O(1)",
			"Adds to a number within bounds, and sets its expiry. Returns the number and what was added.", increx},
	}
}

const (
	errBounds      store.Error = "ERR LBOUND can't be greater than UBOUND"
	errByInf       store.Error = "ERR BYFLOAT increment cannot be Infinity"
	errOldInf      store.Error = "ERR value cannot be Infinity"
	errAppliedOver store.Error = "ERR applied increment would overflow"
	errAppliedInf  store.Error = "ERR applied increment would be Infinity"
	errENXAlone    store.Error = "ERR ENX flag requires an expiration"
)

// increxOptions are the options of INCREX.
type increxOptions struct {
	nx, xx, float, saturate, enx bool

	by, lower, upper []byte     // the arguments of BYINT or BYFLOAT, LBOUND and UBOUND; nil for none
	expiry           setOptions // its unit, ttl and persist
}

// INCREX key [NX | XX] [BYFLOAT n | BYINT n] [LBOUND n] [UBOUND n] [SATURATE] [EX seconds | ...] [ENX] (Redis 8.8)
// A result out of bounds changes nothing, unless SATURATE asks for the bound in its place.
func increx(c *Call) error {
	var o increxOptions
	if err := o.parse(c.Cmd, c.Args[2:]); err != nil {
		return err
	}
	if o.float {
		return o.addFloat(c)
	}
	return o.addInt(c)
}

// parse reads the options. None may be repeated.
func (o *increxOptions) parse(cmd *Command, args [][]byte) error {
	for i := 0; i < len(args); i++ {
		if o.flag(cmd, args[i]) {
			continue
		}
		if i++; i >= len(args) || !o.valued(args[i-1], args[i]) {
			return errSyntax
		}
	}
	if o.enx && o.expiry.unit == ttlNone {
		return errENXAlone
	}
	return nil
}

// flag reads an option without a value. It reports whether the word is one.
func (o *increxOptions) flag(cmd *Command, word []byte) bool {
	switch {
	case is(word, "nx") && cmd.Offers("nx") && !o.xx:
		return first(&o.nx)
	case is(word, "xx") && cmd.Offers("xx") && !o.nx:
		return first(&o.xx)
	case is(word, "saturate"):
		return first(&o.saturate)
	case is(word, "enx") && !o.expiry.persist:
		return first(&o.enx)
	case is(word, "persist") && o.expiry.unit == ttlNone && !o.enx:
		return first(&o.expiry.persist)
	}
	return false
}

// first sets a flag, and reports whether it was not set before.
func first(flag *bool) bool {
	was := *flag
	*flag = true
	return !was
}

// valued reads an option with a value. It reports whether the word is one.
func (o *increxOptions) valued(word, value []byte) bool {
	switch unit := ttlUnitOf(word); {
	case unit != ttlNone && o.expiry.unit == ttlNone && !o.expiry.persist:
		o.expiry.unit, o.expiry.ttl = unit, value
	case is(word, "byint") && o.by == nil:
		o.by = value
	case is(word, "byfloat") && o.by == nil:
		o.by, o.float = value, true
	case is(word, "lbound") && o.lower == nil:
		o.lower = value
	case is(word, "ubound") && o.upper == nil:
		o.upper = value
	default:
		return false
	}
	return true
}

// addInt is INCREX with integers.
func (o *increxOptions) addInt(c *Call) error {
	by, lower, upper := int64(1), int64(math.MinInt64), int64(math.MaxInt64)
	for _, n := range []struct {
		name string
		arg  []byte
		to   *int64
	}{{"Increment", o.by, &by}, {"LBOUND", o.lower, &lower}, {"UBOUND", o.upper, &upper}} {
		if n.arg == nil {
			continue
		}
		v, err := parseInt(n.arg)
		if err != nil {
			return errorf("ERR %s is not an integer or out of range", n.name)
		}
		*n.to = v
	}
	if lower > upper {
		return errBounds
	}
	if err := o.expiry.resolveTTL(c); err != nil {
		return err
	}
	found := c.DB.Lookup(c.Args[1], store.LookupWrite)
	old, err := found.Int()
	if err != nil {
		return err
	}
	sum, inside := addWithin(old, by, lower, upper)
	applied, limits := sum-old, o.limits(found)
	switch {
	case o.declines(found, inside):
		sum, applied = old, 0
	case (sum < old) != (applied < 0):
		return errAppliedOver
	case !limits || !o.expired(c, found):
		if _, err := found.IncrBy(c.Args[1], applied); err != nil {
			return err
		}
		o.changed(c, "incrby", limits)
	}
	c.Array(2)
	c.Int(sum)
	c.Int(applied)
	return nil
}

// addWithin adds, and reports whether the sum is within the bounds. If not, it returns the nearest bound.
func addWithin(old, by, lower, upper int64) (sum int64, inside bool) {
	sum = old + by
	switch {
	case by > 0 && sum < old:
		return upper, false
	case by < 0 && sum > old:
		return lower, false
	}
	return min(max(sum, lower), upper), sum >= lower && sum <= upper
}

// declines reports whether the number stays as it is.
func (o *increxOptions) declines(found store.Key, inside bool) bool {
	return !inside && !o.saturate || o.nx && found.Exists() || o.xx && !found.Exists()
}

// limits reports whether the key gets the expiry of the command.
func (o *increxOptions) limits(found store.Key) bool {
	return o.expiry.unit != ttlNone && !(o.enx && found.Exists() && found.Expire() != 0)
}

// expired deletes the key if the expiry of the command has passed, and reports whether it has.
func (o *increxOptions) expired(c *Call, found store.Key) bool {
	if o.expiry.expireAt > c.Now {
		return false
	}
	if found.Exists() {
		found.Delete()
		c.Changed(ClassGeneric, "del", c.Args[1])
	}
	return true
}

// changed sets the expiry of the key, whose number has changed.
func (o *increxOptions) changed(c *Call, event string, limits bool) {
	key := c.Args[1]
	c.Changed(ClassString, event, key)
	switch {
	case limits:
		c.DB.Peek(key).SetExpire(o.expiry.expireAt)
		c.Notify(ClassGeneric, "expire", key)
	case o.expiry.persist && c.DB.Peek(key).Persist():
		c.Notify(ClassGeneric, "persist", key)
	}
}

// addFloat is INCREX BYFLOAT.
func (o *increxOptions) addFloat(c *Call) error {
	by, lower, upper := longDouble{}, maxLongDouble().negated(), maxLongDouble()
	for _, n := range []struct {
		name string
		arg  []byte
		to   *longDouble
	}{{"Increment", o.by, &by}, {"LBOUND", o.lower, &lower}, {"UBOUND", o.upper, &upper}} {
		if n.arg == nil {
			continue
		}
		v, err := parseLongDouble(n.arg)
		if err != nil {
			return errorf("ERR %s is not a valid float", n.name)
		}
		*n.to = v
	}
	switch {
	case by.inf:
		return errByInf
	case upper.less(lower):
		return errBounds
	}
	if err := o.expiry.resolveTTL(c); err != nil {
		return err
	}
	found := c.DB.Lookup(c.Args[1], store.LookupWrite)
	val, err := found.Str()
	if err != nil {
		return err
	}
	old := longDouble{}
	if found.Exists() {
		if old, err = parseLongDouble(val); err != nil {
			return err
		}
	}
	if old.inf {
		return errOldInf
	}
	return o.storeFloat(c, found, old, by, lower, upper)
}

// storeFloat adds to the number of the key that was found, and replies.
func (o *increxOptions) storeFloat(c *Call, found store.Key, old, by, lower, upper longDouble) error {
	sum, err := addLongDouble(old, by)
	inside, overflows := false, err != nil
	switch {
	case overflows && by.neg || !overflows && sum.less(lower):
		sum = lower
	case overflows || upper.less(sum):
		sum = upper
	default:
		inside = true
	}
	applied, err := addLongDouble(sum, old.negated())
	var room [64]byte
	limits := o.limits(found)
	switch {
	case o.declines(found, inside):
		sum, applied = old, longDouble{}
	case err != nil:
		return errAppliedInf
	case !limits || !o.expired(c, found):
		found.SetText(c.Args[1], appendLongDouble(room[:0], sum))
		o.changed(c, "incrbyfloat", limits)
	}
	c.Array(2)
	c.DoubleText(appendLongDouble(room[:0], sum))
	c.DoubleText(appendLongDouble(room[:0], applied))
	return nil
}
