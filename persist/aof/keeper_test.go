package aof_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/resp"
)

// keeper appends the numbers 1, 2, 3 ... and knows which of them somebody was told of. It stands for a server.
type keeper struct {
	disk   *disk.Sim
	rand   *rand.Rand
	policy aof.Policy
	eager  bool    // a bug: it replies before Flush
	fs     disk.FS // the disk, or one with a bug

	writer *aof.Writer
	now    int64  // ms
	slow   func() // an fsync under way
	slowTo int64  // when it ends

	manifest *aof.Manifest
	turning  bool // a rewrite is under way
	torn     bool // a part is damaged that is not the last one
	ended    bool // the server
	passes   int  // until its end

	last    int    // the last number
	told    []note // by time: the last number that somebody was told of then
	written []note // by bytes of the Writer: the number that they end with
	based   int    // a base has all numbers up to this one
	broken  int    // the last number that an fsync had made durable when one failed, -1 if none has
}

// note is a number and where or when it was.
type note struct {
	at   int64
	last int
}

// upTo is the largest number among notes at most at.
func upTo(at int64, notes []note) (last int) {
	for _, n := range notes {
		if n.at <= at {
			last = max(last, n.last)
		}
	}
	return last
}

func (k *keeper) folder() *aof.Folder { return &aof.Folder{On: k.fs, Path: "/d/aof", Name: "a b"} }

// number is the command that appends n. Some come in a transaction.
func number(n int) []byte {
	text := resp.AppendRequest(nil, "ADD", strconv.Itoa(n))
	if n%7 == 0 {
		text = append(append(resp.AppendRequest(nil, "MULTI"), text...), resp.AppendRequest(nil, "EXEC")...)
	}
	return text
}

// base is the content of a base with the numbers up to last.
func base(last int) (text []byte) {
	early := max(0, last-3)
	text = resp.AppendRequest(nil, "ALL", strconv.Itoa(early))
	for n := early + 1; n <= last; n++ {
		text = append(text, number(n)...)
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
		case "ALL":
			last, _ = strconv.Atoi(string(argv[1]))
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
	hole := errors.As(err, &damage) && k.policy != aof.Always && !strings.Contains(damage.Why, "no space left") &&
		!strings.Contains(damage.Why, "input/output error")
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
	k.last, k.slow, k.told, k.written, k.ended, k.broken = last, nil, nil, nil, false, -1
	f := k.folder()
	var part disk.File
	switch {
	case m == nil || k.rand.IntN(4) == 0 || whole >= 0 && len(m.Incr) == 0 || k.torn:
		part, k.manifest, err = f.Begin(m, func(path string) error { return k.save(path, last) })
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
	k.writer.Hurry = k.hurry
	if k.policy == aof.EverySec {
		k.writer.Elsewhere = func(job func()) { k.slow, k.slowTo = job, k.now+k.rand.Int64N(500) }
	}
	k.based = last
	return nil
}

// hurry ends the fsync under way.
func (k *keeper) hurry() {
	if k.slow != nil {
		k.slow()
		k.slow = nil
	}
}

// save writes the numbers up to last as rdb.SaveBy writes a file, with passes meanwhile.
func (k *keeper) save(path string, last int) error {
	on := meanwhile{k.fs, k}
	_ = on.Remove("/d/aof/temp")
	f, err := on.Create("/d/aof/temp")
	if err != nil {
		return err
	}
	text := base(last)
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

// pass appends some numbers, and tells somebody of them. It reports whether the server continues.
func (k *keeper) pass() bool {
	k.now += k.rand.Int64N(100)
	if k.now >= k.slowTo {
		k.hurry()
	}
	if k.writer.Err() == nil { // else nobody may write
		k.add(k.rand.IntN(4))
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
	if k.broken < 0 && k.writer.Broken() {
		k.broken = upTo(k.writer.State().Synced, k.written)
	}
	k.passes--
	return k.passes > 0 && !errors.Is(k.writer.Err(), disk.ErrPower)
}

// add appends the next numbers.
func (k *keeper) add(count int) {
	for range count {
		k.last++
		text := number(k.last)
		k.writer.Append(text)
		var end int64
		if len(k.written) > 0 {
			end = k.written[len(k.written)-1].at
		}
		k.written = append(k.written, note{end + int64(len(text)), k.last})
	}
}

// onAndOn runs passes and rewrites until the server ends.
func (k *keeper) onAndOn() {
	k.passes = 1 + k.rand.IntN(100)
	for !k.ended {
		if k.ended = !k.pass(); !k.ended && k.rand.IntN(30) == 0 {
			k.rewrite()
		}
	}
}

// rewrite puts a new base in force. Between its operations, passes go on.
func (k *keeper) rewrite() {
	if k.writer.Drain(k.now) != nil {
		return // with always, the next pass is the end
	}
	f := k.folder()
	f.On = meanwhile{k.fs, k}
	kind := aof.Chained
	if k.writer.Broken() {
		kind = aof.Apart
	}
	r, part, err := f.Rewrite(k.manifest, kind)
	if err != nil {
		return
	}
	k.manifest = r.Manifest
	k.writer.Turn(part)
	last := k.last
	k.turning = true
	err = r.Write(func(path string) error { return k.save(path, last) }, false)
	k.turning = false
	switch k.manifest = r.Manifest; {
	case err == nil:
		k.writer.Trust()
		k.based, k.broken = last, -1
	case kind == aof.Apart:
		k.writer.Drop()
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

func (k *keeper) tell() { k.told = append(k.told, note{k.now, k.last}) }

// promised is the last number that may not be lost now.
func (k *keeper) promised() int {
	switch {
	case k.policy == aof.No:
		return k.based
	case k.policy == aof.Always:
		return max(k.based, upTo(k.now, k.told))
	case k.broken >= 0 && !errors.Is(k.writer.Err(), disk.ErrPower):
		return max(k.based, k.broken)
	}
	return max(k.based, upTo(k.now-2000, k.told))
}
