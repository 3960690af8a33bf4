package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

// INCR key (t_string.c: incrCommand)
func incr(c *Call) error { return incrBy(c, 1) }

// DECR key (t_string.c: decrCommand)
func decr(c *Call) error { return incrBy(c, -1) }

// INCRBY key increment (t_string.c: incrbyCommand)
func incrby(c *Call) error {
	delta, err := parseInt(c.Args[2])
	if err != nil {
		return err
	}
	return incrBy(c, delta)
}

// DECRBY key decrement (t_string.c: decrbyCommand)
func decrby(c *Call) error {
	delta, err := parseInt(c.Args[2])
	if err != nil {
		return err
	}
	if delta == math.MinInt64 { // -delta would overflow
		return errDecrOverflow
	}
	return incrBy(c, -delta)
}

func incrBy(c *Call, delta int64) error {
	v, err := c.DB.Lookup(c.Args[1], store.LookupWrite).IncrBy(c.Args[1], delta)
	if err != nil {
		return err
	}
	c.Changed(ClassString, "incrby", c.Args[1])
	c.Int(v)
	return nil
}

// INCRBYFLOAT key increment (t_string.c: incrbyfloatCommand)
func incrbyfloat(c *Call) error {
	key := c.Args[1]
	found := c.DB.Lookup(key, store.LookupWrite)
	val, err := found.Str()
	if err != nil {
		return err
	}
	var sum longDouble
	if found.Exists() {
		if sum, err = parseLongDouble(val); err != nil {
			return err
		}
	}
	delta, err := parseLongDouble(c.Args[2])
	if err != nil {
		return err
	}
	if sum, err = addLongDouble(sum, delta); err != nil {
		return err
	}
	var room [64]byte
	text := appendLongDouble(room[:0], sum)
	found.SetText(key, text)
	c.Changed(ClassString, "incrbyfloat", key)
	if c.Propagates() {
		c.Propagate([]byte("SET"), key, text, []byte("KEEPTTL"))
	}
	c.Bulk(text)
	return nil
}
