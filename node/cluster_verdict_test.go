package node_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// startJudged runs a cluster whose log watches the key bar, and a client a that holds it at node 1.
func startJudged(t *testing.T) *nodes {
	t.Helper()
	n := startCluster(t)
	require.Equal(t, "OK", n.c[0].Do("LAB", "ALL", "LOG", "WATCH", "bar").Elems[0].Str)
	for i, name := range []string{"a", "b", "b"} {
		n.c[i].Do("CLIENT", "SETNAME", name)
	}
	require.Equal(t, "OK", n.c[0].Do("SET", "bar", "token-a", "NX", "PX", "60000").Str)
	return n
}

func (n *nodes) moves(t *testing.T, to int, step string) {
	t.Helper()
	v := n.c[2].Do("LAB", "CLUSTER", "MOVE", barSlot, "TO", strconv.Itoa(to), "STEP", step)
	require.Equal(t, "OK", v.Str, v.String())
}

func (n *nodes) verdict() (result, text string) {
	all := n.c[2].Do("LAB", "VERDICT").Elems
	return all[1].Str, all[3].Str
}

func TestALockIsSafeWhileItsSlotMoves(t *testing.T) {
	t.Parallel()
	n := startJudged(t)
	n.moves(t, 2, "KEYS")
	require.Contains(t, n.c[0].Do("DEL", "bar").String(), "ASK")
	require.Contains(t, n.c[1].Do("SET", "bar", "token-b", "NX", "PX", "60000").String(), "MOVED")
	n.c[1].Do("ASKING")
	require.True(t, n.c[1].Do("SET", "bar", "token-b", "NX", "PX", "60000").Null)
	n.moves(t, 2, "NODE")
	n.c[1].Do("CLIENT", "SETNAME", "a")
	require.Equal(t, int64(1), n.c[1].Do("DEL", "bar").Int)
	n.c[1].Do("CLIENT", "SETNAME", "b")
	require.Equal(t, "OK", n.c[1].Do("SET", "bar", "token-b", "NX", "PX", "60000").Str)
	result, text := n.verdict()
	require.Equal(t, "safe", result, text)
}

func TestANodeThatImportsASlotGrantsASecondLock(t *testing.T) {
	t.Parallel()
	n := startJudged(t)
	n.moves(t, 2, "IMPORTING")
	n.c[1].Do("ASKING")
	require.Equal(t, "OK", n.c[1].Do("SET", "bar", "token-b", "NX", "PX", "60000").Str)
	result, text := n.verdict()
	require.Equal(t, "two-holders", result, text)
	require.Contains(t, text, "while a held it at another node until")
}

func TestAMoveThatLosesALockMakesTwoHolders(t *testing.T) {
	t.Parallel()
	n := startJudged(t)
	n.moves(t, 2, "KEYS")
	n.c[2].Do("LAB", "MASTER", "2", "CRASH", "LOSE", "ALL")
	n.moves(t, 2, "NODE")
	n.redial(1)
	n.c[1].Do("CLIENT", "SETNAME", "b")
	require.Equal(t, "OK", n.c[1].Do("SET", "bar", "token-b", "NX", "PX", "60000").Str)
	result, text := n.verdict()
	require.Equal(t, "two-holders", result, text)
}

func TestAKeyThatCameFromNowhereIsUndecided(t *testing.T) {
	t.Parallel()
	n := startJudged(t)
	payload := n.c[0].Do("DUMP", "bar").Str
	n.moves(t, 2, "IMPORTING")
	n.c[1].Do("ASKING")
	require.Equal(t, "OK", n.c[1].Do("RESTORE", "bar", "60000", payload).Str)
	result, text := n.verdict()
	require.Equal(t, "undecided", result, text)
	require.Contains(t, text, "no other node shows that it left there")
}
