package command

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

const errTooManyKeys store.Error = "ERR Number of keys can't be greater than number of args"

// Redis chooses between two ways to compute a difference, by the sizes of the sets
// (t_set.c: sunionDiffGenericCommand). SDIFF always looks up each member of the first set in the
// other sets. Where Redis's other way is faster, this costs at most one look-up for each set more.

// readSets returns the set at each key, or nil for a missing key.
func readSets(c *Call, keys [][]byte) ([]*store.Set, error) {
	sets := make([]*store.Set, len(keys))
	for i, key := range keys {
		var err error
		if sets[i], err = store.Read[*store.Set](c.DB, key); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// common iterates over the members that all sets have. It walks the smallest set and sorts sets by
// size, so that the smaller ones rule a member out first.
func common(sets []*store.Set) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if slices.Contains(sets, nil) {
			return
		}
		slices.SortStableFunc(sets, func(a, b *store.Set) int { return cmp.Compare(a.Len(), b.Len()) })
		// sinterGenericCommand skips repetitions of the first set, too.
		others := slices.DeleteFunc(slices.Clone(sets[1:]), func(s *store.Set) bool { return s == sets[0] })
		sets[0].Common(others)(yield)
	}
}

// difference iterates over the members that only the first set has.
func difference(sets []*store.Set) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if sets[0] != nil {
			sets[0].Without(slices.DeleteFunc(slices.Clone(sets[1:]), func(s *store.Set) bool { return s == nil }))(yield)
		}
	}
}

// union returns a new set of the members of all sets. A set that is not stored skips the listpack
// encoding, where a look-up is slow, unless all members are integers.
func union(c *Call, sets []*store.Set, stored bool) *store.Set {
	all := store.NewSet(c.KS)
	for _, s := range sets {
		if s != nil && !stored && s.Encoding() != "intset" {
			all.Expect(nil, math.MaxInt)
		}
	}
	for _, s := range sets {
		if s != nil {
			for m := range s.All() {
				all.Add(m)
			}
		}
	}
	return all
}

// SINTER key ... (t_set.c: sinterCommand)
func sinter(c *Call) error { return replyMembers(c, common) }

// SDIFF key ... (t_set.c: sdiffCommand)
func sdiff(c *Call) error { return replyMembers(c, difference) }

func replyMembers(c *Call, combine func([]*store.Set) iter.Seq[[]byte]) error {
	sets, err := readSets(c, c.Args[1:])
	if err != nil {
		return err
	}
	mark, n := c.Defer(), 0
	for m := range combine(sets) {
		c.Bulk(m)
		n++
	}
	c.EndSet(mark, n)
	return nil
}

// SUNION key ... (t_set.c: sunionCommand)
func sunion(c *Call) error {
	sets, err := readSets(c, c.Args[1:])
	if err != nil {
		return err
	}
	c.replySet(union(c, sets, false))
	return nil
}

// SINTERCARD numkeys key ... [LIMIT limit] (t_set.c: sinterCardCommand)
func sintercard(c *Call) error {
	n, err := parseAtLeast(c.Args[1], 1, errNumKeys)
	switch {
	case err != nil:
		return err
	case n > len(c.Args)-2:
		return errTooManyKeys
	}
	limit := 0
	for rest := c.Args[2+n:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 || !is(rest[0], "limit") {
			return errSyntax
		}
		if limit, err = parseAtLeast(rest[1], 0, errNegativeLimit); err != nil {
			return err
		}
	}
	sets, err := readSets(c, c.Args[2:2+n])
	if err != nil {
		return err
	}
	size := 0
	for range common(sets) {
		size++
		if size == limit {
			break
		}
	}
	c.Int(int64(size))
	return nil
}

// SINTERSTORE destination key ... (t_set.c: sinterstoreCommand)
func sinterstore(c *Call) error {
	sets, err := readSets(c, c.Args[2:])
	if err != nil {
		return err
	}
	result := store.NewSet(c.KS)
	for m := range common(sets) {
		if result.Len() == 0 && sets[0].Encoding() != "intset" {
			result.Expect(nil, 0) // Redis starts with the encoding of the smallest set
		}
		result.Add(m)
	}
	result.PreferInts()
	storeSet(c, result, "sinterstore")
	return nil
}

// SUNIONSTORE destination key ... (t_set.c: sunionstoreCommand)
func sunionstore(c *Call) error {
	sets, err := readSets(c, c.Args[2:])
	if err != nil {
		return err
	}
	storeSet(c, union(c, sets, true), "sunionstore")
	return nil
}

// takesAway reports whether Redis would copy the first set and remove the members of the others
// from the copy (t_set.c: sunionDiffGenericCommand). The choice shows in the encoding of a stored
// result: a copy keeps the encoding of the whole first set.
func takesAway(sets []*store.Set) bool {
	if sets[0] == nil {
		return false
	}
	lookups, removals := 0, 0
	for _, s := range sets {
		if s != nil {
			lookups += sets[0].Len()
			removals += s.Len()
		}
	}
	return lookups/2 > removals
}

func subtract(result *store.Set, sets []*store.Set) {
	for m := range sets[0].All() {
		result.Add(m)
	}
	for _, s := range sets[1:] {
		if s == nil {
			continue
		}
		for m := range s.All() {
			result.Remove(m)
		}
	}
}

// SDIFFSTORE destination key ... (t_set.c: sdiffstoreCommand)
func sdiffstore(c *Call) error {
	sets, err := readSets(c, c.Args[2:])
	if err != nil {
		return err
	}
	result := store.NewSet(c.KS)
	if takesAway(sets) {
		subtract(result, sets)
	} else {
		for m := range difference(sets) {
			result.Add(m)
		}
	}
	storeSet(c, result, "sdiffstore")
	return nil
}

// storeSet stores a result under the first argument and replies with its size. An empty result
// deletes the key.
func storeSet(c *Call, s *store.Set, event string) {
	key := c.Args[1]
	if s.Len() > 0 {
		store.Put(c.DB, key, s)
		c.Changed(ClassSet, event, key)
	} else if c.DB.Delete(key) {
		c.Changed(ClassGeneric, "del", key)
	}
	c.Int(int64(s.Len()))
}
