package ioworkers

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file holds the system calls that this package hides from Go's scheduler, and the reason
// for each. Skip it on a first reading: the threads work the same without it, only slower.
//
// The scheduler watches a goroutine that blocks in an ordinary system call (unix.Syscall). After
// 20 µs its monitor thread takes the processor away from the goroutine and starts another thread.
// When the call returns, the goroutine has to wait for a processor again. A raw system call
// (unix.RawSyscall) is invisible to the monitor.

// read is read(2). The sockets are non-blocking, so the call never waits and the scheduler need not
// know of it. The raw call saves a tenth of the cost of a small request.
func read(fd int, p []byte) (int, unix.Errno) { return rawIO(unix.SYS_READ, fd, p) }

// write is write(2), raw for the same reason.
func write(fd int, p []byte) (int, unix.Errno) { return rawIO(unix.SYS_WRITE, fd, p) }

// writev is writev(2), raw for the same reason. There are at most maxPieces, and none of them is empty.
func writev(fd int, pieces [][]byte) (int, unix.Errno) {
	var all [maxPieces]unix.Iovec
	for i, p := range pieces {
		all[i].Base = &p[0]
		all[i].SetLen(len(p))
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&all)), uintptr(len(pieces)))
	return int(n), errno
}

func rawIO(call uintptr, fd int, p []byte) (int, unix.Errno) {
	first := unsafe.Pointer(unsafe.SliceData(p))
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(first), uintptr(len(p)))
	return int(n), errno
}

// The operations of futex(2) on a word that only this process uses.
const (
	futexPrivate = 128
	futexWait    = 0 | futexPrivate
	futexWake    = 1 | futexPrivate
)

// sleeper is empty: the kernel's futex needs no more than the state.
type sleeper struct{}

// sleep blocks until another thread calls wake. It returns at once if the state is not sleeping,
// and may return without a wake. The scheduler knows of the call, because it may last long.
func (b *bell) sleep() {
	word := uintptr(unsafe.Pointer(&b.state))
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, word, futexWait, sleeping, 0, 0, 0)
}

// sleepBriefly is sleep for at most longestNap, hidden from the scheduler. It reports whether the
// time ran out. Only a thread with a processor to spare may call it: the processor stays occupied.
//
// Hidden, a thread that works 50 µs and sleeps 50 µs costs 9 µs less processor time in each round:
// see the table at bell. reactor.Loop hides its short waits for the same reason.
func (b *bell) sleepBriefly() (timedOut bool) {
	word := uintptr(unsafe.Pointer(&b.state))
	limit := unix.Timespec{Nsec: longestNap}
	_, _, errno := unix.RawSyscall6(unix.SYS_FUTEX, word, futexWait, sleeping, uintptr(unsafe.Pointer(&limit)), 0, 0)
	return errno == unix.ETIMEDOUT
}

// longestNap is in nanoseconds. It is longer than the pauses between two passes under load, and
// short enough that an idle thread gives its processor back soon.
const longestNap = 20e6

// wake ends the sleep of one thread. It never blocks.
func (b *bell) wake() {
	word := uintptr(unsafe.Pointer(&b.state))
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, word, futexWake, 1, 0, 0, 0)
}

// preciseTimers sets the timer slack of the calling thread to 1 ns, or back to its default of 50 µs.
// With slack the kernel may wake a thread 50 µs late, together with others. A pass that gathers
// clients waits only 50 µs, so the slack would double that wait.
func preciseTimers(on bool) {
	slack := uintptr(0) // the default
	if on {
		slack = 1
	}
	_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, slack, 0)
}

// nameThread names the calling thread. It returns a function that gives the thread its old name.
func nameThread(name string) (undo func()) {
	var before, after [16]byte
	copy(after[:], name)
	threadName(unix.PR_GET_NAME, &before)
	threadName(unix.PR_SET_NAME, &after)
	return func() { threadName(unix.PR_SET_NAME, &before) }
}

// threadName gets or sets the name of the calling thread, by prctl(2). The call fails only for a
// bad pointer.
func threadName(op int, name *[16]byte) {
	_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, uintptr(op), uintptr(unsafe.Pointer(name)), 0)
}
