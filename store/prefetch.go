package store

// PrefetchMax is the greatest number of requests that one Prefetch uses.
const PrefetchMax = 64

// prefetchMin is the number of keys below which a table is in the cache anyway.
const prefetchMin = 4096

// Prefetch loads the values of keys that are about to be looked up into the processor's cache. A
// look-up is a chain of cache misses: bucket, node, name, value. Each miss waits for the one
// before. Prefetch takes each step for all requests at once, so their misses overlap. It changes
// nothing, and overdue keys stay.
//
// A request is the words of a command, at least two. Prefetch takes the second word for the key. If
// the key holds a large collection, it also loads the element that a further word names.
//
// Valkey does the same with prefetch instructions (memory_prefetch.c). An ordinary load is as good
// if no instruction waits for its result.
//
// BenchmarkPrefetch: with it, 16 GETs among a million keys take a third of the time, and 16 HGETs
// in a hash of 100,000 fields take half of the time.
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
				e := &t.at(i).Val
				if e.ref != nil {
					sum += *(*byte)(e.ref)
				}
				if e.volatile {
					sum += byte(db.wheel.at(i).next)
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
	db.ks.prefetched = sum // an unused sum would let the compiler drop the loads
}

// sameKey finds the key if the first two requests name the same key.
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

// prefetch loads the elements of a collection that requests name, or its pack. A single request is
// not worth computing its hash twice.
func (e *entry) prefetch(requests [][][]byte) (sum byte) {
	var ignored [PrefetchMax]uint32
	several := len(requests) > 1
	switch {
	case e.typ == TypeString || e.typ == TypeList || e.typ == TypeStream:
		return 0
	case e.enc != encTable:
		return prefetchBlock(e.bytes())
	case !several:
		return 0
	case e.typ == TypeSet:
		return (*Table[struct{}])(e.ref).prefetch(requests, 2, &ignored)
	case e.typ == TypeZSet:
		return (*zsetIndex)(e.ref).table.prefetch(requests, -1, &ignored)
	}
	return (*hashTable)(e.ref).prefetch(requests, 2, &ignored)
}

// prefetchBlock loads the first kilobyte of a small collection, a cache line at a time, because a
// search reads the block byte by byte.
func prefetchBlock(b []byte) (sum byte) {
	for at := 0; at < min(len(b), 1024); at += 64 {
		sum += b[at]
	}
	return sum
}

// prefetch looks up one word of each request, the last word if word is negative. It stores the
// nodes in found. It looks at the first two nodes of a bucket and treats equal hashes as equal
// keys.
//
// Each step first loads all that it needs and branches afterwards. The processor guesses a branch
// on memory that has not arrived, and a wrong guess waits for the memory.
func (t *Table[V]) prefetch(requests [][][]byte, word int, found *[PrefetchMax]uint32) (sum byte) {
	if t.live < prefetchMin {
		return 0
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
	return t.prefetchHashes(&hashes, found[:len(requests)])
}

// prefetchHashes is prefetch for keys with these hashes. It stores the nodes in nodes.
func (t *Table[V]) prefetchHashes(hashes *[PrefetchMax]uint32, nodes []uint32) (sum byte) {
	b := t.buckets[0]
	if t.buckets[1] != nil {
		b = t.buckets[1]
	}
	for i := range nodes { // a loop of its own, so that more loads overlap
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
		} else if key := n.Key(); key != "" {
			sum += key[len(key)-1]
		}
	}
	return sum
}

// loadNodes reads a field of each node.
func (t *Table[V]) loadNodes(nodes []uint32) (sum byte) {
	for _, at := range nodes {
		if at != 0 {
			sum += byte(t.at(at).hash)
		}
	}
	return sum
}
