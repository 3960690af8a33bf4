//go:build linux

// Command floor is a server that does as little as a server can: it reads, and it writes fixed
// bytes. It does not parse and executes nothing. What a request costs here is the kernel's share,
// which no server can avoid that serves its clients in the same way. `bench floor` measures it.
//
//	floor [-by epoll|bounded|spin|zerocopy|uring] 127.0.0.1:7000 REPLY
//
// There are five ways. All of them have one goroutine:
//
//	epoll     ┌─> epoll_wait ──> for each ready socket: read, count the requests, write the replies ─┐
//	          └──────────────────────────────────────────────────────────────────────────────────────┘
//	bounded   the same, but after work epoll_wait looks 100 times, some 30 µs, before it sleeps
//	spin      the same, but epoll_wait never sleeps
//	zerocopy  the same, but replies are sent with MSG_ZEROCOPY, so that TCP refers to their pages
//	uring     ┌─> io_uring_enter ──> for each chunk that has arrived: count, queue a send ───────────┐
//	          └──────────────────────────────────────────────────────────────────────────────────────┘
//
// Redis's loop has the shape of epoll (ae.c: aeProcessEvents), and so has package reactor. The others
// are experiments: they show what a loop without sleep, without a copy, or without a system call for
// each socket would save.
//
// All system calls are raw, as package reactor's are under load: Go's scheduler does not notice
// them.
//
// The requests in a chunk are counted by the byte * that each begins with. So a load must have no
// other * in it, and its requests must be short enough to arrive in one piece.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("floor", flag.ContinueOnError)
	by := f.String("by", "epoll", "how to serve: epoll, bounded, spin, zerocopy or uring")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 2 || f.Arg(1) == "" {
		return errors.New("want an address and a reply")
	}
	listener, err := listen(f.Arg(0))
	if err != nil {
		return fmt.Errorf("listening on %s: %w", f.Arg(0), err)
	}
	replies := newReplies(f.Arg(1))
	switch *by {
	case "epoll":
		return serveEpoll(listener, replies, way{})
	case "bounded":
		return serveEpoll(listener, replies, way{looks: 100})
	case "spin":
		return serveEpoll(listener, replies, way{looks: -1})
	case "zerocopy":
		return serveEpoll(listener, replies, way{zerocopy: true})
	case "uring":
		return serveUring(listener, replies)
	}
	return fmt.Errorf("no way to serve by %q", *by)
}

// inputSize is how much one read takes at most.
const inputSize = 64 << 10

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
