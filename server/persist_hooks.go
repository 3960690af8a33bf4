package server

import (
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/rdb"
)

// FileHooks let somebody decide how long the disk takes, and see what a pass does to the append only file. nil leaves
// what a plain server does: the zero hooks are a plain server.
type FileHooks struct {
	Pace     func(w *aof.Writer)                                      // prepares a new Writer
	EndSync  func()                                                   // ends the fsync that is under way
	Beside   func(job func())                                         // does what a goroutine would do in the background
	IsBehind func() bool                                              // something of the disk waits for the next pass
	Appended func(before, after aof.State, failed error, began int64) // while the trace records details
}

// slowDisk reports whether somebody decides how long the disk takes.
func (h *FileHooks) slowDisk() bool { return h.Beside != nil }

// end ends the fsync that is under way, where the next call would wait for it.
func (h *FileHooks) end() {
	if h.EndSync != nil {
		h.EndSync()
	}
}

// historyHooks are what the files have to do with the history of the keys, which a master shares with its replicas.
// plainHistory has those of a server that has none.
type historyHooks struct {
	place   func() *rdb.Replication                  // of the keys in the history; nil for none
	restore func(from rdb.Replication) (goesOn bool) // goes on from the place that a file names, at the start
	offset  func() int64                             // bytes of the history
	fsynced func()                                   // more is on the disk, or nothing more will be

	// Of the end of the server.
	haveAll func() bool // all replicas have everything
	ask     func()      // asks them for what they have
	logLag  func()      // says in the log what they lack
}

func plainHistory() historyHooks {
	return historyHooks{
		place: func() *rdb.Replication { return nil }, restore: func(rdb.Replication) bool { return false },
		offset: func() int64 { return 0 }, fsynced: func() {},
		haveAll: func() bool { return true }, ask: func() {}, logLag: func() {},
	}
}
