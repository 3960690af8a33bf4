package miniredistest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
)

func TestACrashLosesTheLastSecond(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Disk(), miniredistest.Frozen())
	worker := redistest.Dial(t, srv.Addr())
	worker.Do("SET", "stock", "10")
	srv.Clock().Advance(time.Second)
	require.Zero(t, srv.Disk().Unsynced())
	worker.Do("SET", "lock", "token", "NX", "PX", "30000")
	require.Positive(t, srv.Disk().Unsynced())
	srv.Crash(0, miniredistest.LoseUnsynced)
	srv.AssertString("stock", "10")
	srv.AssertNone("lock")
}

func TestACrashLosesNothingWithAlways(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Disk(), miniredistest.Config("--appendfsync", "always"))
	redistest.Dial(t, srv.Addr()).Do("SET", "lock", "token", "PX", "30000")
	srv.Crash(0, miniredistest.LoseUnsynced)
	srv.AssertString("lock", "token")
	srv.Crash(0, miniredistest.LoseKeys)
	srv.AssertNone("lock")
}

func TestADiskFailsTearsAndIsSlow(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Disk(), miniredistest.Frozen())
	d := srv.Disk()
	d.Fail(miniredistest.DiskWrite, 0, miniredistest.DiskFull)
	srv.Do("SET", "a", "1")
	_, err := srv.Try("SET", "a", "2")
	require.ErrorContains(t, err, "MISCONF")
	d.Heal()
	srv.Clock().Advance(time.Second)
	srv.Do("SET", "a", "3")
	d.Fail(miniredistest.DiskFsync, 1, miniredistest.DiskBroken)
	srv.Clock().Advance(time.Second)
	_, err = srv.Try("SET", "a", "4")
	require.ErrorContains(t, err, "MISCONF", "after a failed fsync nobody knows what is on the disk")
	srv.Crash(0, miniredistest.LoseUnsynced)
	d.Slow(miniredistest.DiskFsync, 3*time.Second)
	srv.Do("SET", "b", "1")
	srv.Clock().Advance(2 * time.Second)
	d.Torn(10)
	srv.Crash(0, miniredistest.LoseUnsynced)
	srv.AssertNone("b")
	d.Heal()
	d.Reorder()
	d.Rot("appendonlydir/appendonly.aof.manifest", 0)
}

func TestInABubbleTheLastSecondIsTheBubbles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := miniredistest.Run(t, miniredistest.Disk())
		srv.Do("SET", "old", "1")
		time.Sleep(1100 * time.Millisecond)
		srv.Do("SET", "new", "1")
		srv.Crash(0, miniredistest.LoseUnsynced)
		srv.AssertString("old", "1")
		srv.AssertNone("new")
	})
}
