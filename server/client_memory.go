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
type bucket struct{ first, last *Client }

// place is a client's place in its bucket. in is nil for a client that cannot be evicted.
type place struct {
	in         *bucket
	prev, next *Client
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

func (b *bucket) add(c *Client) {
	c.place = place{in: b, prev: b.last}
	if b.last == nil {
		b.first = c
	} else {
		b.last.place.next = c
	}
	b.last = c
}

func (c *Client) leaveBucket() {
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

// memory estimates the bytes that c holds (networking.c: getClientMemoryUsage).
func (cs *clients) memory(c *Client) int {
	if c.Sess.Replica { // what its output refers to is counted once for all replicas
		return int(unsafe.Sizeof(*c)) + c.Mem() - c.Out.RefLen + len(c.LAddr) + cs.s.Ex.SessionMem(&c.Sess)
	}
	return int(unsafe.Sizeof(*c)) + c.Mem() + c.Delayed.Bytes + len(c.LAddr) + cs.s.Ex.SessionMem(&c.Sess)
}

// Weigh updates mem by what c holds now (server.c: updateClientMemUsageAndBucket).
func (cs *clients) Weigh(c *Client) {
	now := 0
	if !c.Closed {
		now = cs.memory(c)
	}
	cs.mem += now - c.weight
	c.weight = now
	if cs.limit == 0 {
		return
	}
	var b *bucket
	if !c.Closed && !c.Sess.NoEvict && !c.Sess.Replica && !c.Sess.Master {
		b = cs.buckets.of(now)
	}
	if b != c.place.in {
		c.leaveBucket()
		if b != nil {
			b.add(c)
		}
	}
}

// grown weighs c if a limit of memory is set. The buffers of c have changed.
func (s *Server) grown(c *Client) {
	if s.Clients.limitsMemory && c.Internal == nil {
		s.Clients.Weigh(c)
		s.Ex.KS.Overhead = s.Figures.overhead()
	}
}

// SetMemoryLimits follows the configuration.
func (cs *clients) SetMemoryLimits() {
	limit := cs.s.Cfg.MaxMemoryClients
	if limit < 0 { // no limit without maxmemory
		limit = cs.s.Cfg.MaxMemory * -limit / 100
	}
	if limit == 0 {
		for _, c := range cs.Order {
			c.leaveBucket()
		}
	}
	cs.limit = int(limit)
	cs.limitsMemory = limit > 0 || cs.s.Cfg.MaxMemory > 0
	cs.s.Pool.Frugal = cs.limitsMemory
	if cs.limitsMemory {
		cs.s.Figures.UsedMemory()
	}
}

// evict closes the largest clients until all together are within maxmemory-clients. A
// protected client stays: its script must find it as it was.
func (cs *clients) evict() {
	if cs.limit == 0 || cs.mem <= cs.limit {
		return
	}
	for i := len(cs.buckets) - 1; i >= 0; i-- {
		for c := cs.buckets[i].first; c != nil; {
			next := c.place.next
			if !c.Protected {
				cs.s.Log('*', "Evicting client: %s", cs.Describe(c))
				cs.s.Stats.EvictedClients++
				cs.s.Leave(c)
			}
			if cs.mem <= cs.limit {
				return
			}
			c = next
		}
	}
}

// evictMore does what host.EvictLater has asked for (evict.c: evictionTimeProc). It runs before replies
// are written, so that messages about evicted keys are gone when the next command looks for memory.
func (s *Server) evictMore() {
	if !s.Evicting {
		return
	}
	defer s.RecoverCommand(nil)
	s.Evicting = false
	if s.Ex.Eviction.Continue() {
		s.Evicting = true
	}
}
