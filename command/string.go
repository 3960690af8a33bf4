package command

import "math"

func stringRows() []Row {
	return []Row{
		{"set", "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds:unix-time | PXAT unix-time-milliseconds:unix-time | KEEPTTL]",
			-3, Write | DenyOOM, keys(at(1, RW|Access|Update|VariableFlags)), "string", "1.0.0", "O(1)",
			"Stores a string, on a condition and with a TTL if asked to.", set},
		{"get", "key", 2, ReadOnly | Fast, keys(at(1, RO|Access)), "string", "1.0.0", "O(1)", "Reads a string.", get},
		{"incr", "key", 2, Write | DenyOOM | Fast, keys(at(1, RW|Access|Update)), "string", "1.0.0", "O(1)", "Adds one to a number.", incr},
	}
}

func get(c *Call) error {
	val, ok, err := c.DB.Str(c.Args[1])
	if err != nil {
		return err
	}
	if !ok {
		c.Null()
		return nil
	}
	c.Bulk(val)
	return nil
}

func incr(c *Call) error { return incrBy(c, 1) }

func incrBy(c *Call, delta int64) error {
	v, err := c.DB.IncrBy(c.Args[1], delta)
	if err != nil {
		return err
	}
	c.Changed(ClassString, "incrby", c.Args[1])
	c.Int(v)
	return nil
}

// setOptions are the words behind SET key value, and behind GETEX key.
type setOptions struct {
	nx, xx, get, keepTTL, persist bool
	ttl                           bool
	expireAt                      int64 // unix ms, when ttl
}

func set(c *Call) error {
	o, err := parseSetOptions(c, c.Args[3:])
	if err != nil {
		return err
	}
	return setGeneric(c, c.Args[1], c.Args[2], &o)
}

// parseSetOptions reads SET's options (t_string.c: parseExtendedStringArgumentsOrReply).
func parseSetOptions(c *Call, args [][]byte) (o setOptions, err error) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		expiry := !o.keepTTL && !o.persist && !o.ttl
		switch {
		case is(a, "nx") && !o.xx:
			o.nx = true
		case is(a, "xx") && !o.nx:
			o.xx = true
		case is(a, "get"):
			o.get = true
		case is(a, "keepttl") && !o.ttl:
			o.keepTTL = true
		case i+1 < len(args) && expiry && isExpiry(a):
			o.ttl = true
			if o.expireAt, err = parseExpiry(c, a, args[i+1]); err != nil {
				return o, err
			}
			i++
		default:
			return o, errSyntax
		}
	}
	return o, nil
}

func isExpiry(a []byte) bool {
	return is(a, "px") || is(a, "ex") || is(a, "pxat") || is(a, "exat")
}

// parseExpiry turns EX, PX, EXAT or PXAT and its number into unix milliseconds.
func parseExpiry(c *Call, unit, arg []byte) (int64, error) {
	v, err := parseInt(arg)
	if err != nil {
		return 0, err
	}
	invalid := v <= 0
	if is(unit, "ex") || is(unit, "exat") {
		invalid = invalid || v > math.MaxInt64/1000
		v *= 1000
	}
	if is(unit, "ex") || is(unit, "px") {
		invalid = invalid || v > math.MaxInt64-c.Now
		v += c.Now
	}
	if invalid {
		return 0, errorf("ERR invalid expire time in '%s' command", c.Cmd.Name)
	}
	return v, nil
}

// setGeneric is SET and everything that is a SET by another name (t_string.c).
func setGeneric(c *Call, key, val []byte, o *setOptions) error {
	if o.get {
		if err := get(c); err != nil {
			return err
		}
	}
	if (o.nx || o.xx) && c.DB.Exists(key) == o.nx {
		if !o.get {
			c.Null()
		}
		return nil
	}
	if o.ttl {
		c.DB.SetStrUntil(key, val, o.expireAt)
		c.Changed(ClassString, "set", key)
		c.Notify(ClassGeneric, "expire", key)
	} else {
		c.DB.SetStr(key, val, o.keepTTL)
		c.Changed(ClassString, "set", key)
	}
	if !o.get {
		c.OK()
	}
	return nil
}
