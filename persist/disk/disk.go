// Package disk is what durable files need of a file system, twice: [System] is the system's files, and [Sim]
// is a disk in memory that loses, tears and refuses writes under a seed.
//
//	persist/rdb ──> FS ──> System   open, fsync, rename, flock
//	                  └──> Sim      a page cache, and what of it a crash leaves
//
// A file is written under a new name, fsynced, and renamed to its real name. Then its folder is fsynced. Any
// crash leaves the old file or the new one. Both implementations make each of these steps an operation that can
// fail by itself.
//
// Any goroutine may use an FS. An open file belongs to one at a time.
package disk

import "io"

// FS is a file system.
type FS interface {
	// Open opens a regular file to read it. It waits for nothing: a FIFO is refused.
	Open(name string) (File, error)

	// Create makes a new file that only its owner may read. It fails if the name is taken, by a link too.
	Create(name string) (File, error)

	// Append opens a regular file to write at its end. No link is followed.
	Append(name string) (File, error)

	// Truncate makes a file shorter. It and what it leaves are durable then. No link is followed.
	Truncate(name string, size int64) error

	// Rename gives a file another name, over what has that name. If that is a link, the link goes away.
	Rename(from, to string) error

	// Remove removes a name. If it is that of a link, the link goes away.
	Remove(name string) error

	// Mkdir makes a folder that only its owner may enter, unless there is one.
	Mkdir(name string) error

	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error

	// Lock reserves a folder for the caller until Release. It fails with ErrLocked if another one has it. No
	// other operation looks at locks.
	Lock(dir string) (Lock, error)
}

// Lock is a folder that its caller has for itself.
type Lock struct {
	Release func()
	IsHere  func() bool // the folder at the path is still that folder: nobody has removed or renamed it
}

// File is an open file. One that Open returned is read, one that Create or Append returned is written.
type File interface {
	io.ReadWriteCloser

	// Size is the number of bytes in the file.
	Size() (int64, error)

	// Sync makes the bytes of the file durable, but not its name. After a Sync that failed, the bytes are lost
	// although they can still be read (the page cache is clean).
	Sync() error
}

// ErrLocked says that another process, or another server of this one, uses a folder.
const ErrLocked Error = "another server uses it"

// Error is an error of this package.
type Error string

func (e Error) Error() string { return string(e) }
