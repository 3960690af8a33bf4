package disk_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/persist/disk"
)

// both runs a test on the system's files and on the simulated disk.
func both(t *testing.T, test func(t *testing.T, on disk.FS, dir string)) {
	t.Run("system", func(t *testing.T) { test(t, disk.System{}, t.TempDir()) })
	t.Run("sim", func(t *testing.T) { test(t, disk.NewSim(1), "/data") })
}

func write(t *testing.T, on disk.FS, name, text string) {
	t.Helper()
	f, err := on.Create(name)
	require.NoError(t, err)
	_, err = io.WriteString(f, text)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
}

func read(t *testing.T, on disk.FS, name string) string {
	t.Helper()
	f, err := on.Open(name)
	require.NoError(t, err)
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	require.Equal(t, int64(len(text)), size)
	require.NoError(t, f.Close())
	return string(text)
}

func TestBothDisksKeepFilesUnderNames(t *testing.T) {
	both(t, func(t *testing.T, on disk.FS, dir string) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		write(t, on, a, "one")
		write(t, on, b, "two")
		_, err := on.Create(a)
		require.ErrorIs(t, err, fs.ErrExist)
		require.NoError(t, on.Rename(a, b))
		require.NoError(t, on.SyncDir(dir))
		require.Equal(t, "one", read(t, on, b))
		_, err = on.Open(a)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorIs(t, on.Rename(a, b), fs.ErrNotExist)
		require.NoError(t, on.Remove(b))
		require.ErrorIs(t, on.Remove(b), fs.ErrNotExist)

		inside := filepath.Join(dir, "folder")
		require.NoError(t, on.Mkdir(inside))
		require.NoError(t, on.Mkdir(inside))
		write(t, on, filepath.Join(inside, "c"), "three")
		_, err = on.Open(inside)
		require.ErrorContains(t, err, "not a regular file")
	})
}

func TestATruncatedFileIsShorterForGood(t *testing.T) {
	both(t, func(t *testing.T, on disk.FS, dir string) {
		name := filepath.Join(dir, "a")
		write(t, on, name, "onetwo")
		f, err := on.Append(name)
		require.NoError(t, err)
		_, err = io.WriteString(f, "three")
		require.NoError(t, err)
		require.NoError(t, on.Truncate(name, 3))
		require.Equal(t, "one", read(t, on, name))
		_, err = io.WriteString(f, "four")
		require.NoError(t, err)
		require.Equal(t, "onefour", read(t, on, name))
		require.ErrorIs(t, on.Truncate(filepath.Join(dir, "none"), 0), fs.ErrNotExist)
	})
}

// What was cut off does not come back, and what was not synced before is durable.
func TestACrashKeepsWhatATruncationLeaves(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(60) {
		d := disk.NewSim(seed)
		write(t, d, "/a", "one")
		require.NoError(t, d.SyncDir("/"))
		f, err := d.Append("/a")
		require.NoError(t, err)
		_, err = io.WriteString(f, "twothree")
		require.NoError(t, err)
		if seed%2 == 0 {
			d.Fail(0, disk.Power)
		}
		err = d.Truncate("/a", 6)
		if seed%2 == 1 {
			require.NoError(t, err)
			_, err = io.WriteString(f, "four")
			require.NoError(t, err)
		}
		d.Crash()
		text := read(t, d, "/a")
		if seed%2 == 1 {
			require.Contains(t, []string{"onetwo", "onetwofo", "onetwofour"}, text)
		}
		seen[text] = true
	}
	require.Greater(t, len(seen), 4, "the power went before, and behind")
}

func TestOneAtATimeLocksAFolder(t *testing.T) {
	both(t, func(t *testing.T, on disk.FS, dir string) {
		lock, err := on.Lock(dir)
		require.NoError(t, err)
		require.True(t, lock.IsHere())
		_, err = on.Lock(dir)
		require.ErrorIs(t, err, disk.ErrLocked)
		require.ErrorContains(t, err, dir)
		lock.Release()
		lock, err = on.Lock(dir)
		require.NoError(t, err)
		lock.Release()
	})
}

func TestALockIsThatOfItsFolderAndNotOfItsName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.Mkdir(dir, 0o700))
	lock, err := disk.System{}.Lock(dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(dir))
	require.False(t, lock.IsHere())
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.False(t, lock.IsHere())
	other, err := disk.System{}.Lock(dir)
	require.NoError(t, err)
	require.True(t, other.IsHere())
	other.Release()
	lock.Release()
}

func TestOnlyTheOwnerMayReadAFile(t *testing.T) {
	dir := t.TempDir()
	write(t, disk.System{}, filepath.Join(dir, "a"), "")
	require.NoError(t, disk.System{}.Mkdir(filepath.Join(dir, "folder")))
	for name, want := range map[string]os.FileMode{"a": 0o600, "folder": 0o700} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm())
	}
}

