package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// The time of a Sentinel does not go back with its clock, but it does with LAB RESET. Then a leap has no end any more.
func TestResetEndsTheLeapOfASentinel(t *testing.T) {
	t.Parallel()
	n := startSentinels(t, "3", "--busy-reply-threshold", "1")
	n.freeze()
	ok(t, n.c[3], "LAB", "CLOCK", "SET", "1700000000000") // years back
	script := dialMaster(t, n.Nodes, 2)
	require.NoError(t, script.Send(resp.AppendRequest(nil, "EVAL", "while true do end", "0")))
	redistest.Until(t, func() bool { return strings.HasPrefix(n.c[1].Do("PING").Str, "BUSY") })

	moves := dialMaster(t, n.Nodes, 3)
	require.NoError(t, moves.Send(resp.AppendRequest(nil, "LAB", "ALL", "CLOCK", "ADVANCE", "1000")))
	redistest.Until(t, func() bool { // the Sentinel has leapt, and waits for the node with the script
		return field(n.c[3].Do("LAB", "CLOCK"), "unix-ms").Int == 1700000001000
	})
	ok(t, n.c[0], "LAB", "RESET")
	replies := moves.Read().Elems
	require.Len(t, replies, 6)
	require.Contains(t, replies[1].Str, "BUSY")
	require.Equal(t, byte(':'), replies[3].Kind, replies[3].Str)
	ok(t, n.c[1], "SCRIPT", "KILL")
}
