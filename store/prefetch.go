package store

import "unsafe"

// PrefetchMax is how many requests one Prefetch takes.
const PrefetchMax = 64

// prefetchMin is the size below which a table sits in the cache anyway.
const prefetchMin = 4096

// Prefetch walks to the values of keys that are about to be looked up, all of
// them side by side. A lookup is a chain of cache misses (bucket, node, name,
// value), each of which has to be waited for; of 16 lookups that do not depend on
// each other the processor waits for all at once. valkey does the same with
// prefetch instructions (memory_prefetch.c); an ordinary load is as good when
// nothing waits for its result. Nothing changes, expired keys stay.
//
// A request is a command's words, at least two; the second is taken for a key.
// Where that is a large collection, the walk goes on to the element that a
// further word names.
func (db *DB) Prefetch(requests [][][]byte) {
	if len(requests) < 2 {
		return
	}
	requests = requests[:min(len(requests), PrefetchMax)]
	var found [PrefetchMax]uint32
	t := db.keys
	sum := byte(0)
	if t.live >= prefetchMin {
		sum = t.prefetch(requests, 1, &found)
		for _, i := range found[:len(requests)] {
			if i != 0 {
				if ref := t.at(i).Val.ref; ref != nil {
					sum += *(*byte)(ref)
				}
			}
		}
	} else {
		db.sameKey(requests, &found)
	}
	for from := 0; from < len(requests); {
		i, to := found[from], from+1
		for to < len(requests) && found[to] == i {
			to++
		}
		if i != 0 {
			sum += t.at(i).Val.prefetch(requests[from:to])
		}
		from = to
	}
	db.ks.prefetched = sum // keeps the compiler from dropping the loads
}

// sameKey finds the key of requests that are all about the same one.
func (db *DB) sameKey(requests [][][]byte, found *[PrefetchMax]uint32) {
	key := requests[0][1]
	if string(requests[1][1]) != string(key) {
		return
	}
	i := db.keys.find(key)
	for k, args := range requests {
		if string(args[1]) == string(key) {
			found[k] = i
		}
	}
}

// walk goes on to the elements of a collection that requests are about to ask
// for, or through a pack. Few requests in a row are not worth a second
// computation of the hashes.
func (e *entry) prefetch(requests [][][]byte) (sum byte) {
	var ignored [PrefetchMax]uint32
	several := len(requests) > 1
	switch e.typ {
	case TypeSet:
		s := (*Set)(e.ref)
		if s.enc == setTable && several {
			return s.table.prefetch(requests, 2, &ignored)
		}
		return s.pack.prefetch()
	case TypeHash:
		h := (*Hash)(e.ref)
		if h.table != nil && several {
			return h.table.prefetch(requests, 2, &ignored)
		}
		return h.pack.prefetch()
	case TypeZSet:
		z := (*ZSet)(e.ref)
		if z.table != nil && several {
			return z.table.prefetch(requests, -1, &ignored)
		}
		return z.pack.prefetch()
	}
	return 0
}

// walk touches the beginning of a pack a cache line at a time: a search goes
// through it byte by byte.
func (l *Pack) prefetch() (sum byte) {
	for at := int(l.head); at < min(len(l.b), int(l.head)+1024); at += 64 {
		sum += l.b[at]
	}
	return sum
}

// walk looks up one word of each request, the last when word is negative, and
// leaves the nodes it comes to in found. It looks at no more than the first two
// nodes of a bucket and takes equal hashes for equal keys.
//
// Every step first touches all it needs and decides afterwards: a decision on
// memory that has not arrived is guessed, and a wrong guess waits for it.
func (t *Table[V]) prefetch(requests [][][]byte, word int, found *[PrefetchMax]uint32) (sum byte) {
	if t.live < prefetchMin {
		return 0
	}
	b := t.buckets[0]
	if t.buckets[1] != nil {
		b = t.buckets[1]
	}
	var hashes [PrefetchMax]uint32
	for i, args := range requests {
		at := word
		if at < 0 {
			at = len(args) - 1
		}
		if at < len(args) {
			hashes[i] = t.hash(args[at])
		}
	}
	nodes := found[:len(requests)]
	for i := range nodes { // apart from hashing, so that more of the loads are under way at a time
		nodes[i] = b[hashes[i]&uint32(len(b)-1)]
	}
	sum = t.loadNodes(nodes)
	for i, at := range nodes {
		if at != 0 {
			if n := t.at(at); n.hash != hashes[i] {
				nodes[i] = n.next
			}
		}
	}
	sum += t.loadNodes(nodes)
	for i, at := range nodes {
		if at == 0 {
			continue
		}
		n := t.at(at)
		if n.hash != hashes[i] {
			nodes[i] = 0
		} else if len(n.Key) > 0 {
			sum += *unsafe.StringData(n.Key)
		}
	}
	return sum
}

func (t *Table[V]) loadNodes(nodes []uint32) (sum byte) {
	for _, at := range nodes {
		if at != 0 {
			sum += byte(t.at(at).hash)
		}
	}
	return sum
}
