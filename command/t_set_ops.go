package command

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/miniredisd/miniredisd/store"
)

const errTooManyKeys store.Error = "ERR Number of keys can't be greater than number of args"

// Redis chooses between two ways to subtract by the sizes of the sets
// (t_set.c: sunionDiffGenericCommand). Here every member of the first set is
// looked for in the others: where that is the slower way, it is so by no more
// than their number.

// readSets returns the set of each key, nil where there is none.
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

// common ranges over what all sets have: over the smallest, looking into the next larger first.
func common(sets []*store.Set) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if slices.Contains(sets, nil) {
			return
		}
		slices.SortStableFunc(sets, func(a, b *store.Set) int { return cmp.Compare(a.Len(), b.Len()) })
	members:
		for m := range sets[0].All() {
			for _, s := range sets[1:] {
				// t_set.c: sinterGenericCommand does not look into the first set again either.
				if s != sets[0] && !s.Has(m) {
					continue members
				}
			}
			if !yield(m) {
				return
			}
		}
	}
}

// difference ranges over what the first set has and none of the others.
func difference(sets []*store.Set) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if sets[0] == nil {
			return
		}
	members:
		for m := range sets[0].All() {
			for _, s := range sets[1:] {
				if s != nil && s.Has(m) {
					continue members
				}
			}
			if !yield(m) {
				return
			}
		}
	}
}

// union is a new set of what any set has. One that is not stored goes without
// the encodings that are slow to look into, unless all are integers.
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
			result.Expect(nil, 0) // Redis begins with the smallest set's form
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

// takesAway is Redis's choice (t_set.c: sunionDiffGenericCommand) between looking up every member of
// the first set in the others, and copying it to remove theirs. It is only to be seen in a stored
// result: a copy keeps the encoding that it had at its largest.
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

// storeSet puts a result where the first argument says and answers with its
// size; an empty one takes the key away.
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
