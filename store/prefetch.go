package store

import "unsafe"

// PrefetchMax is how many keys one Prefetch takes.
const PrefetchMax = 64

// Prefetch walks to the values of keys that are about to be looked up, all of
// them side by side. A lookup is a chain of cache misses (bucket, node, name,
// value), each of which has to be waited for; of 16 lookups that do not depend on
// each other the processor waits for all at once. valkey does the same with
// prefetch instructions (memory_prefetch.c); an ordinary load is as good when
// nothing waits for its result. Nothing changes, expired keys stay.
func (db *DB) Prefetch(keys [][]byte) {
	t := db.keys
	if t.live < prefetchMin || len(keys) < 2 {
		return
	}
	var hashes, nodes [PrefetchMax]uint32
	keys = keys[:min(len(keys), PrefetchMax)]
	b := t.buckets[0]
	if t.buckets[1] != nil {
		b = t.buckets[1]
	}
	for i, key := range keys {
		hashes[i] = t.hash(key)
		nodes[i] = b[hashes[i]&uint32(len(b)-1)]
	}
	for i := range keys {
		if nodes[i] != 0 {
			if n := t.at(nodes[i]); n.hash != hashes[i] {
				nodes[i] = n.next
			}
		}
	}
	var sum byte
	for i := range keys {
		if nodes[i] == 0 {
			continue
		}
		n := t.at(nodes[i])
		if n.hash == hashes[i] && len(n.Key) > 0 {
			sum += n.Key[0]
		}
		if n.Val.ref != nil {
			sum += *(*byte)(unsafe.Pointer(n.Val.ref))
		}
	}
	db.ks.prefetched = sum // keeps the compiler from dropping the loads
}

// prefetchMin is the size below which a table sits in the cache anyway.
const prefetchMin = 4096