func TestNoLinkIsFollowedToWrite(t *testing.T) {
	dir := t.TempDir()
	victim, link, other := filepath.Join(dir, "victim"), filepath.Join(dir, "link"), filepath.Join(dir, "other")
	write(t, disk.System{}, victim, "kept")
	require.NoError(t, os.Symlink(victim, link))
	_, err := disk.System{}.Create(link)
	require.ErrorIs(t, err, fs.ErrExist)
	require.Equal(t, "kept", read(t, disk.System{}, link), "a link is followed to read")
	require.Error(t, disk.System{}.Truncate(link, 0))
	write(t, disk.System{}, other, "new")
	require.NoError(t, disk.System{}.Rename(other, link))
	require.Equal(t, "new", read(t, disk.System{}, link))
	require.Equal(t, "kept", read(t, disk.System{}, victim))
}

func TestNobodyWaitsForAFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	_, err := disk.System{}.Open(fifo)
	require.ErrorContains(t, err, "not a regular file")
}

// crashed writes "saved", an fsync, and ten blocks without one. It returns what a crash leaves.
func crashed(t *testing.T, seed uint64) string {
	d := disk.NewSim(seed)
	f, err := d.Create("/a")
	require.NoError(t, err)
	_, err = io.WriteString(f, "saved")
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, d.SyncDir("/"))
	for i := range 10 {
		_, err = fmt.Fprintf(f, "%04d", i)
		require.NoError(t, err)
	}
	require.Equal(t, "saved0000000100020003000400050006000700080009", read(t, d, "/a"))
	d.Crash()
	_, err = f.Write(nil)
	require.ErrorIs(t, err, disk.ErrPower)
	return read(t, d, "/a")
}

func TestACrashLosesTearsAndReordersWhatIsNotSynced(t *testing.T) {
	whole, torn, hole := 0, 0, 0
	for seed := range uint64(3000) {
		left := crashed(t, seed)
		require.Equal(t, left, crashed(t, seed), "the same seed leaves the same bytes")
		require.Equal(t, "saved", left[:5])
		tail := left[5:]
		switch {
		case len(tail) == 40:
			whole++
		case len(tail)%4 == 2:
			torn++
		}
		for i := 0; i+4 < len(tail); i += 4 {
			if tail[i:i+4] == "\x00\x00\x00\x00" {
				hole++
			}
		}
	}
	require.Positive(t, whole)
	require.Greater(t, torn, 500)
	require.Greater(t, hole, 500)
}

func TestANameIsDurableWhenItsFolderIsSynced(t *testing.T) {
	for _, synced := range []bool{false, true} {
		found := map[string]int{}
		for seed := range uint64(1000) {
			d := disk.NewSim(seed)
			write(t, d, "/d/a", "old")
			require.NoError(t, d.SyncDir("/d"))
			write(t, d, "/d/b", "new")
			require.NoError(t, d.Rename("/d/b", "/d/a"))
			require.NoError(t, d.SyncDir("/other"))
			if synced {
				require.NoError(t, d.SyncDir("/d"))
			}
			d.Crash()
			found[read(t, d, "/d/a")]++
		}
		if synced {
			require.Equal(t, map[string]int{"new": 1000}, found)
		} else {
			require.Greater(t, found["old"], 100)
			require.Greater(t, found["new"], 100)
		}
	}
}

func TestANewFolderIsLostWithAllThatIsInIt(t *testing.T) {
	lost := 0
	for seed := range uint64(200) {
		d := disk.NewSim(seed)
		require.NoError(t, d.Mkdir("/d/new"))
		write(t, d, "/d/new/a", "text")
		require.NoError(t, d.SyncDir("/d/new"))
		d.Crash()
		if _, err := d.Open("/d/new/a"); err != nil {
			require.ErrorIs(t, err, fs.ErrNotExist)
			lost++
		}
	}
	require.Greater(t, lost, 50)
	require.Less(t, lost, 150)
}

