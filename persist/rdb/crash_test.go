package rdb_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/store"
)

const path = "/d/dump.rdb"

var crashSeeds = flag.Uint64("crash.seeds", uint64(amount.Count(4, 50)),
	"under how many seeds the power goes in each operation of a save")

// generation is a keyspace that says which one it is, with values of all types around that.
func generation(name string) *store.Keyspace {
	ks := keyspace()
	fill(ks, rand.New(rand.NewPCG(uint64(len(name)), 5)), 10)
	noise, r := make([]byte, 200<<10), rand.New(rand.NewPCG(1, 1)) // several writes
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	ks.DBs[1].Peek([]byte("noise")).Put([]byte("noise"), store.TextValue(noise), 0, store.Past{})
	ks.DBs[0].Peek([]byte("generation")).Put([]byte("generation"), store.TextValue([]byte(name)), 0, store.Past{})
	return ks
}

// loaded returns the generation that a disk has, "none" without a file.
func loaded(on disk.FS) (string, error) {
	ks := keyspace()
	err := loading(ks).Load(on, path)
	if errors.Is(err, fs.ErrNotExist) {
		return "none", nil
	}
	if err != nil {
		return "", err
	}
	return string(ks.DBs[0].Peek([]byte("generation")).Value().Text()), nil
}

// operations is the number of operations of a Save.
func operations(t *testing.T) int {
	d := disk.NewSim(1)
	require.NoError(t, rdb.Save(d, path, saving(generation("old"))))
	before := d.Ops()
	require.NoError(t, rdb.Save(d, path, saving(generation("newer"))))
	return d.Ops() - before
}

func TestEachOperationOfASaveCanFail(t *testing.T) {
	n, failed := operations(t), 0
	require.Greater(t, n, 6)
	for op := range n {
		for _, fault := range []disk.Fault{disk.NoSpace, disk.Failure, disk.Short} {
			d := disk.NewSim(uint64(op))
			require.NoError(t, rdb.Save(d, path, saving(generation("old"))))
			d.Fail(op, fault)
			err := rdb.Save(d, path, saving(generation("newer")))
			found, broken := loaded(d)
			require.NoError(t, broken)
			if err != nil {
				failed++
				require.Contains(t, []string{"old", "newer"}, found)
			} else {
				require.Equal(t, "newer", found)
			}
			d.Crash()
			after, broken := loaded(d)
			require.NoError(t, broken)
			if err == nil {
				require.Equal(t, "newer", after)
			}
			require.Contains(t, []string{"old", "newer"}, after)

			require.NoError(t, rdb.Save(d, path, saving(generation("newest"))), "a later Save works")
			found, broken = loaded(d)
			require.NoError(t, broken)
			require.Equal(t, "newest", found)
		}
	}
	require.GreaterOrEqual(t, failed, 3*(n-1)) // what a removal fails with does not matter
}

