package store

import (
	"math"
	"math/bits"
	"strconv"
)

// This file estimates the memory that a key takes in redis-server 7.2 with jemalloc, for MEMORY USAGE. So tests of
// sizes, and people who plan for Redis, get its numbers. What a key takes here is Key.mem, and used_memory adds that
// up. What Redis measures and this server does not have is taken as it is on average: spare room after a string that
// has grown, the levels of a skiplist, and a table that is being moved to a larger one.

// Sizes of Redis's structures on 64 bits.
const (
	redisObject     = 16
	redisDict       = 56
	redisDictEntry  = 24
	redisSlot       = 8
	redisQuicklist  = 40
	redisQuicknode  = 40
	redisZset       = 16 + 32 // zset and zskiplist
	redisZsetHeader = 24 + 32*16
	redisZsetNode   = 24 + 16 + 16/3 // a node has 4/3 levels
	redisStream     = 80
	redisGroup      = 40
	redisConsumer   = 32
	redisNack       = 24
	redisRaxNode    = 4 + 30*8
	redisStreamID   = 16
	redisStreamRoom = 4096 // the last node of a stream (t_stream.c: STREAM_LISTPACK_MAX_PRE_ALLOCATE)
)

// jemalloc is the size that the allocator gives for n bytes: multiples of 8 up to 64, and then four sizes between two
// powers of two.
func jemalloc(n int) int {
	step := 8
	if n > 64 {
		step = 1 << (bits.Len(uint(n-1)) - 3)
	}
	return max((n+step-1)&^(step-1), 8)
}

// sds is the size of a string of n bytes (sds.c: sdsReqType).
func sds(n int) int {
	head := 9
	switch {
	case n < 1<<5:
		head = 1
	case n < 1<<8:
		head = 3
	case n < 1<<16:
		head = 5
	}
	return jemalloc(head + n + 1)
}

// RedisUsage estimates the bytes that the key takes in Redis (object.c: objectComputeSize). Of a large value that
// many elements are looked at.
func (k Key) RedisUsage(samples int) int {
	e := k.shown()
	n := sds(len(k.db.keys.at(k.node).key())) + redisDictEntry + redisObject
	switch {
	case e.typ == TypeString:
		return n + e.redisString()
	case e.typ == TypeStream:
		return n + (*Stream)(e.ref).redisUsage(samples)
	case e.typ == TypeList:
		return n + (&List{handle{k.db.ks, e}}).redisUsage(samples)
	case e.enc == encPack:
		return n + jemalloc(e.listpackSize())
	case e.enc != encTable:
		ints := (&Set{handle{k.db.ks, e}}).ints()
		return n + jemalloc(8+ints.len()*ints.width)
	}
	return n + e.redisTable(samples)
}

func (e *entry) redisString() int {
	switch e.enc {
	case encInt:
		return 0
	case encEmbstr: // one block with the object
		return jemalloc(redisObject+3+len(e.bytes())+1) - redisObject
	}
	return sds(len(e.bytes()))
}

// listpackSize is the size of the listpack that a small set, hash or sorted set is in Redis.
func (e *entry) listpackSize() int {
	n, l := listpackFrame, e.pack()
	for p := l.First(); p >= 0; p = l.Next(p) {
		v := l.Get(p)
		if e.typ == TypeZSet {
			score, member := unpackEntry(v)
			n += listpackString(member) + listpackScore(score)
			continue
		}
		n += listpackString(v)
	}
	return n
}

// listpackScore is the size of a score, which is a number if it has no fraction (t_zset.c: zzlInsertAt).
func listpackScore(score float64) int {
	const exact = 1 << 52
	if math.Trunc(score) == score && math.Abs(score) < exact {
		return listpackNumber(int64(score))
	}
	var text [32]byte
	return listpackString(strconv.AppendFloat(text[:0], score, 'g', -1, 64))
}

// redisTable is the size of a dictionary with its elements.
func (e *entry) redisTable(samples int) int {
	elements, sum, seen := e.len(), 0, 0
	look := func(bytes int) (more bool) {
		sum += redisDictEntry + bytes
		seen++
		return seen < samples
	}
	n := redisDict + redisSlot*max(1<<bits.Len(uint(elements-1)), 4)
	switch e.typ {
	case TypeSet:
		for m := range (*Table[struct{}])(e.ref).All() {
			if !look(sds(len(m.key()))) {
				break
			}
		}
	case TypeHash:
		for f := range (*hashTable)(e.ref).All() {
			if !look(sds(len(f.key())) + sds(len(f.Val.bytes()))) {
				break
			}
		}
	case TypeZSet:
		n += redisZset + jemalloc(redisZsetHeader)
		for m := range (*zsetIndex)(e.ref).table.All() {
			if !look(sds(len(m.key())) + redisZsetNode) {
				break
			}
		}
	}
	return n + sum*elements/max(seen, 1)
}

func (l *List) redisUsage(samples int) int {
	q := l.chain()
	if q == nil {
		return jemalloc(listpackFrame + int(l.e.lp))
	}
	if !q.quick {
		return jemalloc(listpackFrame + q.head.lp)
	}
	sum, seen := 0, 0
	for nd := q.head; nd != nil && seen < samples; nd = nd.next {
		size := listpackFrame + nd.lp
		if l.ks.plain(&nd.Pack) {
			size = len(nd.Get(nd.First()))
		}
		sum += redisQuicknode + jemalloc(size)
		seen++
	}
	return redisQuicklist + sum*l.Nodes()/max(seen, 1)
}

func (s *Stream) redisUsage(samples int) int {
	n := redisStream + redisRax(len(s.nodes), s.RadixNodes())
	sum, seen := 0, 0
	last := len(s.nodes) - 1
	for i := 0; i <= last && seen < samples; i++ {
		sum += s.nodes[i].redisSize(i == last)
		seen++
	}
	if seen > 0 && seen <= last {
		sum = sum/seen*last + s.nodes[last].redisSize(true)
	}
	n += sum
	for g := range s.Groups.All() {
		n += redisGroup + redisPending(&g.pending) + redisNack*g.Len()
		for c := range g.Consumers.All() {
			n += redisConsumer + len(c.Name) + redisPending(&c.pending)
		}
	}
	return n
}

// redisSize is the size of the listpack. The last one of a stream has room for more.
func (n *streamNode) redisSize(last bool) int {
	if last {
		return jemalloc(max(n.packed, redisStreamRoom))
	}
	return jemalloc(n.packed)
}

// redisRax is the size of a radix tree (object.c: streamRadixTreeMemoryUsage).
func redisRax(keys, nodes int) int { return keys*redisStreamID + nodes*redisRaxNode }

func redisPending[V any](pending *idMap[V]) int {
	var ids []StreamID
	for _, b := range pending.blocks {
		ids = append(ids, b.ids...)
	}
	return redisRax(len(ids), radixNodes(len(ids), func(i int) StreamID { return ids[i] }))
}
