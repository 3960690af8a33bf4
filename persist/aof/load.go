package aof

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/miniredisd/miniredisd/persist/disk"
)

// Loading is where the content of an append only file goes. An error of Base or Command ends the loading.
type Loading struct {
	// Base reads the RDB file at the beginning of a part of size bytes. It returns how many bytes that file has, and
	// a reader of those after it. Its errors name file and offset by themselves.
	Base func(from io.Reader, size int64, path string) (bytes int64, rest io.Reader, err error)

	// Command gets each command, and MULTI and EXEC as well. argv is valid until it returns. A transaction whose EXEC is
	// missing has come up to its last whole command, so commands behind MULTI have to wait for EXEC.
	Command func(argv [][]byte) error

	// Stamp gets the time of each annotation of time, in unix seconds.
	Stamp func(unix int64)

	// Part is told which part comes next, and its size.
	Part func(p Part, size int64)
}

// DamageError says where and why an append only file cannot be loaded.
type DamageError struct {
	File   string
	Offset int64 // where the command, the annotation or the line at fault begins
	Whole  int64 // the bytes before this one are whole commands and transactions
	Why    string

	// Truncated says that the file ends in the middle of a command or a transaction, that it is the last one, and that
	// nothing else is wrong with it. A server may cut it off at Whole (aof-load-truncated).
	Truncated bool

	// Torn says that the file ends like this, and that all files after it are empty: what a power cut leaves when a
	// rewrite has just begun. Redis does not load that. Nothing is lost that a file cut off at Whole does not lose.
	Torn bool
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s", e.File, e.Offset, e.Why)
}

// Load loads the parts of a manifest from their folder (aof.c: loadAppendOnlyFiles).
func (l *Loading) Load(from disk.FS, dir string, m *Manifest) error {
	parts := m.Parts()
	for i, p := range parts {
		err := l.file(from, filepath.Join(dir, p.Name), p)
		var damage *DamageError
		if errors.As(err, &damage) && damage.Truncated && i < len(parts)-1 {
			damage.Truncated, damage.Torn = false, areEmpty(from, dir, parts[i+1:])
			damage.Why += ", and it is not the last file"
		}
		if errors.Is(err, fs.ErrNotExist) {
			why := fmt.Sprintf("the manifest names %s and there is none: No such file or directory", p.Name)
			err = &DamageError{File: filepath.Join(dir, p.Name), Why: why}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func areEmpty(from disk.FS, dir string, parts []Part) bool {
	f := Folder{On: from, Path: dir}
	for _, p := range parts {
		if size, err := f.size(p.Name); err != nil || size > 0 {
			return false
		}
	}
	return true
}

// LoadFile loads the single file of versions before 7.0, or one part. The error is fs.ErrNotExist if there is none.
func (l *Loading) LoadFile(from disk.FS, path string) error {
	return l.file(from, path, Part{Name: filepath.Base(path), Type: Base})
}

func (l *Loading) file(from disk.FS, path string, p Part) error {
	f, err := from.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	l.Part(p, size)
	return l.Read(f, size, path)
}

// Read loads the content of a part. size is the number of bytes that it may read, path is for errors.
func (l *Loading) Read(from io.Reader, size int64, path string) error {
	r := newReader(l, from, size, path)
	isRDB, err := r.beginsWithRDB()
	if err == nil && isRDB {
		err = r.base()
	}
	if err != nil {
		return err
	}
	return r.records()
}
