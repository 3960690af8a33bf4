package watch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An executor with a goroutine of its own gets its row before the I/O threads start.
func TestExecutorTakesNoNumberFromTheIOThreads(t *testing.T) {
	w := New(Options{Clock: func() int64 { return 0 }})
	var numbers []int
	for _, name := range []string{"main", "exec", "io_1", "io_2"} {
		numbers = append(numbers, w.Thread(name).number)
	}
	require.Equal(t, []int{0, -1, 1, 2}, numbers)
	require.Equal(t, []string{"main", "io_1", "io_2"}, w.Hello().Threads)
}
