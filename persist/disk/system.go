package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// System is the system's files.
type System struct{}

type systemFile struct{ *os.File }

// Open follows links: the folder of a container often has nothing else.
func (System) Open(name string) (File, error) { return regular(name, os.O_RDONLY) }

func (System) Append(name string) (File, error) {
	return regular(name, os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW)
}

// regular opens a file, and waits for nothing.
func regular(name string, flags int) (File, error) {
	f, err := os.OpenFile(name, flags|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: Error("not a regular file")}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return systemFile{f}, nil
}

// Create says more than O_EXCL, which already refuses links, so that a reader need not know that.
func (System) Create(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	return systemFile{f}, nil
}

func (System) Truncate(name string, size int64) error {
	f, err := os.OpenFile(name, os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (f systemFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (System) Rename(from, to string) error { return os.Rename(from, to) }

func (System) Remove(name string) error { return os.Remove(name) }

func (System) Mkdir(name string) error {
	if err := os.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// SyncDir takes a file system that cannot fsync a folder for one that need not (aof.c: fsyncFileDir).
func (System) SyncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	err = dir.Sync()
	_ = dir.Close()
	if errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// Lock locks the folder itself, so it leaves no file behind. The kernel unlocks it when the process ends. A file
// system without locks for folders, as of another machine, keeps nobody out.
func (System) Lock(dir string) (Lock, error) {
	f, err := os.Open(dir)
	if err != nil {
		return Lock{}, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		_ = f.Close()
		return Lock{}, &fs.PathError{Op: "lock", Path: dir, Err: ErrLocked}
	}
	isHere := func() bool {
		locked, err := f.Stat()
		if err != nil {
			return false
		}
		there, err := os.Stat(dir)
		return err == nil && os.SameFile(locked, there)
	}
	unlock := func() {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // a program that is being started may still have the descriptor
		_ = f.Close()
	}
	return Lock{unlock, isHere}, nil
}