func TestAnyOperationCanFail(t *testing.T) {
	operations := []func(d *disk.Sim, f disk.File) error{
		func(d *disk.Sim, _ disk.File) error { _, err := d.Open("/a"); return err },
		func(d *disk.Sim, _ disk.File) error { _, err := d.Create("/b"); return err },
		func(d *disk.Sim, _ disk.File) error { return d.Rename("/a", "/b") },
		func(d *disk.Sim, _ disk.File) error { return d.Remove("/a") },
		func(d *disk.Sim, _ disk.File) error { return d.Mkdir("/m") },
		func(d *disk.Sim, _ disk.File) error { return d.SyncDir("/") },
		func(_ *disk.Sim, f disk.File) error { _, err := f.Read(make([]byte, 1)); return err },
		func(_ *disk.Sim, f disk.File) error { _, err := f.Write([]byte("x")); return err },
		func(_ *disk.Sim, f disk.File) error { _, err := f.Size(); return err },
		func(_ *disk.Sim, f disk.File) error { return f.Sync() },
		func(_ *disk.Sim, f disk.File) error { return f.Close() },
	}
	for i, operation := range operations {
		for fault, want := range map[disk.Fault]error{
			disk.NoSpace: syscall.ENOSPC, disk.Failure: syscall.EIO, disk.Short: syscall.ENOSPC, disk.Power: disk.ErrPower,
		} {
			d := disk.NewSim(1)
			write(t, d, "/a", "text")
			f, err := d.Open("/a")
			require.NoError(t, err)
			before := d.Ops()
			d.Fail(0, fault)
			require.ErrorIs(t, operation(d, f), want, "operation %d", i)
			require.Equal(t, before+1, d.Ops())
			err = d.SyncDir("/")
			if fault == disk.Power {
				require.ErrorIs(t, err, disk.ErrPower, "nothing works without power")
			} else {
				require.NoError(t, err, "only one operation fails")
			}
		}
	}
}

func TestAShortWriteWritesAHalf(t *testing.T) {
	d := disk.NewSim(1)
	f, err := d.Create("/a")
	require.NoError(t, err)
	d.Fail(0, disk.Short)
	n, err := io.WriteString(f, "12345678")
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 4, n)
	require.Equal(t, "1234", read(t, d, "/a"))
}

// Linux marks pages as clean although they could not be written. The next fsync has nothing to do.
func TestAfterAFailedSyncTheNextOneSavesNothing(t *testing.T) {
	d := disk.NewSim(1)
	f, err := d.Create("/a")
	require.NoError(t, err)
	require.NoError(t, d.SyncDir("/"))
	_, err = io.WriteString(f, "lost")
	require.NoError(t, err)
	d.Fail(0, disk.Failure)
	require.ErrorIs(t, f.Sync(), syscall.EIO)
	require.NoError(t, f.Sync())
	require.Equal(t, "lost", read(t, d, "/a"))
	d.Crash()
	require.Empty(t, read(t, d, "/a"))
}

func TestLoseLosesAllThatIsNotDurable(t *testing.T) {
	for _, torn := range []int{0, 3, 100} {
		d := disk.NewSim(1)
		write(t, d, "/a", "saved")
		f, err := d.Create("/b")
		require.NoError(t, err)
		require.NoError(t, d.SyncDir("/"))
		_, err = io.WriteString(f, "lost")
		require.NoError(t, err)
		write(t, d, "/unnamed", "text")
		require.Equal(t, []disk.Listed{
			{Name: "a", Size: 5, Synced: 5, Named: true}, {Name: "b", Size: 4, Named: true},
			{Name: "unnamed", Size: 4, Synced: 4},
		}, d.Files("/"))
		d.Lose(torn)
		require.Equal(t, "saved", read(t, d, "/a"))
		require.Equal(t, "lost"[:min(torn, 4)], read(t, d, "/b"))
		require.Len(t, d.Files("/"), 2)
		d.Wipe()
		require.Empty(t, d.Files("/"))
	}
}

func TestARuleFailsOneKindOfOperation(t *testing.T) {
	d := disk.NewSim(1)
	f, err := d.Create("/a")
	require.NoError(t, err)
	d.Refuse(disk.Rule{On: disk.OpWrite, Nth: 2, Why: syscall.ENOSPC, Short: 3})
	d.Refuse(disk.Rule{On: disk.OpFsync, Why: syscall.EIO})
	n, err := io.WriteString(f, "one")
	require.NoError(t, err)
	require.Equal(t, 3, n)
	n, err = io.WriteString(f, "other")
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 3, n)
	_, err = io.WriteString(f, "!")
	require.NoError(t, err, "only the second write fails")
	for range 2 {
		require.ErrorIs(t, f.Sync(), syscall.EIO)
		require.ErrorIs(t, d.SyncDir("/"), syscall.EIO)
		d.Lose(0) // the disk stays broken
		f, err = d.Create("/a")
		require.NoError(t, err)
	}
	require.Equal(t, "FSYNC EIO", d.Rules()[0].String())
	d.Heal()
	require.NoError(t, f.Sync())
	d.Slow(disk.OpFsync, 20)
	require.NoError(t, f.Sync())
	require.Equal(t, int64(20), d.Slept())
	require.Zero(t, d.Slept())
	require.NoError(t, d.Rename("/a", "/b"))
	require.ErrorContains(t, d.Rot("/b", 0), "no such byte")
	require.ErrorIs(t, d.Rot("/c", 0), fs.ErrNotExist)
}
