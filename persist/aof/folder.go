package aof

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/miniredisd/miniredisd/persist/disk"
)

// Folder is where the parts and their manifest are.
type Folder struct {
	On   disk.FS
	Path string
	Name string // appendfilename: what the names of all files begin with
}

// ManifestPath is the path of the manifest.
func (f *Folder) ManifestPath() string { return filepath.Join(f.Path, f.Name+".manifest") }

// Begin makes a new base and an empty part for the commands after it. Then a new manifest names them, in place of
// the parts of the old one, which is nil for none. It removes what the old one named. writeBase makes the base, and
// returns when it is durable (aof.c: backgroundRewriteDoneHandler).
//
// A crash leaves the old manifest with all its parts, or the new one. So does an error.
func (f *Folder) Begin(old *Manifest, writeBase func(path string) error) (part disk.File, now *Manifest, err error) {
	if old == nil {
		old = &Manifest{}
	}
	n := old.last() + 1
	base := Part{fmt.Sprintf("%s.%d.base.rdb", f.Name, n), n, Base}
	if err := writeBase(filepath.Join(f.Path, base.Name)); err != nil {
		return nil, nil, err
	}
	part, incr, err := f.create(n)
	if err != nil {
		return nil, nil, err
	}
	now = &Manifest{Base: &base, Incr: []Part{incr}, History: old.all()}
	if err := f.write(now); err != nil {
		return nil, nil, err
	}
	return part, now, f.forget(now)
}

// Continue is Begin without a new base: the new part follows the parts of the old manifest. The last of these may end
// in the middle of a command. Then only its first bytes count, as many as whole says, and the new part begins with a
// copy of them. whole is -1 if it ends well.
func (f *Folder) Continue(old *Manifest, whole int64) (part disk.File, now *Manifest, err error) {
	part, incr, err := f.create(old.last() + 1)
	if err != nil {
		return nil, nil, err
	}
	now = &Manifest{Base: old.Base, Incr: old.Incr, History: old.History}
	if whole >= 0 {
		cut := old.Incr[len(old.Incr)-1]
		if err := f.copyTo(part, cut, whole); err != nil {
			return nil, nil, err
		}
		now.Incr, now.History = old.Incr[:len(old.Incr)-1:len(old.Incr)-1], append(now.History, history(cut))
	}
	now.Incr = append(now.Incr[:len(now.Incr):len(now.Incr)], incr)
	if err := f.write(now); err != nil {
		return nil, nil, err
	}
	return part, now, f.forget(now)
}

// create makes an empty part. Its name is free: what has it is left of a start that failed.
func (f *Folder) create(n int64) (disk.File, Part, error) {
	p := Part{fmt.Sprintf("%s.%d.incr.aof", f.Name, n), n, Incr}
	file, err := f.fresh(p.Name)
	if err == nil {
		err = f.On.SyncDir(f.Path)
	}
	return file, p, err
}

// fresh makes a file, over one that no manifest names.
func (f *Folder) fresh(name string) (disk.File, error) {
	path := filepath.Join(f.Path, name)
	if err := f.On.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return f.On.Create(path)
}

// copyTo copies the first bytes of a part, and makes them durable.
func (f *Folder) copyTo(to disk.File, p Part, bytes int64) error {
	from, err := f.On.Open(filepath.Join(f.Path, p.Name))
	if err != nil {
		return err
	}
	defer from.Close()
	if _, err := io.CopyN(struct{ io.Writer }{to}, from, bytes); err != nil {
		return err
	}
	return to.Sync()
}

// write replaces the manifest (aof.c: writeAofManifestFile).
func (f *Folder) write(m *Manifest) error {
	temporary := "temp-" + f.Name + ".manifest"
	file, err := f.fresh(temporary)
	if err != nil {
		return err
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
		return err
	}
	return f.On.SyncDir(f.Path)
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
	return f.write(m)
}

// last is the highest number of any part.
func (m *Manifest) last() (n int64) {
	for _, p := range m.all() {
		n = max(n, p.Seq)
	}
	return n
}

// all returns every part, as history.
func (m *Manifest) all() (all []Part) {
	for _, p := range m.Parts() {
		all = append(all, history(p))
	}
	return append(all, m.History...)
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
			if c == ' ' || c == '\'' {
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
