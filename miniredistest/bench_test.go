package miniredistest_test

import (
	"testing"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// The trials of Explore. Each has a server and two clients of its own.
func BenchmarkExplore(b *testing.B) {
	trials := 0
	for b.Loop() {
		r := miniredistest.Explored(&testing.T{}, race(plain))
		trials += r.Baselines + r.Trials + r.Confirms
	}
	b.ReportMetric(float64(trials)/b.Elapsed().Seconds(), "trials/s")
}

// The cost of one server: its start, and its stop when the test ends.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		miniredistest.Run(b).Stop()
	}
}
