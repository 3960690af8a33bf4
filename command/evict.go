package command

import (
	"math"
	"time"
)

// Eviction deletes keys when the data exceeds maxmemory (evict.c).
type Eviction struct {
	ex    *Executor
	short bool // memory was short when the current command was admitted
}

// outcome is the result of an eviction.
type outcome uint8

const (
	enough outcome = iota
	later          // Continue evicts the rest
	none           // the data exceeds maxmemory and no key may be evicted
)

// evictionBatch is the number of keys that are evicted between two readings of the clock.
const evictionBatch = 16

// before evicts at the start of a command. It returns, and records for the whole command, whether
// memory is still short (server.h: pre_command_oom_state).
func (e *Eviction) before() (short bool) {
	e.short = !e.ex.Refusals.Has(Pauses) && e.makeRoom() == none
	return e.short
}

// lacking reports what before has recorded, for the commands of a script.
func (e *Eviction) lacking() bool { return e.ex.KS.MaxMemory > 0 && e.short }

// Continue evicts what a command, or CONFIG SET maxmemory, has left over. It reports whether there is
// more to evict (evict.c: evictionTimeProc).
func (e *Eviction) Continue() (more bool) {
	ex := e.ex
	if ex.KS.MaxMemory == 0 || ex.Scripts.run.busy || ex.Refusals.Has(Pauses) {
		return false
	}
	return e.makeRoom() == later
}

// makeRoom evicts until the data fits maxmemory, for as long as maxmemory-eviction-tenacity allows
// (evict.c: performEvictions). The goal is computed once: messages about evicted keys fill output
// buffers, and must not cause more evictions.
func (e *Eviction) makeRoom() outcome {
	ex := e.ex
	over := ex.KS.Bytes() + ex.KS.Overhead - int(ex.KS.MaxMemory)
	if over <= 0 {
		ex.Stats.exceeds(false, ex.Clock)
		return enough
	}
	begin := ex.Clock.Mono()
	result := e.evict(ex.KS.Bytes()-over, begin)
	if ex.Cfg.LatencyMonitorThreshold > 0 {
		ex.Latency.Note("eviction-cycle", ex.Clock.Mono()-begin)
	}
	ex.Stats.exceeds(result != enough, ex.Clock)
	return result
}

// evict evicts keys until the keyspace takes at most so many bytes.
func (e *Eviction) evict(most int, begin int64) outcome {
	ks, cfg := e.ex.KS, e.ex.Cfg
	limit := evictionTime(cfg.MaxMemoryEvictionTenacity)
	for n := 1; ks.Bytes() > most; n++ {
		if !ks.EvictOne(ks.Policy, cfg.MaxMemorySamples) {
			return none
		}
		if n%evictionBatch == 0 && e.ex.Clock.Mono()-begin > limit {
			e.ex.Host.EvictLater()
			return later
		}
	}
	return enough
}

// evictionTime returns how long one command may evict keys, in nanoseconds
// (evict.c: evictionTimeLimitUs).
func evictionTime(tenacity int) int64 {
	switch {
	case tenacity <= 10:
		return int64(tenacity) * int64(50*time.Microsecond)
	case tenacity < 100:
		return int64(float64(500*time.Microsecond) * math.Pow(1.15, float64(tenacity-10)))
	}
	return math.MaxInt64
}
