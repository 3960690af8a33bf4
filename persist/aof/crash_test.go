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

var crashSeeds = flag.Uint64("crash.seeds", 50, "under how many seeds the power goes")

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

	manifest *aof.Manifest
	rewrites int // begun
	turning  bool
	torn     bool // a part is damaged that is not the last one
	ended    bool // the server

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
	k.torn = false
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
	if hole || damage != nil && (damage.Truncated || damage.Torn) {
		parts := m.Parts()
		k.torn = !strings.HasSuffix(damage.File, "/"+parts[len(parts)-1].Name)
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
	k.last, k.slow, k.told, k.ended = last, nil, nil, false
	f := k.folder()
	var part disk.File
	switch {
	case m == nil || k.rand.IntN(4) == 0 || whole >= 0 && len(m.Incr) == 0 || k.torn:
		part, k.manifest, err = f.Begin(m, k.base)
	case whole >= 0:
		part, k.manifest, err = f.Cut(m, whole)
	default:
		part, k.manifest, err = f.Resume(m)
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
		k.writer.Elsewhere = func(job func()) { k.slow, k.slowTo = job, k.now+k.rand.Int64N(500) }
	}
	return nil
}

// base writes all numbers.
func (k *keeper) base(path string) error { return k.save(path, k.last) }

// save writes the numbers up to last as rdb.SaveBy writes a file, with passes meanwhile.
func (k *keeper) save(path string, last int) error {
	on := meanwhile{k.disk, k}
	_ = on.Remove("/d/aof/temp")
	f, err := on.Create("/d/aof/temp")
	if err != nil {
		return err
	}
	var text []byte
	for n := 1; n <= last; n++ {
		text = append(text, number(n)...)
	}
	for _, half := range [][]byte{text[:len(text)/2], text[len(text)/2:]} {
		if _, err := f.Write(half); err != nil {
			return err
		}
		on.pause()
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := on.Rename("/d/aof/temp", path); err != nil {
		return err
	}
	return on.SyncDir("/d/aof")
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

// onAndOn runs passes and rewrites until the server ends.
func (k *keeper) onAndOn() {
	for i := 0; i < 100 && !k.ended; i++ {
		if k.ended = !k.pass(); !k.ended && k.rand.IntN(30) == 0 {
			k.rewrite()
		}
	}
}

// rewrite puts a new base in force. Between its operations, passes go on.
func (k *keeper) rewrite() {
	if k.slow != nil { // Drain would wait for it
		k.slow()
		k.slow = nil
	}
	if k.writer.Drain(k.now) != nil || k.writer.Err() != nil {
		k.ended = true
		return
	}
	f := k.folder()
	f.On = meanwhile{k.disk, k}
	r, part, err := f.Rewrite(k.manifest, aof.Chained)
	if err != nil {
		return
	}
	k.rewrites++
	k.manifest = r.Manifest
	k.writer.Turn(part)
	last := k.last
	k.turning = true
	err = r.Write(func(path string) error { return k.save(path, last) }, false)
	k.turning = false
	if k.manifest = r.Manifest; err == nil {
		k.writer.Trust()
	}
}

// meanwhile lets passes run before the operations of a rewrite.
type meanwhile struct {
	disk.FS
	k *keeper
}

func (m meanwhile) pause() {
	for m.k.turning && !m.k.ended && m.k.rand.IntN(2) == 0 {
		m.k.ended = !m.k.pass()
	}
}

func (m meanwhile) Create(name string) (disk.File, error) { m.pause(); return m.FS.Create(name) }

func (m meanwhile) Rename(from, to string) error { m.pause(); return m.FS.Rename(from, to) }

func (m meanwhile) Remove(name string) error { m.pause(); return m.FS.Remove(name) }

func (m meanwhile) SyncDir(name string) error { m.pause(); return m.FS.SyncDir(name) }

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
		ops := 180
		if policy == aof.Always {
			ops = 120
		}
		k.disk.Fail(k.rand.IntN(ops), fault)
		if k.start() == nil {
			kept = max(kept, k.last)
			k.onAndOn()
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
