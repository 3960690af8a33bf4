package ioworkers

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bell has one thread wait until another one rings. A ring before the wait is not
// lost; the wait ends at once and takes it. Whatever the ringer has written before
// is there for the one that was waiting.
//
// Waiting is a few looks at the state and then the kernel's: a thread that waits
// costs nothing. Ringing is a system call only if somebody sleeps.
type bell struct{ state atomic.Uint32 }

const (
	quiet = iota
	rung
	slept // somebody sleeps until it rings
)

const looks = 200

func (b *bell) ring() {
	if b.state.Swap(rung) == slept {
		b.wake()
	}
}

// wait returns when it has rung. A dedicated thread sleeps for a moment without telling
// the runtime, as reactor.Loop does and for the same reason: each time its monitor finds
// a thread that sleeps, it takes the processor back and looks every 20 us for more.
func (b *bell) wait(dedicated bool) {
	for range looks {
		if b.state.Load() == rung {
			break
		}
	}
	for !b.state.CompareAndSwap(rung, quiet) {
		if !b.state.CompareAndSwap(quiet, slept) && b.state.Load() != slept {
			continue
		}
		if !dedicated || b.nap() == unix.ETIMEDOUT {
			b.sleep()
		}
	}
}

// The operations of futex(2), for a word that no other process sees.
const (
	futexWait = 0 | futexPrivate
	futexWake = 1 | futexPrivate

	futexPrivate = 128
)

// sleep returns when somebody wakes, when the state is not slept, and sometimes for
// nothing. The runtime is told, as it may take long.
func (b *bell) sleep() {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.state)), futexWait, slept, 0, 0, 0)
}

// nap is sleep for at most napTime, and the runtime is not told.
func (b *bell) nap() unix.Errno {
	most := unix.Timespec{Nsec: napTime}
	_, _, errno := unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.state)), futexWait, slept, uintptr(unsafe.Pointer(&most)), 0, 0)
	return errno
}

const napTime = 20e6 // ns

func (b *bell) wake() {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.state)), futexWake, 1, 0, 0, 0)
}
