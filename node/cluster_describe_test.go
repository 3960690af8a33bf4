package node_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// described returns a field of what LAB TOPOLOGY shows of a node, as text.
func (n *nodes) described(node int, name string) string {
	n.t.Helper()
	text := field(n.c[1].Do("LAB", "TOPOLOGY").Elems[node], name).String()
	return strings.NewReplacer(`"`, "", ":", "", ",", "").Replace(text)
}

func TestTopologyShowsWhatEachNodeOfAClusterBelieves(t *testing.T) {
	t.Parallel()
	n := startCluster(t)
	n.c[0].Do("LAB", "ALL", "CLOCK", "FREEZE") // so the replica of nobody is down
	ok(t, n.c[2], "SET", "foo", "1")
	const before = "[[0 5460 1] [5461 10922 2] [10923 16383 3]]"
	for at := range n.c {
		require.Equal(t, before, n.described(at, "slots"))
		require.Equal(t, "[]", n.described(at, "moving"))
		require.Equal(t, "[]", n.described(at, "down"))
		require.Equal(t, "0", n.described(at, "stale"))
	}
	require.Equal(t, "3", n.described(2, "epoch"))
	require.Equal(t, "3", n.described(5, "epoch"), "of its master")

	ok(t, n.c[1], "LAB", "CLUSTER", "STALE", "2")
	ok(t, n.c[0], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1", "STEP", "IMPORTING")
	require.Equal(t, "[["+fooSlot+" importing 3 0]]", n.described(0, "moving"))
	require.Equal(t, "[]", n.described(2, "moving"))
	ok(t, n.c[0], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1", "STEP", "MIGRATING")
	require.Equal(t, "[["+fooSlot+" migrating 1 1]]", n.described(2, "moving"))
	ok(t, n.c[0], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1", "STEP", "KEYS")
	require.Equal(t, "[["+fooSlot+" importing 3 1]]", n.described(0, "moving"))
	require.Equal(t, "[["+fooSlot+" migrating 1 0]]", n.described(2, "moving"))
	ok(t, n.c[0], "LAB", "CLUSTER", "MOVE", fooSlot, "TO", "1")
	const after = "[[0 5460 1] [5461 10922 2] [10923 12181 3] [12182 12182 1] [12183 16383 3]]"
	for _, at := range []int{0, 2, 3, 4, 5} {
		redistest.Until(t, func() bool { return n.described(at, "slots") == after })
		require.Equal(t, "[]", n.described(at, "moving"))
	}
	require.Equal(t, before, n.described(1, "slots"), "its map is old")
	require.Equal(t, "1", n.described(1, "stale"))
	ok(t, n.c[1], "LAB", "CLUSTER", "STALE", "2", "OFF")
	redistest.Until(t, func() bool { return n.described(1, "slots") == after })
}
