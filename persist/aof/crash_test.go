package aof_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/resp"
)

var crashSeeds = flag.Uint64("crash.seeds", 1000, "under how many seeds the power goes")

// keeper appends the numbers 1, 2, 3 ... and knows which of them somebody was told of. It stands for a server.
type keeper struct {
	disk   *disk.Sim
	rand   *rand.Rand
	policy aof.Policy
	eager  bool // the bug: it replies before Flush

	writer *aof.Writer
	now    int64  // ms
	slow   func() // an fsync under way
	slowTo int64  // when it ends

	last int   // the last number
	told []int // by time: the last number that somebody was told of before
}

func (k *keeper) folder() *aof.Folder { return &aof.Folder{On: k.disk, Path: "/d/aof", Name: "a b"} }

// number is the command that appends n. Some come in a transaction.
func number(n int) []byte {
	text := resp.AppendRequest(nil, "ADD", strconv.Itoa(n))
	if n%7 == 0 {
		text = append(append(resp.AppendRequest(nil, "MULTI"), text...), resp.AppendRequest(nil, "EXEC")...)
	}
	return text
}

// load returns the last number on the disk. Whatever a crash has left, the numbers begin with 1 and none is missing.
func (k *keeper) load() (last int, m *aof.Manifest, whole int64, err error) {
	m, err = aof.ReadManifest(k.disk, k.folder().ManifestPath())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, -1, nil
	}
	if err != nil {
		return 0, nil, 0, err
	}
	l := &aof.Loading{Part: func(aof.Part, int64) {}, Stamp: func(int64) {}}
	queue, multi := 0, false
	l.Command = func(argv [][]byte) error {
		switch string(argv[0]) {
		case "MULTI":
			multi = true
		case "EXEC":
			multi, last = false, queue
		default:
			n, _ := strconv.Atoi(string(argv[1]))
			if n != last+1 {
				return fmt.Errorf("%d comes after %d", n, last)
			}
			if queue = n; !multi {
				last = n
			}
		}
		return nil
	}
	err = l.Load(k.disk, k.folder().Path, m)
	var damage *aof.DamageError
	hole := errors.As(err, &damage) && k.policy != aof.Always && !strings.Contains(damage.Why, "no space left")
	if hole || damage != nil && damage.Truncated {
		return last, m, damage.Whole, nil // redis-check-aof --fix cuts a hole off like this
	}
	return last, m, -1, err
}

// start loads what is there and begins a new part, on top of a base or of the old parts.
func (k *keeper) start() error {
	last, m, whole, err := k.load()
	if err != nil {
		return err
	}
	if err := errors.Join(k.disk.Mkdir("/d/aof"), k.disk.SyncDir("/d")); err != nil {
		return err
	}
	k.last, k.slow, k.told = last, nil, nil
	f := k.folder()
	var part disk.File
	if m != nil && k.rand.IntN(3) == 0 {
		part, _, err = f.Continue(m, whole)
	} else {
		part, _, err = f.Begin(m, k.base)
	}
	if err != nil {
		return err
	}
	size, err := part.Size()
	if err != nil {
		return err
	}
	k.writer = aof.NewWriter(part, size)
	k.writer.Policy = k.policy
	k.writer.Wake = func() {}
	if k.policy == aof.EverySec {
		k.writer.Elsewhere = func(job func()) { k.slow, k.slowTo = job, k.now+k.rand.Int64N(700) }
	}
	return nil
}

// base writes all numbers.
func (k *keeper) base(path string) error {
	_ = k.disk.Remove(path)
	f, err := k.disk.Create(path)
	if err != nil {
		return err
	}
	var text []byte
	for n := 1; n <= k.last; n++ {
		text = append(text, number(n)...)
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), k.disk.SyncDir("/d/aof"))
}

// pass appends some numbers, and tells somebody of them. It reports whether the server goes on.
func (k *keeper) pass() bool {
	k.now += k.rand.Int64N(100)
	if k.slow != nil && k.now >= k.slowTo {
		k.slow()
		k.slow = nil
	}
	for range k.rand.IntN(4) {
		k.last++
		k.writer.Append(number(k.last))
	}
	if k.eager {
		k.tell()
	}
	if k.writer.Flush(k.now) != nil {
		return false
	}
	if k.writer.Err() == nil {
		k.tell()
	}
	return k.writer.Err() == nil
}

func (k *keeper) tell() {
	for int64(len(k.told)) <= k.now {
		k.told = append(k.told, 0)
	}
	k.told[k.now] = k.last
}

// promised is the last number that may not be lost now.
func (k *keeper) promised() (last int) {
	until := k.now
	switch k.policy {
	case aof.EverySec:
		until -= 2000
	case aof.No:
		return 0
	}
	for at, n := range k.told {
		if int64(at) <= until {
			last = max(last, n)
		}
	}
	return last
}

// crash starts, cuts the power anywhere, and looks at what is there, three times. It says what is wrong with it.
func crash(seed uint64, policy aof.Policy, eager bool, fault disk.Fault) error {
	k := &keeper{disk: disk.NewSim(seed), rand: rand.New(rand.NewPCG(seed, 1)), policy: policy, eager: eager}
	kept := 0
	for range 3 {
		ops := 120
		if policy == aof.Always {
			ops = 60
		}
		k.disk.Fail(k.rand.IntN(ops), fault)
		if k.start() == nil {
			kept = max(kept, k.last)
			for i := 0; i < 100 && k.pass(); i++ {
			}
		}
		kept = max(kept, k.promised())
		k.disk.Crash()
		found, _, _, err := k.load()
		switch {
		case err != nil:
			return err
		case found < kept && policy != aof.No:
			return fmt.Errorf("%d is promised, and %d is the last one found", kept, found)
		}
		kept, k.told = found, nil
	}
	return nil
}

func TestACrashLosesNothingThatIsPromised(t *testing.T) {
	for name, policy := range map[string]aof.Policy{"always": aof.Always, "everysec": aof.EverySec, "no": aof.No} {
		t.Run(name, func(t *testing.T) {
			for seed := range *crashSeeds {
				for _, fault := range []disk.Fault{disk.Power, disk.NoSpace, disk.Short} {
					require.NoError(t, crash(seed, policy, false, fault), "seed %d, fault %d", seed, fault)
				}
			}
		})
	}
}

// After a failed fsync the bytes are gone although the file shows them.
func TestNobodyTrustsAFileAfterAFailedFsync(t *testing.T) {
	for seed := range *crashSeeds {
		require.NoError(t, crash(seed, aof.Always, false, disk.Failure), "seed %d", seed)
	}
}

func TestTheCrashesFindAReplyBeforeTheFsync(t *testing.T) {
	found := 0
	for seed := range uint64(300) {
		if crash(seed, aof.Always, true, disk.Power) != nil {
			found++
		}
	}
	require.Greater(t, found, 30)
}
