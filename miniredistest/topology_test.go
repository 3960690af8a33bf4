package miniredistest_test

import (
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
)

func cluster(t *testing.T, opts ...miniredistest.Option) miniredistest.Masters {
	t.Helper()
	return miniredistest.RunMasters(t, 3, append(opts, miniredistest.Cluster(), miniredistest.Replicas(1))...)
}

// dialBy connects by the address, as clients of clusters and Sentinels do.
func dialBy(t *testing.T, m miniredistest.Masters, addr string) *redistest.Conn {
	t.Helper()
	conn, err := m.Dial(t.Context(), "tcp", addr)
	require.NoError(t, err)
	return redistest.Wrap(t, conn)
}

func TestASlotMovesWhileALockIsHeld(t *testing.T) {
	m := cluster(t, miniredistest.Frozen())
	const key = "lock:{order}"
	require.Equal(t, 16025, m.Slot(key))
	require.Same(t, m[2], m.Owner(key))
	old, other := dialBy(t, m, m.Addrs()[2]), dialBy(t, m, m.Addrs()[0])
	require.Equal(t, "OK", old.Do("SET", key, "a", "NX", "PX", "30000").Str)
	m.MoveSlot(key, m[0], miniredistest.SlotMigrating)
	require.Contains(t, old.Do("EXISTS", key, "{order}").Str, "TRYAGAIN")
	m.MoveSlot(key, m[0], miniredistest.SlotKeys)
	require.Equal(t, "ASK 16025 "+m[0].Addr(), old.Do("GET", key).Str)
	m[1].Stale(true)
	m.MoveSlot(key, m[0], miniredistest.SlotNode)
	require.Equal(t, "MOVED 16025 "+m[0].Addr(), old.Do("GET", key).Str)
	require.Equal(t, "a", other.Do("GET", key).Str)
	require.Equal(t, "MOVED 16025 "+m[2].Addr(), dialBy(t, m, m[1].Addr()).Do("GET", key).Str)
	require.Same(t, m[0], m.Owner(key))
	m[1].Stale(false)
	m.Nodes().Clock().Advance(30001 * time.Millisecond)
	require.True(t, other.Do("GET", key).Null)
}

func TestSentinelsNameTheMasterThatTheyBelieveIn(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Replicas(2), miniredistest.Sentinels(3), miniredistest.Frozen())
	require.Len(t, srv.SentinelAddrs(), 3)
	srv.Sentinel(3).Pause()
	promoted := srv.Failover()
	require.Same(t, promoted, srv.Sentinel(1).Master())
	require.Same(t, srv, srv.Sentinel(3).Master())
	srv.Sentinel(3).Resume()
	srv.Nodes().Clock().Advance(3 * time.Second)
	require.Same(t, promoted, srv.Sentinel(3).Master())
	srv.Sentinel(2).Believe(srv)
	require.Same(t, srv, srv.Sentinel(2).Master())
	require.Equal(t, srv.Sentinel(1).Addr(), srv.SentinelAddrs()[0])
	require.Contains(t, srv.Sentinel(1).Do("INFO", "server").Str, "redis_mode:sentinel")
	require.Equal(t, "PONG", dialBy(t, srv.Nodes(), srv.SentinelAddrs()[0]).Do("PING").Str)
}

// The clock of a server without replicas is that of its Sentinels, too.
func TestSentinelsShareTheClockOfALoneServer(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Sentinels(1), miniredistest.Frozen())
	srv.Crash(time.Minute, miniredistest.KeepKeys)
	srv.Clock().Advance(31 * time.Second)
	require.Contains(t, srv.Sentinel(1).Do("SENTINEL", "MASTER", "mymaster").String(), "s_down")
}

func TestInABubbleTimePromotesReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := miniredistest.Run(t, miniredistest.Replicas(2), miniredistest.Sentinels(3))
		srv.Crash(time.Hour, miniredistest.KeepKeys)
		time.Sleep(time.Minute)
		now := srv.Sentinel(1).Master()
		require.NotSame(t, srv, now)
		require.Same(t, now, srv.Sentinel(3).Master())
		c := dialBy(t, srv.Nodes(), now.Addr())
		require.Equal(t, "OK", c.Do("SET", "lock", "a", "NX", "PX", "30000").Str)
	})
	synctest.Test(t, func(t *testing.T) {
		m := cluster(t)
		old := m.Owner("lock")
		old.Crash(time.Hour, miniredistest.KeepKeys)
		time.Sleep(time.Minute)
		for _, node := range m {
			if node != old {
				m[0] = node
			}
		}
		now := m.Owner("lock")
		require.Same(t, old.Replica(1), now)
		require.Equal(t, "OK", dialBy(t, m, now.Addr()).Do("SET", "lock", "a", "NX", "PX", "30000").Str)
	})
}

// Nothing is left of a cluster when its test is over: a bubble sees to the goroutines, and this to files and memory.
func TestAHundredClustersLeaveNothing(t *testing.T) {
	trial := func() {
		synctest.Test(t, func(t *testing.T) {
			m := cluster(t, miniredistest.Sentinels(3))
			for _, key := range []string{"foo", "bar", "lock"} {
				c := dialBy(t, m, m.Owner(key).Addr())
				require.Equal(t, "OK", c.Do("SET", key, "a", "NX", "PX", "300").Str)
			}
			time.Sleep(time.Second)
			for _, node := range m {
				node.AssertNone("*")
			}
		})
	}
	trial()
	files, memory := openFiles(t), inUse()
	for range 100 {
		trial()
	}
	require.Equal(t, files, openFiles(t))
	require.Less(t, inUse(), memory+10<<20)
}

func openFiles(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system has no /proc, so open files cannot be counted: ", err)
	}
	return len(open)
}

// inUse returns the bytes of the heap that are in use.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
