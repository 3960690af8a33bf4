package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// insideArg is the first argument of this program if it runs a test suite in its own namespaces.
const insideArg = "inside"

// inside runs a test binary and, if one is named, a server on the usual port. It returns the exit
// code. It is the first process of its namespace, so the kernel ends all other processes after it.
func inside(args []string) int {
	if err := runInside(args[0], args[1], args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runInside(server, tests string, args ...string) error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	if server != "" {
		cmd := exec.Command(server, "--port", "6379", "--save", "")
		if err := cmd.Start(); err != nil {
			return err
		}
		if err := accepts("127.0.0.1:6379"); err != nil {
			return err
		}
	}
	cmd := exec.Command(tests, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// loopbackUp gives a new network namespace the address 127.0.0.1.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

func accepts(addr string) error {
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			return conn.Close()
		}
	}
	return errors.New("no server at " + addr)
}
