package doctor

import (
	"fmt"
	"strings"
)

// first returns the first lines of a history.
func first(history string, lines int) string {
	return strings.Join(strings.Split(history, "\n")[:lines], "\n")
}

// many tries for a lock by so many waiters, each with a pause of some ms.
func many(waiters, pause int) string {
	b := []string{"1000 a1 SET lock:a token-1 NX PX 500000 = OK"}
	for i := range 300 {
		at, waiter := 1001+(i/waiters)*pause+i%waiters, 1+i%waiters
		b = append(b, fmt.Sprintf("%d b%d SET lock:a token-%d NX PX 5000 = nil", at, waiter, i+2))
	}
	return strings.Join(b, "\n")
}

// busy tries for a lock many times, with a pause of some ms between.
func busy(pause int) string {
	var b strings.Builder
	b.WriteString("1000 a1 SET lock:a token-1 NX PX 5000 = OK\n")
	for i := range 200 {
		fmt.Fprintf(&b, "%d b1 SET lock:a token-2 NX PX 5000 = nil\n", 1001+i*pause)
	}
	return b.String()
}
