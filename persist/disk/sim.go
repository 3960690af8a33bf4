package disk

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"syscall"
)

// ErrPower is what every operation says after the power was cut.
const ErrPower Error = "the power is cut"

// Sim is a disk in memory. What is written is in its page cache: it can be read at once. Crash loses of it what
// no Sync made durable. The same seed and the same operations leave the same files.
//
//	       writes and names            durable
//	Write ────> page cache ── Sync ────> bytes
//	Rename ───> page cache ── SyncDir ─> names
//
// Folders are there without Mkdir. What Mkdir makes can be lost, with all that is in it.
type Sim struct {
	mu      sync.Mutex
	rand    *rand.Rand
	names   map[string]*inode // the page cache: every name there is
	durable map[string]*inode // the names that a crash leaves
	changes []change          // of names, since their folders were fsynced
	locks   map[string]bool

	ops    int        // operations so far
	faults []simFault // to come
	rules  []Rule     // that no Crash ends
	slow   map[Op]int64
	short  int   // what the Write that a rule has just refused writes all the same
	slept  int64 // ms that slow operations took, since Slept was called
	cut    bool
	starts int // a file of an earlier start is closed
}

// inode is a file or a folder without its name.
type inode struct {
	data    []byte
	saved   int    // the bytes after this one are not durable
	unsaved []span // of data, what the next Sync makes durable
	lost    []span // of data, what a Sync has failed to make durable
	folder  bool
}

type span struct{ from, to int }

// change is one operation on names. A crash keeps all of it or nothing.
type change struct {
	gone, name string // gone is "" for none; so is name
	to         *inode
}

// Fault is how an operation fails.
type Fault int

// NoSpace and Failure are ENOSPC and EIO. Short is a Write that writes a half and then finds no space, and for other
// operations ENOSPC. Power ends the disk in the middle of the operation: it happens or does not.
const (
	NoSpace Fault = iota
	Failure
	Short
	Power
)

type simFault struct {
	op int
	is Fault
}

// NewSim returns an empty disk.
func NewSim(seed uint64) *Sim {
	return &Sim{
		rand: rand.New(rand.NewPCG(seed, 0)), names: map[string]*inode{}, durable: map[string]*inode{},
		locks: map[string]bool{}, slow: map[Op]int64{},
	}
}

// Ops returns how many operations there were.
func (d *Sim) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// Fail makes the nth operation from now on fail, counted from 0.
func (d *Sim) Fail(nth int, is Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, simFault{d.ops + nth, is})
}

// step counts an operation. It returns how the operation fails, if it does. half is whether it nevertheless does
// a half of its work.
func (d *Sim) step(does Op) (half bool, err error) {
	if d.cut {
		return false, ErrPower
	}
	op := d.ops
	d.ops++
	d.slept += d.slow[does]
	if d.short, err = d.refused(does); err != nil {
		return false, err
	}
	for _, f := range d.faults {
		if f.op != op {
			continue
		}
		switch f.is {
		case Failure:
			return false, syscall.EIO
		case Short:
			return true, syscall.ENOSPC
		case Power:
			d.cut = true
			return d.rand.IntN(2) == 0, ErrPower
		default:
			return false, syscall.ENOSPC
		}
	}
	return false, nil
}

func (d *Sim) Open(name string) (File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(OpOpen); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	node := d.names[filepath.Clean(name)]
	if node == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if node.folder {
		return nil, &fs.PathError{Op: "open", Path: name, Err: Error("not a regular file")}
	}
	return &simFile{d: d, node: node, start: d.starts}, nil
}

// Append opens a file as Open does: a Write always goes to the end.
func (d *Sim) Append(name string) (File, error) { return d.Open(name) }

