package command

import (
	"bytes"

	"github.com/miniredisd/miniredisd/store"
)

func setRows() []Row {
	return []Row{
		{"sadd", "key member ...",
			-3, Write | DenyOOM | Fast, keys(at(1, RW|Insert)), "set", "1.0.0",
			"O(N) for N elements",
			"Adds members to a set. Returns how many of them are new.", sadd},
		{"srem", "key member ...",
			-3, Write | Fast, keys(at(1, RW|Delete)), "set", "1.0.0",
			"O(N) for N members",
			"Removes members from a set. Returns how many it removed.", srem},
		{"smembers", "key",
			2, ReadOnly | NondeterministicOrder, keys(at(1, RO|Access)), "set", "1.0.0",
			"O(N) for N members",
			"Returns every member of a set.", smembers},
		{"sismember", "key member",
			3, ReadOnly | Fast, keys(at(1, RO)), "set", "1.0.0",
			"O(1)",
			"Checks whether a value is a member of a set.", sismember},
		{"smismember", "key member ...",
			-3, ReadOnly | Fast, keys(at(1, RO|Access)), "set", "6.2.0",
			"O(N) for N members",
			"Checks for several values whether each is a member of a set.", smismember},
		{"scard", "key",
			2, ReadOnly | Fast, keys(at(1, RO)), "set", "1.0.0",
			"O(1)",
			"Counts the members of a set.", scard},
		{"spop", "key [count@3.2.0]",
			-2, Write | Fast | NondeterministicOutput, keys(at(1, RW|Access|Delete)), "set", "1.0.0",
			"O(1), or O(N) for a count of N",
			"Removes and returns random members of a set.", spop},
		{"srandmember", "key [count@2.6.0]",
			-2, ReadOnly | NondeterministicOutput, keys(at(1, RO|Access)), "set", "1.0.0",
			"O(1), or O(N) for a count of N",
			"Returns random members of a set.", srandmember},
		{"smove", "source destination member",
			4, Write | Fast, keys(at(1, RW|Access|Delete), at(2, RW|Insert)), "set", "1.0.0",
			"O(1)",
			"Moves a member to another set.", smove},
		{"sinter", "key ...",
			-2, ReadOnly | NondeterministicOrder, keys(span(1, -1, 1, RO|Access)), "set", "1.0.0",
			"O(N*M) at worst, for M sets, the smallest of which has N members",
			"Returns the members that all given sets have.", sinter},
		{"sintercard", "numkeys key ... [LIMIT limit:integer]",
			-3, ReadOnly, keys(counted(1, RO|Access)), "set", "7.0.0",
			"O(N*M) at worst, for M sets, the smallest of which has N members",
			"Counts the members that all given sets have.", sintercard},
		{"sinterstore", "destination key ...",
			-3, Write | DenyOOM, keys(at(1, RW|Update), span(2, -1, 1, RO|Access)), "set", "1.0.0",
			"O(N*M) at worst, for M sets, the smallest of which has N members",
			"Stores the members that all given sets have.", sinterstore},
		{"sunion", "key ...",
			-2, ReadOnly | NondeterministicOrder, keys(span(1, -1, 1, RO|Access)), "set", "1.0.0",
			"O(N) for N members in all sets together",
			"Returns the members that any of the given sets has.", sunion},
		{"sunionstore", "destination key ...",
			-3, Write | DenyOOM, keys(at(1, OW|Update), span(2, -1, 1, RO|Access)), "set", "1.0.0",
			"O(N) for N members in all sets together",
			"Stores the members that any of the given sets has.", sunionstore},
		{"sdiff", "key ...",
			-2, ReadOnly | NondeterministicOrder, keys(span(1, -1, 1, RO|Access)), "set", "1.0.0",
			"O(N) for N members in all sets together",
			"Returns the members that only the first of several sets has.", sdiff},
		{"sdiffstore", "destination key ...",
			-3, Write | DenyOOM, keys(at(1, OW|Update), span(2, -1, 1, RO|Access)), "set", "1.0.0",
			"O(N) for N members in all sets together",
			"Stores the members that only the first of several sets has.", sdiffstore},
		{"sscan", "key cursor:integer [MATCH pattern] [COUNT count]",
			-3, ReadOnly | NondeterministicOutput, keys(at(1, RO|Access)), "set", "2.8.0",
			"O(COUNT) for each call, O(N) for all calls together, for N elements",
			"Iterates over a set: each call returns a few members.", sscan},
	}
}

