package node_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/internal/trace"
	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/server"
	serverglass "github.com/miniredisd/miniredisd/server/glass"
)

// What there is while the server is stopped, and what ends a stop.

// at steps until a point of a client and returns the snapshot there.
func (st *stepper) at(point trace.Point, client int64) *glass.Snapshot {
	st.Helper()
	for {
		stop := st.stop()
		if stop.Event.Point == point && stop.Event.Client == client {
			return stop.Snapshot
		}
		st.w.Next(glass.OneEvent, 1)
	}
}

func clientIn(t *testing.T, s *glass.Snapshot, id int64) trace.Client {
	for _, c := range s.Clients {
		if c.ID == id {
			return c
		}
	}
	require.Fail(t, "client is not in the snapshot", "%d in %v", id, s.Clients)
	return trace.Client{}
}

func TestASnapshotHasTheStateOfEveryClient(t *testing.T) {
	addr, s := watched(t)
	a, b, blocked := redistest.Dial(t, addr), redistest.Dial(t, addr), redistest.Dial(t, addr)
	for _, c := range []*redistest.Conn{a, b} {
		c.Do("PING")
	}
	a.Do("CLIENT", "SETNAME", "page:A")
	b.Do("WATCH", "k")
	b.Do("MULTI")
	b.Do("SET", "k", "queued")
	require.NoError(t, blocked.Send([]byte("BLPOP list 0\r\n")))
	for a.Do("INFO", "clients"); infoField(a, "blocked_clients") != "1"; {
	}
	a.Do("SET", "lock:a", "token", "PX", "30000")
	st := stepping(t, s)
	st.pause()
	require.NoError(t, a.Send([]byte("GET lock:a\r\nPING\r\n*3\r\n$3\r\nSET\r\n$6\r\nlock:")))
	snap := st.at(trace.Replied, 1)

	require.Len(t, snap.Clients, 3)
	require.EqualValues(t, 1, snap.Clients[0].ID, "clients of the page come first")
	first := clientIn(t, snap, 1)
	require.Equal(t, "page:A", first.Name)
	require.Equal(t, "executing", first.State)
	require.Equal(t, []string{"PING"}, first.Next)
	require.Equal(t, 1, first.Commands)
	require.Equal(t, 11, first.Output)
	require.Equal(t, `$5\r\ntoken\r\n`, first.Out)
	require.Equal(t, "*3 $3 SET $6 lock:_", first.Partial)
	require.Equal(t, 22, first.Buffered)
	second := clientIn(t, snap, 2)
	require.Equal(t, [3]any{"idle", 1, 1}, [3]any{second.State, second.Multi, second.Watch})
	third := clientIn(t, snap, 3)
	require.Equal(t, [2]string{"blocked", "list"}, [2]string{third.State, third.On})
	require.Len(t, snap.Keys, 1)
	require.Equal(t, "lock:a", snap.Keys[0].K)
	require.Equal(t, "token", snap.Keys[0].V)
	require.Greater(t, snap.Keys[0].TTL, int64(0))
	require.Equal(t, []int64{1}, snap.Lists.PendingReads)
	require.Len(t, snap.Fired.List, 1)
	require.EqualValues(t, 1, snap.Fired.List[0].Client)
	require.Equal(t, "r", snap.Fired.List[0].Mask)
	require.True(t, snap.Still)
	st.w.Continue()
}

func TestAnUnreadSocketShowsItsBytes(t *testing.T) {
	addr, s := watched(t)
	a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
	a.Do("PING")
	b.Do("PING")
	st := stepping(t, s)
	st.pause()
	require.NoError(t, a.Send([]byte("PING\r\n")))
	st.stop()
	require.NoError(t, b.Send([]byte("PING\r\n")))
	b.WaitForArrival()
	st.w.Next(glass.OneEvent, 1)
	second := clientIn(t, st.stop().Snapshot, 2)
	require.Equal(t, "readable", second.State)
	require.Equal(t, 6, second.RecvQ)
	st.w.Continue()
}

func TestTheLastWriterOfAKeyIsKnown(t *testing.T) {
	addr, s := watched(t)
	a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
	st := stepping(t, s)
	a.Do("SET", "k", "1")
	b.Do("GET", "k")
	b.Do("EVAL", "return redis.call('incr', KEYS[1])", "1", "n")
	st.pause()
	require.NoError(t, a.Send([]byte("GET k\r\n")))
	snap := st.at(trace.Replied, 1)
	require.Equal(t, "k", snap.Keys[0].K)
	require.EqualValues(t, 1, snap.Keys[0].By)
	require.Equal(t, "n", snap.Keys[1].K)
	require.EqualValues(t, 2, snap.Keys[1].By)
	st.w.Continue()
}

