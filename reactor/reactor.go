// Package reactor is an event loop in the shape of Redis's ae.c. It waits by epoll, or by poll, select or
// io_uring on request; macOS has neither epoll nor io_uring. It knows file descriptors and time. It knows nothing of
// clients or commands.
//
// One goroutine owns a Loop and runs every handler and timer. Post is the only method that another
// goroutine may call:
//
//	       the loop's goroutine                             any other goroutine
//	┌─> BeforeSleep ──> epoll_wait ──> AfterSleep ─┐        Post(fn)
//	│                                              v           │ queue + eventfd
//	└── timers <── handlers: read, write, posted functions <───┘
//
// One turn is a pass: [Loop.Run] makes passes until [Loop.Stop].
//
// Events are level triggered, as in Redis. If a handler leaves bytes in the socket, the next pass
// calls it again. So every connection gets its turn, and the loop needs no queue of its own.
//
// What Redis does differently:
//
//   - A handler is a C function and an argument (ae.h: aeFileEvent). Here it is a closure.
//   - Timers are an unsorted list (ae.c: usUntilEarliestTimer). Here they are a heap.
//   - AE_BARRIER keeps a socket from being written in the pass that has read it, so that no reply
//     leaves before the append only file is on disk. A read handler of the server executes nothing:
//     BeforeSleep executes, syncs the file, and then writes. So no barrier is needed.
//
// Go's scheduler adds costs that a C program does not have. runtime_linux.go has what this package
// does about them. Skip that file on a first reading.
package reactor

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Mask is a set of events of a descriptor.
type Mask uint8

// Readable and Writable are ae.h's AE_READABLE and AE_WRITABLE. HangUp means that the other side has
// stopped sending, even if bytes are left to read. It is for sockets that the server does not read at
// the moment.
const (
	Readable Mask = 1 << iota
	Writable
	HangUp
)

// fileEvent holds the handlers of one descriptor (ae.h: aeFileEvent).
type fileEvent struct {
	mask                Mask
	read, write, hangUp func()
}

// Loop is one event loop (ae.h: aeEventLoop).
type Loop struct {
	api         multiplexer
	bubble      *Bubble // api, in a bubble of testing/synctest; else nil
	wake        wake    // Post writes to it
	files       []fileEvent
	fired       []ready
	timers      Timers
	beforeSleep func() time.Duration
	afterSleep  func()
	foundMore   func()                     // see FoundMore
	atEnd       func()                     // see AtEnd
	observer    func(i, fd int, mask Mask) // see Observe; nil for none
	clock       func() int64               // monotonic ns
	busy        bool                       // the last pass had events
	bound       bool                       // Run stays on one thread of the kernel, which brings it results
	stopped     bool

	hiddenWait time.Duration // see Dedicated
	yielded    int64         // when the loop last yielded to Go's scheduler

	mu     sync.Mutex // guards posted and closed
	posted []func()
	closed bool
}

// New makes a loop that waits by epoll, poll, select or io_uring. clock returns monotonic nanoseconds. An
// error means that the process has no descriptors left, that the multiplexer is unknown, or that the system
// forbids it.
func New(multiplexer string, clock func() int64) (*Loop, error) {
	api, err := newMultiplexer(multiplexer)
	if err != nil {
		return nil, err
	}
	wake, err := newWake()
	if err != nil {
		api.close()
		return nil, err
	}
	l := &Loop{
		api: api, wake: wake, clock: clock, bound: multiplexer == "io_uring",
		beforeSleep: func() time.Duration { return -1 },
		afterSleep:  func() {},
		foundMore:   func() {},
		atEnd:       func() {},
	}
	if err := l.Watch(wake.in, Readable, l.drainWake); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Close releases the loop's descriptors. Run must have returned.
func (l *Loop) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.api.close()
	l.wake.close()
}

// BeforeSleep sets the function that runs before the loop waits (server.c: beforeSleep). The function
// returns how long the loop may sleep at most. A negative duration sets no limit.
func (l *Loop) BeforeSleep(fn func() time.Duration) { l.beforeSleep = fn }

// Observe calls fn before the handlers of each event: i is its place in the array that the wait has filled,
// and mask has the events that a handler waits for.
func (l *Loop) Observe(fn func(i, fd int, mask Mask)) { l.observer = fn }

// Looked returns how many descriptors the last wait has looked at: those that were ready, or all.
func (l *Loop) Looked() int { return l.api.looked(len(l.fired)) }

// Fired calls fn for each event that the last wait has found. AfterSleep and handlers may call it.
func (l *Loop) Fired(fn func(fd int, mask Mask)) {
	for _, r := range l.fired {
		fn(r.fd, r.mask&l.files[r.fd].mask)
	}
}

// AfterSleep sets the function that runs after the wait, before the handlers (server.c: afterSleep).
func (l *Loop) AfterSleep(fn func()) { l.afterSleep = fn }

// FoundMore sets the function that runs when HandleReady has asked the kernel, before the handlers.
func (l *Loop) FoundMore(fn func()) { l.foundMore = fn }

// AtEnd sets the function that runs when the last pass is over, on the thread of the passes.
func (l *Loop) AtEnd(fn func()) { l.atEnd = fn }

