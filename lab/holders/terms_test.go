package holders

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Readers hold a lock together. Many of them do not hide a writer that still believes in it.
func TestAWriterBehindManyReadersIsFound(t *testing.T) {
	table := []Holding{{Key: "lock", Token: "writer", Name: "w", Order: 1}}
	for i := range 2 * mostHeld {
		table = append(table, Holding{
			Key: "lock", Token: fmt.Sprint("reader-", i), Name: fmt.Sprint("r", i), Order: int64(i + 2), Shared: true,
		})
	}
	require.Len(t, Overlaps([][]Holding{table}), 2*mostHeld)
}