func (d *Sim) Create(name string) (File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	half, err := d.step(OpOpen)
	if err != nil && !(half && d.cut) {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	if d.names[filepath.Clean(name)] != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	node := &inode{}
	d.change(change{name: filepath.Clean(name), to: node})
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return &simFile{d: d, node: node, start: d.starts}, nil
}

// Truncate is one operation: a crash leaves all of it or nothing.
func (d *Sim) Truncate(name string, size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	half, err := d.step(OpFsync)
	if err != nil && !(half && d.cut) {
		return &fs.PathError{Op: "truncate", Path: name, Err: err}
	}
	node := d.names[filepath.Clean(name)]
	if node == nil || node.folder {
		return &fs.PathError{Op: "truncate", Path: name, Err: fs.ErrNotExist}
	}
	node.truncate(int(size))
	return err
}

func (n *inode) truncate(size int) {
	n.data = n.data[:min(size, len(n.data))]
	n.saved, n.unsaved = len(n.data), nil
	for i, s := range n.lost {
		n.lost[i] = span{min(s.from, n.saved), min(s.to, n.saved)}
	}
}

func (d *Sim) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	half, err := d.step(OpRename)
	if err != nil && !(half && d.cut) {
		return &fs.PathError{Op: "rename", Path: from, Err: err}
	}
	node := d.names[filepath.Clean(from)]
	if node == nil {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	d.change(change{gone: filepath.Clean(from), name: filepath.Clean(to), to: node})
	return err
}

func (d *Sim) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	half, err := d.step(opOther)
	if err != nil && !(half && d.cut) {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	if d.names[filepath.Clean(name)] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	d.change(change{gone: filepath.Clean(name)})
	return err
}

func (d *Sim) Mkdir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(opOther); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	if name = filepath.Clean(name); d.names[name] == nil {
		d.change(change{name: name, to: &inode{folder: true}})
	}
	return nil
}

// change makes a change in the page cache.
func (d *Sim) change(c change) {
	c.apply(d.names)
	d.changes = append(d.changes, c)
}

func (c change) apply(names map[string]*inode) {
	if c.gone != "" {
		delete(names, c.gone)
	}
	if c.name != "" {
		names[c.name] = c.to
	}
}

// in reports whether the names of c are in a folder.
func (c change) in(dir string) bool {
	return c.gone != "" && filepath.Dir(c.gone) == dir || c.name != "" && filepath.Dir(c.name) == dir
}

func (d *Sim) SyncDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	half, err := d.step(OpFsync)
	if err != nil && !(half && d.cut) {
		return &fs.PathError{Op: "sync", Path: name, Err: err}
	}
	dir, left := filepath.Clean(name), d.changes[:0]
	for _, c := range d.changes {
		if c.in(dir) {
			c.apply(d.durable)
		} else {
			left = append(left, c)
		}
	}
	d.changes = left
	return err
}

func (d *Sim) Lock(dir string) (Lock, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir = filepath.Clean(dir)
	if d.locks[dir] {
		return Lock{}, &fs.PathError{Op: "lock", Path: dir, Err: ErrLocked}
	}
	d.locks[dir] = true
	start := d.starts
	isHere := func() bool { // a crash ends all locks, and a folder is not removed
		d.mu.Lock()
		defer d.mu.Unlock()
		return start == d.starts
	}
	release := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if start == d.starts {
			delete(d.locks, dir)
		}
	}
	return Lock{release, isHere}, nil
}

// simFile is an open file of a Sim.
type simFile struct {
	d     *Sim
	node  *inode
	start int
	read  int
}

// step is the disk's. A file does not survive a crash.
func (f *simFile) step(does Op) (half bool, err error) {
	if f.start != f.d.starts {
		return false, ErrPower
	}
	return f.d.step(does)
}

func (f *simFile) Read(b []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if _, err := f.step(opOther); err != nil {
		return 0, err
	}
	n := copy(b, f.node.data[f.read:])
	f.read += n
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *simFile) Write(b []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	f.d.short = 0
	half, err := f.step(OpWrite)
	switch {
	case half:
		b = b[:len(b)/2]
	case err != nil:
		b = b[:min(f.d.short, len(b))]
	}
	if err != nil && len(b) == 0 {
		return 0, err
	}
	from := len(f.node.data)
	f.node.data = append(f.node.data, b...)
	f.node.unsaved = append(f.node.unsaved, span{from, len(f.node.data)})
	return len(b), err
}

func (f *simFile) Size() (int64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if _, err := f.step(opOther); err != nil {
		return 0, err
	}
	return int64(len(f.node.data)), nil
}

func (f *simFile) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	half, err := f.step(OpFsync)
	n := f.node
	switch {
	case err == nil, half && f.d.cut:
		if len(n.unsaved) > 0 {
			n.saved, n.unsaved = len(n.data), nil
		}
	case !f.d.cut: // the page cache shows what the disk will never have
		n.lost, n.unsaved = append(n.lost, n.unsaved...), nil
	}
	return err
}

func (f *simFile) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	_, err := f.step(opOther)
	return err
}
