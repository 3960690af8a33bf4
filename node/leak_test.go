package node_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// openResources returns how many files and goroutines this process has.
func openResources(t *testing.T) (files, goroutines int) {
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(open), runtime.NumGoroutine()
}

// lifetime runs a server from start to end. Its clients are in the middle of a request when it
// ends.
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
	needProc(t)
	lifetime(t) // the first server also opens what the process keeps, such as the runtime's poller
	files, goroutines := openResources(t)
	for range 10 {
		lifetime(t)
	}
	nowFiles, _ := openResources(t)
	require.LessOrEqual(t, nowFiles, files)
	// A goroutine that has reported its end may still be running.
	redistest.Until(t, func() bool { return runtime.NumGoroutine() <= goroutines })
}
