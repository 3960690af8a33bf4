package reactor

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// uring waits by io_uring(7). Its requests are polls: one asks the kernel to say once that a descriptor is
// ready. So the loop asks again before the next wait, and a descriptor that still is ready is reported again.
// That makes it level triggered, as epoll is:
//
//	              program                          kernel
//	control  ──>  todo
//	wait     ──>  todo ──> queue of requests ───> polls     one call for all requests and the wait
//	         <──  found <── queue of results <─── ready
//
// Reads and writes stay system calls. bench/floor shows what io_uring gains when it does those as well.
// Redis has no such file.
type uring struct {
	ring *ring
	fds  []polled
	todo []int32 // descriptors that need a request, each once
}

// polled is what the loop wants of a descriptor, and what the kernel has been asked.
type polled struct {
	want, asked Mask
	listed      bool   // in todo
	turn        uint32 // of the request; a result of an earlier turn is stale
}

func newUring() (multiplexer, error) {
	ring, err := newRing()
	if err != nil {
		return nil, err
	}
	return &uring{ring: ring}, nil
}

// looked: a result is there for each that is ready.
func (u *uring) looked(ready int) int { return ready }

// calls: changes go to the kernel with the next wait.
func (u *uring) calls(int64, int64) int64 { return u.ring.entered }

// control takes back a request for other events. That of a descriptor which will be closed is taken back
// at once, because a request keeps its file open.
func (u *uring) control(fd int, _, to Mask) error {
	for fd >= len(u.fds) {
		u.fds = append(u.fds, polled{})
	}
	p := &u.fds[fd]
	p.want = to
	if p.asked != 0 && p.asked != to {
		u.ring.add(request{op: opPollRemove, flags: silentSuccess, fd: -1, addr: tag(fd, p.turn), tag: noTag})
		p.asked = 0
		p.turn++
		if to == 0 {
			return refused("io_uring_enter", u.ring.enter(0, false))
		}
	}
	u.list(int32(fd))
	return nil
}

func (u *uring) list(fd int32) {
	if p := &u.fds[fd]; !p.listed && p.want != 0 && p.asked == 0 {
		p.listed = true
		u.todo = append(u.todo, fd)
	}
}

// ask makes the requests that are to do.
func (u *uring) ask() {
	for _, fd := range u.todo {
		p := &u.fds[fd]
		p.listed = false
		if p.want != 0 && p.asked == 0 {
			p.asked = p.want
			u.ring.add(request{op: opPollAdd, fd: fd, events: uint32(uint16(pollEvents(p.want))), tag: tag(int(fd), p.turn)})
		}
	}
	u.todo = u.todo[:0]
}

// wait asks and waits in one system call. Results that say nothing new do not end it.
func (u *uring) wait(found []ready, ms int, hidden bool) ([]ready, error) {
	u.ask()
	found, _ = u.collect(found)
	if len(found) > 0 {
		ms = 0
	}
	for {
		errno := u.ring.enter(ms, hidden)
		switch errno {
		case 0, unix.ETIME, unix.EINTR, unix.EBUSY: // busy: there are more results than places for them
		default:
			return found, refused("io_uring_enter", errno)
		}
		some := 0
		found, some = u.collect(found)
		if len(found) > 0 || some == 0 || ms == 0 {
			return found, nil
		}
		u.ask() // again what the kernel has given up
	}
}

// collect takes all results. It returns their number, too.
func (u *uring) collect(found []ready) (all []ready, results int) {
	u.ring.each(func(r result) {
		results++
		fd := int32(uint32(r.tag))
		if r.tag == noTag || u.fds[fd].turn != uint32(r.tag>>32) {
			return
		}
		u.fds[fd].asked = 0
		switch unix.Errno(-r.n) {
		case unix.EBADF: // closed without a word
			return
		case unix.ECANCELED: // the thread that asked has ended
		default:
			found = append(found, ready{fd: int(fd), mask: pollMask(r.n)})
		}
		u.list(fd)
	})
	return found, results
}

// pollMask translates the events of a poll. A negative number is an error.
func pollMask(events int32) (m Mask) {
	if events < 0 || events&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
		return everything
	}
	for _, one := range [...]Mask{Readable, Writable, HangUp} {
		if events&int32(uint16(pollEvents(one))) != 0 {
			m |= one
		}
	}
	return m
}

// tag marks a request. Its result has the same tag.
func tag(fd int, turn uint32) uint64 { return uint64(turn)<<32 | uint64(uint32(fd)) }

const noTag = ^uint64(0)

// close takes everything back first, or the kernel would close sockets only some time later.
func (u *uring) close() {
	for fd := range u.fds {
		if p := &u.fds[fd]; p.asked != 0 {
			u.ring.add(request{op: opPollRemove, flags: silentSuccess, fd: -1, addr: tag(fd, p.turn), tag: noTag})
		}
	}
	_ = u.ring.enter(0, false)
	u.ring.close()
}

// refused names the error of a call, as the operator has to look for it.
func refused(call string, errno unix.Errno) error {
	if errno == 0 || errors.Is(errno, unix.EINTR) || errors.Is(errno, unix.ETIME) {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", call, unix.ErrnoName(errno), errno)
}

// timespec is struct __kernel_timespec.
type timespec struct{ seconds, ns int64 }

func timespecOf(ms int) timespec {
	d := time.Duration(ms) * time.Millisecond
	return timespec{int64(d / time.Second), int64(d % time.Second)}
}
