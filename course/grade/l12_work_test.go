package grade

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// passesOf returns passes with the same figures.
func passesOf(read, cpu float64, told bool) *measured {
	m := &measured{known: true}
	for range passesToMeasure {
		m.passes = append(m.passes, parts{read, cpu, told})
	}
	return m
}

func TestThreadsAreKnownByTheirBytesAndElseByTheirTime(t *testing.T) {
	for name, c := range map[string]struct {
		one, four *measured
		want      bool
	}{
		"each of four reads its share":             {passesOf(0, 0.5, true), passesOf(0.75, 0.7, true), true},
		"a collector works, and one thread reads":  {passesOf(0, 0.4, true), passesOf(0.1, 0.6, true), false},
		"main reads, and others parse":             {passesOf(0, 0.1, true), passesOf(0, 0.5, true), true},
		"recv: the kernel counts no bytes":         {passesOf(0, 0, false), passesOf(0, 0.5, false), true},
		"recv: the others only wake up":            {passesOf(0, 0, false), passesOf(0, 0.05, false), false},
		"recv: the others worked with one as well": {passesOf(0, 0.4, false), passesOf(0, 0.5, false), false},
	} {
		require.Equal(t, c.want, works(c.one, c.four), name)
	}
	unsteady := passesOf(0, 0.1, true)
	unsteady.passes[0].cpu, unsteady.passes[1].cpu, unsteady.passes[2].cpu = 0.6, 0.6, 0.6
	require.False(t, works(unsteady, passesOf(0, 0.5, true)), "time that is as unsteady as that of a collector")
}

func TestAPassIsComparedThreadByThread(t *testing.T) {
	before := map[int]effort{1: {100, 50}, 2: {0, 10}}
	p := compare(before, map[int]effort{1: {400, 150}, 2: {100, 110}, 3: {600, 0}}, 1000)
	require.InDelta(t, 0.4, p.read, 0.001, "a new thread began at 0")
	require.InDelta(t, 0.5, p.cpu, 0.001)
	require.True(t, p.told)
	require.False(t, compare(before, map[int]effort{1: {200, 150}, 2: {0, 10}}, 1000).told)
}

func TestAFigureThatDiffersByMoreThanAFifthIsNotShown(t *testing.T) {
	rates, costs := []float64{100, 900, 880, 500, 890, 400, 300}, []float64{3, 1, 1.1, 9, 1.15, 2, 2}
	r := &racer{threads: 4, rates: rates, costs: costs}
	require.Contains(t, r.report("en"), "IO_THREADS=4       900 requests a second,   1.00 µs of CPU time each")
	require.Contains(t, r.report("en"), "differ by 15 %")
	r.costs = []float64{3, 1, 1.1, 9, 1.25, 2, 2}
	require.Contains(t, r.report("en"), "no figure, because the CPU time of a request differs by 25 % between the best 3")
	require.NotContains(t, r.report("en"), "900")
	r.costs = nil // macOS
	require.Contains(t, r.report("en"), "900 requests a second")
	require.NotContains(t, r.report("en"), "CPU")
	r.rates = []float64{100, 900, 600, 500, 600, 400, 300}
	require.Contains(t, r.report("en"), "the number of requests a second differs by 50 %")
}
