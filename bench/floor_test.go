package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheFloorStandsBesideTheServersInEveryRow(t *testing.T) {
	run := &turns{contenders: twoServers(t), cores: unpinned(), load: findLoad(true), rounds: 1, scale: 0.001}
	require.NoError(t, run.runFloor(t.TempDir(), []string{"epoll", "spin"}))
	require.Equal(t, []string{"floor", "floor spin", "redis-server", "miniredisd"}, run.sheet.servers)
	var names []string
	for _, r := range run.sheet.rows {
		names = append(names, r.name)
		for i, figures := range r.figures {
			require.Positive(t, figures[0], "CPU of %s in %s", run.sheet.servers[i], r.name)
		}
	}
	require.Equal(t, []string{"PING P1", "PING P16", "SET P1", "SET P16", "GET P1", "GET P16", "GET 64 KB P1"}, names)
}
