package server_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// held is what this process holds of the system: open files and goroutines.
func held(t *testing.T) (files, goroutines int) {
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(open), runtime.NumGoroutine()
}

// lifetime is a server from start to end, with clients that are in the middle of a
// command when it ends.
func lifetime(t *testing.T) {
	s := newServer(t, func(byte, string, ...any) {})
	done := make(chan error)
	go func() { done <- s.Run() }()
	var clients []*redistest.Conn
	for range 5 {
		c := redistest.Dial(t, s.Addrs()[0])
		require.Equal(t, "OK", c.Do("SET", "k", "v", "PX", "100000").Str)
		require.NoError(t, c.Send([]byte("*2\r\n$3\r\nGE")))
		clients = append(clients, c)
	}
	s.Stop()
	require.NoError(t, <-done)
	for _, c := range clients {
		_, err := c.TryRead()
		require.Error(t, err, "closed, or reset if it had not read everything")
		c.Close()
	}
}

func TestAServerThatHasEndedHoldsNothing(t *testing.T) {
	lifetime(t) // what the first one opens for good, such as the runtime's poller, is not its own
	files, goroutines := held(t)
	for range 10 {
		lifetime(t)
	}
	nowFiles, _ := held(t)
	require.LessOrEqual(t, nowFiles, files)
	// One that has told of its end may still be about to end.
	until(t, func() bool { return runtime.NumGoroutine() <= goroutines })
}
