package main

import "runtime"

// makeRoom lets that many threads of the server run side by side, and one for the
// runtime's own work. A dedicated loop keeps its place while it waits, so that with
// fewer places than threads these would wait for each other.
//
// The goroutine that executes stays on its thread from now on, as the others do on
// theirs: what each of them costs can be seen from outside (top -H).
func makeRoom(threads int) {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), threads+1))
}
