package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTailsAreMeasuredAtPipelineOneWithFiftyClients(t *testing.T) {
	rows := tailRows()
	require.Greater(t, len(rows), 60)
	for _, r := range rows {
		require.Equal(t, 1, r.pipeline, r.name)
		require.Equal(t, 50, r.clients, r.name)
		require.GreaterOrEqual(t, r.n, 2_000, r.name)
		require.NotEqual(t, "pipeline 16", r.group, r.name)
	}
}

func TestTailsHaveThreePercentilesInAscendingOrder(t *testing.T) {
	rows, err := selectRows(tailRows(), "^(EXISTS|SET P1)$")
	require.NoError(t, err)
	require.Len(t, rows, 2)
	run := &turns{
		contenders: twoServers(t), cores: unpinned(), load: findLoad(true), rounds: 2, scale: 0.004, latencies: true,
	}
	require.NoError(t, run.runRows(rows))
	for _, r := range run.sheet.rows {
		for _, figures := range r.figures {
			require.Len(t, figures, 3, r.name)
			require.Positive(t, figures[0], "p50 of %s", r.name)
			require.LessOrEqual(t, figures[0], figures[1], "p50 and p99 of %s", r.name)
			require.LessOrEqual(t, figures[1], figures[2], "p99 and p99.9 of %s", r.name)
		}
	}
	out := filepath.Join(t.TempDir(), "tails.md")
	require.NoError(t, run.publish("Latency", out))
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(text), "| row | p50 ms x, miniredisd | p99 ms x, miniredisd | p99.9 ms x, miniredisd |")
}
