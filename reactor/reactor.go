//go:build linux

// Package reactor is an event loop over epoll in the shape of Redis's ae.c: it
// knows file descriptors and time, and nothing of clients or commands.
//
// One goroutine owns a Loop and runs everything in it. Post is the only method
// another goroutine may call:
//
//	       the loop's goroutine                             any other
//	┌─> BeforeSleep ──> epoll_wait ──> AfterSleep ─┐        Post(fn)
//	│                                              v           │ queue + eventfd
//	└── timers <── handlers: read, write, posted functions <───┘
//
// The triggers are level triggered, as in Redis: a handler that leaves bytes in
// the socket is simply called again in the next pass, which gives every
// connection its turn without a queue of our own.
//
// What Redis does differently: the file event table holds a C function and its
// argument (ae.h: aeFileEvent), here that pair is a closure; and Go adds costs of
// its own, since a goroutine that blocks in a system call may lose its processor
// to another thread. So a loop that has the process for itself waits for a
// moment in a raw system call, which the runtime does not notice, and only when
// nothing happens in one that the runtime knows about: see Dedicated and
// yieldEvery.
//
// Left out is AE_BARRIER, by which a socket is written to before it is read from: it is for
// replies that must not leave before the append-only file is on disk.
package reactor

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mask is what a handler is called for.
type Mask uint8

// Readable and Writable are ae.h's AE_READABLE and AE_WRITABLE. HangUp is for a
// socket that nobody reads from at the moment, but whose end must not go unnoticed:
// the other side has stopped sending, whether or not bytes are left to be read.
const (
	Readable Mask = 1 << iota
	Writable
	HangUp
)

// fileEvent is what is registered for one descriptor (ae.h: aeFileEvent).
type fileEvent struct {
	mask                Mask
	read, write, hangUp func()
}

// Loop is one event loop (ae.h: aeEventLoop).
type Loop struct {
	epfd        int
	wakefd      int // eventfd that Post writes to
	files       []fileEvent
	fired       []unix.EpollEvent
	timers      Timers
	beforeSleep func() time.Duration
	afterSleep  func()
	clock       func() int64 // monotonic ns
	yielded     int64        // when the loop last let the runtime schedule
	busy        bool         // the last pass had events
	brief       time.Duration
	stopped     bool

	mu     sync.Mutex // guards these two alone
	posted []func()
	closed bool
}

// New makes a loop that tells the time by clock, in monotonic nanoseconds.
func New(clock func() int64) (*Loop, error) {
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	wakefd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(epfd)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	l := &Loop{
		epfd: epfd, wakefd: wakefd, clock: clock,
		fired:       make([]unix.EpollEvent, 1024),
		beforeSleep: func() time.Duration { return -1 },
		afterSleep:  func() {},
	}
	if err := l.Watch(wakefd, Readable, l.drainWake); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Close releases the loop's descriptors; the loop is not running any more.
func (l *Loop) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	_ = unix.Close(l.epfd)
	_ = unix.Close(l.wakefd)
}

// BeforeSleep sets the function that ends every pass, before the loop waits
// (server.c: beforeSleep). It returns how long the loop may sleep at most;
// negative for as long as nothing happens.
func (l *Loop) BeforeSleep(fn func() time.Duration) { l.beforeSleep = fn }

// AfterSleep sets the function that begins every pass, before the handlers.
func (l *Loop) AfterSleep(fn func()) { l.afterSleep = fn }

// Watch has handler called whenever fd is ready for mask, which is one of
// Readable, Writable and HangUp (ae.c: aeCreateFileEvent).
func (l *Loop) Watch(fd int, mask Mask, handler func()) error {
	return l.Rewatch(fd, 0, mask, handler)
}

// Rewatch is Watch that takes another mask back: one system call for both.
func (l *Loop) Rewatch(fd int, from, mask Mask, handler func()) error {
	for fd >= len(l.files) {
		l.files = append(l.files, fileEvent{})
	}
	f := &l.files[fd]
	if err := l.control(fd, f.mask, f.mask&^from|mask); err != nil {
		return err
	}
	f.forget(from)
	f.mask |= mask
	switch mask {
	case Readable:
		f.read = handler
	case Writable:
		f.write = handler
	default:
		f.hangUp = handler
	}
	return nil
}

// Watched is what fd is watched for.
func (l *Loop) Watched(fd int) Mask {
	if fd >= len(l.files) {
		return 0
	}
	return l.files[fd].mask
}

// Unwatch takes mask back (ae.c: aeDeleteFileEvent). What was not watched is no
// error.
func (l *Loop) Unwatch(fd int, mask Mask) {
	if fd >= len(l.files) {
		return
	}
	f := &l.files[fd]
	left := f.mask &^ mask
	if left == f.mask {
		return
	}
	_ = l.control(fd, f.mask, left) // fails only when fd is closed: then nothing is watched
	f.forget(mask)
}

func (f *fileEvent) forget(mask Mask) {
	f.mask &^= mask
	if mask&Readable != 0 {
		f.read = nil
	}
	if mask&Writable != 0 {
		f.write = nil
	}
	if mask&HangUp != 0 {
		f.hangUp = nil
	}
}

