package aof

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/persist/disk"
)

// Folder is where the parts and their manifest are.
type Folder struct {
	On   disk.FS
	Path string
	Name string // appendfilename: what the names of all files begin with

	Commands bool // the next base is made of commands, not an RDB file: its name says so
}

// ManifestPath is the path of the manifest.
func (f *Folder) ManifestPath() string { return filepath.Join(f.Path, f.Name+".manifest") }

// Begin makes a base and an empty part for the commands after it. Then a manifest names them, in place of the parts of
// the old one, which is nil for none. It removes what the old one named. writeBase makes the base, and returns when it
// is durable.
//
// A crash leaves the old manifest with all its parts, or the new one. So does an error.
func (f *Folder) Begin(old *Manifest, writeBase func(path string) error) (part disk.File, now *Manifest, err error) {
	if old == nil {
		old = &Manifest{}
	}
	base := f.nextBase(old)
	if err := writeBase(filepath.Join(f.Path, base.Name)); err != nil {
		return nil, nil, err
	}
	part, incr, err := f.create(old)
	if err != nil {
		return nil, nil, err
	}
	now = &Manifest{Base: &base, Incr: []Part{incr}, History: old.past(0)}
	if _, err := f.write(now); err != nil {
		return nil, nil, err
	}
	return part, now, f.forget(now)
}

// Resume opens the last part of a manifest to append to it. Without an incr it makes one.
func (f *Folder) Resume(m *Manifest) (part disk.File, now *Manifest, err error) {
	if len(m.Incr) == 0 {
		return f.addPart(m)
	}
	part, err = f.On.Append(filepath.Join(f.Path, m.Incr[len(m.Incr)-1].Name))
	if err == nil {
		err = part.Sync() // the process that wrote it may have been killed before
	}
	return part, m, err
}

// Cut opens the last part to append to it, without what comes after its first bytes: half a command, as a crash leaves
// it. What is cut off must be gone for good before anything takes its place, or a crash could mix the two.
func (f *Folder) Cut(m *Manifest, whole int64) (part disk.File, now *Manifest, err error) {
	path := filepath.Join(f.Path, m.Incr[len(m.Incr)-1].Name)
	if err := f.On.Truncate(path, whole); err != nil {
		return nil, nil, err
	}
	part, err = f.On.Append(path)
	return part, m, err
}

// Adopt makes the single file of versions before 7.0 the base of a new manifest, and a part to append to (aof.c:
// aofUpgradePrepare). The manifest comes first: a crash before the file has moved leaves both, and the next start goes
// on from there.
func (f *Folder) Adopt(single string) (part disk.File, now *Manifest, err error) {
	m := &Manifest{Base: &Part{f.Name, 1, Base}}
	if _, err := f.write(m); err != nil {
		return nil, nil, err
	}
	if err := f.On.Rename(single, filepath.Join(f.Path, f.Name)); err != nil {
		return nil, nil, err
	}
	if err := f.On.SyncDir(f.Path); err != nil {
		return nil, nil, err
	}
	if err := f.On.SyncDir(filepath.Dir(single)); err != nil {
		return nil, nil, err
	}
	return f.addPart(m)
}

// addPart makes an empty part after those of a manifest (aof.c: openNewIncrAofForAppend). An error leaves the manifest.
func (f *Folder) addPart(old *Manifest) (part disk.File, now *Manifest, err error) {
	part, incr, err := f.create(old)
	if err != nil {
		return nil, nil, err
	}
	now = &Manifest{Base: old.Base, Incr: append(old.Incr[:len(old.Incr):len(old.Incr)], incr), History: old.History}
	replaced, err := f.write(now)
	if err == nil {
		return part, now, nil
	}
	_ = part.Close()
	if replaced { // and perhaps not for good: then the last part would be another one after a crash
		if _, again := f.write(old); again != nil {
			return nil, nil, err
		}
	}
	_ = f.On.Remove(filepath.Join(f.Path, incr.Name))
	return nil, nil, err
}

