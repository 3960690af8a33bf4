package disk

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// Crash cuts the power and brings it back. Of each write that no Sync covers, all, a part or nothing is there, whatever
// is there of later ones. So it is with names: each change that no SyncDir covers has happened or not.
func (d *Sim) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.changes {
		if d.rand.IntN(2) == 0 {
			c.apply(d.durable)
		}
	}
	d.sinkLost()
	for _, name := range slices.Sorted(maps.Keys(d.durable)) {
		d.durable[name].crash(d.rand)
	}
	d.restart()
}

// sinkLost drops all that is in a folder which a crash has lost.
func (d *Sim) sinkLost() {
	for folder, node := range d.names {
		if node.folder && d.durable[folder] == nil {
			maps.DeleteFunc(d.durable, func(name string, _ *inode) bool { return filepath.Dir(name) == folder })
		}
	}
}

// crash leaves zeros where bytes are lost before others that are not.
func (n *inode) crash(r *rand.Rand) {
	end := n.saved
	for _, s := range n.lost {
		clear(n.data[s.from:s.to])
	}
	for _, s := range n.unsaved {
		kept := s.from + r.IntN(3)*(s.to-s.from)/2
		if kept > s.from {
			end = max(end, kept)
		}
		clear(n.data[kept:s.to])
	}
	n.data, n.saved, n.unsaved, n.lost = n.data[:end], end, nil, nil
}
