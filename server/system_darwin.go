package server

import "golang.org/x/sys/unix"

const tcpKeepIdle = unix.TCP_KEEPALIVE

func newSocket(family int) (fd int, err error) {
	fd, err = unix.Socket(family, unix.SOCK_STREAM, 0)
	if err != nil {
		return -1, err
	}
	return fd, prepare(fd)
}

func accept(listener int) (fd int, from unix.Sockaddr, err error) {
	fd, from, err = unix.Accept(listener)
	if err != nil {
		return -1, nil, err
	}
	return fd, from, prepare(fd)
}

// prepare closes the socket when it fails.
func prepare(fd int) error {
	unix.CloseOnExec(fd)
	err := unix.SetNonblock(fd, true)
	if err != nil {
		_ = unix.Close(fd)
	}
	return err
}

func machineMemory() int {
	bytes, _ := unix.SysctlUint64("hw.memsize") // every macOS has it
	return int(bytes)
}

// ThreadID returns 0: macOS shows the id of a thread to C libraries only.
func ThreadID() int { return 0 }
