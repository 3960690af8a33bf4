package command

import (
	"math"

	"github.com/miniredisd/miniredisd/internal/double"
	"github.com/miniredisd/miniredisd/store"
)

// ZPOPMIN key [count] (t_zset.c: zpopminCommand)
func zpopmin(c *Call) error { return zpopGeneric(c, false) }

// ZPOPMAX key [count] (t_zset.c: zpopmaxCommand)
func zpopmax(c *Call) error { return zpopGeneric(c, true) }

func zpopGeneric(c *Call, highest bool) error {
	count, withCount := 1, len(c.Args) == 3
	if len(c.Args) > 3 {
		return errSyntax
	}
	if withCount {
		n, err := parseInt(c.Args[2])
		if err != nil || n < 0 {
			return errPositive
		}
		count = int(n)
	}
	z, err := store.Write[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if z == nil {
		c.Array(0)
		return nil
	}
	zpop(c, z, c.Args[1], highest, count, withCount && c.Proto >= 3)
	return nil
}

// zpop removes up to count members from one end of z and replies with them. pairs says whether the
// reply nests each member with its score.
func zpop(c *Call, z *store.ZSet, key []byte, highest bool, count int, pairs bool) {
	count = min(count, z.Len())
	if pairs {
		c.Array(count)
	} else {
		c.Array(2 * count)
	}
	zpopMembers(c, z, key, highest, count, pairs)
}

// zpopMembers does the same as zpop, inside an array that the caller has begun.
func zpopMembers(c *Call, z *store.ZSet, key []byte, highest bool, count int, pairs bool) {
	from, to, event := 0, count, "zpopmin"
	if highest {
		from, to, event = z.Len()-count, z.Len(), "zpopmax"
	}
	r := zreply{c, true, pairs}
	for it := z.Range(from, to, highest); it.Next(); {
		r.add(it.Member, it.Score)
	}
	z.RemoveRange(from, to)
	if count > 0 {
		c.elementsRemoved(ClassZSet, event, key, count, z.Len())
	}
}

// ZMPOP numkeys key ... (MIN | MAX) [COUNT count] (t_zset.c: zmpopCommand)
func zmpop(c *Call) error { return mpop(c, "min", "max", zmpopFirst) }

// zmpopFirst replies with members of the first sorted set that exists. done reports whether there
// was one.
func zmpopFirst(c *Call, o *mpopOptions) (done bool, err error) {
	z, key, err := firstOf(c, o.keys, store.Write[*store.ZSet])
	if z == nil {
		return false, err
	}
	c.Array(2)
	c.Bulk(key)
	count := min(o.count, z.Len())
	zpop(c, z, key, !o.first, count, true)
	if c.Propagates() {
		c.Propagate(zpopName(!o.first), key, decimal(int64(count)))
	}
	return true, nil
}

// ZRANDMEMBER key [count [WITHSCORES]] (t_zset.c: zrandmemberCommand)
func zrandmember(c *Call) error {
	if len(c.Args) > 2 {
		return zrandmembers(c)
	}
	z, err := store.Read[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if z == nil {
		c.Null()
		return nil
	}
	rank := c.KS.Rand.IntN(z.Len())
	it := z.Range(rank, rank+1, false)
	it.Next()
	c.Bulk(it.Member)
	return nil
}

func zrandmembers(c *Call) error {
	count, err := parseInt(c.Args[2])
	if err != nil {
		return err
	}
	withScores := len(c.Args) == 4 && is(c.Args[3], "withscores")
	switch {
	case len(c.Args) > 3 && !withScores:
		return errSyntax
	case count == math.MinInt64:
		return errCountRange
	case withScores && (count < -math.MaxInt64/2 || count > math.MaxInt64/2):
		return errRange
	}
	z, err := store.Read[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	switch {
	case z == nil || count == 0:
		c.Array(0)
	case count >= int64(z.Len()):
		zmembers(c, z, 0, z.Len(), false, withScores)
	case count < 0:
		var r zreply
		return c.repeat(int(-count), func() { r = newZReply(c, int(-count), withScores) },
			func() { r.addRank(z, c.KS.Rand.IntN(z.Len())) })
	default:
		r, next := newZReply(c, int(count), withScores), distinct(c, z.Len(), int(count))
		for range count {
			r.addRank(z, next())
		}
	}
	return nil
}

// addRank adds the member with a rank.
func (r zreply) addRank(z *store.ZSet, rank int) {
	it := z.Range(rank, rank+1, false)
	it.Next()
	r.add(it.Member, it.Score)
}

// distinct returns a function that returns k different random numbers below n, one at each call.
// Floyd's algorithm needs memory for k numbers only.
func distinct(c *Call, n, k int) func() int {
	taken := make(map[int]struct{}, k)
	top := n - k
	return func() int {
		v := c.KS.Rand.IntN(top + 1)
		if _, ok := taken[v]; ok {
			v = top
		}
		taken[v] = struct{}{}
		top++
		return v
	}
}

// ZSCAN key cursor [MATCH pattern] [COUNT count] (t_zset.c: zscanCommand)
func zscan(c *Call) error {
	return scanElements(c, store.Read[*store.ZSet], func(z *store.ZSet, o *scanOptions, cursor uint64) (uint64, int) {
		n, large := 0, z.Encoding() == "skiplist"
		next := z.Scan(cursor, func(member []byte, score float64) {
			if !o.wants(member) {
				return
			}
			c.Bulk(member)
			n++
			if !o.half {
				var text [32]byte
				c.Bulk(appendScanned(text[:0], score, large))
				n++
			}
		})
		return next, n
	})
}

// appendScanned appends a score as ZSCAN shows it. A score of a large set has 17 digits in Redis, and a
// small set is shown as it is stored (db.c: scanCallback).
func appendScanned(dst []byte, score float64, large bool) []byte {
	if large {
		return double.AppendG(dst, score, 17)
	}
	return double.Append(dst, score)
}
