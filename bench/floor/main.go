// Command floor is a server that does as little as a server can: it reads, and it writes fixed
// bytes. It does not parse and executes nothing. What a request costs here is the kernel's share,
// which no server can avoid that serves its clients by epoll, read and write. `bench floor`
// measures it.
//
//	floor 127.0.0.1:7000 REPLY
//
// One goroutine does everything:
//
//	┌─> epoll_wait ──> for each ready socket: read, count the requests, write as many replies ─┐
//	└──────────────────────────────────────────────────────────────────────────────────────────┘
//
// Redis's loop has the same shape (ae.c: aeProcessEvents), and so has package reactor. All system
// calls are raw, as package reactor's are under load: Go's scheduler does not notice them.
//
// The requests in a chunk are counted by the byte * that each begins with. So a load must have no
// other * in it, and its requests must be short enough to arrive in one piece.
package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 || args[1] == "" {
		return errors.New("want an address and a reply")
	}
	listener, err := listen(args[0])
	if err != nil {
		return fmt.Errorf("listening on %s: %w", args[0], err)
	}
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	l := &loop{poll: poll, listener: listener, replies: newReplies(args[1])}
	if err := l.watch(listener); err != nil {
		return err
	}
	return l.serve()
}

// loop belongs to the goroutine of main.
type loop struct {
	poll, listener int
	replies        replies
	events         [1024]unix.EpollEvent
	input          [inputSize]byte
}

const inputSize = 64 << 10

// yieldEvery is how many passes lie between two calls of Gosched. A loop that never yields is
// interrupted by a signal every 10 ms.
const yieldEvery = 256

func (l *loop) serve() error {
	for pass := 0; ; pass++ {
		if pass%yieldEvery == 0 {
			runtime.Gosched()
		}
		n, errno := l.wait()
		if errno != 0 && errno != unix.EINTR {
			return fmt.Errorf("epoll_wait: %w", errno)
		}
		for _, e := range l.events[:n] {
			if int(e.Fd) == l.listener {
				l.accept()
			} else {
				l.answer(uintptr(e.Fd))
			}
		}
	}
}

func (l *loop) wait() (int, unix.Errno) {
	const forever = ^uintptr(0)
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.poll),
		uintptr(unsafe.Pointer(&l.events[0])), uintptr(len(l.events)), forever, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// answer is one read and one write. A socket that takes less than the whole reply is closed.
func (l *loop) answer(fd uintptr) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&l.input[0])), inputSize)
	if errno != 0 || n == 0 {
		_ = unix.Close(int(fd))
		return
	}
	out := l.replies.to(l.input[:n])
	sent, _, errno := unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&out[0])), uintptr(len(out)))
	if errno != 0 || int(sent) < len(out) {
		_ = unix.Close(int(fd))
	}
}

func (l *loop) accept() {
	fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		return
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err := l.watch(fd); err != nil {
		_ = unix.Close(fd)
	}
}

func (l *loop) watch(fd int) error {
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func listen(addr string) (int, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	to := &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	return fd, errors.Join(unix.Bind(fd, to), unix.Listen(fd, 511))
}
