package reactor

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file holds what the loop does for Go's scheduler, and the reason for each. Skip it on a first
// reading: the loop works the same without it, only slower.
//
// The scheduler's monitor thread watches goroutines that block in an ordinary system call. After
// 20 µs it takes the processor away from the goroutine and gives it to another thread. When the call
// returns, the goroutine has to wait for a processor again. A raw system call is invisible to the
// monitor.

// Dedicated means that the process serves this loop only, so that no other goroutine waits for a
// processor. Under load the loop then waits in a raw system call. The next request comes within a
// moment. Giving the processor away and getting it back would cost more than the request. At
// pipeline 1, that and the monitor's own work took a tenth of the processor.
//
// A loop without events for hiddenWait is idle and waits in an ordinary system call. The garbage
// collector is not held up: its signal interrupts the raw call.
func (l *Loop) Dedicated() { l.hiddenWait = hiddenWait }

// hiddenWait is longer than the kernel's clock tick. For a shorter wait the kernel would set a timer
// in hardware, which costs microseconds on a virtual machine.
const hiddenWait = 20 * time.Millisecond

// hiddenSleep sleeps for d, hidden from the scheduler. A signal ends it early.
func hiddenSleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// yield lets the scheduler run other goroutines, once in yieldEvery. now is the loop's time.
func (l *Loop) yield(now int64) {
	if now-l.yielded > int64(yieldEvery) {
		l.yielded = now
		runtime.Gosched()
	}
}

// yieldEvery is shorter than the monitor's patience of 10 ms. A busy loop never blocks in a way that
// the monitor can see. So the monitor would interrupt the loop by a signal every 10 ms, and then look
// again every 20 µs. That took 2 % of the processor. The monitor leaves a loop alone that yields by
// itself.
const yieldEvery = 5 * time.Millisecond
