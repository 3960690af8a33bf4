package store

// Each entry has 24 bits about its accesses, as robj.lru. They are the second of the last access.
// Under an LFU policy they are the minute of the last decay (16 bits) and a logarithmic counter
// (8 bits; evict.c).

const (
	lruBits     = 24
	lruMask     = 1<<lruBits - 1
	lfuInitial  = 5 // a new key must outlive its first moments
	lfuTimeMask = 0xffff
)

func (ks *Keyspace) lruClock() uint32 { return uint32(ks.Now/1000) & lruMask }

func (ks *Keyspace) lfuMinute() uint32 { return uint32(ks.Now/60_000) & lfuTimeMask }

func (ks *Keyspace) newLRU() uint32 {
	if ks.LFU {
		return ks.lfuMinute()<<8 | lfuInitial
	}
	return ks.lruClock()
}

// lru is the 24 bits of e.
func (e *entry) lru() uint32 { return uint32(e.lruHigh)<<16 | uint32(e.lruLow) }

func (e *entry) setLRU(v uint32) { e.lruLow, e.lruHigh = uint16(v), uint8(v>>16) }

// access notes that a look-up found e (db.c: lookupKey; evict.c: LRU_CLOCK).
func (ks *Keyspace) access(e *entry) {
	switch {
	case ks.NoTouch:
	case ks.LFU:
		counter := ks.lfuIncr(ks.lfuDecayed(e))
		e.setLRU(ks.lfuMinute()<<8 | uint32(counter))
	default:
		e.setLRU(ks.lruClock())
	}
}

// lfuDecayed is the counter of e, less one for every lfu-decay-time minutes since the last access.
func (ks *Keyspace) lfuDecayed(e *entry) uint8 {
	counter := e.lru() & 0xff
	if ks.LFUDecayTime <= 0 {
		return uint8(counter)
	}
	elapsed := (ks.lfuMinute() - e.lru()>>8) & lfuTimeMask
	return uint8(counter - min(counter, elapsed/uint32(ks.LFUDecayTime)))
}

// lfuIncr counts an access with a probability that falls as the counter rises. So 8 bits separate
// keys with a hundred hits from keys with a million.
func (ks *Keyspace) lfuIncr(counter uint8) uint8 {
	if counter == 255 {
		return counter
	}
	base := max(int(counter)-lfuInitial, 0)
	if ks.Rand.Float64() < 1/(float64(base)*float64(ks.LFULogFactor)+1) {
		counter++
	}
	return counter
}

// IdleTime is the seconds since the last access to the key.
func (k Key) IdleTime() int64 { return k.db.ks.idle(k.entry()) }

func (ks *Keyspace) idle(e *entry) int64 {
	return int64((ks.lruClock() - e.lru()) & lruMask)
}

// Freq is the access counter of the key under an LFU policy.
func (k Key) Freq() int { return int(k.db.ks.lfuDecayed(k.entry())) }

// Clock returns the 24 bits of v and, if they are a time, the seconds since that time.
func (ks *Keyspace) Clock(v Value) (lru uint32, idle int64) { return v.e.lru(), ks.idle(&v.e) }

// Past is what RESTORE or an RDB file says about a key's accesses. The zero value says nothing.
type Past struct {
	By   EvictBy // EvictLRU for Idle, EvictLFU for Freq, anything else for nothing
	Idle int64   // seconds
	Freq uint8
}

// Past is the past of v for an RDB file. It is empty unless maxmemory-policy is LRU or LFU (rdb.c:
// rdbSaveKeyValuePair).
func (ks *Keyspace) Past(v Value) (p Past) {
	switch p.By = ks.Policy.By; p.By {
	case EvictLRU:
		p.Idle = ks.idle(&v.e)
	case EvictLFU:
		p.Freq = ks.lfuDecayed(&v.e)
	}
	return p
}

// applyPast sets the access data of e from p, if the policy in use keeps such data (object.c:
// objectSetLRUOrLFU). An idle time beyond the clock's range counts as half of the range.
func (ks *Keyspace) applyPast(e *entry, p Past) {
	switch {
	case p.By == EvictLFU && ks.LFU:
		e.setLRU(ks.lfuMinute()<<8 | uint32(p.Freq))
	case p.By == EvictLRU && !ks.LFU:
		at := int64(ks.lruClock()) - p.Idle
		if at < 0 {
			at = (int64(ks.lruClock()) + lruMask/2) % lruMask
		}
		e.setLRU(uint32(at))
	}
}
