package miniredistest

import (
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const whyBubble = "a server outside of a testing/synctest bubble cannot be run or asked inside it, " +
	"nor a server of the bubble outside of it. Start the server in the bubble, or ask it outside. " +
	"Connections to a server outside work inside, but their waits stop the bubble's time"

// inBubble reports whether the goroutine is in a bubble of testing/synctest. The runtime shows a bubble
// only in the first line of a stack trace, which takes 40 µs. A clock that agrees with the system's takes
// less: a bubble's clock starts in the year 2000.
func inBubble() bool {
	var system unix.Timeval
	if unix.Gettimeofday(&system) == nil && time.Since(time.Unix(system.Unix())).Abs() < time.Minute {
		return false
	}
	var head [128]byte
	line, _, _ := strings.Cut(string(head[:runtime.Stack(head[:], false)]), "\n")
	return strings.Contains(line, "synctest bubble")
}
