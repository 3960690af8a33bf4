package command

import (
	"math"

	"github.com/miniredisd/miniredisd/store"
)

// HSCAN key cursor [MATCH pattern] [COUNT count] [NOVALUES] (t_hash.c: hscanCommand)
func hscan(c *Call) error {
	return scanElements(c, store.Read[*store.Hash], func(h *store.Hash, o *scanOptions, cursor uint64) (uint64, int) {
		n := 0
		next := h.Scan(cursor, func(field, value []byte) {
			if !o.wants(field) {
				return
			}
			c.Bulk(field)
			n++
			if !o.half {
				c.Bulk(value)
				n++
			}
		})
		return next, n
	})
}

// HRANDFIELD key [count [WITHVALUES]] (t_hash.c: hrandfieldCommand)
func hrandfield(c *Call) error {
	if len(c.Args) > 2 {
		return hrandfields(c)
	}
	h, err := store.Read[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if h == nil {
		c.Null()
		return nil
	}
	field, _ := h.Random(c.KS.Rand)
	c.Bulk(field)
	return nil
}

func hrandfields(c *Call) error {
	count, err := parseRandomCount(c.Args[2])
	if err != nil {
		return err
	}
	withValues := len(c.Args) == 4 && is(c.Args[3], "withvalues")
	switch {
	case len(c.Args) > 3 && !withValues:
		return errSyntax
	case withValues && (count < -math.MaxInt64/2 || count > math.MaxInt64/2):
		return errRange
	}
	h, err := store.Read[*store.Hash](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if h == nil || count == 0 {
		c.Array(0)
		return nil
	}
	nested := withValues && c.Proto >= 3
	n := -count
	if count > 0 {
		n = min(count, h.Len())
	}
	begin := func() {
		if withValues && !nested {
			c.Array(2 * n)
		} else {
			c.Array(n)
		}
	}
	reply := func(field, value []byte) {
		if nested {
			c.Array(2)
		}
		c.Bulk(field)
		if withValues {
			c.Bulk(value)
		}
	}
	if count < 0 {
		return c.repeat(n, begin, func() { reply(h.Random(c.KS.Rand)) })
	}
	begin()
	h.Sample(c.KS.Rand, n, reply)
	return nil
}
