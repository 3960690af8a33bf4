package freeport

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePortIsFreeAndTheSystemDoesNotGiveItOut(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		port, err := Choose()
		require.NoError(t, err)
		n, err := strconv.Atoi(port)
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, from)
		require.Less(t, n, until)
		require.NotContains(t, seen, port, "it is in use")
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		seen[port] = true
	}
}
