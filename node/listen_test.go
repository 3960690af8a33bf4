package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// 192.0.2.9 is an address of documentation, which no machine has.
func TestTheLogNamesAnAddressThatCannotBeBound(t *testing.T) {
	l := born(t, t.TempDir(), "--bind", "-192.0.2.9", "127.0.0.1")
	require.Equal(t, "PONG", l.dial().Do("PING").Str)
	require.Regexp(t, `Warning: Could not create server TCP listening socket 192\.0\.2\.9:\d+: `+
		`bind: Cannot assign requested address\n`, l.logged())
}
