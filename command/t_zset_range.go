package command

import (
	"github.com/miniredisd/miniredisd/store"
)

const (
	errScoreRange store.Error = "ERR min or max is not a float"
	errLexRange   store.Error = "ERR min or max not valid string range item"
	errRankLimit  store.Error = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
	errLexScores  store.Error = "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
)

// zrangeBy says whether the ends of a range are ranks, scores or names (t_zset.c: zrange_type).
type zrangeBy uint8

// zAuto is for commands whose options choose the kind.
const (
	zAuto zrangeBy = iota
	zByRank
	zByScore
	zByLex
)

// zquery is a range of members and the form of its reply.
type zquery struct {
	by         zrangeBy
	rev        bool
	withScores bool
	offset     int
	limit      int // -1 for none

	start, stop int // by rank
	score       store.ScoreRange
	lex         store.LexRange
}

// ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT ...] [WITHSCORES] (t_zset.c: zrangeCommand)
func zrange(c *Call) error {
	return zrangeReply(c, zquery{}, true)
}

// ZREVRANGE key start stop [WITHSCORES] (t_zset.c: zrevrangeCommand)
func zrevrange(c *Call) error { return zrangeReply(c, zquery{by: zByRank, rev: true}, false) }

// ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count] (t_zset.c: zrangebyscoreCommand)
func zrangebyscore(c *Call) error { return zrangeReply(c, zquery{by: zByScore}, false) }

// ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT ...] (t_zset.c: zrevrangebyscoreCommand)
func zrevrangebyscore(c *Call) error { return zrangeReply(c, zquery{by: zByScore, rev: true}, false) }

// ZRANGEBYLEX key min max [LIMIT offset count] (t_zset.c: zrangebylexCommand)
func zrangebylex(c *Call) error { return zrangeReply(c, zquery{by: zByLex}, false) }

// ZREVRANGEBYLEX key max min [LIMIT offset count] (t_zset.c: zrevrangebylexCommand)
func zrevrangebylex(c *Call) error { return zrangeReply(c, zquery{by: zByLex, rev: true}, false) }

