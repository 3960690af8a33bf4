package proxy

import (
	"errors"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sockets that never block and that no child inherits. Linux could set both in the call that makes the socket, and
// macOS cannot. So package syscall has a lock: no child is started between the calls.

func newSocket(family int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err == nil {
		err = prepare(fd)
	}
	return fd, err
}

func prepare(fd int) error {
	unix.CloseOnExec(fd)
	err := unix.SetNonblock(fd, true)
	if err != nil {
		_ = unix.Close(fd)
	}
	return err
}

// listenAt opens a port.
func listenAt(ap netip.AddrPort) (int, error) {
	family, sa := sockaddr(ap)
	fd, err := newSocket(family)
	if err != nil {
		return -1, err
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err = unix.Bind(fd, sa); err == nil {
		err = unix.Listen(fd, 511) // as Redis's tcp-backlog
	}
	if err != nil {
		_ = unix.Close(fd)
	}
	return fd, err
}

// acceptFrom takes a connection that waits.
func acceptFrom(listener int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, _, err := unix.Accept(listener)
	if err != nil {
		return -1, err
	}
	forConversation(fd)
	return fd, prepare(fd)
}

// startConnect begins a connection. It is there, or has failed, when the socket becomes writable.
func startConnect(family int, to unix.Sockaddr) (int, error) {
	fd, err := newSocket(family)
	if err != nil {
		return -1, err
	}
	forConversation(fd)
	if err = unix.Connect(fd, to); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// forConversation sends each request at once, and notices a machine that is gone, as Redis does (anet.c).
func forConversation(fd int) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
}

// socketError returns why a connection has failed, nil if it is there.
func socketError(fd int) error {
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && n != 0 {
		err = unix.Errno(n)
	}
	return err
}

func closeSocket(fd int, how ending) {
	switch how {
	case drained: // the kernel would send a reset if bytes were left
		var waste [4096]byte
		for range 1024 {
			if n, err := unix.Read(fd, waste[:]); n <= 0 || err != nil {
				break
			}
		}
	case reset:
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	_ = unix.Close(fd)
}

func sockaddr(ap netip.AddrPort) (family int, sa unix.Sockaddr) {
	if addr := ap.Addr().Unmap(); addr.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: addr.As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16()}
}

func portOf(fd int) int {
	switch at, _ := unix.Getsockname(fd); at := at.(type) {
	case *unix.SockaddrInet4:
		return at.Port
	case *unix.SockaddrInet6:
		return at.Port
	}
	return 0
}
