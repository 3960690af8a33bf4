// Package collector paces Go's garbage collector for a process that is a keyspace. It is a
// setting of the whole process: main functions call it, packages do not.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The collector runs when the heap has grown by as much as survived the last
// time, as by default, but by slack at least: a keyspace makes little garbage, and
// a small one that fills up would be gone through again at every doubling.
const (
	slack    = 64 << 20
	leastMin = 4 << 20 // the runtime's smallest heap, in proportion to GOGC
)

// Pace keeps to that from here on, unless GOGC says otherwise. There is
// no hook for the end of a collection, but an object nobody refers to is cleaned
// up after one: each announces the next.
func Pace() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	heap := max(live[0].Value.Uint64(), leastMin)
	debug.SetGCPercent(int(max(slack*100/heap, 100)))
	runtime.AddCleanup(new([64]byte), func(int) { Pace() }, 0)
}
