package reactor

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is an io_uring: two queues in memory that program and kernel share. The program appends requests to
// one, the kernel appends results to the other. One call, enter, hands over all new requests and waits.
type ring struct {
	fd       int
	queues   []byte // mapped: heads, tails and results
	requests []request
	results  []result
	memory   []byte  // mapped: the requests
	tail     *uint32 // of the requests; the program moves it
	head     *uint32 // of the results; the program moves it
	end      *uint32 // of the results; the kernel moves it
	unsent   uint32  // requests that the kernel has not been told of
	entered  int64   // calls of enter
	limit    timespec
	argument enterArgument
}

// request is struct io_uring_sqe, for a poll. Fields without a name are not used.
type request struct {
	op, flags uint8
	_         uint16
	fd        int32
	_         uint64
	addr      uint64 // of a removal: the tag of what to remove
	_         uint32
	events    uint32
	tag       uint64 // comes back in the result
	_         [24]byte
}

// result is struct io_uring_cqe. n has events, or a negative errno.
type result struct {
	tag uint64
	n   int32
	_   uint32
}

// setup is struct io_uring_params.
type setup struct {
	requests, results, flags, _, _, features, _ uint32
	_                                           [3]uint32
	sq                                          struct{ _, tail, _, _, _, _, array, _, _, _ uint32 }
	cq                                          struct{ head, tail, _, _, _, cqes, _, _, _, _ uint32 }
}

// enterArgument is struct io_uring_getevents_arg.
type enterArgument struct {
	_     uint64
	_, _  uint32
	limit uint64 // the address of a timespec, 0 for no limit
}

// The numbers of linux/io_uring.h.
const (
	opPollAdd    = 6
	opPollRemove = 7

	silentSuccess = 1 << 6 // of a request: only a failure has a result

	setupResults = 1 << 3 // the caller chooses how many results have room
	setupNoPoke  = 1 << 8 // the kernel does not interrupt the thread for a result

	featureOneMap   = 1 << 0
	featureNoDrop   = 1 << 1 // results that have no room are kept for later
	featureArgument = 1 << 8 // enter takes a limit of time

	enterGetEvents = 1 << 0
	enterArg       = 1 << 3

	offsetRequests = 0x10000000
)

const (
	ringRequests = 1024
	ringResults  = 4096
)

func newRing() (*ring, error) {
	p := setup{flags: setupResults | setupNoPoke, results: ringResults}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, ringRequests, uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, refused("io_uring_setup", errno)
	}
	r := &ring{fd: int(fd)}
	const needed = featureOneMap | featureNoDrop | featureArgument
	if p.features&needed != needed {
		r.close()
		return nil, fmt.Errorf("io_uring of this kernel is too old: it has the features %#x", p.features)
	}
	if err := r.mapQueues(&p); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *ring) mapQueues(p *setup) (err error) {
	size := max(p.sq.array+p.requests*4, p.cq.cqes+p.results*uint32(unsafe.Sizeof(result{})))
	if r.queues, err = mapped(r.fd, 0, int(size)); err != nil {
		return err
	}
	if r.memory, err = mapped(r.fd, offsetRequests, int(p.requests)*int(unsafe.Sizeof(request{}))); err != nil {
		return err
	}
	at := func(offset uint32) unsafe.Pointer { return unsafe.Pointer(&r.queues[offset]) }
	order := unsafe.Slice((*uint32)(at(p.sq.array)), p.requests)
	for i := range order {
		order[i] = uint32(i) // the kernel takes the requests in the order of their places
	}
	r.requests = unsafe.Slice((*request)(unsafe.Pointer(&r.memory[0])), p.requests)
	r.results = unsafe.Slice((*result)(at(p.cq.cqes)), p.results)
	r.tail, r.head, r.end = (*uint32)(at(p.sq.tail)), (*uint32)(at(p.cq.head)), (*uint32)(at(p.cq.tail))
	return nil
}

func mapped(fd int, offset int64, size int) ([]byte, error) {
	m, err := unix.Mmap(fd, offset, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("mmap of an io_uring: %w", err)
	}
	return m, nil
}

func (r *ring) close() {
	for _, m := range [][]byte{r.queues, r.memory} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
	_ = unix.Close(r.fd)
}

// add queues a request. A full queue goes to the kernel first.
func (r *ring) add(q request) {
	if r.unsent == uint32(len(r.requests)) {
		_ = r.enter(0, true) // the next wait meets the error, if it stays
	}
	tail := *r.tail
	r.requests[tail&uint32(len(r.requests)-1)] = q
	atomic.StoreUint32(r.tail, tail+1)
	r.unsent++
}

// enter hands the queued requests to the kernel and waits for a result, at most ms milliseconds, or without
// limit if ms is negative. A hidden call does not tell Go's scheduler: see Dedicated.
func (r *ring) enter(ms int, hidden bool) unix.Errno {
	r.entered++
	results := uintptr(1)
	r.argument.limit = 0
	switch {
	case ms == 0:
		results = 0
	case ms > 0:
		r.limit = timespecOf(ms)
		r.argument.limit = uint64(uintptr(unsafe.Pointer(&r.limit))) // the ring is in the heap, and stays where it is
	}
	call := unix.Syscall6
	if hidden {
		call = unix.RawSyscall6
	}
	n, _, errno := call(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(r.unsent), results, enterGetEvents|enterArg,
		uintptr(unsafe.Pointer(&r.argument)), unsafe.Sizeof(r.argument))
	if errno == 0 {
		r.unsent -= uint32(n)
	}
	return errno
}

// each calls fn for every result that has come.
func (r *ring) each(fn func(result)) {
	head, end := *r.head, atomic.LoadUint32(r.end)
	for ; head != end; head++ {
		fn(r.results[head&uint32(len(r.results)-1)])
	}
	atomic.StoreUint32(r.head, head)
}
