package command

import (
	"github.com/miniredisd/miniredisd/store"
)

const (
	errNXandXX  store.Error = "ERR XX and NX options at the same time are not compatible"
	errGTLTNX   store.Error = "ERR GT, LT, and/or NX options at the same time are not compatible"
	errOneIncr  store.Error = "ERR INCR option supports a single increment-element pair"
	errScoreNaN store.Error = "ERR resulting score is not a number (NaN)"
)

// ZADD key [NX | XX] [GT | LT] [CH] [INCR] (score member) ... (t_zset.c: zaddCommand)
func zadd(c *Call) error {
	var flags store.ZFlags
	ch := false
	at := 2
options:
	for ; at < len(c.Args); at++ {
		switch a := c.Args[at]; {
		case is(a, "nx"):
			flags |= store.ZNX
		case is(a, "xx"):
			flags |= store.ZXX
		case is(a, "gt"):
			flags |= store.ZGT
		case is(a, "lt"):
			flags |= store.ZLT
		case is(a, "incr"):
			flags |= store.ZIncr
		case is(a, "ch"):
			ch = true
		default:
			break options
		}
	}
	pairs := c.Args[at:]
	const gtlt = store.ZGT | store.ZLT
	switch {
	case len(pairs) == 0 || len(pairs)%2 != 0:
		return errSyntax
	case flags&store.ZNX != 0 && flags&store.ZXX != 0:
		return errNXandXX
	case flags&store.ZNX != 0 && flags&gtlt != 0, flags&gtlt == gtlt:
		return errGTLTNX
	case flags&store.ZIncr != 0 && len(pairs) > 2:
		return errOneIncr
	}
	return zaddGeneric(c, pairs, flags, ch)
}

// ZINCRBY key increment member (t_zset.c: zincrbyCommand)
func zincrby(c *Call) error {
	err := zaddGeneric(c, c.Args[2:], store.ZIncr, false)
	if err == errNotFloat {
		for _, option := range [...]string{"nx", "xx", "gt", "lt", "incr", "ch"} {
			if is(c.Args[2], option) {
				return errSyntax // Redis takes it for an option of ZADD and finds no increment
			}
		}
	}
	return err
}

// zaddGeneric adds pairs of score and member. It parses all scores before the first change.
func zaddGeneric(c *Call, pairs [][]byte, flags store.ZFlags, ch bool) error {
	var buf [16]float64
	scores := buf[:0]
	for i := 0; i < len(pairs); i += 2 {
		score, err := parseFloat(pairs[i])
		if err != nil {
			return err
		}
		scores = append(scores, score)
	}
	z, err := zsetToAdd(c, flags)
	if err != nil {
		return err
	}
	incr := flags&store.ZIncr != 0
	if z == nil {
		if incr {
			c.Null()
		} else {
			c.Int(0)
		}
		return nil
	}
	z.Expect(pairs[1], len(scores))
	if c.Ex.Table.Manners.longMembers {
		z.ExpectLong(pairs)
	}
	z.Reserve(scores, pairs)
	z.Prefetch(pairs[1:], 2)
	var added, updated int
	var res store.ZResult
	var last float64
	for i, score := range scores {
		switch res, last = z.Add(pairs[2*i+1], score, flags); res {
		case store.ZAdded:
			added++
		case store.ZUpdated:
			updated++
		case store.ZNaN: // only INCR can do this, and INCR takes one pair
			return errScoreNaN
		}
	}
	if n := added + updated; n > 0 {
		event := "zadd"
		if incr {
			event = "zincr"
		}
		c.Changed(ClassZSet, event, c.Args[1])
		c.Count(n - 1)
	}
	switch {
	case incr && res == store.ZRefused:
		c.Null()
	case incr:
		c.Double(last)
	case ch:
		c.Int(int64(added + updated))
	default:
		c.Int(int64(added))
	}
	return nil
}

// zsetToAdd returns the sorted set that ZADD changes, or nil if it is missing and XX is given.
func zsetToAdd(c *Call, flags store.ZFlags) (*store.ZSet, error) {
	if flags&store.ZXX != 0 {
		return store.Write[*store.ZSet](c.DB, c.Args[1])
	}
	return store.WriteOrNew[*store.ZSet](c.DB, c.Args[1])
}

// ZREM key member ... (t_zset.c: zremCommand)
func zrem(c *Call) error {
	z, err := store.Write[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	n := 0
	if z != nil {
		z.Prefetch(c.Args[2:], 1)
		for _, member := range c.Args[2:] {
			if z.Remove(member) {
				n++
			}
		}
	}
	if n > 0 {
		c.elementsRemoved(ClassZSet, "zrem", c.Args[1], n, z.Len())
	}
	c.Int(int64(n))
	return nil
}

// ZSCORE key member (t_zset.c: zscoreCommand)
func zscore(c *Call) error {
	z, err := store.Read[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	zscoreReply(c, z, c.Args[2])
	return nil
}

// ZMSCORE key member ... (t_zset.c: zmscoreCommand)
func zmscore(c *Call) error {
	z, err := store.Read[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if z != nil {
		z.Prefetch(c.Args[2:], 1)
	}
	c.Array(len(c.Args) - 2)
	for _, member := range c.Args[2:] {
		zscoreReply(c, z, member)
	}
	return nil
}

func zscoreReply(c *Call, z *store.ZSet, member []byte) {
	if z != nil {
		if score, ok := z.Score(member); ok {
			c.Double(score)
			return
		}
	}
	c.Null()
}

// ZCARD key (t_zset.c: zcardCommand)
func zcard(c *Call) error { return c.length(store.ReadLen[*store.ZSet](c.DB, c.Args[1])) }

// ZRANK key member [WITHSCORE] (t_zset.c: zrankCommand)
func zrank(c *Call) error { return zrankGeneric(c, false) }

// ZREVRANK key member [WITHSCORE] (t_zset.c: zrevrankCommand)
func zrevrank(c *Call) error { return zrankGeneric(c, true) }

func zrankGeneric(c *Call, rev bool) error {
	withScore := len(c.Args) == 4
	switch {
	case len(c.Args) > 4:
		return errArity(c.Cmd.Name)
	case withScore && !is(c.Args[3], "withscore"):
		return errSyntax
	}
	z, err := store.Read[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if z != nil {
		if rank, score, ok := z.Rank(c.Args[2]); ok {
			if rev {
				rank = z.Len() - 1 - rank
			}
			if withScore {
				c.Array(2)
				c.Int(int64(rank))
				c.Double(score)
				return nil
			}
			c.Int(int64(rank))
			return nil
		}
	}
	if withScore {
		c.NullArray()
	} else {
		c.Null()
	}
	return nil
}