// Watch calls handler whenever fd is ready for mask (ae.c: aeCreateFileEvent). mask is one of
// Readable, Writable and HangUp.
func (l *Loop) Watch(fd int, mask Mask, handler func()) error {
	return l.Rewatch(fd, 0, mask, handler)
}

// Rewatch stops watching fd for from and watches it for mask, in one system call.
func (l *Loop) Rewatch(fd int, from, mask Mask, handler func()) error {
	for fd >= len(l.files) {
		l.files = append(l.files, fileEvent{})
	}
	f := &l.files[fd]
	if err := l.api.control(fd, f.mask, f.mask&^from|mask); err != nil {
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

// Watched returns the events that fd is watched for.
func (l *Loop) Watched(fd int) Mask {
	if fd >= len(l.files) {
		return 0
	}
	return l.files[fd].mask
}

// Unwatch stops watching fd for mask (ae.c: aeDeleteFileEvent). It does nothing if fd is not watched
// for mask.
func (l *Loop) Unwatch(fd int, mask Mask) {
	if fd >= len(l.files) {
		return
	}
	f := &l.files[fd]
	left := f.mask &^ mask
	if left == f.mask {
		return
	}
	_ = l.api.control(fd, f.mask, left) // fails only if fd is closed, and the kernel then forgets it anyway
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

// Post queues fn, and the loop runs it in its next pass. After Close, fn never runs. Any goroutine
// may call Post. The loop runs all functions that are queued when it wakes.
func (l *Loop) Post(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posted = append(l.posted, fn)
	if len(l.posted) == 1 && !l.closed {
		one := [8]byte{1}
		_, _ = unix.Write(l.wake.out, one[:]) // fails only if it is full, which wakes the loop as well
		if l.bubble != nil {
			l.bubble.Ring()
		}
	}
}

// drainWake is the handler of the wake: it runs the posted functions.
func (l *Loop) drainWake() {
	var buf [8]byte
	_, _ = unix.Read(l.wake.in, buf[:])
	l.mu.Lock()
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, fn := range posted {
		fn()
	}
}

// Stop ends Run after the current pass. Another goroutine has to Post it.
func (l *Loop) Stop() { l.stopped = true }

// Stopped reports whether the current pass is the last one.
func (l *Loop) Stopped() bool { return l.stopped }

// Run makes passes until Stop (ae.c: aeMain). An error means that the multiplexer failed.
func (l *Loop) Run() error {
	if l.bound {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	defer l.atEnd()
	for !l.stopped {
		if err := l.pass(); err != nil {
			return err
		}
	}
	return nil
}

// pass is one turn of the loop (ae.c: aeProcessEvents).
func (l *Loop) pass() error {
	if err := l.wait(l.Timeout(l.beforeSleep())); err != nil {
		return err
	}
	l.afterSleep()
	l.busy = len(l.fired) > 0
	l.handleFired()
	now := l.clock()
	l.timers.Run(now)
	l.yield(now)
	return nil
}

// HandleReady handles the events that are ready now, without waiting and without timers. Long work
// in BeforeSleep calls it to serve other clients meanwhile (networking.c:
// processEventsWhileBlocked).
func (l *Loop) HandleReady() error {
	if err := l.poll(0, true); err != nil {
		return err
	}
	l.foundMore()
	l.handleFired()
	return nil
}

// HandleReadyAfter sleeps for d, some microseconds, and then calls HandleReady. More events may have
// become ready in that time.
func (l *Loop) HandleReadyAfter(d time.Duration) error {
	hiddenSleep(d)
	return l.HandleReady()
}

// handleFired calls the handlers of all events (ae.c: aeProcessEvents).
func (l *Loop) handleFired() {
	for i, r := range l.fired {
		if l.observer != nil {
			l.observer(i, r.fd, r.mask&l.files[r.fd].mask)
		}
		l.handle(r)
	}
}

// handle calls the handlers of one event, the read handler first (ae.c: aeProcessEvents). An earlier handler
// of this pass may have closed the descriptor or changed its mask. So handle goes by the present mask.
func (l *Loop) handle(r ready) {
	if r.mask&l.files[r.fd].mask&Readable != 0 {
		l.files[r.fd].read()
	}
	if r.mask&l.files[r.fd].mask&Writable != 0 {
		l.files[r.fd].write()
	}
	if r.mask&l.files[r.fd].mask&HangUp != 0 {
		l.files[r.fd].hangUp()
	}
}

// Timeout returns how long to wait (ae.c: usUntilEarliestTimer): until the next timer, but at most limit.
// Negative means no limit.
func (l *Loop) Timeout(limit time.Duration) time.Duration {
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

// wait waits for events for at most d (ae_epoll.c: aeApiPoll). After a pass with events, the next events come
// soon. Then wait first looks for them hidden from Go's scheduler, for as long as Dedicated allows.
func (l *Loop) wait(d time.Duration) error {
	if l.busy {
		hidden := l.hiddenWait
		if d >= 0 {
			hidden = min(hidden, d)
		}
		err := l.poll(hidden, true)
		if len(l.fired) != 0 || d == hidden || err != nil {
			return err
		}
		d = max(d-hidden, -1)
	}
	return l.poll(d, false)
}

// poll asks the kernel which descriptors are ready (ae.c: aeApiPoll).
func (l *Loop) poll(d time.Duration, hidden bool) (err error) {
	l.fired, err = l.api.wait(l.fired[:0], milliseconds(d), hidden)
	return err
}
