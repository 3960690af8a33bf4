package collector

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestACollectionIsDueAfterMuchGrowthOrMuchFreed(t *testing.T) {
	const mb = 1 << 20
	var i Idle
	i.resident.Store(100 * mb)
	i.used.Store(80 * mb)
	require.False(t, i.due(100*mb, 80*mb))
	require.False(t, i.due(132*mb, 80*mb))
	require.True(t, i.due(133*mb, 80*mb), "the process has grown")
	require.False(t, i.due(100*mb, 48*mb))
	require.True(t, i.due(100*mb, 47*mb), "the server has freed much")
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
