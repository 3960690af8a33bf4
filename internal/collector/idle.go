package collector

import (
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// worthwhile is how many bytes must be at stake before an idle process collects.
const worthwhile = 32 << 20

// Idle gives memory back to the system while a server has nothing to do. Go itself collects only after
// the heap has grown: without Idle, the memory of a flushed keyspace stays with the process for minutes.
// Redis's allocator has a thread for this (the directive jemalloc-bg-thread).
type Idle struct {
	running  atomic.Bool
	resident atomic.Int64 // bytes after the last collection
	used     atomic.Int64 // bytes that the server counted then
}

// Collect collects garbage and returns free memory, if much has changed since it last did. used is the
// number of bytes that the server counts. Collect does not wait for the end. Any goroutine may call it.
func (i *Idle) Collect(used int) {
	if !i.due(resident(), int64(used)) || !i.running.CompareAndSwap(false, true) {
		return
	}
	go func() {
		debug.FreeOSMemory()
		i.resident.Store(resident())
		i.used.Store(int64(used))
		i.running.Store(false)
	}()
}

// due reports whether the process has grown, or the server has freed, enough for a collection.
func (i *Idle) due(resident, used int64) bool {
	return resident-i.resident.Load() > worthwhile || i.used.Load()-used > worthwhile
}

// resident returns the bytes that Go has from the system and has not given back.
func resident() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