// Here the watch counts an hour more for each stop. The server's clock leaves it out, so it goes back.
func TestALeaseDoesNotRunOutWhileTheServerIsStopped(t *testing.T) {
	s := plainServer(t, func(byte, string, ...any) {}, "--lab", "yes", "--watch", "127.0.0.1:0")
	stood := serverglass.ViewOf(s).Stood
	serverglass.ViewOf(s).Stood = func(ns int64, still bool) { stood(ns+int64(time.Hour), still) }
	c := redistest.Dial(t, run(t, s))
	c.Do("SET", "lock", "token", "PX", "60000")
	st := stepping(t, s)
	st.pause()
	require.NoError(t, c.Send([]byte("PTTL lock\r\n")))
	first := st.stop().Snapshot
	st.w.Next(glass.OnePass, 1)
	require.Positive(t, c.Read().Int)
	require.NoError(t, c.Send([]byte("PTTL lock\r\n")))
	second := st.stop().Snapshot
	require.Less(t, second.Clock, first.Clock)
	st.w.Continue()
	require.Greater(t, c.Read().Int, int64(60_000))
}

func TestWhatEndsAStopDoesSoAtOnce(t *testing.T) {
	ctx := context.Background()
	for name, end := range map[string]func(s *server.Server) error{
		"reset":    func(s *server.Server) error { _, err := s.Do(ctx, "LAB", "RESET"); return err },
		"crash":    func(s *server.Server) error { _, err := s.Do(ctx, "LAB", "CRASH"); return err },
		"continue": func(s *server.Server) error { _, err := s.Do(ctx, "LAB", "STEP", "CONTINUE"); return err },
		"all":      func(s *server.Server) error { _, err := s.Do(ctx, "LAB", "ALL", "STEP", "CONTINUE"); return err },
		"master":   func(s *server.Server) error { _, err := s.Do(ctx, "LAB", "MASTER", "1", "RESET"); return err },
	} {
		addr, s := watched(t)
		c := redistest.Dial(t, addr)
		c.Do("PING")
		st := stepping(t, s)
		st.pause()
		require.NoError(t, c.Send([]byte("PING\r\n")))
		st.stop()
		require.NoError(t, end(s), name)
		if name != "crash" {
			require.Equal(t, "+PONG", c.Read().String(), name)
		}
		require.Equal(t, "+PONG", redistest.Dial(t, s.Addrs()[0]).Do("PING").String(), name)
		require.Equal(t, "running", serverglass.ViewOf(s).State().State, name)
	}
}

func TestAMasterIsSteppedThroughAnother(t *testing.T) {
	masters := startMasters(t, 2, "--watch", "127.0.0.1:0")
	addrs := masters.Addrs()
	admin, c := redistest.Dial(t, addrs[1]), redistest.Dial(t, addrs[0])
	c.Do("PING")
	st := stepping(t, masters[0])
	ok(t, admin, "LAB", "MASTER", "1", "STEP", "NEXT", "PASS")
	require.NoError(t, c.Send([]byte("PING\r\n")))
	st.stop()
	require.Equal(t, "stopped", field(admin.Do("LAB", "MASTER", "1", "STEP"), "state").Str)
	ok(t, admin, "LAB", "MASTER", "1", "STEP", "NEXT", "COMMAND")
	require.Equal(t, trace.Executes, st.stop().Event.Point)
	ok(t, admin, "LAB", "MASTER", "1", "STEP", "CONTINUE")
	require.Equal(t, "+PONG", c.Read().String())
}

func TestAClientThatPausesItsServerGetsItsReply(t *testing.T) {
	addr, s := watched(t)
	c := redistest.Dial(t, addr)
	st := stepping(t, s)
	ok(t, c, "LAB", "STEP", "PAUSE")
	require.NoError(t, c.Send([]byte("PING\r\n")))
	require.Equal(t, trace.Woke, st.stop().Event.Point)
	st.w.Continue()
	require.Equal(t, "+PONG", c.Read().String())
}

