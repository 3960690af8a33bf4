package miniredistest_test

import (
	"testing"

	"github.com/miniredisd/miniredisd/miniredistest"
)

// The cost of one server: its start, and its stop when the test ends.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		miniredistest.Run(b).Stop()
	}
}
