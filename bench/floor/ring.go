//go:build linux

package main

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is an io_uring: two queues in memory that program and kernel share. The program appends
// requests to one queue, the kernel appends their results to the other. One system call, enter,
// hands over all new requests and waits for results (io_uring(7)).
type ring struct {
	fd       uintptr
	requests []request
	tail     *uint32 // of the requests; the program moves it
	unsent   uint32  // requests that the kernel has not been told of
	results  []result
	head     *uint32 // of the results; the program moves it
	ready    *uint32 // the tail of the results, which the kernel moves
}

// request is struct io_uring_sqe: one operation. The fields that are not used have no name.
type request struct {
	op, flags uint8
	mode      uint16 // of accept and recv: whether one request gives many results
	fd        int32
	_         uint64
	addr      uint64
	len       uint32
	_         uint32
	tag       uint64 // comes back in the result
	group     uint16 // of the chunks that recv may fill
	_         [22]byte
}

// result is struct io_uring_cqe. n is negative for an error, else bytes or a descriptor.
type result struct {
	tag   uint64
	n     int32
	flags uint32 // and above them the number of the chunk that was filled
}

// setup is struct io_uring_params.
type setup struct {
	requests, results, flags uint32
	_                        [7]uint32
	sq                       struct{ head, tail, mask, entries, flags, dropped, array, _, _, _ uint32 }
	cq                       struct{ head, tail, mask, entries, overflow, cqes, flags, _, _, _ uint32 }
}

// The numbers of linux/io_uring.h.
const (
	setupResults      = 1 << 3  // IORING_SETUP_CQSIZE
	setupSingleIssuer = 1 << 12 // only one thread enters
	setupDeferWork    = 1 << 13 // the kernel works only while that thread waits

	offsetRings    = 0
	offsetRequests = 0x10000000

	enterGetEvents = 1
)

const (
	ringRequests = 4096
	ringResults  = 8192
)

func newRing() (*ring, error) {
	p := setup{flags: setupResults | setupSingleIssuer | setupDeferWork, results: ringResults}
	fd, _, errno := unix.RawSyscall(unix.SYS_IO_URING_SETUP, ringRequests, uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("io_uring_setup: %w", errno)
	}
	size := max(p.sq.array+p.requests*4, p.cq.cqes+p.results*uint32(unsafe.Sizeof(result{})))
	rings, err := mapped(fd, offsetRings, int(size))
	if err != nil {
		return nil, err
	}
	requests, err := mapped(fd, offsetRequests, int(p.requests)*int(unsafe.Sizeof(request{})))
	if err != nil {
		return nil, err
	}
	at := func(offset uint32) unsafe.Pointer { return unsafe.Pointer(&rings[offset]) }
	order := unsafe.Slice((*uint32)(at(p.sq.array)), p.requests)
	for i := range order {
		order[i] = uint32(i) // the kernel takes the requests in the order of their places
	}
	return &ring{
		fd:       fd,
		requests: unsafe.Slice((*request)(unsafe.Pointer(&requests[0])), p.requests),
		tail:     (*uint32)(at(p.sq.tail)),
		results:  unsafe.Slice((*result)(at(p.cq.cqes)), p.results),
		head:     (*uint32)(at(p.cq.head)),
		ready:    (*uint32)(at(p.cq.tail)),
	}, nil
}

func mapped(fd uintptr, offset int64, size int) ([]byte, error) {
	m, err := unix.Mmap(int(fd), offset, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("mmap of an io_uring: %w", err)
	}
	return m, nil
}

// add queues a request. A full queue goes to the kernel first.
func (r *ring) add(q request) {
	if r.unsent == uint32(len(r.requests)) {
		r.enter(0)
	}
	tail := *r.tail
	r.requests[tail&uint32(len(r.requests)-1)] = q
	atomic.StoreUint32(r.tail, tail+1)
	r.unsent++
}

// enter hands the queued requests to the kernel and waits for that many results.
func (r *ring) enter(wait uintptr) unix.Errno {
	n, _, errno := unix.RawSyscall6(unix.SYS_IO_URING_ENTER, r.fd, uintptr(r.unsent), wait, enterGetEvents, 0, 0)
	if errno == 0 {
		r.unsent -= uint32(n)
	}
	return errno
}

// each calls fn for every result that has come.
func (r *ring) each(fn func(result)) {
	head, end := *r.head, atomic.LoadUint32(r.ready)
	for ; head != end; head++ {
		fn(r.results[head&uint32(len(r.results)-1)])
	}
	atomic.StoreUint32(r.head, head)
}