// SADD key member ... (t_set.c: saddCommand)
func sadd(c *Call) error {
	s, err := store.WriteOrNew[*store.Set](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	s.Expect(c.Args[2], len(c.Args)-2)
	s.Reserve(c.Args[2:])
	s.Prefetch(c.Args[2:], 1)
	added := 0
	for _, m := range c.Args[2:] {
		if s.Add(m) {
			added++
		}
	}
	if added > 0 {
		c.Changed(ClassSet, "sadd", c.Args[1])
		c.Count(added - 1)
	}
	c.Int(int64(added))
	return nil
}

// SREM key member ... (t_set.c: sremCommand)
func srem(c *Call) error {
	s, err := store.Write[*store.Set](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	n := 0
	if s != nil {
		s.Prefetch(c.Args[2:], 1)
		for _, m := range c.Args[2:] {
			if s.Remove(m) {
				n++
			}
		}
	}
	if n > 0 {
		c.elementsRemoved(ClassSet, "srem", c.Args[1], n, s.Len())
	}
	c.Int(int64(n))
	return nil
}

// SMEMBERS key (t_set.c: sinterCommand)
func smembers(c *Call) error {
	s, err := store.Read[*store.Set](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	c.replySet(s)
	return nil
}

// replySet replies with all members. s may be nil.
func (c *Call) replySet(s *store.Set) {
	if s == nil {
		c.Set(0)
		return
	}
	c.Set(s.Len())
	for m := range s.All() {
		c.Bulk(m)
	}
}

// SISMEMBER key member (t_set.c: sismemberCommand)
func sismember(c *Call) error {
	s, err := store.Read[*store.Set](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	c.flag(s != nil && s.Has(c.Args[2]))
	return nil
}

// SMISMEMBER key member ... (t_set.c: smismemberCommand)
func smismember(c *Call) error {
	s, err := store.Read[*store.Set](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if s != nil {
		s.Prefetch(c.Args[2:], 1)
	}
	c.Array(len(c.Args) - 2)
	for _, m := range c.Args[2:] {
		c.flag(s != nil && s.Has(m))
	}
	return nil
}

// SCARD key (t_set.c: scardCommand)
func scard(c *Call) error { return c.length(store.ReadLen[*store.Set](c.DB, c.Args[1])) }

// SPOP key [count] (t_set.c: spopCommand)
func spop(c *Call) error {
	if len(c.Args) > 2 {
		return spopMany(c)
	}
	s, err := store.Write[*store.Set](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if s == nil {
		c.Null()
		return nil
	}
	gone := removals{c: c}
	popRandom(c, s, &gone)
	gone.propagate()
	c.elementsRemoved(ClassSet, "spop", c.Args[1], 1, s.Len())
	return nil
}

func popRandom(c *Call, s *store.Set, gone *removals) {
	m := s.Random(c.KS.Rand)
	c.Bulk(m)
	gone.add(m)
	s.Remove(m)
}

// removals propagate what SPOP has chosen.
type removals struct {
	c       *Call
	members [][]byte
}

// removalsAtOnce is the most members of one SREM (t_set.c: spopWithCountCommand).
const removalsAtOnce = 1024

func (r *removals) add(member []byte) {
	if !r.c.Propagates() {
		return
	}
	if len(r.members) == removalsAtOnce {
		r.propagate()
	}
	r.members = append(r.members, bytes.Clone(member))
}

func (r *removals) propagate() {
	if len(r.members) > 0 {
		r.c.Propagate(append([][]byte{[]byte("SREM"), r.c.Args[1]}, r.members...)...)
		r.members = r.members[:0]
	}
}

func spopMany(c *Call) error {
	if len(c.Args) > 3 {
		return errSyntax
	}
	count, err := parseAtLeast(c.Args[2], 0, errPositive)
	if err != nil {
		return err
	}
	s, err := store.Write[*store.Set](c.DB, c.Args[1])
	switch {
	case err != nil:
		return err
	case s == nil || count == 0:
		c.Set(0)
		return nil
	case count >= s.Len():
		count = s.Len()
		c.replySet(s)
		c.elementsRemoved(ClassSet, "spop", c.Args[1], count, 0)
		c.Propagate(deletes(c.Ex.Cfg.LazyServerDel), c.Args[1])
		return nil
	}
	c.Set(count)
	gone := removals{c: c}
	if (s.Len()-count)*popMostFactor <= count {
		popMost(c, s, count, &gone)
	} else {
		for range count {
			popRandom(c, s, &gone)
		}
	}
	gone.propagate()
	c.elementsRemoved(ClassSet, "spop", c.Args[1], count, s.Len())
	return nil
}

// popMostFactor says how many members SPOP takes for each that stays, if it makes a new set of those that
// stay (t_set.c: SPOP_MOVE_STRATEGY_MUL).
const popMostFactor = 5

// popMost pops all but a few members. Those that stay become a new set, whose encoding shows that (t_set.c:
// spopWithCountCommand).
func popMost(c *Call, s *store.Set, count int, gone *removals) {
	rest := store.NewSet(c.KS)
	if s.Encoding() != "intset" {
		rest.Expect(nil, 0)
	}
	s.Sample(c.KS.Rand, s.Len()-count, func(m []byte) { rest.Add(m) })
	for m := range s.All() {
		if !rest.Has(m) {
			c.Bulk(m)
			gone.add(m)
		}
	}
	s.Become(rest)
}

// SRANDMEMBER key [count] (t_set.c: srandmemberCommand)
func srandmember(c *Call) error {
	switch {
	case len(c.Args) == 3:
		return srandmembers(c)
	case len(c.Args) > 3:
		return errSyntax
	}
	s, err := store.Read[*store.Set](c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if s == nil {
		c.Null()
		return nil
	}
	c.Bulk(s.Random(c.KS.Rand))
	return nil
}

func srandmembers(c *Call) error {
	count, err := parseRandomCount(c.Args[2])
	if err != nil {
		return err
	}
	s, err := store.Read[*store.Set](c.DB, c.Args[1])
	switch {
	case err != nil:
		return err
	case s == nil || count == 0:
		c.Array(0)
	case count > 0:
		count = min(count, s.Len())
		c.Array(count)
		s.Sample(c.KS.Rand, count, func(m []byte) { c.Bulk(m) })
	default:
		return c.repeat(-count, func() { c.Array(-count) }, func() { c.Bulk(s.Random(c.KS.Rand)) })
	}
	return nil
}

// SMOVE source destination member (t_set.c: smoveCommand)
func smove(c *Call) error {
	src, dst, m := c.Args[1], c.Args[2], c.Args[3]
	from, err := store.Write[*store.Set](c.DB, src)
	if err != nil {
		return err
	}
	if from == nil {
		c.Int(0)
		return nil
	}
	to, err := store.Write[*store.Set](c.DB, dst)
	if err != nil {
		return err
	}
	if string(src) == string(dst) {
		c.flag(from.Has(m))
		return nil
	}
	if !from.Remove(m) {
		c.Int(0)
		return nil
	}
	c.elementsRemoved(ClassSet, "srem", src, 1, from.Len())
	if to == nil {
		if to, err = store.WriteOrNew[*store.Set](c.DB, dst); err != nil {
			return err
		}
		to.Expect(m, 1)
	}
	if to.Add(m) {
		c.Changed(ClassSet, "sadd", dst)
	}
	c.Int(1)
	return nil
}

// SSCAN key cursor [MATCH pattern] [COUNT count] (t_set.c: sscanCommand)
func sscan(c *Call) error {
	return scanElements(c, store.Read[*store.Set], func(s *store.Set, o *scanOptions, cursor uint64) (uint64, int) {
		n := 0
		next := s.Scan(cursor, func(m []byte) {
			if o.wants(m) {
				c.Bulk(m)
				n++
			}
		})
		return next, n
	})
}
