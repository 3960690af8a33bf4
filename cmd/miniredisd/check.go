package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
)

// The exit codes of the subcommand check.
const (
	exitWhole   = 0
	exitDamaged = 1
	exitNoFile  = 2 // wrong arguments, there is no such file, or the copy cannot be written
)

const checkUsage = "" +
	"FILE is an RDB file, an append only file, or a manifest. DIR is an appendonlydir, or the folder of\n" +
	"a server. Then its RDB files and append only files are checked one after another.\n" +
	"--fix writes to a copy, FILE.fixed, what is whole of a damaged append only file. No file is changed.\n" +
	"Exit codes: 0 whole, 1 damaged, 2 no file, wrong arguments, or the copy cannot be written.\n"

// checkFile is the subcommand check: it says what files of Redis have, and where they are damaged.
func checkFile(args []string, out, errs io.Writer) (code int) {
	path, fix, err := checkArguments(args)
	var files []string
	if err == nil {
		files, err = filesAt(path)
	}
	if err != nil {
		fmt.Fprintln(errs, "check:", visible(err.Error()))
		return exitNoFile
	}
	for _, file := range files {
		code = max(code, checkOne(file, fix, out, errs))
	}
	return code
}

// checkOne checks a file, or the files that a manifest names.
func checkOne(path string, fix bool, out, errs io.Writer) (code int) {
	c := &check{out: out, now: time.Now()}
	err := c.look(path)
	c.flush()
	switch {
	case err == nil:
		fmt.Fprintln(out, "whole")
		return exitWhole
	case !isDamage(err):
		fmt.Fprintln(errs, "check:", visible(err.Error()))
		return exitNoFile
	}
	fmt.Fprintf(out, "damaged: %s\n", visible(err.Error()))
	if err := c.offer(err, fix); err != nil {
		fmt.Fprintln(errs, "check:", visible(err.Error()))
		return exitNoFile
	}
	return exitDamaged
}

func checkArguments(args []string) (path string, fix bool, err error) {
	var paths []string
	for _, arg := range args {
		switch {
		case arg == "--fix":
			fix = true
		case strings.HasPrefix(arg, "-"):
			return "", false, fmt.Errorf("there is no option %s: the only one is --fix", arg)
		default:
			paths = append(paths, arg)
		}
	}
	if len(paths) != 1 {
		return "", false, errors.New("name one RDB file, append only file, or folder of a server")
	}
	return paths[0], fix, nil
}

func isDamage(err error) bool {
	return errors.As(err, new(*aof.DamageError)) || errors.As(err, new(*rdb.DamageError))
}

// check reads a file or a folder once, and writes a report of each part.
type check struct {
	out   io.Writer
	disk  disk.System
	now   time.Time
	dir   string      // of the parts
	last  string      // the path of the last part
	parts bool        // a manifest names them
	part  *partReport // the part that was opened last, nil for none
}

// look reads a file. What kind of a file it is, its name says or its first bytes.
func (c *check) look(path string) error {
	c.dir, c.last = filepath.Dir(path), path
	switch filepath.Ext(path) {
	case ".manifest":
		return c.manifest(path)
	case ".rdb":
		return c.rdbFile(path)
	}
	return c.loading().LoadFile(c.disk, path)
}

// filesAt returns what is to be checked at a path: the file, the manifest of an appendonlydir, or all that a server has
// in its folder.
func filesAt(path string) ([]string, error) {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	files, err := filesIn(path)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no RDB file, no append only file and no appendonlydir", path)
	}
	return files, err
}

// filesIn returns the manifest of an appendonlydir, or all that a server has in its folder.
func filesIn(dir string) (files []string, err error) {
	manifests, err := named(dir, ".manifest")
	switch {
	case err != nil || len(manifests) == 1:
		return manifests, err
	case len(manifests) > 1:
		return nil, fmt.Errorf("%s has several manifests: name one of them", dir)
	}
	if files, err = named(dir, ".rdb", ".aof"); err != nil {
		return nil, err
	}
	all, err := os.ReadDir(dir)
	for _, f := range all {
		if f.IsDir() {
			inner, _ := named(filepath.Join(dir, f.Name()), ".manifest") // another folder may be closed to us
			files = append(files, inner...)
		}
	}
	return files, err
}

// named returns the files of a folder with one of the endings, but not what a server that was killed has left.
func named(dir string, endings ...string) (paths []string, err error) {
	all, err := os.ReadDir(dir)
	for _, f := range all {
		if !f.IsDir() && slices.Contains(endings, filepath.Ext(f.Name())) && !strings.HasPrefix(f.Name(), "temp-") {
			paths = append(paths, filepath.Join(dir, f.Name()))
		}
	}
	return paths, err
}

func (c *check) manifest(path string) error {
	m, err := aof.ReadManifest(c.disk, path)
	if err != nil {
		return err
	}
	parts := m.Parts()
	fmt.Fprintf(c.out, "%s: manifest of %d files\n", visible(path), len(parts))
	for _, p := range m.History {
		fmt.Fprintf(c.out, "  %-14shistory, which no server loads\n", visible(p.Name))
	}
	c.parts = true
	if len(parts) > 0 {
		c.last = filepath.Join(c.dir, parts[len(parts)-1].Name)
	}
	return c.loading().Load(c.disk, c.dir, m)
}

// rdbFile reads a file as RDB, whatever its first bytes are.
func (c *check) rdbFile(path string) error {
	f, err := c.disk.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	c.begin(aof.Part{Name: filepath.Base(path), Type: aof.Base}, size)
	_, _, err = c.base(f, size, path)
	return err
}

func (c *check) loading() *aof.Loading {
	return &aof.Loading{
		Base: c.base, Part: c.begin,
		Command: func(argv [][]byte) error { c.part.command(argv); return nil },
		Stamp:   func(unix int64) { c.part.stamp(unix) },
	}
}

// begin writes the report of one part and begins that of the next.
func (c *check) begin(p aof.Part, size int64) {
	c.flush()
	c.part = &partReport{path: filepath.Join(c.dir, p.Name), size: size, names: map[string]int64{}}
}

func (c *check) flush() {
	if c.part != nil {
		c.part.print(c.out)
	}
}

// base reads the RDB file at the beginning of a part. A single append only file says in an auxiliary field that it is
// one. What stands after any other RDB file no server reads.
func (c *check) base(from io.Reader, size int64, path string) (int64, io.Reader, error) {
	s := &rdb.Survey{Now: c.now.UnixMilli()}
	c.part.rdb = s
	err := s.Read(from, size, path)
	if err == nil && !c.parts && !beginsAOF(s) {
		c.part.behind = size - s.Bytes
		return size, s.Rest, nil
	}
	return s.Bytes, s.Rest, err
}

// beginsAOF reports whether a file is the preamble of an append only file (rdb.c: rdbSaveInfoAuxFields). The name of
// the field was another one before 7.0.
func beginsAOF(s *rdb.Survey) bool {
	return slices.Contains(s.Aux, [2]string{"aof-base", "1"}) || slices.Contains(s.Aux, [2]string{"aof-preamble", "1"})
}
