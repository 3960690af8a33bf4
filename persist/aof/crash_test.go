package aof_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
)

var (
	crashSeeds = flag.Uint64("crash.seeds", uint64(amount.Count(10, 50)), "under how many seeds the power goes")
	crashFirst = flag.Uint64("crash.first", 0, "the first seed")
)

// bug is what a crash has to find.
type bug int

const (
	none      bug = iota
	eager         // the reply comes before the fsync
	noSyncDir     // no folder is fsynced
	deaf          // the error of an fsync is ignored
)

// buggy is a disk whose user has a bug.
type buggy struct {
	disk.FS
	is bug
}

func (b buggy) SyncDir(name string) error {
	if b.is == noSyncDir {
		return nil
	}
	return b.FS.SyncDir(name)
}

func (b buggy) Create(name string) (disk.File, error) {
	f, err := b.FS.Create(name)
	return buggyFile{f, b.is}, err
}

func (b buggy) Append(name string) (disk.File, error) {
	f, err := b.FS.Append(name)
	return buggyFile{f, b.is}, err
}

type buggyFile struct {
	disk.File
	is bug
}

func (f buggyFile) Sync() error {
	err := f.File.Sync()
	if f.is == deaf && !errors.Is(err, disk.ErrPower) {
		return nil
	}
	return err
}

// crash starts, cuts the power anywhere, and looks at what is there, three times. It says what is wrong with it.
func crash(seed uint64, policy aof.Policy, fault disk.Fault, planted bug) error {
	d := disk.NewSim(seed)
	k := &keeper{disk: d, fs: d, rand: rand.New(rand.NewPCG(seed, 1)), policy: policy, eager: planted == eager}
	if planted != none {
		k.fs = buggy{d, planted}
	}
	kept := 0
	for range 3 {
		ops := 180
		if policy == aof.Always {
			ops = 120
		}
		d.Fail(k.rand.IntN(ops), fault)
		if k.start() == nil {
			kept = max(kept, k.last)
			k.onAndOn()
			kept = max(kept, k.promised())
		}
		d.Crash()
		found, _, _, err := k.load()
		switch {
		case err != nil:
			return err
		case found < kept:
			return fmt.Errorf("%d is promised, and %d is the last one found", kept, found)
		}
		kept = found
	}
	return nil
}

// Each seed cuts the power three times in each of twelve ways. In nine of them an operation has failed before.
func TestACrashLosesNothingThatIsPromised(t *testing.T) {
	for name, policy := range map[string]aof.Policy{"always": aof.Always, "everysec": aof.EverySec, "no": aof.No} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := range *crashSeeds {
				seed := *crashFirst + n
				for _, fault := range []disk.Fault{disk.Power, disk.NoSpace, disk.Short, disk.Failure} {
					require.NoError(t, crash(seed, policy, fault, none), "seed %d, fault %d", seed, fault)
				}
			}
		})
	}
}

func TestTheCrashesFindEachBug(t *testing.T) {
	for name, b := range map[string]struct {
		is    bug
		fault disk.Fault
	}{
		"a reply before the fsync": {eager, disk.Power}, "no fsync of the folder": {noSyncDir, disk.Power},
		"an ignored error of fsync": {deaf, disk.Failure},
	} {
		t.Run(name, func(t *testing.T) {
			found := 0
			for seed := range uint64(300) {
				if crash(seed, aof.Always, b.fault, b.is) != nil {
					found++
				}
			}
			require.Greater(t, found, 30)
		})
	}
}