func zrangeReply(c *Call, q zquery, open bool) error {
	if err := q.parse(c.Args[2:], open, true); err != nil {
		return err
	}
	z, err := store.Read[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if z == nil {
		c.Array(0)
		return nil
	}
	from, to := q.ranks(z)
	zmembers(c, z, from, to, q.rev, q.withScores)
	return nil
}

// ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT ...] (t_zset.c: zrangestoreCommand)
func zrangestore(c *Call) error {
	var q zquery
	if err := q.parse(c.Args[3:], true, false); err != nil {
		return err
	}
	z, err := store.Read[*store.ZSet](c.DB, c.Args[2])
	if err != nil {
		return err
	}
	result := store.NewZSet(c.KS)
	if z != nil {
		from, to := q.ranks(z)
		if q.by == zByRank { // else Redis does not know the number before it begins
			result.Expect(nil, to-from)
		}
		for it := z.Range(from, to, q.rev); it.Next(); {
			result.Add(it.Member, it.Score, 0)
		}
	}
	zstore(c, c.Args[1], result, "zrangestore")
	return nil
}

// zstore stores a result under key and replies with the number of its members. An empty result deletes
// the key.
func zstore(c *Call, key []byte, result *store.ZSet, event string) {
	n := result.Len()
	switch {
	case n > 0:
		store.Put(c.DB, key, result)
		c.Changed(ClassZSet, event, key)
	case c.DB.Delete(key):
		c.Changed(ClassGeneric, "del", key)
	}
	c.Int(int64(n))
}

// parse parses the two ends of the range and the options after them
// (t_zset.c: zrangeGenericCommand). Only an open query accepts BYSCORE, BYLEX and REV.
func (q *zquery) parse(args [][]byte, open, scores bool) error {
	q.limit = -1
	for i := 2; i < len(args); i++ {
		a := args[i]
		switch {
		case scores && is(a, "withscores"):
			q.withScores = true
		case is(a, "limit") && len(args)-i > 2:
			var err error
			if q.offset, err = parseIndex(args[i+1]); err != nil {
				return err
			}
			if q.limit, err = parseIndex(args[i+2]); err != nil {
				return err
			}
			i += 2
		case open && !q.rev && is(a, "rev"):
			q.rev = true
		case q.by == zAuto && is(a, "bylex"):
			q.by = zByLex
		case q.by == zAuto && is(a, "byscore"):
			q.by = zByScore
		default:
			return errSyntax
		}
	}
	if q.by == zAuto {
		q.by = zByRank
	}
	switch {
	case q.by == zByRank && q.limit != -1:
		return errRankLimit
	case q.by == zByLex && q.withScores:
		return errLexScores
	case q.by != zByRank && q.rev:
		return q.parseEnds(args[1], args[0])
	}
	return q.parseEnds(args[0], args[1])
}

func (q *zquery) parseEnds(low, high []byte) (err error) {
	switch q.by {
	case zByScore:
		q.score, err = parseScoreRange(low, high)
	case zByLex:
		q.lex, err = parseLexRange(low, high)
	default:
		if q.start, err = parseIndex(low); err == nil {
			q.stop, err = parseIndex(high)
		}
	}
	return err
}

// ranks turns the query into a range of ranks that excludes to. Ranks count from the lowest score,
// also for a reversed query.
func (q *zquery) ranks(z *store.ZSet) (from, to int) {
	switch q.by {
	case zByScore:
		from, to = z.ByScore(&q.score)
	case zByLex:
		from, to = z.ByLex(&q.lex)
	default:
		from, to = rankRange(q.start, q.stop, z.Len())
		if q.rev {
			from, to = z.Len()-to, z.Len()-from
		}
		return from, to
	}
	switch n := to - from; {
	case q.offset < 0 || q.offset >= n:
		return 0, 0
	case q.rev:
		to -= q.offset
	default:
		from += q.offset
	}
	if q.limit >= 0 && q.limit < to-from {
		if q.rev {
			from = to - q.limit
		} else {
			to = from + q.limit
		}
	}
	return from, to
}

// rankRange turns start and stop into a range within n ranks that excludes to. Negative positions
// count from the end.
func rankRange(start, stop, n int) (from, to int) {
	if start < 0 {
		start = max(start+n, 0)
	}
	if stop < 0 {
		stop += n
	}
	if stop = min(stop, n-1); start > stop {
		return 0, 0
	}
	return start, stop + 1
}

// zmembers replies with the members from rank from up to, not including, to.
func zmembers(c *Call, z *store.ZSet, from, to int, rev, withScores bool) {
	r := newZReply(c, to-from, withScores)
	for it := z.Range(from, to, rev); it.Next(); {
		r.add(it.Member, it.Score)
	}
}

// zreply writes members, and scores on request: flat in RESP2, in pairs in RESP3.
type zreply struct {
	c      *Call
	scores bool
	pairs  bool
}

// newZReply begins a reply of exactly n members.
func newZReply(c *Call, n int, withScores bool) zreply {
	r := zreply{c, withScores, withScores && c.Proto >= 3}
	if withScores && !r.pairs {
		n *= 2
	}
	c.Array(n)
	return r
}

func (r zreply) add(member []byte, score float64) {
	if r.pairs {
		r.c.Array(2)
	}
	r.c.Bulk(member)
	if r.scores {
		r.c.Double(score)
	}
}

// ZCOUNT key min max (t_zset.c: zcountCommand)
func zcount(c *Call) error { return zcountGeneric(c, zByScore) }

// ZLEXCOUNT key min max (t_zset.c: zlexcountCommand)
func zlexcount(c *Call) error { return zcountGeneric(c, zByLex) }

func zcountGeneric(c *Call, by zrangeBy) error {
	q := zquery{by: by, limit: -1}
	if err := q.parseEnds(c.Args[2], c.Args[3]); err != nil {
		return err
	}
	z, err := store.Read[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	n := 0
	if z != nil {
		from, to := q.ranks(z)
		n = to - from
	}
	c.Int(int64(n))
	return nil
}

// ZREMRANGEBYRANK key start stop (t_zset.c: zremrangebyrankCommand)
func zremrangebyrank(c *Call) error { return zremrange(c, zByRank, "zremrangebyrank") }

// ZREMRANGEBYSCORE key min max (t_zset.c: zremrangebyscoreCommand)
func zremrangebyscore(c *Call) error { return zremrange(c, zByScore, "zremrangebyscore") }

// ZREMRANGEBYLEX key min max (t_zset.c: zremrangebylexCommand)
func zremrangebylex(c *Call) error { return zremrange(c, zByLex, "zremrangebylex") }

func zremrange(c *Call, by zrangeBy, event string) error {
	q := zquery{by: by, limit: -1}
	if err := q.parseEnds(c.Args[2], c.Args[3]); err != nil {
		return err
	}
	z, err := store.Write[*store.ZSet](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	n := 0
	if z != nil {
		from, to := q.ranks(z)
		n = to - from
		z.RemoveRange(from, to)
	}
	if n > 0 {
		c.elementsRemoved(ClassZSet, event, c.Args[1], n, z.Len())
	}
	c.Int(int64(n))
	return nil
}
