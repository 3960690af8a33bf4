package server_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/config"
	"github.com/miniredisd/miniredisd/server"
)

// newServer makes a server on a free port. MINIREDISD_ARGS has arguments for every
// server of these tests: with those for I/O threads, all of them run again over
// threads, which are then used even for a single client.
func newServer(t testing.TB, log server.Log, args ...string) *server.Server {
	t.Helper()
	more := strings.Fields(os.Getenv("MINIREDISD_ARGS"))
	cfg, err := config.Parse(append(append([]string{"--port", "0", "--bind", "127.0.0.1"}, more...), args...), nil)
	require.NoError(t, err)
	s, err := server.New(cfg, log)
	require.NoError(t, err)
	if len(more) > 0 {
		s.EagerThreads()
	}
	return s
}
