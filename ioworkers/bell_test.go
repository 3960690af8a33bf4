package ioworkers

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestABellRungBeforeTheWaitIsNotLost(t *testing.T) {
	// A dedicated thread keeps its processor while it sleeps briefly. With a single processor each
	// ring would wait for the end of such a sleep.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 + runtime.NumCPU()))
	for _, dedicated := range []bool{false, true} {
		var b, here, there bell
		b.ring()
		b.wait(dedicated)
		require.Equal(t, uint32(quiet), b.state.Load())
		go func() {
			for range 10_000 {
				there.wait(false)
				here.ring()
			}
		}()
		for range 10_000 {
			there.ring()
			here.wait(dedicated)
		}
	}
}

// BenchmarkRoundTrip measures the table at bell: main wakes a thread and waits until the thread
// wakes main. With work, each side computes for about 50 µs before it wakes the other, as I/O threads
// and main do in a pass. The row without threads is that work alone.
func BenchmarkRoundTrip(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 + runtime.NumCPU()))
	for _, work := range []int{0, 50_000} {
		b.Run(fmt.Sprintf("work %d/no threads", work), func(b *testing.B) {
			before := processorTime(b)
			for range b.N {
				compute(work)
				compute(work)
			}
			b.ReportMetric((processorTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
		b.Run(fmt.Sprintf("work %d/channel", work), func(b *testing.B) {
			here, there := make(chan struct{}, 1), make(chan struct{}, 1)
			roundTrips(b, work,
				side{wake: func() { there <- struct{}{} }, wait: func() { <-here }},
				side{wake: func() { here <- struct{}{} }, wait: func() { <-there }})
		})
		for _, dedicated := range []bool{false, true} {
			b.Run(fmt.Sprintf("work %d/futex, hidden %v", work, dedicated), func(b *testing.B) {
				var here, there bell
				roundTrips(b, work,
					side{wake: there.ring, wait: func() { here.wait(dedicated) }},
					side{wake: here.ring, wait: func() { there.wait(dedicated) }})
			})
		}
	}
}

// side is one of two threads: how it wakes the other, and how it waits for the other.
type side struct{ wake, wait func() }

func roundTrips(b *testing.B, work int, main, thread side) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n := b.N
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range n {
			thread.wait()
			compute(work)
			thread.wake()
		}
	}()
	before := processorTime(b)
	b.ResetTimer()
	for range n {
		main.wake()
		main.wait()
		compute(work)
	}
	b.ReportMetric((processorTime(b)-before)/float64(n), "cpu-ns/op")
}

// compute keeps the processor busy for that many steps of a nanosecond or so.
//
//go:noinline
func compute(steps int) (x uint64) {
	for range steps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// processorTime is what the process has used so far, in nanoseconds.
func processorTime(b *testing.B) float64 {
	var used unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &used))
	return float64(used.Utime.Nano() + used.Stime.Nano())
}
