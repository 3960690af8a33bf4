package node_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/resp"
)

// MINIREDISD_ARGS="--exec queue" runs all tests of this package over a queue. Here are those that
// look at the queue itself.

func startQueue(t *testing.T, args ...string) (addr string) {
	t.Helper()
	return run(t, plainServer(t, func(byte, string, ...any) {}, append([]string{"--exec", "queue"}, args...)...))
}

func TestTheLoopWaitsWhileTheExecutorOfAQueueWorks(t *testing.T) {
	needProc(t)
	for _, args := range [][]string{nil, {"--io-threads", "3", "--io-threads-do-reads", "yes"}} {
		addr, path := startQueue(t, args...), filepath.Join(t.TempDir(), "trace.json")
		admin := redistest.Dial(t, addr)
		require.Equal(t, "queue", admin.Do("CONFIG", "GET", "exec").Elems[1].Str)
		require.Equal(t, "OK", admin.Do("DEBUG", "TRACE", "START").Str)
		admin.Close()
		keepBusy(t, addr, 8, 20)
		require.Equal(t, "OK", redistest.Dial(t, addr).Do("DEBUG", "TRACE", "DUMP", path).Str)
		tr := readTrace(t, path)
		require.Equal(t, "exec", tr.name[tr.exec])
		tr.requireNested(t)
		tr.requireCommandsOnOneRow(t)
		require.Positive(t, tr.requireOrder(t))
		require.Positive(t, tr.requireArrows(t), "no hand-off")
		tr.requireWaits(t)
		if args != nil {
			for tid, name := range tr.name {
				require.DirExists(t, filepath.Join("/proc/self/task", strconv.Itoa(tr.kernel[tid])), "%s is not a thread", name)
			}
		}
	}
}

// requireWaits requires that main waits while a command runs.
func (tr *traced) requireWaits(t *testing.T) {
	t.Helper()
	var waits []happening
	for _, h := range tr.spans[tr.main] {
		if h.Cat == "wait" {
			waits = append(waits, h)
		}
	}
	for _, h := range tr.spans[tr.exec] {
		if h.Name == "DEBUG" { // its phase has begun before the trace, or has not ended
			continue
		}
		require.True(t, slices.ContainsFunc(waits, func(w happening) bool {
			return w.begin() <= h.begin() && h.end() <= w.end()
		}), "%s %+v", h.Name, h.Args)
	}
}

// A script that runs for too long serves the clients that are behind it in the queue.
func TestASlowScriptServesTheQueueBehindIt(t *testing.T) {
	addr := startQueue(t, "--busy-reply-threshold", "1")
	conns := dialMany(t, addr, 10)
	conns[0].Do("SET", "k", "v")
	require.NoError(t, conns[0].Send([]byte("DEBUG SLEEP 0.01\r\n"))) // the other requests pile up behind it
	require.NoError(t, conns[1].Send(resp.AppendRequest(nil, "EVAL", "while true do end", "0")))
	for _, c := range conns[2:] {
		require.NoError(t, c.Send([]byte("GET k\r\n")))
	}
	for _, c := range conns[2:] {
		reply := c.Read().Str
		require.True(t, reply == "v" || strings.HasPrefix(reply, "BUSY "), reply)
	}
	killer := redistest.Dial(t, addr)
	for killer.Do("SCRIPT", "KILL").Str != "OK" { // the script may not run yet
	}
	require.True(t, strings.HasPrefix(conns[1].Read().Str, killed))
	require.Equal(t, "OK", conns[0].Read().Str)
	require.Equal(t, "v", killer.Do("GET", "k").Str)
}

func TestASnapshotHasTheClientsThatWaitForTheExecutor(t *testing.T) {
	t.Parallel()
	for _, exec := range []string{"inline", "queue"} {
		addr, s := watched(t, "--exec", exec)
		conns := dialMany(t, addr, 3)
		for _, c := range conns {
			c.Do("PING")
		}
		st := stepping(t, s)
		st.pause()
		ping := []byte("PING\r\n")
		require.NoError(t, conns[0].Send(ping))
		st.stop() // the loop has woken for the first client
		for _, c := range conns[1:] {
			require.NoError(t, c.Send(ping))
			c.WaitForArrival()
		}
		st.w.Next(glass.OneEvent, 1)
		st.at(trace.Written, 1)
		var stop *glass.Stop
		for stop == nil || stop.Event.Point != trace.Executes {
			st.w.Next(glass.OneEvent, 1)
			stop = st.stop()
		}
		lists := stop.Snapshot.Lists
		require.ElementsMatch(t, []int64{2, 3}, lists.PendingReads, exec)
		require.Equal(t, 1, lists.NextRead, exec)
		require.Equal(t, stop.Event.Client, lists.PendingReads[0], exec)
		st.w.Continue()
		for _, c := range conns {
			require.Equal(t, "PONG", c.Read().Str)
		}
	}
}
