package doctor

import "iter"

// bounded is a map of at most max entries. A new entry replaces the oldest one.
type bounded[K comparable, V any] struct {
	m     map[K]V
	order []K // in the order of put, with some keys that are deleted meanwhile
	max   int
}

func newBounded[K comparable, V any](size int) *bounded[K, V] {
	return &bounded[K, V]{m: map[K]V{}, max: size}
}

func (b *bounded[K, V]) put(k K, v V) {
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

// compact removes deleted keys from the order. A key that was deleted and put again is in the order
// twice. It keeps its first place, so it may be dropped early.
func (b *bounded[K, V]) compact() {
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

// all iterates over the entries, the oldest first. The loop may delete the current entry.
func (b *bounded[K, V]) all() iter.Seq2[K, V] {
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

func (b *bounded[K, V]) delete(k K) { delete(b.m, k) }

// ring keeps the newest few items.
type ring[T comparable] struct {
	items []T
	next  int
}

func (r *ring[T]) add(item T, size int) {
	switch {
	case r.has(item):
	case len(r.items) < size:
		r.items = append(r.items, item)
	default:
		r.items[r.next%size] = item
		r.next++
	}
}

func (r *ring[T]) has(item T) bool {
	for _, i := range r.items {
		if i == item {
			return true
		}
	}
	return false
}
