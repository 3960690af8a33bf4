package store

// lazyThreshold is the effort above which Redis frees a value in another thread (lazyfree.c:
// LAZYFREE_THRESHOLD).
const lazyThreshold = 64

// effort is roughly the number of allocations of a value, as Redis counts them (lazyfree.c:
// lazyfreeGetFreeEffort).
func (e *entry) effort() int {
	switch e.typ {
	case TypeList:
		if l := (&List{handle{e: e}}); l.Encoding() == "quicklist" {
			return l.Nodes()
		}
	case TypeSet, TypeZSet, TypeHash:
		if e.enc == encTable {
			return e.len()
		}
	case TypeStream:
		s := (*Stream)(e.ref)
		n := s.Nodes()
		if groups := s.Groups.Len(); groups > 0 {
			n += groups * (1 + s.Groups.Last().Len()) // one group stands for all
		}
		return n
	}
	return 1
}

// Unlink is Delete that also counts the values that Redis would free in the background. Here the
// garbage collector frees every value in the background.
func (db *DB) Unlink(key []byte) bool {
	i := db.find(key)
	if i == 0 {
		return false
	}
	if db.keys.at(i).Val.effort() > lazyThreshold {
		db.ks.Stats.LazyFreed++
	}
	db.remove(i)
	return true
}
