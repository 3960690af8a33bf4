package store

import (
	"iter"
	"slices"
)

// Common ranges over the members that all others have. A member is valid until the next one. The sets
// must not change meanwhile. s may be one of the others.
func (s *Set) Common(others []*Set) iter.Seq[[]byte] { return s.matching(others, true) }

// Without ranges over the members that none of the others has, as Common does.
func (s *Set) Without(others []*Set) iter.Seq[[]byte] { return s.matching(others, false) }

// matching ranges over the members that are in all others, or in none of them. All tables of a keyspace
// hash with one seed, so a look-up takes the hash from the table of s. The look-ups of a batch of members
// overlap their cache misses, as in DB.Prefetch.
//
// Redis hashes each member again for each set (t_set.c: sinterGenericCommand).
func (s *Set) matching(others []*Set, wanted bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if s.e.enc != encTable {
			tables := slices.ContainsFunc(others, func(o *Set) bool { return o.e.enc == encTable })
			for m := range s.All() {
				hash := uint32(0)
				if tables {
					hash = s.ks.Seed.tableHash(m)
				}
				if matches(others, m, hash, wanted) && !yield(m) {
					return
				}
			}
			return
		}
		t := s.table()
		var batch [PrefetchMax]uint32
		for i, n := t.nextLive(1), 0; i != 0; {
			for n = 0; i != 0 && n < len(batch); i = t.nextLive(i + 1) {
				batch[n] = i
				n++
			}
			s.prefetchIn(others, batch[:n])
			for _, at := range batch[:n] {
				node := t.at(at)
				if m := node.key(); matches(others, m, node.hash, wanted) && !yield(m) {
					return
				}
			}
		}
	}
}

// prefetchIn loads the memory that look-ups of these members will read in the first of the others.
func (s *Set) prefetchIn(others []*Set, nodes []uint32) {
	if len(others) == 0 || others[0].e.enc != encTable || others[0].Len() < prefetchMin {
		return
	}
	var hashes, found [PrefetchMax]uint32
	for i, at := range nodes {
		hashes[i] = s.table().at(at).hash
	}
	s.ks.prefetched = others[0].table().prefetch(&hashes, found[:len(nodes)])
}

func matches(others []*Set, m []byte, hash uint32, wanted bool) bool {
	for _, s := range others {
		has := false
		if s.e.enc != encTable {
			has = s.Has(m)
		} else if t := s.table(); t.live > 0 {
			has = t.lookup(m, hash) != 0
		}
		if has != wanted {
			return false
		}
	}
	return true
}
