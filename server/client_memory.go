package server

import (
	"math/bits"
	"unsafe"
)

// The memory of clients, and maxmemory-clients (networking.c: getClientMemoryUsage, evictClients;
// server.c: updateClientMemUsageAndBucket).
//
// Without maxmemory and maxmemory-clients, only cron and INFO weigh clients. With one of them, a client
// is weighed whenever it may have grown: after a read, a command, a message or a write.

// bucket is a list of clients that hold about the same memory, oldest first.
type bucket struct{ first, last *client }

// place is a client's place in its bucket. in is nil for a client that cannot be evicted.
type place struct {
	in         *bucket
	prev, next *client
}

// The buckets divide clients by powers of two, from 32 kB to 8 GB
// (server.h: CLIENT_MEM_USAGE_BUCKET_MIN_LOG, CLIENT_MEM_USAGE_BUCKET_MAX_LOG).
const (
	smallestBucket = 15
	largestBucket  = 33
)

type buckets [largestBucket - smallestBucket + 1]bucket

func (b *buckets) of(mem int) *bucket {
	return &b[min(max(bits.Len(uint(mem)), smallestBucket), largestBucket)-smallestBucket]
}

func (b *bucket) add(c *client) {
	c.place = place{in: b, prev: b.last}
	if b.last == nil {
		b.first = c
	} else {
		b.last.place.next = c
	}
	b.last = c
}

func (c *client) leaveBucket() {
	b, prev, next := c.place.in, c.place.prev, c.place.next
	if b == nil {
		return
	}
	if prev == nil {
		b.first = next
	} else {
		prev.place.next = next
	}
	if next == nil {
		b.last = prev
	} else {
		next.place.prev = prev
	}
	c.place = place{}
}

// memory estimates the bytes that c holds.
func (s *Server) memory(c *client) int {
	return int(unsafe.Sizeof(*c)) + c.Mem() + c.delayed.bytes + len(c.laddr) + s.ex.SessionMem(&c.sess)
}

// weigh updates clientMem by what c holds now.
func (s *Server) weigh(c *client) {
	now := 0
	if !c.closed {
		now = s.memory(c)
	}
	s.clientMem += now - c.weight
	c.weight = now
	if s.clientLimit == 0 {
		return
	}
	var b *bucket
	if !c.closed && !c.sess.NoEvict {
		b = s.buckets.of(now)
	}
	if b != c.place.in {
		c.leaveBucket()
		if b != nil {
			b.add(c)
		}
	}
}

// grown weighs c if a limit of memory is set. The buffers of c have changed.
func (s *Server) grown(c *client) {
	if s.limitsMemory && c.internal == nil {
		s.weigh(c)
		s.ex.KS.Overhead = s.overhead()
	}
}

// setMemoryLimits follows the configuration.
func (s *Server) setMemoryLimits() {
	limit := s.cfg.MaxMemoryClients
	if limit < 0 { // no limit without maxmemory
		limit = s.cfg.MaxMemory * -limit / 100
	}
	if limit == 0 {
		for _, c := range s.order {
			c.leaveBucket()
		}
	}
	s.clientLimit = int(limit)
	s.limitsMemory = limit > 0 || s.cfg.MaxMemory > 0
	s.pool.Frugal = s.limitsMemory
	if s.limitsMemory {
		s.usedMemory()
	}
}

// evictClients closes the largest clients until all together are within maxmemory-clients. A
// protected client stays: its script must find it as it was.
func (s *Server) evictClients() {
	if s.clientLimit == 0 || s.clientMem <= s.clientLimit {
		return
	}
	for i := len(s.buckets) - 1; i >= 0; i-- {
		for c := s.buckets[i].first; c != nil; {
			next := c.place.next
			if !c.protected {
				s.log('*', "Evicting client: %s", s.describe(c))
				s.stats.EvictedClients++
				s.leave(c)
			}
			if s.clientMem <= s.clientLimit {
				return
			}
			c = next
		}
	}
}

// evictMore does what host.EvictLater has asked for (evict.c: evictionTimeProc). It runs before replies
// are written, so that messages about evicted keys are gone when the next command looks for memory.
func (s *Server) evictMore() {
	if !s.evicting {
		return
	}
	defer s.recoverCommand(nil)
	s.evicting = false
	if s.ex.Eviction.Continue() {
		s.evicting = true
	}
}
