package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// newServer creates a server on a free port. MINIREDISD_ARGS adds arguments to every server of
// these tests. With arguments for I/O threads, all tests run over threads, even for a single
// client.
func newServer(t testing.TB, log server.Log, args ...string) *server.Server {
	t.Helper()
	more := strings.Fields(os.Getenv("MINIREDISD_ARGS"))
	s := plainServer(t, log, append(more, args...)...)
	if len(more) > 0 {
		s.EagerThreads()
	}
	return s
}

func plainServer(t testing.TB, log server.Log, args ...string) *server.Server {
	t.Helper()
	common := []string{"--port", "0", "--bind", "127.0.0.1", "--enable-debug-command", "yes"}
	cfg, err := config.Parse(append(common, args...), nil)
	require.NoError(t, err)
	s, err := node.New(cfg, log)
	require.NoError(t, err)
	return s
}

// needProc skips a test that looks at its own process where there is no /proc.
func needProc(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("it needs /proc, which Linux has")
	}
}

func startThreads(t *testing.T, eager bool, args ...string) string {
	t.Helper()
	s := plainServer(t, func(byte, string, ...any) {}, append([]string{"--io-threads", "4"}, args...)...)
	if eager {
		s.EagerThreads()
	}
	return run(t, s)
}

// together sends one request on every connection before it reads the replies. The server then finds
// many requests in one pass.
func together(conns []*redistest.Conn, args ...string) {
	for _, c := range conns {
		_ = c.Send(resp.AppendRequest(nil, args...))
	}
	for _, c := range conns {
		c.Read()
	}
}

func dialMany(t *testing.T, addr string, n int) (conns []*redistest.Conn) {
	for range n {
		conns = append(conns, redistest.Dial(t, addr))
	}
	return conns
}

func TestThreadsReadOnlyWhenAskedTo(t *testing.T) {
	for _, reads := range []string{"yes", "no"} {
		addr := startThreads(t, true, "--io-threads-do-reads", reads)
		c := redistest.Dial(t, addr)
		require.Equal(t, "PONG", c.Do("PING").Str)
		require.Equal(t, "1", infoField(c, "io_threads_active"))
		require.NotEqual(t, "0", infoField(c, "io_threaded_writes_processed"))
		require.Equal(t, reads == "yes", infoField(c, "io_threaded_reads_processed") != "0")
		c.Do("CONFIG", "RESETSTAT")
		require.Equal(t, "1", infoField(c, "io_threaded_writes_processed"))
	}
}

// The server wakes a thread for at least eight clients.
func TestThreadsSleepWhileThereIsLittleToDo(t *testing.T) {
	addr := startThreads(t, false, "--io-threads-do-reads", "yes")
	conns := dialMany(t, addr, 7)
	for range 100 {
		together(conns, "PING")
	}
	require.Equal(t, "0", infoField(conns[0], "io_threads_active"))
	require.Equal(t, "0", infoField(conns[0], "io_threaded_reads_processed"))
	require.Equal(t, "0", infoField(conns[0], "io_threaded_writes_processed"))

	conns = append(conns, dialMany(t, addr, 40)...)
	unused := func(counter string) bool { return infoField(conns[0], counter) == "0" }
	for unused("io_threaded_reads_processed") || unused("io_threaded_writes_processed") {
		require.NoError(t, conns[0].Send([]byte("DEBUG SLEEP 0.001\r\n"))) // the other requests pile up behind it
		together(conns[1:], "PING")
		conns[0].Read()
	}
	conns[0].Do("PING")
	require.Equal(t, "0", infoField(conns[0], "io_threads_active"))
}

// The main thread waits a moment for more clients before it reads from only a few.
func TestFewClientsWaitForMoreIfThreadsWouldReadThem(t *testing.T) {
	for _, reads := range []string{"yes", "no"} {
		addr, path := startThreads(t, false, "--io-threads-do-reads", reads), filepath.Join(t.TempDir(), "trace.json")
		admin := redistest.Dial(t, addr)
		admin.Do("DEBUG", "TRACE", "START")
		for range 10 { // a useless wait lets at most one, then three, then seven passes go by
			admin.Do("PING")
		}
		admin.Do("DEBUG", "TRACE", "DUMP", path)
		tr := readTrace(t, path)
		tr.requireNested(t)
		gathered := 0
		for _, h := range tr.spans[tr.main] {
			if h.Name == "gather" {
				gathered++
			}
		}
		require.Equal(t, reads == "yes", gathered > 0)
	}
}

// A single client would pay for the wait with each request. The server must stop trying it.
func TestASingleClientSoonStopsWaitingForOthers(t *testing.T) {
	addr, path := startThreads(t, false, "--io-threads-do-reads", "yes"), filepath.Join(t.TempDir(), "trace.json")
	c := redistest.Dial(t, addr)
	c.Do("DEBUG", "TRACE", "START")
	for range 1000 {
		c.Do("PING")
	}
	c.Do("DEBUG", "TRACE", "DUMP", path)
	gathered := 0
	for _, h := range readTrace(t, path).TraceEvents {
		if h.Name == "gather" {
			gathered++
		}
	}
	require.LessOrEqual(t, gathered, 11)
}

func TestIOThreadsCannotBeChanged(t *testing.T) {
	c := redistest.Dial(t, startThreads(t, false))
	for _, name := range []string{"io-threads", "io-threads-do-reads"} {
		require.Equal(t, "ERR CONFIG SET failed (possibly related to argument '"+name+"') - can't set immutable config",
			c.Do("CONFIG", "SET", name, "1").Str)
	}
	require.Equal(t, "4", c.Do("CONFIG", "GET", "io-threads").Elems[1].Str)
}

func TestATraceShowsTheSharesOfThreads(t *testing.T) {
	needProc(t)
	addr, path := startThreads(t, true, "--io-threads-do-reads", "yes"), filepath.Join(t.TempDir(), "trace.json")
	admin := redistest.Dial(t, addr)
	require.Equal(t, "OK", admin.Do("DEBUG", "TRACE", "START").Str)
	admin.Close()
	keepBusy(t, addr, 8, 20)
	admin = redistest.Dial(t, addr)
	require.Equal(t, "OK", admin.Do("DEBUG", "TRACE", "DUMP", path).Str)
	tr := readTrace(t, path)
	tr.requireNested(t)
	tr.requireCommandsOnOneRow(t)
	tr.requireOrder(t)
	require.Positive(t, tr.requireArrows(t), "no hand-off")
	did := map[string]bool{}
	for tid, spans := range tr.spans {
		require.DirExists(t, fmt.Sprint("/proc/self/task/", tr.kernel[tid]), "%s is not a thread", tr.name[tid])
		for _, h := range spans {
			did[tr.name[tid]+": "+h.Cat] = true
		}
	}
	for _, what := range []string{"read phase", "read", "parse", "write phase", "write"} {
		require.True(t, did["io_1: "+what], what)
	}
	require.Len(t, tr.name, 4)
}

// Measurements of the executing thread need its thread ID in the kernel.
func TestInfoNamesTheThreadThatExecutes(t *testing.T) {
	needProc(t)
	addr := startThreads(t, true)
	seen := map[string]bool{}
	for range 20 {
		_, after, found := strings.Cut(redistest.Dial(t, addr).Do("INFO", "miniredisd").Str, "executor_thread_id:")
		require.True(t, found)
		id, _, _ := strings.Cut(after, "\r\n")
		require.DirExists(t, "/proc/self/task/"+id)
		seen[id] = true
	}
	require.Len(t, seen, 1, "it is bound to one")
}
