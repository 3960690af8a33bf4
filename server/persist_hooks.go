package server

import "github.com/miniredisd/miniredisd/persist/aof"

// fileHooks let somebody decide how long the disk takes, and see what a pass does to the append only file. nil leaves
// what a plain server does: the zero hooks are a plain server.
type fileHooks struct {
	pace     func(w *aof.Writer)                                      // prepares a new Writer
	endSync  func()                                                   // ends the fsync that is under way
	beside   func(job func())                                         // does what a goroutine would do in the background
	isBehind func() bool                                              // something of the disk waits for the next pass
	appended func(before, after aof.State, failed error, began int64) // while the trace records details
}

// slowDisk reports whether somebody decides how long the disk takes.
func (h *fileHooks) slowDisk() bool { return h.beside != nil }

// end ends the fsync that is under way, where the next call would wait for it.
func (h *fileHooks) end() {
	if h.endSync != nil {
		h.endSync()
	}
}
