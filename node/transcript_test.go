package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/transcript"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/server"
)

func TestTranscript(t *testing.T) {
	t.Parallel()
	transcript.Dir(t, "testdata/transcripts", *node.Update, start)
}

// start runs a server in this process on a free port until the test ends. args are command-line
// options such as "--databases", "2".
func start(t testing.TB, args []string) (addr string) {
	t.Helper()
	return startWithLog(t, args, func(level byte, format string, args ...any) { t.Logf(format, args...) })
}

func startWithLog(t testing.TB, args []string, log server.Log) string {
	t.Helper()
	line := []string{"--save", "", "--dir", t.TempDir()}
	return run(t, newServer(t, log, append(line, args...)...))
}

// run serves until the test ends, and returns the address.
func run(t testing.TB, s *server.Server) string {
	t.Helper()
	addr, done := s.Addrs()[0], make(chan error)
	go func() { done <- s.Run() }()
	t.Cleanup(func() {
		s.Stop()
		require.NoError(t, <-done)
	})
	return addr
}