func TestAFailedSaveLeavesNoFileBehind(t *testing.T) {
	for op := range operations(t) {
		d := disk.NewSim(1)
		require.NoError(t, rdb.Save(d, path, saving(generation("old"))))
		d.Fail(op, disk.NoSpace)
		_ = rdb.Save(d, path, saving(generation("newer")))
		_, err := d.Open(fmt.Sprintf("/d/temp-%d.rdb", os.Getpid()))
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

// crash saves twice, cuts the power in the operation op of the second Save, and loads. It returns what it found wrong.
func crash(wrap func(*disk.Sim) disk.FS, seed uint64, op int, old, newer *store.Keyspace) error {
	d := disk.NewSim(seed)
	on := wrap(d)
	if err := rdb.Save(on, path, saving(old)); err != nil {
		return err
	}
	_ = d.SyncDir("/d") // what a liar leaves out of the first Save does not count
	d.Fail(op, disk.Power)
	err := rdb.Save(on, path, saving(newer))
	d.Crash()
	found, broken := loaded(d)
	switch {
	case broken != nil:
		return broken
	case err == nil && found != "newer":
		return fmt.Errorf("Save returned nil, and the crash brought back %q", found)
	case found != "old" && found != "newer":
		return fmt.Errorf("found %q", found)
	}
	return nil
}

func honest(d *disk.Sim) disk.FS { return d }

// The power goes in each operation of a Save, and after the last one, under many seeds.
func TestACrashLeavesTheOldFileOrTheNewOne(t *testing.T) {
	old, newer, n := generation("old"), generation("newer"), operations(t)
	for seed := range *crashSeeds {
		for op := range n + 1 {
			require.NoError(t, crash(honest, seed, op, old, newer), "seed %d, operation %d", seed, op)
		}
	}
}

// careless is a disk whose user leaves out one of the three rules.
type careless struct {
	*disk.Sim
	noSyncDir, noSync, ignoresSync bool
}

func (c careless) SyncDir(dir string) error {
	if c.noSyncDir {
		return nil
	}
	return c.Sim.SyncDir(dir)
}

func (c careless) Create(name string) (disk.File, error) {
	f, err := c.Sim.Create(name)
	return carelessFile{f, c}, err
}

type carelessFile struct {
	disk.File
	c careless
}

func (f carelessFile) Sync() error {
	if f.c.noSync {
		return nil
	}
	err := f.File.Sync()
	if f.c.ignoresSync {
		return nil
	}
	return err
}

func TestTheCrashesFindEachRuleThatIsLeftOut(t *testing.T) {
	old, newer, n := generation("old"), generation("newer"), operations(t)
	for name, rules := range map[string]careless{
		"rename without an fsync of the folder": {noSyncDir: true}, "rename without an fsync of the file": {noSync: true},
	} {
		found := 0
		for seed := range uint64(amount.Count(30, 100)) {
			if crash(func(d *disk.Sim) disk.FS { rules.Sim = d; return rules }, seed, n, old, newer) != nil {
				found++
			}
		}
		require.Positive(t, found, name)
	}

	found := 0
	for op := range n {
		d := disk.NewSim(uint64(op))
		on := careless{Sim: d, ignoresSync: true}
		require.NoError(t, rdb.Save(on, path, saving(old)))
		d.Fail(op, disk.Failure)
		if err := rdb.Save(on, path, saving(newer)); err == nil {
			d.Crash()
			if _, broken := loaded(d); broken != nil {
				found++
			}
		}
	}
	require.Positive(t, found, "an error of fsync that is ignored")
}

func TestAFileOnTheSystemsDisk(t *testing.T) {
	dir := t.TempDir()
	file := dir + "/dump.rdb"
	victim := dir + "/victim"
	require.NoError(t, os.WriteFile(victim, []byte("kept"), 0o600))
	require.NoError(t, os.Symlink(victim, file))
	require.NoError(t, os.Symlink(victim, fmt.Sprintf("%s/temp-%d.rdb", dir, os.Getpid())))
	ks := generation("one")
	require.NoError(t, rdb.Save(disk.System{}, file, saving(ks)))
	info, err := os.Lstat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode(), "a regular file, for its owner")
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "kept", string(text))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2)
	got := keyspace()
	require.NoError(t, loading(got).Load(disk.System{}, file))
	requireSame(t, ks, got)

	err = rdb.Save(disk.System{}, dir+"/none/dump.rdb", saving(ks))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "Failed opening the temp RDB file for saving: ")
}

// full is a disk without space behind some bytes.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	if f.left -= n; n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// While a save continues for nothing, its half of a file would keep the disk full.
func TestASaveEndsAtTheFirstErrorOfTheDisk(t *testing.T) {
	ks := keyspace()
	ks.DBs[0].Peek([]byte("k")).Put([]byte("k"), store.TextValue(bytes.Repeat([]byte("k"), 1000)), 0, store.Past{})
	var v store.Value
	for _, v = range ks.DBs[0].Values() {
	}
	s := saving(ks)
	s.Compress = false
	w := s.Begin(&full{100_000})
	keys := 0
	for ; keys < 10_000; keys++ {
		if err := w.Key("k", v, store.Past{}); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			break
		}
	}
	require.Less(t, keys, 400, "a buffer of 64 KB, and the disk")
}
