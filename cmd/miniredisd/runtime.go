package main

import "runtime"

// This file holds what the program does for Go's scheduler. ioworkers and reactor have such a file
// as well.

// stayOnFirstThread locks main's goroutine to the first thread of the process. Tools such as top -H
// show that thread under the name of the process, so the thread that executes commands is easy to
// find. Go may move a goroutine at any time: main calls this first.
func stayOnFirstThread() { runtime.LockOSThread() }

// makeRoom prepares the scheduler for a known number of threads, main included.
//
// A dedicated thread keeps its processor (a P of Go's scheduler) while it sleeps. With fewer
// processors than threads, a thread would wait for the end of another's sleep, up to 20 ms
// (ioworkers: longestNap). So there is one processor for each thread, and one for the runtime's
// own work.
//
// Without I/O threads the lock of stayOnFirstThread is undone. A hand-over between
// a locked goroutine and another one takes 10 µs instead of 0.2 µs, because it switches threads. The
// handshakes of TLS run in goroutines, and must not wait for the end of main's sleep either.
func makeRoom(threads int, handshakes bool) {
	if threads == 1 {
		runtime.UnlockOSThread()
	}
	if threads > 1 || handshakes {
		runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), threads+1))
	}
}
