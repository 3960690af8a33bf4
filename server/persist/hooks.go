package persist

import (
	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/rdb"
)

// Hooks let somebody decide how long the disk takes, and see what a pass does to the append only file. nil leaves
// what a plain server does: the zero hooks are a plain server.
type Hooks struct {
	Pace     func(w *aof.Writer)                                      // prepares a new Writer
	EndSync  func()                                                   // ends the fsync that is under way
	Beside   func(job func())                                         // does what a goroutine would do in the background
	IsBehind func() bool                                              // something of the disk waits for the next pass
	Appended func(before, after aof.State, failed error, began int64) // while the trace records details
}

// slowDisk reports whether somebody decides how long the disk takes.
func (h *Hooks) slowDisk() bool { return h.Beside != nil }

// end ends the fsync that is under way, where the next call would wait for it.
func (h *Hooks) end() {
	if h.EndSync != nil {
		h.EndSync()
	}
}

// HistoryHooks are what the files have to do with the history of the keys, which a master shares with its replicas.
// plainHistory has those of a server that has none.
type HistoryHooks struct {
	Place   func() *rdb.Replication                  // of the keys in the history; nil for none
	Restore func(from rdb.Replication) (goesOn bool) // continues from the place that a file names, at the start
	Offset  func() int64                             // bytes of the history
	Fsynced func()                                   // more is on the disk, or nothing more will be

	// Of the end of the server.
	HaveAll func() bool // all replicas have everything
	Ask     func()      // asks them for what they have
	LogLag  func()      // says in the log what they lack
}

func plainHistory() HistoryHooks {
	return HistoryHooks{
		Place: func() *rdb.Replication { return nil }, Restore: func(rdb.Replication) bool { return false },
		Offset: func() int64 { return 0 }, Fsynced: func() {},
		HaveAll: func() bool { return true }, Ask: func() {}, LogLag: func() {},
	}
}
