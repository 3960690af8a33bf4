// Package bounded has maps and sets that forget their oldest entries instead of growing without end. They have no
// locks: one goroutine at a time may use one.
package bounded

import (
	"iter"
	"slices"
)

// Map is a map of at most max entries. A new entry replaces the oldest one.
type Map[K comparable, V any] struct {
	m     map[K]V
	order []K // in the order of put, with some keys that are deleted meanwhile
	max   int
}

// NewMap returns an empty map of at most size entries.
func NewMap[K comparable, V any](size int) *Map[K, V] { return &Map[K, V]{m: map[K]V{}, max: size} }

// Get returns the value of a key, and the zero value if there is none.
func (b *Map[K, V]) Get(k K) V { return b.m[k] }

// Find returns the value of a key, and reports whether there is one.
func (b *Map[K, V]) Find(k K) (v V, found bool) {
	v, found = b.m[k]
	return v, found
}

// Len returns the number of entries.
func (b *Map[K, V]) Len() int { return len(b.m) }

// Put gives a key a value. A key that is there keeps its place in the order.
func (b *Map[K, V]) Put(k K, v V) {
	if _, there := b.m[k]; there {
		b.m[k] = v
		return
	}
	for len(b.m) >= b.max {
		delete(b.m, b.order[0])
		b.order = b.order[1:]
	}
	if len(b.order) >= 2*b.max {
		b.compact()
	}
	b.m[k] = v
	b.order = append(b.order, k)
}

// compact removes deleted keys from the order. A key that was deleted and put again stands in the
// order twice. It keeps the first of these places, so it may be dropped early.
func (b *Map[K, V]) compact() {
	seen := make(map[K]bool, len(b.m))
	kept := make([]K, 0, b.max+1)
	for _, k := range b.order {
		if _, there := b.m[k]; there && !seen[k] {
			seen[k] = true
			kept = append(kept, k)
		}
	}
	b.order = kept
}

// All iterates over the entries, the oldest first. The loop may delete the current entry.
func (b *Map[K, V]) All() iter.Seq2[K, V] {
	b.compact()
	order := b.order
	return func(yield func(K, V) bool) {
		for _, k := range order {
			if v, there := b.m[k]; there && !yield(k, v) {
				return
			}
		}
	}
}

// Delete removes a key.
func (b *Map[K, V]) Delete(k K) { delete(b.m, k) }

// Ring keeps the newest few items, each once.
type Ring[T comparable] struct {
	items []T
	next  int
}

// Add adds an item, unless it is there. It replaces the oldest one of size items.
func (r *Ring[T]) Add(item T, size int) {
	switch {
	case r.Has(item):
	case len(r.items) < size:
		r.items = append(r.items, item)
	default:
		r.items[r.next%size] = item
		r.next++
	}
}

// Has reports whether an item is there.
func (r *Ring[T]) Has(item T) bool { return slices.Contains(r.items, item) }

// Items returns the items. They belong to r.
func (r *Ring[T]) Items() []T { return r.items }
