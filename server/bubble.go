package server

import (
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/store"
)

const errBubble store.Error = "a server cannot be started or asked in a testing/synctest bubble: " +
	"sockets never count as blocked there, so that its time stands still and it hangs. " +
	"Start the server before synctest.Test; connections to it work inside. " +
	"The time of the server itself is moved by LAB CLOCK, in miniredistest by Clock, outside of the bubble"

// refuseBubble returns an error in a goroutine of a testing/synctest bubble. The runtime shows a bubble
// only in the first line of a stack trace, which takes 40 µs. A clock that agrees with the system's takes
// less: a bubble's clock starts in the year 2000.
func refuseBubble() error {
	var system unix.Timeval
	if unix.Gettimeofday(&system) == nil && time.Since(time.Unix(system.Unix())).Abs() < time.Minute {
		return nil
	}
	var head [128]byte
	line, _, _ := strings.Cut(string(head[:runtime.Stack(head[:], false)]), "\n")
	if strings.Contains(line, "synctest bubble") {
		return errBubble
	}
	return nil
}
