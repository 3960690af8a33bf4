package store

import (
	"math"
	"strings"
)

// Policy is a maxmemory-policy: which keys may be evicted, and which of them first.
type Policy struct {
	Volatile bool // evict only keys with a TTL
	By       EvictBy
}

// EvictBy is the order in which keys are evicted.
type EvictBy uint8

// The orders of eviction. NoEviction evicts nothing.
const (
	NoEviction EvictBy = iota
	EvictLRU           // least recently used
	EvictLFU           // least frequently used
	EvictTTL           // shortest TTL
	EvictRandom
)

// ParsePolicy reads a value of maxmemory-policy. An unknown value gives NoEviction.
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

// KeepsAge reports whether each value needs an age of its own. Numbers shared between keys have
// none (server.h: MAXMEMORY_FLAG_NO_SHARED_INTEGERS).
func (ks *Keyspace) KeepsAge() bool {
	return ks.MaxMemory > 0 && (ks.Policy.By == EvictLRU || ks.Policy.By == EvictLFU)
}

// EvictOne draws samples keys from every database and deletes the best of them. It returns false if
// no key may be evicted. Redis also remembers good keys of earlier draws in a pool (evict.c:
// evictionPoolPopulate). Here each draw stands alone. With slightly more samples the evicted keys
// are as old as with the pool.
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
			if score := db.score(p, i); score > bestScore {
				best, bestScore, from = i, score, db
			}
		}
	}
	if from == nil {
		return false
	}
	from.evict(best)
	return true
}

// Evict deletes key as EvictOne does, and reports whether it existed.
func (db *DB) Evict(key []byte) bool {
	i := db.find(key)
	if i != 0 {
		db.evict(i)
	}
	return i != 0
}

func (db *DB) evict(i uint32) {
	key := strings.Clone(db.keys.at(i).Key())
	db.remove(i)
	db.ks.Stats.Evicted++
	if db.ks.OnEvicted != nil {
		db.ks.OnEvicted(db, key)
	}
}

// score rates a key. The key with the highest score is evicted.
func (db *DB) score(p Policy, i uint32) int64 {
	ks, e := db.ks, &db.keys.at(i).Val
	switch p.By {
	case EvictLRU:
		return ks.idle(e)
	case EvictLFU:
		return 255 - int64(ks.lfuDecayed(e))
	case EvictTTL:
		return math.MaxInt64 - db.deadline(i)
	default:
		return ks.Rand.Int64N(1 << 32)
	}
}

// candidate draws a key that may be evicted, 0 if no key may be evicted.
func (db *DB) candidate(p Policy) uint32 {
	if !p.Volatile {
		return db.keys.random(db.ks.Rand)
	}
	if db.wheel.count == 0 {
		return 0
	}
	if p.By == EvictTTL {
		return db.wheel.soonest()
	}
	for range 64 {
		if i := db.keys.random(db.ks.Rand); db.keys.at(i).Val.timed&timedKey != 0 {
			return i
		}
	}
	return db.wheel.soonest() // few keys have a TTL: take one of them
}

// soonest returns an entry of the first slot that will fire, 0 if the wheel is empty.
func (w *wheel) soonest() uint32 {
	_, lv, slot, ok := w.next()
	if !ok {
		return 0
	}
	best := w.level[lv].head[slot]
	i := best
	for range 64 { // a slot of a high level may hold very many entries, unordered
		if i = w.at(i).next; i == 0 {
			break
		}
		if w.at(i).expire < w.at(best).expire {
			best = i
		}
	}
	return best
}
