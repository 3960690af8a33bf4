package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// pinLoad moves this process to its second core, and with it redis-benchmark.
func pinLoad() (cores, error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return cores{}, err
	}
	var usable []int
	for i := range len(all) * 64 {
		if all.IsSet(i) {
			usable = append(usable, i)
		}
	}
	c := cores{usable[0], usable[min(1, len(usable)-1)]}
	threads, _ := filepath.Glob("/proc/self/task/*")
	for _, t := range threads {
		tid, _ := strconv.Atoi(filepath.Base(t))
		if err := pin(tid, c.load); err != nil {
			return c, err
		}
	}
	return c, nil
}

func pin(tid, core int) error {
	var set unix.CPUSet
	set.Set(core)
	return unix.SchedSetaffinity(tid, &set)
}

// startPinned starts cmd on core. A child inherits the cores of the thread that forks it.
func startPinned(cmd *exec.Cmd, core int) error {
	if core == anyCore {
		return cmd.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	if err := pin(0, core); err != nil {
		return err
	}
	defer unix.SchedSetaffinity(0, &before)
	return cmd.Start()
}

func machine() string {
	var u unix.Utsname
	unix.Uname(&u)
	return fmt.Sprintf("%s, %d cores, Linux %s", procField("/proc/cpuinfo", "model name"), runtime.NumCPU(),
		unix.ByteSliceToString(u.Release[:]))
}

// loadAverage returns how many threads wanted a core in the last minute, on average.
func loadAverage() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}

// portAtConnect makes the kernel choose a port that is free for this pair of addresses only.
// Without it, bind takes a port that is free for all.
func portAtConnect(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	})
	return errors.Join(err, failed)
}
