package ioworkers

import (
	"context"
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// crypto/tls closes the connection in a goroutine of its own, which may still run when the handshake is
// over. The race detector sees whether they share anything.
func TestAHandshakeMayBeGivenUpWhileItFails(t *testing.T) {
	for range 200 {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		require.NoError(t, err)
		for _, fd := range pair {
			require.NoError(t, unix.SetNonblock(fd, true))
		}
		layer, err := NewTLS(pair[0], &tls.Config{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		require.NoError(t, unix.Close(pair[1])) // the client leaves at the same time
		require.Error(t, layer.Handshake(ctx))
		require.NoError(t, unix.Close(pair[0]))
	}
}
