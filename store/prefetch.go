package store

import "unsafe"

// PrefetchMax is the greatest number of keys or elements whose cache misses overlap.
const PrefetchMax = 64

const (
	prefetchMin   = 4096 // below that many keys, a table is in the cache anyway
	prefetchNames = 1024 // more names would push the first ones out of the cache before they are used
	prefetchChain = 3    // nodes of a bucket that are looked at; nine of ten keys are among the first two
)

// Prefetch loads the values of keys that are about to be looked up into the processor's cache. It
// uses the first PrefetchMax of them. It changes nothing, and overdue keys stay.
//
// A look-up is a chain of cache misses: bucket, node, value. Each miss takes some 100 ns and waits for
// the one before. But a processor has room for a dozen misses at once. Prefetch takes each step for
// all keys before the next step, so their misses overlap:
//
//	key 1   bucket ─────> node ─────> value ─────>|
//	key 2                                         bucket ─────> node ─────> value ─────>|
//
//	key 1   bucket ─────> node ─────> value ─────>|        with Prefetch
//	key 2    bucket ─────> node ─────> value ─────>|
//
// Each of wanted is the words of a request from a key on, at least one. If several requests name one
// large collection, Prefetch also loads the element that a further word names.
//
// Valkey does the same with prefetch instructions (memory_prefetch.c). Go has none for programs. An
// ordinary load is as good if no instruction waits for its result. So each step first loads all that
// it needs and branches afterwards: the processor guesses a branch on memory that has not arrived, and
// a wrong guess waits for the memory.
//
// BenchmarkPrefetch: with it, 16 GETs among a million keys take a third of the time, and 16 HGETs
// in a hash of 100,000 fields take half of the time.
func (db *DB) Prefetch(wanted [][][]byte) {
	if len(wanted) < 2 {
		return
	}
	wanted = wanted[:min(len(wanted), PrefetchMax)]
	var hashes, found [PrefetchMax]uint32
	t := db.keys
	sum := byte(0)
	if t.live >= prefetchMin {
		for i, words := range wanted {
			hashes[i] = t.hash(words[0])
		}
		sum = t.prefetch(&hashes, found[:len(wanted)])
		for _, i := range found[:len(wanted)] {
			if i != 0 {
				e := &t.at(i).Val
				if e.ref != nil {
					sum += *(*byte)(e.ref)
				}
				if e.timed&timedKey != 0 {
					sum += byte(db.wheel.at(i).next)
				}
			}
		}
	} else {
		db.sameKey(wanted, &found)
	}
	for from := 0; from < len(wanted); {
		i, to := found[from], from+1
		for to < len(wanted) && found[to] == i {
			to++
		}
		if i != 0 {
			sum += db.ks.prefetchElements(&t.at(i).Val, wanted[from:to])
		}
		from = to
	}
	db.ks.prefetched = sum // an unused sum would let the compiler drop the loads
}

// PrefetchKeys is Prefetch for every step-th of names.
func (db *DB) PrefetchKeys(names [][]byte, step int) {
	names = names[:min(len(names), prefetchNames*step)]
	var room [PrefetchMax][][]byte
	for at := 0; at < len(names); {
		wanted := room[:0]
		for ; at < len(names) && len(wanted) < PrefetchMax; at += step {
			wanted = append(wanted, names[at:at+1])
		}
		db.Prefetch(wanted)
	}
}

// sameKey finds the key if the first two requests name the same key.
func (db *DB) sameKey(wanted [][][]byte, found *[PrefetchMax]uint32) {
	key := wanted[0][0]
	if string(wanted[1][0]) != string(key) {
		return
	}
	i := db.keys.find(key)
	for k, words := range wanted {
		if string(words[0]) == string(key) {
			found[k] = i
		}
	}
}

// prefetchElements loads the elements of a collection that requests name, or its pack. The element is
// the word behind the key, or the last one if the collection is a sorted set. A single request is not worth
// computing its hash twice.
func (ks *Keyspace) prefetchElements(e *entry, wanted [][][]byte) byte {
	switch {
	case e.typ == TypeString || e.typ == TypeList || e.typ == TypeStream:
		return 0
	case e.enc != encTable:
		return prefetchBlock(e.bytes())
	case len(wanted) == 1 || e.len() < prefetchMin:
		return 0
	}
	var hashes, found [PrefetchMax]uint32
	for i, words := range wanted {
		at := 1
		if e.typ == TypeZSet {
			at = len(words) - 1
		}
		if at < len(words) {
			hashes[i] = ks.Seed.tableHash(words[at])
		}
	}
	return e.prefetchNodes(&hashes, found[:len(wanted)])
}

// prefetchBlock loads the first kilobyte of a small collection, a cache line at a time, because a
// search reads the block byte by byte.
func prefetchBlock(b []byte) (sum byte) {
	for at := 0; at < min(len(b), 1024); at += 64 {
		sum += b[at]
	}
	return sum
}

// Prefetch loads the elements of a set, a sorted set or a hash that a command is about to look up:
// every step-th of names. DB.Prefetch has the reason.
func (h *handle) Prefetch(names [][]byte, step int) {
	e := h.e
	if len(names) <= step || e.enc != encTable || e.len() < prefetchMin {
		return
	}
	names = names[:min(len(names), prefetchNames*step)]
	var hashes, found [PrefetchMax]uint32
	for at := 0; at < len(names); {
		n := 0
		for ; at < len(names) && n < PrefetchMax; at += step {
			hashes[n] = h.ks.Seed.tableHash(names[at])
			n++
		}
		h.ks.prefetched = e.prefetchNodes(&hashes, found[:n])
	}
}

// prefetchNodes loads the elements of a table with these hashes, and their values.
func (e *entry) prefetchNodes(hashes *[PrefetchMax]uint32, nodes []uint32) (sum byte) {
	switch e.typ {
	case TypeSet:
		return (*Table[struct{}])(e.ref).prefetch(hashes, nodes)
	case TypeZSet:
		return (*zsetIndex)(e.ref).table.prefetch(hashes, nodes)
	}
	t := (*hashTable)(e.ref)
	sum = t.prefetch(hashes, nodes)
	for _, i := range nodes {
		if i != 0 {
			if value := t.at(i).Val.ref; value != nil {
				sum += *(*byte)(value)
			}
		}
	}
	return sum
}

// prefetch loads the nodes of keys with these hashes and stores their numbers in nodes, 0 where it
// finds none. It treats equal hashes as equal keys.
func (t *Table[V]) prefetch(hashes *[PrefetchMax]uint32, nodes []uint32) (sum byte) {
	b := t.buckets[0]
	if t.buckets[1] != nil {
		b = t.buckets[1]
	}
	for i := range nodes { // a loop of its own, so that more loads overlap
		nodes[i] = b[hashes[i]&uint32(len(b)-1)]
	}
	for range prefetchChain - 1 {
		sum += t.loadNodes(nodes)
		for i, at := range nodes {
			if at != 0 {
				if n := t.at(at); n.hash != hashes[i] {
					nodes[i] = n.next
				}
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
		} else if key := n.Key(); key != "" {
			sum += key[len(key)-1]
		}
	}
	return sum
}

// loadNodes reads the beginning and the hash of each node. They can be in two lines of the cache.
func (t *Table[V]) loadNodes(nodes []uint32) (sum byte) {
	for _, at := range nodes {
		if at != 0 {
			n := t.at(at)
			sum += *(*byte)(unsafe.Pointer(n)) + byte(n.hash)
		}
	}
	return sum
}
