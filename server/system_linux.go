package server

import "golang.org/x/sys/unix"

// What the server asks of Linux in another way than of macOS (system_darwin.go).

const tcpKeepIdle = unix.TCP_KEEPIDLE

// newSocket makes a stream socket that never blocks and that no child inherits.
func newSocket(family int) (fd int, err error) {
	return unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
}

// accept takes a connection that waits at a listener. Its socket is as newSocket makes them.
func accept(listener int) (fd int, from unix.Sockaddr, err error) {
	return unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
}

// machineMemory returns the bytes of memory that the machine has.
func machineMemory() int {
	var info unix.Sysinfo_t
	_ = unix.Sysinfo(&info) // fails only for a bad pointer
	return int(info.Totalram) * int(info.Unit)
}

// ThreadID returns the kernel's number of the calling thread.
func ThreadID() int { return unix.Gettid() }
