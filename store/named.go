package store

import (
	"iter"
	"slices"
)

// Named holds the groups of a stream or the consumers of a group, in the order of their names. They
// are kept in blocks: in one slice, each new name would move all names after it.
type Named[T any] struct {
	blocks [][]*T // no block is empty
	n      int
}

// namedBlock is the size at which a block is split in two.
const namedBlock = 512

// Len is the number of elements.
func (l *Named[T]) Len() int { return l.n }

// All ranges over the elements in the order of their names.
func (l *Named[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, block := range l.blocks {
			for _, v := range block {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// Last is the element with the last name, nil if the list is empty.
func (l *Named[T]) Last() *T {
	if l.n == 0 {
		return nil
	}
	block := l.blocks[len(l.blocks)-1]
	return block[len(block)-1]
}

// place is the position of name, or the position where it belongs. An empty list has no block for
// it.
func (l *Named[T]) place(name []byte, compare func(*T, []byte) int) (block, at int, found bool) {
	if l.n == 0 {
		return 0, 0, false
	}
	// The block is the last one that does not begin after name.
	block, found = slices.BinarySearchFunc(l.blocks, name, func(b []*T, name []byte) int { return compare(b[0], name) })
	if found {
		return block, 0, true
	}
	block = max(block-1, 0)
	at, found = slices.BinarySearchFunc(l.blocks[block], name, compare)
	return block, at, found
}

func (l *Named[T]) find(name []byte, compare func(*T, []byte) int) *T {
	if block, at, found := l.place(name, compare); found {
		return l.blocks[block][at]
	}
	return nil
}

// insert adds v, whose name is not in the list.
func (l *Named[T]) insert(v *T, name []byte, compare func(*T, []byte) int) {
	block, at, _ := l.place(name, compare)
	if l.n++; l.n == 1 {
		l.blocks = [][]*T{{v}}
		return
	}
	b := slices.Insert(l.blocks[block], at, v)
	l.blocks[block] = b
	if len(b) == namedBlock {
		half := slices.Clone(b[namedBlock/2:])
		l.blocks[block] = slices.Delete(b, namedBlock/2, namedBlock)
		l.blocks = slices.Insert(l.blocks, block+1, half)
	}
}

// remove removes and returns the element with that name, nil if no element has it.
func (l *Named[T]) remove(name []byte, compare func(*T, []byte) int) *T {
	block, at, found := l.place(name, compare)
	if !found {
		return nil
	}
	v := l.blocks[block][at]
	l.n--
	l.blocks[block] = slices.Delete(l.blocks[block], at, at+1)
	if len(l.blocks[block]) == 0 {
		l.blocks = slices.Delete(l.blocks, block, block+1)
	}
	return v
}
