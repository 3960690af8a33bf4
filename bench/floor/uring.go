//go:build linux

package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The numbers of linux/io_uring.h. One request for accept or recv gives a result for each
// connection or chunk, until it is used up.
const (
	opAccept = 13
	opSend   = 26
	opRecv   = 27

	acceptMany = 1 << 0
	recvMany   = 1 << 1

	useChunks     = 1 << 5 // recv takes a free chunk when bytes arrive
	silentSuccess = 1 << 6 // only a failure has a result

	resultHasMore = 1 << 1
	chunkShift    = 16

	registerChunks = 22
)

const (
	chunks    = 512 // a power of two
	chunkSize = 16 << 10
)

// Tags of requests: what they are for. A recv has its descriptor above the tag.
const (
	tagAccept = iota
	tagSend
	tagRecv
)

// uring serves by io_uring. It belongs to the goroutine of main, on one thread.
type uring struct {
	*ring
	replies replies
	free    []freeChunk // a third queue: chunks that recv may fill
	memory  []byte
}

// freeChunk is struct io_uring_buf. The tail of the queue lies in the last field of the first one.
type freeChunk struct {
	addr uint64
	len  uint32
	id   uint16
	tail uint16
}

// freeChunks is struct io_uring_buf_reg.
type freeChunks struct {
	addr    uint64
	entries uint32
	_       uint32
	_       [3]uint64
}

func serveUring(listener int, r replies) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ring, err := newRing()
	if err != nil {
		return err
	}
	u := &uring{ring: ring, replies: r}
	if err := u.provideChunks(); err != nil {
		return err
	}
	u.add(request{op: opAccept, mode: acceptMany, fd: int32(listener), tag: tagAccept})
	for pass := 0; ; pass++ {
		if pass%yieldEvery == 0 {
			runtime.Gosched()
		}
		if errno := u.enter(1); errno != 0 && errno != unix.EINTR {
			return fmt.Errorf("io_uring_enter: %w", errno)
		}
		u.each(u.result)
	}
}

func (u *uring) result(r result) {
	fd := int32(r.tag >> 8)
	switch {
	case r.tag == tagAccept:
		if r.n >= 0 {
			_ = unix.SetsockoptInt(int(r.n), unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
			u.receive(r.n)
		}
	case r.tag == tagSend: // failed: the next recv of this socket fails, too
	case r.n > 0:
		u.answer(fd, r)
	case r.n == -int32(unix.ENOBUFS): // more sockets have sent than there are chunks
		u.receive(fd)
	default:
		_ = unix.Close(int(fd))
	}
}

func (u *uring) receive(fd int32) {
	u.add(request{op: opRecv, flags: useChunks, mode: recvMany, fd: fd, tag: uint64(fd)<<8 | tagRecv})
}

func (u *uring) answer(fd int32, r result) {
	id := uint16(r.flags >> chunkShift)
	chunk := u.memory[int(id)*chunkSize:][:r.n]
	out := u.replies.to(chunk)
	u.giveBack(id)
	u.add(request{
		op: opSend, flags: silentSuccess, fd: fd, tag: tagSend,
		addr: uint64(uintptr(unsafe.Pointer(&out[0]))), len: uint32(len(out)),
	})
	if r.flags&resultHasMore == 0 {
		u.receive(fd)
	}
}

// provideChunks tells the kernel where recv may put what arrives. Neither part of the memory moves:
// the collector knows nothing of it.
func (u *uring) provideChunks() error {
	size := chunks * int(unsafe.Sizeof(freeChunk{}))
	all, err := unix.Mmap(-1, 0, size+chunks*chunkSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("mmap of chunks: %w", err)
	}
	u.free, u.memory = unsafe.Slice((*freeChunk)(unsafe.Pointer(&all[0])), chunks), all[size:]
	where := freeChunks{addr: uint64(uintptr(unsafe.Pointer(&all[0]))), entries: chunks}
	_, _, errno := unix.RawSyscall6(unix.SYS_IO_URING_REGISTER, u.fd, registerChunks,
		uintptr(unsafe.Pointer(&where)), 1, 0, 0)
	if errno != 0 {
		return fmt.Errorf("io_uring_register: %w", errno)
	}
	for id := range chunks {
		u.giveBack(uint16(id))
	}
	return nil
}

// giveBack lets recv fill a chunk again. Tail and the id before it are one word of 32 bits, so
// that Go can store the tail atomically.
func (u *uring) giveBack(id uint16) {
	tail := u.free[0].tail
	c := &u.free[tail&(chunks-1)]
	c.addr, c.len, c.id = uint64(uintptr(unsafe.Pointer(&u.memory[int(id)*chunkSize]))), chunkSize, id
	word := (*uint32)(unsafe.Pointer(&u.free[0].id))
	atomic.StoreUint32(word, uint32(tail+1)<<16|uint32(u.free[0].id))
}
