package main

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

// The figures come from /proc, and each process has a core of its own. macOS has neither. So this
// program compiles there, but its measurements end with this error.

var errNotLinux = errors.New("this needs Linux: it reads /proc and binds processes to cores")

func pinLoad() (cores, error) { return cores{}, errNotLinux }

func startPinned(*exec.Cmd, int) error { return errNotLinux }

func machine() string { return runtime.GOOS }

func loadAverage() float64 { return 0 }

func portAtConnect(_, _ string, _ syscall.RawConn) error { return errNotLinux }
