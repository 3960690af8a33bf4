package main

import "runtime"

// makeRoom lets that many threads of the server run side by side, and one for the
// runtime's own work. A dedicated loop keeps its place while it waits, so that with
// fewer places than threads these would wait for each other.
func makeRoom(threads int) {
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), threads+1))
}
