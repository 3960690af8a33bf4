package collector

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const mb = 1 << 20

func TestACollectionIsDueAfterMuchGrowthOrMuchFreed(t *testing.T) {
	var i Idle
	now := time.Now()
	i.last.Store(&collection{now.Add(-pause), 160 * mb, 150 * mb})
	require.False(t, i.due(now, 160*mb, 150*mb))
	require.False(t, i.due(now, 180*mb, 150*mb))
	require.True(t, i.due(now, 181*mb, 150*mb), "the process has grown by more than an eighth")
	require.False(t, i.due(now, 160*mb, 130*mb))
	require.True(t, i.due(now, 160*mb, 129*mb), "the server has freed more than an eighth")
}

func TestASmallProcessCollectsForEightMegabytes(t *testing.T) {
	var i Idle
	now := time.Now()
	require.False(t, i.due(now, 8*mb, 0), "before the first collection")
	require.True(t, i.due(now, 9*mb, 0), "before the first collection")
	i.last.Store(&collection{now.Add(-pause), 10 * mb, 9 * mb})
	require.False(t, i.due(now, 18*mb, 9*mb))
	require.True(t, i.due(now, 19*mb, 9*mb))
}

func TestACollectionIsNotDueSoonAfterTheLast(t *testing.T) {
	var i Idle
	now := time.Now()
	i.last.Store(&collection{now, 160 * mb, 150 * mb})
	require.False(t, i.due(now.Add(pause-1), 900*mb, 150*mb))
	require.True(t, i.due(now.Add(pause), 900*mb, 150*mb))
}

func TestAnIdleProcessGivesMemoryBack(t *testing.T) {
	var i Idle
	held := make([]byte, 200<<20)
	for at := 0; at < len(held); at += 4096 {
		held[at] = 1
	}
	full := resident()
	require.Greater(t, full, int64(200<<20))
	runtime.KeepAlive(held)
	i.Collect(0)
	require.Eventually(t, func() bool { return !i.running.Load() }, time.Minute, time.Millisecond)
	require.Less(t, resident(), full-100<<20)
}
