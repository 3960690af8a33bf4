package store

import "math"

// Policy is a maxmemory-policy: which keys may go, and which goes first.
type Policy struct {
	Volatile bool // only keys with a TTL
	By       EvictBy
}

// EvictBy is what makes a key the one to go.
type EvictBy uint8

// The four orders of eviction; NoEviction takes nothing.
const (
	NoEviction EvictBy = iota
	EvictLRU           // used longest ago
	EvictLFU           // used least often
	EvictTTL           // expires first
	EvictRandom
)

// ParsePolicy reads the words of maxmemory-policy; anything unknown evicts
// nothing.
func ParsePolicy(name string) Policy {
	switch name {
	case "allkeys-lru":
		return Policy{false, EvictLRU}
	case "allkeys-lfu":
		return Policy{false, EvictLFU}
	case "allkeys-random":
		return Policy{false, EvictRandom}
	case "volatile-lru":
		return Policy{true, EvictLRU}
	case "volatile-lfu":
		return Policy{true, EvictLFU}
	case "volatile-random":
		return Policy{true, EvictRandom}
	case "volatile-ttl":
		return Policy{true, EvictTTL}
	}
	return Policy{}
}

// KeepsAge tells whether values must have an age of their own, which numbers
// shared between keys cannot have (server.h: MAXMEMORY_FLAG_NO_SHARED_INTEGERS).
func (ks *Keyspace) KeepsAge() bool {
	return ks.MaxMemory > 0 && (ks.Policy.By == EvictLRU || ks.Policy.By == EvictLFU)
}

// EvictOne deletes the best of a few keys drawn from every database and returns
// false when no key may go. Redis remembers good candidates of earlier draws in a
// pool (evict.c: evictionPoolPopulate); here each draw stands alone, which comes
// out as a pool's age would for samples a little larger.
func (ks *Keyspace) EvictOne(p Policy, samples int) bool {
	if p.By == NoEviction {
		return false
	}
	var best uint32
	var from *DB
	bestScore := int64(-1)
	for _, db := range ks.DBs {
		for range samples {
			i := db.candidate(p)
			if i == 0 {
				break
			}
			if score := ks.score(p, &db.keys.at(i).Val); score > bestScore {
				best, bestScore, from = i, score, db
			}
		}
	}
	if from == nil {
		return false
	}
	key := from.keys.at(best).Key
	from.remove(best)
	ks.Stats.Evicted++
	if ks.OnEvicted != nil {
		ks.OnEvicted(from, key)
	}
	return true
}

// score is how much a key deserves to go.
func (ks *Keyspace) score(p Policy, e *entry) int64 {
	switch p.By {
	case EvictLRU:
		return ks.idle(e)
	case EvictLFU:
		return 255 - int64(ks.lfuDecayed(e))
	case EvictTTL:
		return math.MaxInt64 - e.expire
	default:
		return ks.Rand.Int64N(1 << 32)
	}
}

// candidate draws a key that may be evicted, 0 when there is none.
func (db *DB) candidate(p Policy) uint32 {
	if !p.Volatile {
		return db.keys.random(db.ks.Rand)
	}
	if db.wheel.count == 0 {
		return 0
	}
	if p.By == EvictTTL {
		return db.wheel.soonest(db.keys)
	}
	for range 64 {
		if i := db.keys.random(db.ks.Rand); db.keys.at(i).Val.expire != 0 {
			return i
		}
	}
	return db.wheel.soonest(db.keys) // hardly any key has a TTL: take one of those
}

// soonest is an entry of the first slot that will be looked at.
func (w *wheel) soonest(t *Table[entry]) uint32 {
	_, lv, slot, ok := w.next()
	if !ok {
		return 0
	}
	best := w.level[lv].head[slot]
	i := best
	for range 64 { // a slot of a high level may hold very many, in no order
		if i = t.at(i).Val.next; i == 0 {
			break
		}
		if t.at(i).Val.expire < t.at(best).Val.expire {
			best = i
		}
	}
	return best
}
