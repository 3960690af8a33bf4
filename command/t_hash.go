package command

import (
	"math"
	"strconv"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

func hashRows() []Row {
	return []Row{
		{"hset", "key (data: field value) ...",
			-4, Write | DenyOOM | Fast, keys(at(1, RW|Update)), "hash", "2.0.0",
			"O(N) for N fields",
			"Sets fields of a hash. Returns how many of them are new.", hset},
		{"hmset", "key (data: field value) ...",
			-4, Write | DenyOOM | Fast, keys(at(1, RW|Update)), "hash", "2.0.0",
			"O(N) for N fields",
			"Sets fields of a hash.", hmset},
		{"hsetnx", "key field value",
			4, Write | DenyOOM | Fast, keys(at(1, RW|Insert)), "hash", "2.0.0",
			"O(1)",
			"Sets a field of a hash if it does not exist.", hsetnx},
		{"hget", "key field",
			3, ReadOnly | Fast, keys(at(1, RO|Access)), "hash", "2.0.0",
			"O(1)",
			"Returns the value of one field of a hash.", hget},
		{"hmget", "key field ...",
			-3, ReadOnly | Fast, keys(at(1, RO|Access)), "hash", "2.0.0",
			"O(N) for N fields",
			"Returns the values of several fields of a hash.", hmget},
		{"hgetall", "key",
			2, ReadOnly | NondeterministicOrder, keys(at(1, RO|Access)), "hash", "2.0.0",
			"O(N) for N fields",
			"Returns every field of a hash with its value.", hgetall},
		{"hdel", "key field ...",
			-3, Write | Fast, keys(at(1, RW|Delete)), "hash", "2.0.0",
			"O(N) for N fields",
			"Removes fields from a hash. Returns how many it removed.", hdel},
		{"hexists", "key field",
			3, ReadOnly | Fast, keys(at(1, RO)), "hash", "2.0.0",
			"O(1)",
			"Checks whether a hash has a field.", hexists},
		{"hlen", "key",
			2, ReadOnly | Fast, keys(at(1, RO)), "hash", "2.0.0",
			"O(1)",
			"Counts the fields of a hash.", hlen},
		{"hstrlen", "key field",
			3, ReadOnly | Fast, keys(at(1, RO)), "hash", "3.2.0",
			"O(1)",
			"Returns the length in bytes of a field's value.", hstrlen},
		{"hkeys", "key",
			2, ReadOnly | NondeterministicOrder, keys(at(1, RO|Access)), "hash", "2.0.0",
			"O(N) for N fields",
			"Returns the names of all fields of a hash.", hkeys},
		{"hvals", "key",
			2, ReadOnly | NondeterministicOrder, keys(at(1, RO|Access)), "hash", "2.0.0",
			"O(N) for N fields",
			"Returns the values of all fields of a hash.", hvals},
		{"hincrby", "key field increment:integer",
			4, Write | DenyOOM | Fast, keys(at(1, RW|Access|Update)), "hash", "2.0.0",
			"O(1)",
			"Increments the integer in a field of a hash.", hincrby},
		{"hincrbyfloat", "key field increment:double",
			4, Write | DenyOOM | Fast, keys(at(1, RW|Access|Update)), "hash", "2.6.0",
			"O(1)",
			"Increments the number in a field of a hash, which may have a fraction.", hincrbyfloat},
		{"hrandfield", "key [options: count [WITHVALUES]]",
			-2, ReadOnly | NondeterministicOutput, keys(at(1, RO|Access)), "hash", "6.2.0",
			"O(N) to return N fields",
			"Returns random fields of a hash.", hrandfield},
		{"hscan", "key cursor:integer [MATCH pattern] [COUNT count] [NOVALUES@7.4.0,8.0.0]",
			-3, ReadOnly | NondeterministicOutput, keys(at(1, RO|Access)), "hash", "2.8.0",
			"O(COUNT) for each call, O(N) for all calls together, for N elements",
			"Iterates over a hash: each call returns a few fields and values.", hscan},
	}
}

const (
	errHashNotInt   store.Error = "ERR hash value is not an integer"
	errHashNotFloat store.Error = "ERR hash value is not a float"
	errInfiniteStep store.Error = "ERR value is NaN or Infinity"
)

// HSET key (field value) ... (t_hash.c: hsetCommand)
func hset(c *Call) error {
	added, err := setFields(c)
	if err == nil {
		c.Int(int64(added))
	}
	return err
}

// HMSET key (field value) ... (t_hash.c: hsetCommand)
func hmset(c *Call) error {
	_, err := setFields(c)
	if err == nil {
		c.OK()
	}
	return err
}

func setFields(c *Call) (added int, err error) {
	pairs := len(c.Args)/2 - 1
	if len(c.Args)%2 != 0 {
		return 0, errArity(c.Cmd.Name)
	}
	h, err := store.WriteOrNew[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return 0, err
	}
	h.Expect(c.Args[2:])
	h.Prefetch(c.Args[2:], 2)
	for i := 2; i < len(c.Args); i += 2 {
		if h.Set(c.Args[i], c.Args[i+1]) {
			added++
		}
	}
	c.Changed(ClassHash, "hset", c.Args[1])
	c.Count(pairs - 1)
	return added, nil
}

// HSETNX key field value (t_hash.c: hsetnxCommand)
func hsetnx(c *Call) error {
	h, err := store.WriteOrNew[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if _, ok := h.Get(c.Args[2]); ok {
		c.Int(0)
		return nil
	}
	h.Set(c.Args[2], c.Args[3])
	c.Changed(ClassHash, "hset", c.Args[1])
	c.Int(1)
	return nil
}

// readField returns the value of the field named by the second argument.
func readField(c *Call) (value []byte, ok bool, err error) {
	h, err := store.Read[*store.Hash](c.DB, c.Args[1])
	if h == nil {
		return nil, false, err
	}
	value, ok = h.Get(c.Args[2])
	return value, ok, nil
}

// HGET key field (t_hash.c: hgetCommand)
func hget(c *Call) error {
	value, ok, err := readField(c)
	switch {
	case err != nil:
		return err
	case ok:
		c.Bulk(value)
	default:
		c.Null()
	}
	return nil
}

// HEXISTS key field (t_hash.c: hexistsCommand)
func hexists(c *Call) error {
	_, ok, err := readField(c)
	if err != nil {
		return err
	}
	c.flag(ok)
	return nil
}

// HSTRLEN key field (t_hash.c: hstrlenCommand)
func hstrlen(c *Call) error {
	value, _, err := readField(c)
	if err != nil {
		return err
	}
	c.Int(int64(len(value)))
	return nil
}

// HMGET key field ... (t_hash.c: hmgetCommand)
func hmget(c *Call) error {
	h, err := store.Read[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if h != nil {
		h.Prefetch(c.Args[2:], 1)
	}
	c.Array(len(c.Args) - 2)
	for _, field := range c.Args[2:] {
		var value []byte
		ok := false
		if h != nil {
			value, ok = h.Get(field)
		}
		if ok {
			c.Bulk(value)
		} else {
			c.Null()
		}
	}
	return nil
}

// HLEN key (t_hash.c: hlenCommand)
func hlen(c *Call) error { return c.length(store.ReadLen[*store.Hash](c.DB, c.Args[1])) }

// HGETALL key (t_hash.c: hgetallCommand)
func hgetall(c *Call) error {
	h, err := store.Read[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if h == nil {
		c.Map(0)
		return nil
	}
	c.Map(h.Len())
	for field, value := range h.All() {
		c.Bulk(field)
		c.Bulk(value)
	}
	return nil
}

// HKEYS key (t_hash.c: hkeysCommand)
func hkeys(c *Call) error { return oneOfEachPair(c, func(field, _ []byte) { c.Bulk(field) }) }

// HVALS key (t_hash.c: hvalsCommand)
func hvals(c *Call) error { return oneOfEachPair(c, func(_, value []byte) { c.Bulk(value) }) }

func oneOfEachPair(c *Call, reply func(field, value []byte)) error {
	h, err := store.Read[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if h == nil {
		c.Array(0)
		return nil
	}
	c.Array(h.Len())
	for field, value := range h.All() {
		reply(field, value)
	}
	return nil
}

// HDEL key field ... (t_hash.c: hdelCommand)
func hdel(c *Call) error {
	h, err := store.Write[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	n := 0
	if h != nil {
		h.Prefetch(c.Args[2:], 1)
		for _, field := range c.Args[2:] {
			if h.Delete(field) {
				n++
			}
		}
	}
	if n > 0 {
		c.elementsRemoved(ClassHash, "hdel", c.Args[1], n, h.Len())
	}
	c.Int(int64(n))
	return nil
}

// HINCRBY key field increment (t_hash.c: hincrbyCommand)
func hincrby(c *Call) error {
	delta, err := parseInt(c.Args[3])
	if err != nil {
		return err
	}
	h, err := store.WriteOrNew[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	v := int64(0)
	if old, ok := h.Get(c.Args[2]); ok {
		if v, ok = ascii.ParseInt(old); !ok {
			return errHashNotInt
		}
	}
	if delta > 0 && v > math.MaxInt64-delta || delta < 0 && v < math.MinInt64-delta {
		return store.ErrOverflow
	}
	v += delta
	var digits [20]byte
	h.SetKeepTTL(c.Args[2], strconv.AppendInt(digits[:0], v, 10))
	c.Changed(ClassHash, "hincrby", c.Args[1])
	c.Int(v)
	return nil
}

// HINCRBYFLOAT key field increment (t_hash.c: hincrbyfloatCommand)
func hincrbyfloat(c *Call) error {
	delta, err := parseLongDouble(c.Args[3])
	if err != nil {
		return err
	}
	if delta.inf {
		return errInfiniteStep
	}
	h, err := store.WriteOrNew[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	sum := delta
	if old, ok := h.Get(c.Args[2]); ok {
		if sum, err = parseLongDouble(old); err != nil {
			return errHashNotFloat
		}
		if sum, err = addLongDouble(sum, delta); err != nil {
			return err
		}
	}
	var room [64]byte
	text := appendLongDouble(room[:0], sum)
	h.SetKeepTTL(c.Args[2], text)
	c.Changed(ClassHash, "hincrbyfloat", c.Args[1])
	if c.Propagates() {
		c.Propagate([]byte("HSET"), c.Args[1], c.Args[2], text)
		if at, _ := h.Expire(c.Args[2]); at != 0 { // HSET takes it away
			done := fieldChange{at: at, propagate: c.Args[2:3]}
			done.propagateTimes(c, false)
		}
	}
	c.Bulk(text)
	return nil
}