func TestBreakpointsStopTheServerThatServes(t *testing.T) {
	addr, s := watched(t)
	a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
	b.Do("CLIENT", "SETNAME", "far")
	st := stepping(t, s)
	ok(t, a, line("LAB STEP BREAK ADD lost CMD set KEY lock:* CLIENT f* NTH 2")...)
	a.Do("SET", "lock:a", "1")
	b.Do("SET", "lock:a", "2")
	b.Do("SET", "other", "2")
	require.NoError(t, b.Send([]byte("SET lock:b 3\r\n")))
	stop := st.stop()
	require.Equal(t, "break lost", stop.Why)
	require.Equal(t, "SET lock:b 3", stop.Event.Text)
	st.w.Continue()
	b.Read()
	list := a.Do("LAB", "STEP", "BREAK", "LIST")
	require.Equal(t,
		`[["name", "lost", "breakpoint", "CMD set KEY lock:* CLIENT f* NTH 2", "matched", :2, "fired", :1]]`, list.String())
	ok(t, a, "LAB", "STEP", "BREAK", "CLEAR")

	ok(t, a, line("LAB STEP BREAK ADD b WHEN BLOCKED")...)
	require.NoError(t, b.Send([]byte("BLPOP list 0\r\n")))
	require.Equal(t, trace.Replied, st.stop().Event.Point)
	st.w.Continue()
	ok(t, a, line("LAB STEP BREAK ADD again AT execute CMD blpop NTH 1")...)
	require.NoError(t, a.Send([]byte("RPUSH list v\r\n")))
	again := st.stop()
	require.EqualValues(t, trace.AfterWait, again.Event.B)
	st.w.Continue()
	require.Equal(t, ":1", a.Read().String())
}

func TestCommandsOfATransactionAndAScriptAreSteppedThrough(t *testing.T) {
	addr, s := watched(t)
	c := redistest.Dial(t, addr)
	c.Do("MULTI")
	c.Do("SET", "a", "1")
	st := stepping(t, s)
	st.pause()
	require.NoError(t, c.Send([]byte("EXEC\r\nEVAL \"return redis.call('get', KEYS[1])\" 1 a\r\n")))
	met := st.until(trace.Written)
	st.w.Continue()
	require.Equal(t, []string{
		"x 1 EXEC", "x 1 SET a 1", `y 1 +OK\r\n`, `y 1 *1\r\n+OK\r\n`,
		`x 1 EVAL "return redis.call('get', KEYS[1])" 1 a`, "x 1 get a", `y 1 $1\r\n1\r\n`, `y 1 $1\r\n1\r\n`, "o 1 ",
	}, met[4:])
}

func TestThreadsStopOneAtATime(t *testing.T) {
	t.Parallel()
	for _, exec := range []string{"inline", "queue"} {
		addr, s := watched(t, "--io-threads", "3", "--io-threads-do-reads", "yes", "--exec", exec)
		conns := dialMany(t, addr, 4)
		for _, c := range conns {
			c.Do("PING")
		}
		st := stepping(t, s)
		st.pause()
		for _, c := range conns {
			require.NoError(t, c.Send([]byte("PING\r\n")))
			c.WaitForArrival()
		}
		threads, points := map[int]bool{}, map[trace.Point]int{}
		for points[trace.Written] < 4 {
			stop := st.stop()
			points[stop.Event.Point]++
			if p := stop.Event.Point; p == trace.ReadDone || p == trace.Written {
				threads[stop.Event.Thread] = true
				require.True(t, stop.Snapshot.PartOf)
				require.Len(t, stop.Snapshot.Clients, 1)
			}
			st.w.Next(glass.OneEvent, 1)
		}
		st.w.Continue()
		require.NotContains(t, threads, 0, "main reads and writes nothing")
		require.NotZero(t, points[trace.Lent])
		require.Equal(t, 4, points[trace.Executes])
		for _, c := range conns {
			require.Equal(t, "+PONG", c.Read().String())
		}
	}
}

func TestARecordingOfAServerCanBeRead(t *testing.T) {
	addr, _ := watched(t)
	c := redistest.Dial(t, addr)
	require.Equal(t, "ERR LAB RECORD GET: nothing was recorded, see LAB RECORD START",
		c.Do("LAB", "RECORD", "GET").Str)
	ok(t, c, "LAB", "RECORD", "START", "PASSES", "100")
	c.Do("SET", "k", "v", "PX", "600000")
	c.Do("LAB", "CLOCK", "ADVANCE", "600001")
	c.Do("GET", "k")
	ok(t, c, "LAB", "RECORD", "STOP")
	path := filepath.Join(t.TempDir(), "demo.loop.gz")
	ok(t, c, "LAB", "RECORD", "SAVE", path)
	rec, err := glass.ReadRecording(strings.NewReader(c.Do("LAB", "RECORD", "GET").Str))
	require.NoError(t, err)
	var texts []string
	for _, m := range rec.Lines {
		if e := m.Events[0]; e.Point == trace.Executes || e.Point == trace.Expired {
			texts = append(texts, e.Text)
		}
	}
	require.Equal(t, []string{"SET k v PX 600000", "LAB CLOCK ADVANCE 600001", "k", "GET k", "LAB RECORD STOP"}, texts)
	list := c.Do("LAB", "RECORD", "LIST").Elems
	require.Len(t, list, 1)
	require.Equal(t, path, field(list[0], "file").Str)
}
