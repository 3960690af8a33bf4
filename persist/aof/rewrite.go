package aof

import (
	"path/filepath"

	"github.com/miniredisd/miniredisd/persist/disk"
)

// Kind says what is appended to while a Rewrite is under way.
type Kind uint8

const (
	// Chained: a new part, which the manifest names at once. So it counts whether or not the rewrite succeeds.
	Chained Kind = iota
	// Apart: a new part with a temporary name, which counts with the new base. What is there before does not exist, or
	// cannot be trusted.
	Apart
	// Alone: nothing.
	Alone
)

// Rewrite is a new base that is being written in place of all parts so far (aof.c: rewriteAppendOnlyFileBackground).
// It begins with the part that commands go to meanwhile. Write is for another goroutine.
//
//	               the manifest has                   the new part, for Apart
//	Rewrite   base 1, incr 1 ─> base 1, incr 1, incr 2     temp-appendonly.aof.incr
//	Write     base 2, incr 2, and the rest as history      incr 2
//	          base 2, incr 2
type Rewrite struct {
	Manifest *Manifest // in force: what a start loads now. It changes during Write
	Bytes    int64     // of the new base, after Write

	f    *Folder
	kind Kind
	base Part
}

// Rewrite begins a rewrite. m is the manifest in force, nil for none. The part is nil for Alone.
func (f *Folder) Rewrite(m *Manifest, kind Kind) (r *Rewrite, part disk.File, err error) {
	if m == nil {
		m = &Manifest{}
	}
	r = &Rewrite{Manifest: m, f: f, kind: kind, base: f.nextBase(m)}
	switch kind {
	case Chained:
		part, r.Manifest, err = f.addPart(m)
	case Apart:
		part, err = f.fresh(f.TemporaryPart())
	}
	if err != nil {
		return nil, nil, err
	}
	return r, part, nil
}

// TemporaryPart is the name of the new part of a Rewrite of kind Apart (aof.c: getTempIncrAofName).
func (f *Folder) TemporaryPart() string { return "temp-" + f.Name + ".incr" }

// PartName is the name that commands go to now, "" for none.
func (r *Rewrite) PartName() string {
	switch r.kind {
	case Chained:
		return r.Manifest.Incr[len(r.Manifest.Incr)-1].Name
	case Apart:
		return r.f.TemporaryPart()
	}
	return ""
}

// Write writes the base by save, which returns when it is durable, and puts it in force (aof.c:
// backgroundRewriteDoneHandler). With keep, history stays. After an error the old parts are in force. Only if the fsync
// of the folder has failed, nobody knows what a crash would leave. Then the files of both stay.
func (r *Rewrite) Write(save func(path string) error, keep bool) error {
	f := r.f
	path := filepath.Join(f.Path, r.base.Name)
	replaced, err := r.replace(path, save)
	if err != nil && !replaced {
		_ = f.On.Remove(path)
		if r.kind == Apart {
			_ = f.On.Remove(filepath.Join(f.Path, f.TemporaryPart()))
		}
	}
	if err == nil && !keep {
		_ = f.forget(r.Manifest) // whatever is left goes with the next rewrite
	}
	return err
}

func (r *Rewrite) replace(path string, save func(path string) error) (replaced bool, err error) {
	f, old := r.f, r.Manifest
	if err := save(path); err != nil {
		return false, err
	}
	if r.Bytes, err = f.size(r.base.Name); err != nil {
		return false, err
	}
	now := &Manifest{Base: &r.base}
	switch r.kind {
	case Chained:
		now.Incr, now.History = old.Incr[len(old.Incr)-1:], old.past(1)
	case Apart:
		incr := f.nextIncr(old)
		if err := f.On.Rename(filepath.Join(f.Path, f.TemporaryPart()), filepath.Join(f.Path, incr.Name)); err != nil {
			return false, err
		}
		if err := f.On.SyncDir(f.Path); err != nil { // before the manifest names it
			return false, err
		}
		now.Incr, now.History = []Part{incr}, old.past(0)
	case Alone:
		now.History = old.past(0)
	}
	replaced, err = f.write(now)
	if replaced {
		r.Manifest = now
	}
	return replaced, err
}

// Clean removes the history of a manifest (aof.c: aofDelHistoryFiles).
func (f *Folder) Clean(m *Manifest) error { return f.forget(m) }

// Sizes returns how many bytes the base of a manifest has, and all of its parts.
func (f *Folder) Sizes(m *Manifest) (base, all int64, err error) {
	for _, p := range m.Parts() {
		n, err := f.size(p.Name)
		if err != nil {
			return 0, 0, err
		}
		if all += n; p.Type == Base {
			base = n
		}
	}
	return base, all, nil
}

func (f *Folder) size(name string) (int64, error) {
	file, err := f.On.Open(filepath.Join(f.Path, name))
	if err != nil {
		return 0, err
	}
	size, err := file.Size()
	if closed := file.Close(); err == nil {
		err = closed
	}
	return size, err
}
