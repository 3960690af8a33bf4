package command

import (
	"math"
	"time"
)

// room is the outcome of making room.
type room uint8

const (
	enough room = iota
	later       // there will be: eviction goes on in EvictMore
	none        // maxmemory is exceeded and no key may go
)

// evictionBatch is the number of keys that are evicted between two looks at the clock.
const evictionBatch = 16

// makeRoom evicts keys until the data fits maxmemory, or as long as
// maxmemory-eviction-tenacity allows (evict.c: performEvictions). What has to go is computed once:
// messages about evicted keys fill buffers, and must not have more keys evicted.
func (ex *Executor) makeRoom() room {
	over := ex.KS.Bytes() + ex.KS.Overhead - int(ex.KS.MaxMemory)
	if over <= 0 {
		ex.exceeds(false)
		return enough
	}
	begin := ex.Clock.Mono()
	outcome := ex.evict(ex.KS.Bytes()-over, begin)
	if ex.Cfg.LatencyMonitorThreshold > 0 {
		ex.NoteLatency("eviction-cycle", ex.Clock.Mono()-begin)
	}
	ex.exceeds(outcome != enough)
	return outcome
}

// evict evicts keys until the keyspace takes no more bytes than most.
func (ex *Executor) evict(most int, begin int64) room {
	patience := evictionTime(ex.Cfg.MaxMemoryEvictionTenacity)
	for n := 1; ex.KS.Bytes() > most; n++ {
		if !ex.KS.EvictOne(ex.KS.Policy, ex.Cfg.MaxMemorySamples) {
			return none
		}
		if n%evictionBatch == 0 && ex.Clock.Mono()-begin > patience {
			ex.Host.EvictLater()
			return later
		}
	}
	return enough
}

// evictionTime is how long one command may evict keys, in nanoseconds (evict.c: evictionTimeLimitUs).
func evictionTime(tenacity int) int64 {
	switch {
	case tenacity <= 10:
		return int64(tenacity) * int64(50*time.Microsecond)
	case tenacity < 100:
		return int64(float64(500*time.Microsecond) * math.Pow(1.15, float64(tenacity-10)))
	}
	return math.MaxInt64
}

// exceeds notes whether maxmemory is exceeded after eviction, for INFO.
func (ex *Executor) exceeds(over bool) {
	switch st := &ex.Stats; {
	case over && st.exceededSince == 0:
		st.exceededSince = ex.Clock.Mono()
	case !over && st.exceededSince != 0:
		st.exceeded += ex.Clock.Mono() - st.exceededSince
		st.exceededSince = 0
	}
}

// EvictionExceeded is for how long maxmemory has been exceeded though keys were evicted, ever and
// since it is now, in ns (INFO: total_eviction_exceeded_time).
func (ex *Executor) EvictionExceeded() (total, current int64) {
	if since := ex.Stats.exceededSince; since != 0 {
		current = ex.Clock.Mono() - since
	}
	return ex.Stats.exceeded + current, current
}

// EvictMore goes on with what a command, or CONFIG SET, has left to be evicted, and reports
// whether there is more to do.
func (ex *Executor) EvictMore() (more bool) {
	if ex.KS.MaxMemory == 0 || ex.script.busy || ex.Pause != PauseNone {
		return false
	}
	ex.KS.Now = ex.Clock.Wall(ex.mono)
	return ex.makeRoom() == later
}

// findMemory makes room at the start of a command and tells, and notes for the whole of
// it, when there is none (server.h: pre_command_oom_state).
func (ex *Executor) findMemory() (lacking bool) {
	ex.oom = ex.Pause == PauseNone && ex.makeRoom() == none
	return ex.oom
}

// lacksMemory is findMemory for a command inside the one that has asked.
func (ex *Executor) lacksMemory() bool { return ex.KS.MaxMemory > 0 && ex.oom }
