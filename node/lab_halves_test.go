package node_test

import (
	"flag"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

var halvesCrashes = flag.Int("halves.crashes", amount.Count(8, 30), "how many units are cut by LAB CRASH")

// loser is a server with a lab, and what its crashes may lose.
type loser struct {
	args []string
	lose []string
}

var losers = []loser{
	{nil, []string{"ALL", "NOTHING", "NOTHING"}},
	{[]string{"--lab-disk", "yes", "--save", "3600 1"}, []string{"ALL", "UNSYNCED", "NOTHING"}},
	{[]string{"--lab-disk", "yes", "--appendonly", "yes", "--appendfsync", "always"}, []string{"UNSYNCED", "NOTHING"}},
	{[]string{"--lab-disk", "yes", "--appendonly", "yes", "--appendfsync", "everysec"}, []string{"UNSYNCED", "NOTHING"}},
}

// crashIn crashes the server while the unit runs, in the pass in which the unit began.
func (h *halves) crashIn(t *testing.T, addr, lose string, keeps bool) {
	t.Helper()
	dial := func() *redistest.Conn { return redistest.Dial(t, addr) }
	admin, by, unit, gate := dial(), dial(), dial(), dial()
	gate.Do("HELLO", "3")
	gate.Do("SUBSCRIBE", h.gate())
	rule(t, admin, "both CMD get ACTION HOLD")
	pipeline(t, by, "GET x", "LAB CRASH LOSE "+lose)
	waitParked(t, admin, "both")
	require.NoError(t, unit.Send(append(resp.AppendRequest(nil, "GET", "x"), h.bytes()...)))
	require.Len(t, admin.Do("LAB", "HOLD", "WAIT", "both", "0", "2").Elems, 10)
	pipeline(t, admin, "LAB FAULT DEL both")
	if keeps && h.waits > 0 {
		h.isBusy(t, gate)
		require.NoError(t, gate.Send(resp.AppendRequest(nil, "RESET")))
	}
	by.Read()
	require.Equal(t, "OK", by.Read().Str)
	_, err := by.TryRead()
	require.ErrorIs(t, err, io.EOF)
	for _, c := range []*redistest.Conn{admin, by, unit, gate} {
		c.Close()
	}
}

// A crash cuts a unit, and nothing of it is on the disk. A crash that keeps the keys waits for a unit that has changed
// them.
func TestNoHalfOfATransactionOutlivesACrash(t *testing.T) {
	for i, l := range losers {
		t.Run(strings.Join(l.args, " "), func(t *testing.T) {
			t.Parallel()
			addr, admin := startLab(t, append([]string{"--busy-reply-threshold", "1"}, l.args...)...)
			admin.Close()
			for round := range *halvesCrashes / len(losers) {
				l.crash(t, addr, rand.New(rand.NewPCG(uint64(*halvesSeed+round), uint64(i))), round)
			}
		})
	}
}

// crash makes one crash, and looks what it has left.
func (l *loser) crash(t *testing.T, addr string, rng *rand.Rand, round int) {
	t.Helper()
	h := newHalves(rng, round)
	lose := l.lose[rng.IntN(len(l.lose))]
	c := redistest.Dial(t, addr)
	c.Do("FLUSHALL")
	h.prepare(t, c)
	c.Do("LAB", "CLOCK", "ADVANCE", "2000") // everything is fsynced
	keeps := lose == "NOTHING" && !strings.Contains(strings.Join(l.args, " "), "appendonly")
	h.crashIn(t, addr, lose, keeps)
	c = redistest.Dial(t, addr)
	defer c.Close()
	done := h.requireWhole(t, c)
	require.Equal(t, keeps && h.waits > 0 || lose == "ALL", done, "%v LOSE %s: %v", l.args, lose, h.requests())
}

// The FLUSHALL of a script that a crash has cut saves nothing while the server is down, when it has no keys.
func TestAFlushThatACrashHasCutSavesNothing(t *testing.T) {
	addr, admin := startLab(t, "--busy-reply-threshold", "1", "--lab-disk", "yes", "--save", "3600 1")
	ok(t, admin, "LAB", "CLOCK", "RUN")
	ok(t, admin, "SET", "old", "v")
	ok(t, admin, "SAVE")
	rule(t, admin, "both CMD get ACTION HOLD")
	by, unit := redistest.Dial(t, addr), redistest.Dial(t, addr)
	pipeline(t, by, "GET x", "LAB CRASH DOWN 1")
	waitParked(t, admin, "both")
	script := resp.AppendRequest(nil, "EVAL", "redis.call('FLUSHALL') while true do end", "0")
	require.NoError(t, unit.Send(append(resp.AppendRequest(nil, "GET", "x"), script...)))
	require.Len(t, admin.Do("LAB", "HOLD", "WAIT", "both", "0", "2").Elems, 10)
	pipeline(t, admin, "LAB FAULT DEL both")
	by.Read()
	require.Equal(t, "OK", by.Read().Str)
	c, _ := reconnect(addr, "n")
	for c == nil { // the port is closed while the server is down
		c, _ = reconnect(addr, "n")
	}
	c.Close()
	require.Equal(t, "v", redistest.Dial(t, addr).Do("GET", "old").Str)
}

// A replica that becomes the master in the middle of a unit of its master has nothing of it, and neither has the old
// master, which follows when the unit has ended.
func TestNoHalfOfATransactionIsOnAReplicaThatIsPromoted(t *testing.T) {
	for round := range *halvesCrashes / 5 {
		n := startNodes(t, 1, 1, "--busy-reply-threshold", "1")
		h := newHalves(rand.New(rand.NewPCG(uint64(*halvesSeed+round), 7)), round)
		h.keeper = nil
		gate := h.start(t, n.c[0].Net.RemoteAddr().String())
		require.Equal(t, n.Nodes[1].Port(), int(n.c[1].Do("LAB", "FAILOVER").Int))
		require.False(t, h.requireWhole(t, n.c[1]))
		require.NoError(t, gate.Send(resp.AppendRequest(nil, "RESET")))
		require.Equal(t, int64(1), n.c[1].Do("LAB", "REPLICATION", "WAIT").Int)
		for _, c := range n.c {
			require.False(t, h.requireWhole(t, c))
		}
	}
}
