package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestEveryShapeHoldsTheElementsItIsDividedBy(t *testing.T) {
	s, err := twoServers(t)[1].start(anyCore)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	c := redistest.Dial(t, s.addr)
	length := map[string]string{"hash": "HLEN h", "set": "SCARD s", "sorted": "ZCARD z", "list": "LLEN l",
		"stream": "XLEN x"}
	for _, shape := range shapes(0.001) {
		require.Equal(t, "OK", c.Do("FLUSHALL").Str)
		own, err := dial(s.addr)
		require.NoError(t, err)
		require.NoError(t, own.stream(shape.data), shape.name)
		own.Close()
		count := []string{"DBSIZE"}
		if kind, ok := strings.CutPrefix(shape.name, "one "); ok {
			count = strings.Fields(length[strings.Fields(kind)[0]])
		}
		require.Equal(t, int64(shape.elements), c.Do(count...).Int, shape.name)
	}
}

func TestMemoryIsMeasuredInAFreshServerForEachShape(t *testing.T) {
	// The kernel counts the pages of VmRSS for each processor, so a few hundred may be missing.
	w := &weighing{
		contenders: twoServers(t), cores: unpinned(), rounds: 1, share: 0.1, flushed: 20,
		watch: []time.Duration{time.Millisecond, 2 * time.Millisecond},
	}
	require.NoError(t, w.run(regexp.MustCompile("^(one hash of 1M|100k intsets of 20|FLUSHALL)$")))
	out := filepath.Join(t.TempDir(), "memory.md")
	require.NoError(t, w.publish(out))
	require.Len(t, w.sheet.rows, 2)
	for _, r := range w.sheet.rows {
		for _, figures := range r.figures {
			require.Positive(t, figures[0], "bytes per element of %s", r.name)
			require.Positive(t, figures[1], "used_memory per element of %s", r.name)
			require.Positive(t, figures[2], "RSS of %s", r.name)
			require.Positive(t, figures[3], "RSS of %s at once", r.name)
		}
	}
	for _, figures := range w.flushes.rows[0].figures {
		require.Len(t, figures, 3)
		require.GreaterOrEqual(t, figures[0], 20.0)
	}
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(text), "\n| 100k intsets of 20 | ")
	require.Contains(t, string(text), "\n## FLUSHALL of 20 MiB\n\n| server | MiB before | MiB after 1ms | MiB after "+
		"2ms |\n")
}
