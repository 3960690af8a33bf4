package collector

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// An idle process collects when this much memory is at stake: a share of the resident memory, because a
// collection takes longer with more data, and at least some bytes.
const (
	worthwhileShare = 8
	worthwhileLeast = 8 << 20
)

// pause is the shortest time from the end of one collection to the next. A server between two bursts of
// requests is idle, too: it must not collect after each of them.
const pause = 2 * time.Second

// Idle gives memory back to the system while a server has nothing to do. A busy server keeps up to 64 MB
// of garbage, or as much as it has data. An idle one needs none of that room. Without Idle, even the
// memory of a flushed keyspace stays with the process for minutes, because Go collects only after the
// heap has grown. Redis's allocator has a thread for this (the directive jemalloc-bg-thread).
type Idle struct {
	running atomic.Bool
	last    atomic.Pointer[collection] // nil before the first
}

// collection is what the last collection left.
type collection struct {
	ended    time.Time
	resident int64 // bytes
	used     int64 // bytes that the server counted
}

// Collect collects garbage and returns free memory, if much has changed since it last did. used is the
// number of bytes that the server counts. Collect does not wait for the end. Any goroutine may call it.
func (i *Idle) Collect(used int) {
	if !i.due(time.Now(), resident(), int64(used)) || !i.running.CompareAndSwap(false, true) {
		return
	}
	go func() {
		free()
		i.last.Store(&collection{time.Now(), resident(), int64(used)})
		i.running.Store(false)
	}()
}

// free collects, and returns all free memory. Go does not interrupt a goroutine that returns memory: with
// one processor (GOMAXPROCS), no request would run until the last byte is back. So there are two for
// that time, and the kernel divides the core.
func free() {
	if runtime.GOMAXPROCS(0) == 1 {
		runtime.GOMAXPROCS(2)
		defer runtime.GOMAXPROCS(1)
	}
	debug.FreeOSMemory()
}

// due reports whether the process has grown, or the server has freed, enough for a collection.
func (i *Idle) due(now time.Time, resident, used int64) bool {
	last := i.last.Load()
	if last == nil {
		return resident > worthwhileLeast
	}
	worthwhile := max(last.resident/worthwhileShare, worthwhileLeast)
	return now.Sub(last.ended) >= pause && (resident-last.resident > worthwhile || last.used-used > worthwhile)
}

// resident returns the bytes that Go has from the system and has not given back.
func resident() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
