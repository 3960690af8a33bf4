package store

// Chains describes how the nodes of a table spread over one of its bucket arrays (dict.c:
// _dictGetStatsHt).
type Chains struct {
	Buckets, Nodes int
	Used           int // buckets that are not empty
	Longest        int
	Lengths        [50]int // number of buckets by chain length; the last also counts all longer chains
}

// chains visits all buckets. During a rehash there are two bucket arrays.
func (t *Table[V]) chains() (all []Chains) {
	for i, buckets := range t.buckets {
		if buckets == nil && i > 0 {
			break
		}
		c := Chains{Buckets: len(buckets)}
		for _, first := range buckets {
			n := 0
			for node := first; node != 0; node = t.at(node).next {
				n++
			}
			c.Nodes += n
			c.Longest = max(c.Longest, n)
			c.Lengths[min(n, len(c.Lengths)-1)]++
			if n > 0 {
				c.Used++
			}
		}
		all = append(all, c)
	}
	return all
}

// Chains describes the table of the keys.
func (db *DB) Chains() []Chains { return db.keys.chains() }

// Chains describes the table of members or fields. It returns nil while the value is small and has
// no table.
func (v Value) Chains() []Chains {
	if v.e.typ == TypeString || v.e.enc != encTable {
		return nil
	}
	switch v.e.typ {
	case TypeSet:
		return (*Table[struct{}])(v.e.ref).chains()
	case TypeZSet:
		return (*zsetIndex)(v.e.ref).table.chains()
	case TypeHash:
		return (*hashTable)(v.e.ref).chains()
	}
	return nil
}
