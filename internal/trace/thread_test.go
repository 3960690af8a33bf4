package trace

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An executor with a goroutine of its own gets its row before the I/O threads start.
func TestExecutorTakesNoNumberFromTheIOThreads(t *testing.T) {
	r := New(func() int64 { return 0 })
	var numbers []int
	for _, name := range []string{"main", "exec", "io_1", "io_2"} {
		numbers = append(numbers, r.Thread(name).number)
	}
	require.Equal(t, []int{0, -1, 1, 2}, numbers)
	require.Equal(t, []string{"main", "io_1", "io_2"}, r.Names())
}

// BenchmarkPoint is what a point costs: one Mark, one Lap and the question for details.
func BenchmarkPoint(b *testing.B) {
	now := int64(0)
	clock := func() int64 { now++; return now }
	point := func(b *testing.B, t *Thread) {
		for range b.N {
			t.Mark()
			t.Lap(Read, 7, 0, 10)
			if t.Detailed() {
				t.Event(Event{Point: ReadDone, Client: 7, A: 10}, nil)
			}
		}
	}
	b.Run("off", func(b *testing.B) { point(b, nil) })
	for name, mode := range map[string]uint32{"unwatched": 0, "traced": Spans, "shown": Details} {
		b.Run(name, func(b *testing.B) {
			r := New(clock)
			r.Mode.Store(mode)
			r.Emit = func(*Event, bool, func() Client) {}
			point(b, r.Thread("main"))
		})
	}
}
