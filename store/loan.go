package store

import "unsafe"

// A loan is how a capture gets collections without copying them. It copies the list of their blocks: chunks of
// nodes, leaves, packs, nodes of streams. The blocks themselves are lent. Until the loan is over nobody changes a
// lent block: a change puts a copy of the block in its place first, as the kernel does with a page after fork(2).
//
//	captured   chunks | 1 | 2 | 3 |             | 1 | 2  | 3 |
//	                    |   |   |      HSET       |   |    |
//	                   [ ] [ ] [ ]    ─────>     [ ] [ ]  [ ]
//	                    |   |   |                 |        |
//	collection chunks | 1 | 2 | 3 |             | 1 | 2' | 3 |
//	                                                  |
//	                                                 [ ]
//
// So a capture of a million elements takes time for thousands of blocks, and the next change for one of them.
// What readers of a captured collection do not need is not lent, and changes in place: the links of a chain.
type loan struct{ isOver bool }

// isOpen reports whether somebody may read what is lent.
func (l *loan) isOpen() bool { return l != nil && !l.isOver }

// lend returns a value that shares its blocks with the large collection e.
func (e *entry) lend(to *loan) entry {
	c := *e
	c.timed &= timedFields
	switch {
	case e.typ == TypeStream:
		c.ref = unsafe.Pointer((*Stream)(e.ref).lend(to))
	case e.typ == TypeList:
		c.ref = unsafe.Pointer((*quicklist)(e.ref).lend(to))
	case e.typ == TypeSet:
		c.ref = unsafe.Pointer((*Table[struct{}])(e.ref).lend(to))
	case e.typ == TypeZSet:
		c.ref = unsafe.Pointer((*zsetIndex)(e.ref).lend(to))
	case e.timed&timedFields != 0:
		c.ref = unsafe.Pointer(e.timedHash().lend(to))
	default:
		c.ref = unsafe.Pointer((*hashTable)(e.ref).lend(to))
	}
	return c
}
