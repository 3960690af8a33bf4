package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestAnEvictedKeyGoesAsIfMemoryWereShort(t *testing.T) {
	addr, admin := startLab(t)
	sub := redistest.Dial(t, addr)
	sub.Do("SUBSCRIBE", "__keyevent@1__:evicted")
	watcher := redistest.Dial(t, addr)
	sendEach(t, watcher, "SELECT 1", "SET a 1", "SET b 1 PX 10", "SET c 1", "WATCH c", "MULTI", "GET c")
	require.Equal(t, int64(0), admin.Do("LAB", "EVICT", "a").Int, "another database")
	sendEach(t, admin, "SELECT 1")
	require.Equal(t, int64(2), admin.Do("LAB", "EVICT", "a", "a", "c", "missing").Int)
	require.Equal(t, `["message", "__keyevent@1__:evicted", "a"]`, sub.Read().String())
	require.Equal(t, `["message", "__keyevent@1__:evicted", "c"]`, sub.Read().String())
	require.Equal(t, "2", infoField(admin, "evicted_keys"))
	require.True(t, watcher.Do("EXEC").Null)
	sendEach(t, admin, "LAB CLOCK ADVANCE 11")
	require.Equal(t, int64(0), admin.Do("LAB", "EVICT", "b").Int, "it has expired")
}

func TestReplicasLoseWhatTheirMasterEvicts(t *testing.T) {
	t.Parallel()
	n := startNodes(t, 1, 1)
	sendEach(t, n.c[0], "SET a 1", "SET b 1")
	require.Equal(t, int64(1), n.c[0].Do("LAB", "EVICT", "a").Int)
	n.same(0)
	require.Equal(t, `["b"]`, n.c[1].Do("KEYS", "*").String())
	require.Equal(t, "ERR LAB EVICT: this server is a replica: send it to the master, which decides what is evicted",
		n.c[1].Do("LAB", "EVICT", "b").Str)
}
