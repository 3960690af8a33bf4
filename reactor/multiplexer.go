package reactor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// multiplexer is one of the system's ways to wait for many descriptors at once. Redis chooses one when
// it is compiled, by a set of functions of the same names (ae.c: ae_epoll.c, ae_select.c). Here the
// operator chooses one at start.
//
//	way      the kernel keeps the set     a wait looks at          descriptors
//	epoll    yes, changed by epoll_ctl    those that are ready     any number
//	io_uring yes, but each one only once  those that are ready     any number
//	poll     no: it is passed each time   all                      any number
//	select   no: it is passed each time   all up to the highest    0 to 1023
type multiplexer interface {
	// control watches fd for to, and no longer for from (aeApiAddEvent, aeApiDelEvent).
	control(fd int, from, to Mask) error

	// wait appends the descriptors that are ready (aeApiPoll). It waits at most ms milliseconds, or
	// without limit if ms is negative. A hidden wait does not tell Go's scheduler, where the way
	// has one: see Dedicated.
	wait(ready []ready, ms int, hidden bool) ([]ready, error)

	// looked returns how many descriptors a wait looks at that finds this many ready.
	looked(ready int) int

	// calls returns how many system calls that many waits and changes have made.
	calls(waits, changes int64) int64

	close()
}

// ready is a descriptor with events (ae.h: aeFiredEvent). An error or a closed connection is every
// event: the handler meets the error when it reads or writes.
type ready struct {
	fd   int
	mask Mask
}

const everything = Readable | Writable | HangUp

func newMultiplexer(name string) (multiplexer, error) {
	switch name {
	case "epoll":
		return newEpoll()
	case "io_uring":
		return newUring()
	case "poll":
		return &pollSet{}, nil
	case "select":
		return &selectSet{}, nil
	}
	return nil, fmt.Errorf("no multiplexer has the name %q", name)
}

// milliseconds rounds up, so that the loop never wakes before a deadline. -1 means no limit.
func milliseconds(d time.Duration) int {
	if d < 0 {
		return -1
	}
	return int((d + time.Millisecond - 1) / time.Millisecond)
}

// pollSet waits by poll(2). It passes the whole set with each call, and looks at the whole set after
// it. Redis has no such file: on systems without epoll or kqueue it uses select.
type pollSet struct {
	set   []unix.PollFd
	place []int // of a descriptor in set, plus 1; 0 if it is not there
}

func (p *pollSet) control(fd int, _, to Mask) error {
	for fd >= len(p.place) {
		p.place = append(p.place, 0)
	}
	at := p.place[fd] - 1
	switch {
	case to == 0: // the last one takes the place
		last := p.set[len(p.set)-1]
		p.set[at], p.place[last.Fd] = last, at+1
		p.set, p.place[fd] = p.set[:len(p.set)-1], 0
	case at < 0:
		p.set = append(p.set, unix.PollFd{Fd: int32(fd), Events: pollEvents(to)})
		p.place[fd] = len(p.set)
	default:
		p.set[at].Events = pollEvents(to)
	}
	return nil
}

func pollEvents(m Mask) (events int16) {
	if m&Readable != 0 {
		events |= unix.POLLIN
	}
	if m&Writable != 0 {
		events |= unix.POLLOUT
	}
	if m&HangUp != 0 {
		events |= pollHangUp
	}
	return events
}

func (p *pollSet) wait(found []ready, ms int, _ bool) ([]ready, error) {
	n, err := unix.Poll(p.set, ms)
	if errors.Is(err, unix.EINTR) {
		return found, nil
	}
	if err != nil {
		return found, fmt.Errorf("poll: %w", err)
	}
	for i := 0; n > 0; i++ {
		got := p.set[i].Revents
		if got == 0 {
			continue
		}
		n--
		r := ready{fd: int(p.set[i].Fd)}
		for _, m := range [...]Mask{Readable, Writable, HangUp} {
			if got&pollEvents(m) != 0 {
				r.mask |= m
			}
		}
		if got&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
			r.mask = everything
		}
		found = append(found, r)
	}
	return found, nil
}

func (p *pollSet) calls(waits, _ int64) int64 { return waits }

func (p *pollSet) looked(int) int { return len(p.set) }

func (p *pollSet) close() {}

// selectSet waits by select(2) (ae_select.c). Select changes the sets that it gets, so each call gets
// a copy. It does not know hang-ups: the set asks poll for them before each wait, and does not wait
// longer than hangUpsEvery.
type selectSet struct {
	read, write unix.FdSet
	hangUps     pollSet
	watched     []int // in ascending order
	asked       int64 // how often it has asked for hang-ups
}

const (
	selectLimit  = 1024 // FD_SETSIZE
	hangUpsEvery = 100  // milliseconds
)

func (s *selectSet) control(fd int, from, to Mask) error {
	if fd >= selectLimit {
		return fmt.Errorf("select cannot watch descriptor %d: its limit is %d", fd, selectLimit-1)
	}
	include(&s.read, fd, to&Readable != 0)
	include(&s.write, fd, to&Writable != 0)
	if (from^to)&HangUp != 0 {
		_ = s.hangUps.control(fd, from&HangUp, to&HangUp) // poll has no limit
	}
	at, known := slices.BinarySearch(s.watched, fd)
	switch {
	case to == 0 && known:
		s.watched = slices.Delete(s.watched, at, at+1)
	case to != 0 && !known:
		s.watched = slices.Insert(s.watched, at, fd)
	}
	return nil
}

func include(set *unix.FdSet, fd int, in bool) {
	if in {
		set.Set(fd)
	} else {
		set.Clear(fd)
	}
}

func (s *selectSet) wait(found []ready, ms int, hidden bool) ([]ready, error) {
	if len(s.hangUps.set) > 0 {
		var err error
		s.asked++
		if found, err = s.hangUps.wait(found, 0, hidden); err != nil {
			return found, err
		}
		if ms < 0 || ms > hangUpsEvery {
			ms = hangUpsEvery
		}
	}
	if len(found) > 0 {
		ms = 0
	}
	var limit *unix.Timeval
	if ms >= 0 {
		t := unix.NsecToTimeval(int64(ms) * int64(time.Millisecond))
		limit = &t
	}
	read, write := s.read, s.write
	n, err := unix.Select(s.looked(0), &read, &write, nil, limit)
	if errors.Is(err, unix.EINTR) {
		return found, nil
	}
	if err != nil {
		return found, fmt.Errorf("select: %w", err)
	}
	for fd := 0; n > 0; fd++ {
		r := ready{fd: fd}
		if read.IsSet(fd) {
			r.mask |= Readable
			n--
		}
		if write.IsSet(fd) {
			r.mask |= Writable
			n--
		}
		if r.mask != 0 {
			found = append(found, r)
		}
	}
	return found, nil
}

// looked returns the number of descriptors up to the highest that is watched.
func (s *selectSet) looked(int) int {
	if len(s.watched) == 0 {
		return 0
	}
	return s.watched[len(s.watched)-1] + 1
}

func (s *selectSet) calls(waits, _ int64) int64 { return waits + s.asked }

func (s *selectSet) close() {}
