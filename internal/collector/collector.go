// Package collector sets the pace of Go's garbage collector for a process whose heap is mostly a
// keyspace. It changes a setting of the whole process, so only main functions call it.
//
// Go's default (GOGC=100) collects when the heap has doubled since the last collection. A keyspace makes
// little garbage. While a small one fills up, the default would scan all of it at every doubling. This
// package waits until the heap has grown by at least 64 MB. docs/threading-model.md has the figures.
//
// Redis counts references and frees an object at once, so it has no collector.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	slack       = 64 << 20 // the heap grows by this much, in bytes, before a collection
	minimumHeap = 4 << 20  // Go's smallest heap with GOGC=100, in bytes
)

// Pace sets GOGC for the present size of the heap, and again after each collection. It does nothing if
// the environment sets GOGC. Go has no hook for the end of a collection. So Pace allocates an object
// without references: its cleanup runs after the next collection and calls Pace.
func Pace() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	heap := max(live[0].Value.Uint64(), minimumHeap)
	debug.SetGCPercent(int(max(slack*100/heap, 100)))
	runtime.AddCleanup(new([64]byte), func(int) { Pace() }, 0)
}
