package main

import "runtime"

// stayOnFirstThread has the goroutine that will execute commands keep the thread that
// the process began with, which tools show as the process itself (top -H). It has to
// be called before anything could have moved it.
func stayOnFirstThread() { runtime.LockOSThread() }

// makeRoom is called once the number of threads is known. That many are to run side by
// side, and one for the runtime's own work: a dedicated loop keeps its place while it
// waits, so that with fewer places than threads these would wait for each other.
// Without threads, the goroutine need not stay where it is, which costs something
// whenever the runtime has others to run.
func makeRoom(threads int) {
	if threads == 1 {
		runtime.UnlockOSThread()
		return
	}
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), threads+1))
}
