package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The release of such a lock wakes its waiters. Each of them tries once, and listens again.
func TestWaitersThatAReleaseWakesDoNotPoll(t *testing.T) {
	for _, listeners := range []string{"0", "15"} {
		d, now := New(nil, nil, 0), 1000
		for grant := range 100 {
			play(t, d, fmt.Sprintf("%d a1 SET lock:a token-a%d NX PX 5000 = OK", now, grant))
			for waiter := range 15 {
				play(t, d, fmt.Sprintf("%d b%d SET lock:a token-b%d-%d NX PX 5000 = nil", now, waiter, grant, waiter))
			}
			now += 50
			play(t, d, fmt.Sprintf(`
				%[1]d a1 > GET lock:a = token-a%[2]d
				%[1]d a1 > DEL lock:a = 1
				%[1]d a1 > PUBLISH lock:a:free x = %[3]s
				%[1]d a1 EVALSHA abc 1 lock:a token-a%[2]d = 1`, now, grant, listeners))
		}
		require.Empty(t, found(d, int64(now)), listeners)
	}
}

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