func (l *Loop) control(fd int, from, to Mask) error {
	op := unix.EPOLL_CTL_MOD
	switch {
	case from == to:
		return nil
	case from == 0:
		op = unix.EPOLL_CTL_ADD
	case to == 0:
		op = unix.EPOLL_CTL_DEL
	}
	ev := unix.EpollEvent{Fd: int32(fd)}
	if to&Readable != 0 {
		ev.Events |= unix.EPOLLIN
	}
	if to&Writable != 0 {
		ev.Events |= unix.EPOLLOUT
	}
	if to&HangUp != 0 {
		ev.Events |= unix.EPOLLRDHUP
	}
	if err := unix.EpollCtl(l.epfd, op, fd, &ev); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

// Post has fn run by the loop in its next pass, or never when the loop is closed.
// It may be called from any goroutine; one wake-up serves all functions posted
// before the loop awakes.
func (l *Loop) Post(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posted = append(l.posted, fn)
	if len(l.posted) == 1 && !l.closed {
		one := [8]byte{1}
		_, _ = unix.Write(l.wakefd, one[:]) // a full counter wakes the loop just as well
	}
}

func (l *Loop) drainWake() {
	var buf [8]byte
	_, _ = unix.Read(l.wakefd, buf[:])
	l.mu.Lock()
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, fn := range posted {
		fn()
	}
}

// Stop ends Run after the pass that is under way. From another goroutine: Post it.
func (l *Loop) Stop() { l.stopped = true }

// Run passes until Stop (ae.c: aeMain).
func (l *Loop) Run() error {
	for !l.stopped {
		if err := l.pass(); err != nil {
			return err
		}
	}
	return nil
}

// pass is one turn of the loop (ae.c: aeProcessEvents).
func (l *Loop) pass() error {
	n, err := l.wait(l.sleep(l.beforeSleep()))
	if err != nil {
		return err
	}
	l.afterSleep()
	l.busy = n > 0
	for i := range l.fired[:n] {
		l.handle(&l.fired[i])
	}
	now := l.clock()
	l.timers.Run(now)
	if now-l.yielded > int64(yieldEvery) {
		l.yielded = now
		runtime.Gosched()
	}
	return nil
}

// Interlude handles what is ready now, without waiting and without timers. It is for work
// in BeforeSleep that takes long and lets others have a turn (networking.c:
// processEventsWhileBlocked).
func (l *Loop) Interlude() error {
	n, err := l.poll(0)
	if err != nil {
		return err
	}
	for i := range l.fired[:n] {
		l.handle(&l.fired[i])
	}
	return nil
}

// Linger is an Interlude after a sleep of d, in which more may have become ready. The
// sleep is not known to the runtime: d is some microseconds.
func (l *Loop) Linger(d time.Duration) error {
	t := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0) // ends early by a signal: so be it
	return l.Interlude()
}

// Stopped tells whether the pass under way is the last.
func (l *Loop) Stopped() bool { return l.stopped }

// yieldEvery keeps the runtime's monitor quiet. It sees no scheduling in raw
// system calls, takes a busy loop for a goroutine that hogs its processor,
// interrupts it by a signal every 10 ms and then looks again every 20 us: two
// per cent of the processor. A loop that yields of itself is left alone.
const yieldEvery = 5 * time.Millisecond

// handle calls the handlers of one event. Reading comes first, so that a query
// can be answered right after it was taken. An earlier handler of this pass may
// have closed or changed the descriptor: what counts is the mask as it is now.
func (l *Loop) handle(ev *unix.EpollEvent) {
	fd, got := int(ev.Fd), ev.Events
	if got&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		got |= unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP // the handler learns of it by reading or writing
	}
	if got&unix.EPOLLIN != 0 && l.files[fd].mask&Readable != 0 {
		l.files[fd].read()
	}
	if got&unix.EPOLLOUT != 0 && l.files[fd].mask&Writable != 0 {
		l.files[fd].write()
	}
	if got&unix.EPOLLRDHUP != 0 && l.files[fd].mask&HangUp != 0 {
		l.files[fd].hangUp()
	}
}

// sleep is how long to wait: until the next timer, and no longer than limit.
func (l *Loop) sleep(limit time.Duration) time.Duration {
	if l.stopped {
		return 0
	}
	if at, ok := l.timers.Next(); ok {
		left := time.Duration(max(at-l.clock(), 0))
		if limit < 0 || left < limit {
			limit = left
		}
	}
	return limit
}

// wait waits for events (ae_epoll.c: aeApiPoll): in a dedicated process first in
// a way that the runtime does not notice, then in one that it knows about.
func (l *Loop) wait(d time.Duration) (int, error) {
	if l.busy {
		brief := l.brief
		if d >= 0 {
			brief = min(brief, d)
		}
		n, err := l.poll(milliseconds(brief))
		if n != 0 || d == brief || err != nil {
			return n, err
		}
		d = max(d-brief, -1)
	}
	n, err := unix.EpollWait(l.epfd, l.fired, milliseconds(d))
	if errors.Is(err, unix.EINTR) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("epoll_wait: %w", err)
	}
	return n, nil
}

// Dedicated tells the loop that the process is there for it: no other goroutine
// waits for a processor. A loop under load then blocks without telling the
// runtime. The next request comes within a moment, and leaving the processor to
// the runtime and getting it back would cost more than the request: the runtime's
// monitor takes it away after 20 us, another thread continues, and the monitor
// itself runs every 20 us, which together were a tenth of the processor at
// pipeline 1. A loop that had nothing to do for that long is idle and blocks in
// the ordinary way. The collector never waits: its signal interrupts the call.
func (l *Loop) Dedicated() { l.brief = briefWait }

// briefWait is longer than the kernel's clock tick: a timer that is due earlier
// has to be set in hardware, which on a virtual machine costs microseconds.
const briefWait = 20 * time.Millisecond

// milliseconds rounds up, so as never to wake before a deadline; -1 is for ever.
func milliseconds(d time.Duration) int {
	if d < 0 {
		return -1
	}
	return int((d + time.Millisecond - 1) / time.Millisecond)
}
