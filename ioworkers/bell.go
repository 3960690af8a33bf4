package ioworkers

import "sync/atomic"

// bell lets one thread wait until another thread rings. A ring that comes before the wait is not
// lost: the wait takes it and returns at once. All that the ringing thread wrote before the ring is
// visible to the waiting thread after the wait.
//
//	ringing thread               state                waiting thread
//	 │                           quiet                 │ wait: a few looks at the state
//	 │                           sleeping <─────────── │ futex(WAIT): the kernel puts it to sleep
//	 │ ring: Swap ─────────────> rung                  .
//	 │ futex(WAKE) ──────────────────────────────────> │ awake
//	 │                           quiet <────────────── │ takes the ring
//
// A waiting thread uses no processor. A ring is a system call only if the other thread sleeps.
//
// Go's own way to wait is a channel. BenchmarkRoundTrip compares both, on two cores and with both
// sides locked to operating-system threads. Main wakes a thread and waits until the thread wakes
// main. The last column is for sides that compute 50 µs each before they ring: it is the processor
// time of a round trip without those 100 µs.
//
//	| way to wait                     | round trip | processor time beside work |
//	|---------------------------------|------------|----------------------------|
//	| channel                         | 30 µs      | 57 µs                      |
//	| futex                           | 5 µs       | 15 µs                      |
//	| futex, hidden: see sleepBriefly | 5 µs       | 6 µs                       |
//
// The first column is the median of ten runs. The second is the lowest of ten, because other load on
// the machine adds to it.
type bell struct {
	sleeper // of systems without futex
	state   atomic.Uint32
}

const (
	quiet    = iota // nobody has rung, and nobody sleeps
	rung            // the next wait returns at once
	sleeping        // a thread sleeps in the kernel until the bell rings
)

// looks is how often wait reads the state before it sleeps. A ring that is on its way then costs no
// system call on either side.
const looks = 200

func (b *bell) ring() {
	if b.state.Swap(rung) == sleeping {
		b.wake()
	}
}

// wait returns when the bell has rung. With dedicated, the thread has a processor of its own, and
// its first sleep is hidden from Go's scheduler: see sleepBriefly.
func (b *bell) wait(dedicated bool) {
	for range looks {
		if b.state.Load() == rung {
			break
		}
	}
	for !b.state.CompareAndSwap(rung, quiet) {
		if !b.state.CompareAndSwap(quiet, sleeping) && b.state.Load() != sleeping {
			continue
		}
		if !dedicated || b.sleepBriefly() {
			b.sleep()
		}
	}
}
