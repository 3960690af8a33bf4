package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
)

// offer says what can be kept of a damaged file, and with fix writes it to a copy.
func (c *check) offer(why error, fix bool) error {
	var damage *aof.DamageError
	if !errors.As(why, &damage) {
		fmt.Fprintln(c.out, "An RDB file cannot be cut: without its end no server loads it.")
		return nil
	}
	if c.part == nil || damage.File != c.part.path || damage.File != c.last {
		fmt.Fprintln(c.out, "Only the last file of commands can be cut: what follows the others builds on them.")
		return nil
	}
	fmt.Fprintf(c.out, "The first %d of %d bytes are whole commands and transactions.\n", damage.Whole, c.part.size)
	if !fix {
		fmt.Fprintln(c.out, "--fix writes them to a copy.")
		return nil
	}
	fixed := damage.File + ".fixed"
	if err := copyBeginning(c.disk, damage.File, fixed, damage.Whole); err != nil {
		return fmt.Errorf("the copy cannot be written: %w", err)
	}
	fmt.Fprintf(c.out, "copy: %s, without the last %d bytes.\n", visible(fixed), c.part.size-damage.Whole)
	fmt.Fprintln(c.out, "Stop the server before the copy takes the name of the file.")
	return nil
}

// copyBeginning copies the first n bytes of a file to a new one, which is durable when it returns nil.
func copyBeginning(on disk.FS, path, to string, n int64) error {
	from, err := on.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := on.Create(to)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, from, n)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = on.SyncDir(filepath.Dir(to))
	}
	if err != nil {
		_ = on.Remove(to)
	}
	return err
}
