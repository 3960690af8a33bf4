package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/clients/interop/labserver"
)

// needed returns the path of a program. Without it the test is skipped, and fails in CI.
func needed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return path
}

// The sentinels of Redis and of Valkey watch servers of ours, and make a replica the master when the master is lost.
// Writers go on meanwhile.
func TestSentinelsFailOver(t *testing.T) {
	redis := needed(t, "redis-server")
	valkey := needed(t, "valkey-server")
	require.NoError(t, os.Chdir("../../.."))
	binary, err := labserver.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	for _, c := range []struct{ how, sentinel string }{{killed, redis}, {paused, valkey}, {cutOff, redis}} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			g, err := startGroup(t.TempDir(), programs{server: binary, sentinel: c.sentinel}, c.how == cutOff)
			require.NoError(t, err)
			t.Cleanup(g.stop)
			s, err := failOver(g, c.how, 2)
			require.NoError(t, err)
			require.Len(t, s.rounds, 2)
			require.Positive(t, s.confirmed)
			require.Zero(t, s.confirmedLost)
		})
	}
}
