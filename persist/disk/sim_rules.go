package disk

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Op is a kind of operation that a Rule lets fail.
type Op string

// The kinds. Open and Create are OpOpen, Sync and SyncDir are OpFsync.
const (
	OpWrite  Op = "WRITE"
	OpFsync  Op = "FSYNC"
	OpRename Op = "RENAME"
	OpOpen   Op = "OPEN"

	opOther Op = ""
)

// Rule lets operations fail until Heal, or only one of them.
type Rule struct {
	On    Op
	Nth   int           // which operation of this kind fails, counted from 1; 0 for all
	Why   syscall.Errno // ENOSPC or EIO
	Short int           // bytes that a Write writes before it fails
}

// Refuse adds a rule.
func (d *Sim) Refuse(r Rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = append(d.rules, r)
}

// Rules returns those that have not failed their operation yet.
func (d *Sim) Rules() []Rule {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.rules)
}

// refused counts an operation, and returns the error of the first rule that is for it. short is what a Write writes
// before that.
func (d *Sim) refused(does Op) (short int, err error) {
	kept := d.rules[:0]
	for _, r := range d.rules {
		if r.On != does {
			kept = append(kept, r)
			continue
		}
		if r.Nth > 1 { // another one comes first
			r.Nth--
			kept = append(kept, r)
			continue
		}
		if r.Nth == 0 || err != nil {
			kept = append(kept, r)
		}
		if err == nil {
			short, err = r.Short, r.Why
		}
	}
	d.rules = kept
	return short, err
}

// Slow makes each operation of a kind take ms longer. The disk does not wait: Slept says for how long it should have.
func (d *Sim) Slow(does Op, ms int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slow[does] = ms
}

// SlowBy returns how many ms longer an operation takes.
func (d *Sim) SlowBy(does Op) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slow[does]
}

// Slept returns how many ms slow operations have taken since the last call.
func (d *Sim) Slept() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	ms := d.slept
	d.slept = 0
	return ms
}

// Heal ends Refuse and Slow. What the disk has lost stays lost.
func (d *Sim) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules, d.slow = nil, map[Op]int64{}
}

// Lose is a Crash that loses everything that is not durable, except the first torn bytes of it in each file.
func (d *Sim) Lose(torn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sinkLost()
	for _, node := range d.durable {
		node.lose(torn)
	}
	d.restart()
}

func (n *inode) lose(torn int) {
	for _, s := range n.lost {
		clear(n.data[s.from:s.to])
	}
	end := n.saved
	if len(n.unsaved) > 0 && torn > 0 {
		end = max(end, min(n.unsaved[0].from+torn, len(n.data)))
	}
	n.data, n.saved, n.unsaved, n.lost = n.data[:end], end, nil, nil
}

// Keep is a Crash that loses nothing: the process has ended, and the system continues.
func (d *Sim) Keep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.locks = map[string]bool{}
	d.starts++
}

// Wipe is a Crash that loses all files.
func (d *Sim) Wipe() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.durable = map[string]*inode{}
	d.restart()
}

// restart is the disk with its power back.
func (d *Sim) restart() {
	d.names, d.changes = maps.Clone(d.durable), nil
	d.locks, d.faults, d.cut = map[string]bool{}, nil, false
	d.starts++
}

// Listed is a file as Files shows it.
type Listed struct {
	Name   string // below the folder
	Size   int64
	Synced int64 // bytes that a crash leaves
	Named  bool  // a crash leaves the name
}

// Files returns all files below a folder, in the order of their names.
func (d *Sim) Files(dir string) (all []Listed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	prefix := strings.TrimSuffix(filepath.Clean(dir), "/") + "/"
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		short, below := strings.CutPrefix(name, prefix)
		if node := d.names[name]; below && !node.folder {
			all = append(all, Listed{short, int64(len(node.data)), int64(node.durable()), d.durable[name] == node})
		}
	}
	return all
}

// durable is how many bytes Lose leaves.
func (n *inode) durable() int {
	lost := 0
	for _, s := range n.lost {
		lost += min(s.to, n.saved) - min(s.from, n.saved)
	}
	return n.saved - lost
}

// Rot flips one bit of a byte, as an old disk does. The seed chooses which.
func (d *Sim) Rot(name string, offset int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	node := d.names[filepath.Clean(name)]
	if node == nil || node.folder {
		return fs.ErrNotExist
	}
	if offset < 0 || offset >= int64(len(node.data)) {
		return Error("the file has no such byte")
	}
	node.data[offset] ^= 1 << d.rand.IntN(8)
	return nil
}

// String returns the words after LAB DISK FAIL.
func (r Rule) String() string {
	words := string(r.On)
	if r.Nth > 0 {
		words += fmt.Sprintf(" NTH %d", r.Nth)
	}
	switch {
	case r.Short > 0:
		return words + fmt.Sprintf(" SHORT %d", r.Short)
	case r.Why == syscall.EIO:
		return words + " EIO"
	}
	return words + " ENOSPC"
}