// create makes an empty part. What has its name is left of an attempt that failed.
func (f *Folder) create(m *Manifest) (disk.File, Part, error) {
	p := f.nextIncr(m)
	file, err := f.fresh(p.Name)
	if err == nil {
		err = f.On.SyncDir(f.Path)
	}
	return file, p, err
}

// nextBase and nextIncr have the numbers after those of the manifest, as in Redis. So a number can come again, but not
// while the manifest has its file as history.
func (f *Folder) nextBase(m *Manifest) Part {
	n := int64(1)
	if m.Base != nil {
		n = m.Base.Seq + 1
	}
	form := "%s.%d.base.rdb"
	if f.Commands {
		form = "%s.%d.base.aof"
	}
	return f.unused(m, form, n, Base)
}

func (f *Folder) nextIncr(m *Manifest) Part {
	return f.unused(m, "%s.%d.incr.aof", m.lastSeq()+1, Incr)
}

func (f *Folder) unused(m *Manifest, form string, n int64, kind byte) Part {
	p := Part{fmt.Sprintf(form, f.Name, n), n, kind}
	if slices.ContainsFunc(m.past(0), func(old Part) bool { return old.Name == p.Name }) {
		return f.unused(m, form, n+1, kind)
	}
	return p
}

// fresh makes a file, over one that no manifest names.
func (f *Folder) fresh(name string) (disk.File, error) {
	path := filepath.Join(f.Path, name)
	if err := f.On.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return f.On.Create(path)
}

// write replaces the manifest (aof.c: writeAofManifestFile). If only the last step fails, the fsync of the folder, then
// it is replaced already, and a crash leaves the old one or the new one.
func (f *Folder) write(m *Manifest) (replaced bool, err error) {
	temporary := "temp-" + f.Name + ".manifest"
	file, err := f.fresh(temporary)
	if err != nil {
		return false, err
	}
	_, err = io.WriteString(file, m.String())
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = f.On.Rename(filepath.Join(f.Path, temporary), f.ManifestPath())
	}
	if err != nil {
		return false, err
	}
	return true, f.On.SyncDir(f.Path)
}

// forget removes the history, first the files and then their names in the manifest (aof.c: aofDelHistoryFiles).
func (f *Folder) forget(m *Manifest) error {
	if len(m.History) == 0 {
		return nil
	}
	for _, p := range m.History {
		if err := f.On.Remove(filepath.Join(f.Path, p.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	m.History = nil
	_, err := f.write(m)
	return err
}

// past returns the parts of a manifest as history, the newest first. The last few incrs, as many as kept, stay.
func (m *Manifest) past(kept int) (past []Part) {
	for _, p := range slices.Backward(m.Incr[:len(m.Incr)-kept]) {
		past = append(past, history(p))
	}
	if m.Base != nil {
		past = append(past, history(*m.Base))
	}
	return append(past, m.History...)
}

func history(p Part) Part { return Part{p.Name, p.Seq, History} }

// String is the text of a manifest (aof.c: getAofManifestAsString).
func (m *Manifest) String() string {
	var text strings.Builder
	line := func(p Part) { fmt.Fprintf(&text, "file %s seq %d type %c\n", quoted(p.Name), p.Seq, p.Type) }
	if m.Base != nil {
		line(*m.Base)
	}
	for _, p := range m.History {
		line(p)
	}
	for _, p := range m.Incr {
		line(p)
	}
	return text.String()
}

// quoted returns a name in quotes if a blank would end it (sds.c: sdscatrepr).
func quoted(name string) string {
	var q strings.Builder
	plain := true
	for _, c := range []byte(name) {
		switch {
		case c == '"' || c == '\\':
			q.WriteByte('\\')
			q.WriteByte(c)
			plain = false
		case c <= ' ' || c >= 0x7f || c == '\'':
			plain = false
			if i := strings.IndexByte("\n\r\t\a\b", c); i >= 0 {
				q.WriteByte('\\')
				q.WriteByte("nrtab"[i])
			} else if c == ' ' || c == '\'' {
				q.WriteByte(c)
			} else {
				fmt.Fprintf(&q, `\x%02x`, c)
			}
		default:
			q.WriteByte(c)
		}
	}
	if plain {
		return name
	}
	return `"` + q.String() + `"`
}
