package node_test

import (
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// requireReset reads until the connection ends, and requires that it ends by a reset.
func requireReset(t *testing.T, c *redistest.Conn) (replies int) {
	t.Helper()
	for {
		if _, err := c.TryRead(); err != nil {
			require.ErrorIs(t, err, syscall.ECONNRESET)
			return replies
		}
		replies++
	}
}

func crash(t *testing.T, admin *redistest.Conn, args ...string) {
	t.Helper()
	ok(t, admin, append([]string{"LAB", "CRASH"}, args...)...)
	_, err := admin.TryRead()
	require.ErrorIs(t, err, io.EOF)
}

func TestLabCrashNamesTheArgumentThatIsWrong(t *testing.T) {
	_, c := startLab(t)
	for _, bad := range [][2]string{
		{"NOW", "ERR LAB CRASH: expects DOWN or LOSE, not 'NOW'"},
		{"DOWN", "ERR LAB CRASH: DOWN expects an argument"},
		{"DOWN 1 DOWN 2", "ERR LAB CRASH: DOWN is given twice"},
		{"LOSE half", "ERR LAB CRASH: LOSE expects ALL or NOTHING, not 'half'"},
		{"LOSE ALL 7", "ERR LAB CRASH: expects DOWN or LOSE, not '7'"},
		{"DOWN 1000",
			"ERR LAB CRASH: refused: DOWN would never end: the clock is frozen, and no client could connect to move it"},
	} {
		require.Equal(t, bad[1], c.Do(strings.Fields("LAB CRASH "+bad[0])...).Str)
	}
	require.Regexp(t, `^ERR LAB CRASH: DOWN expects a number of milliseconds from 0 to \d+, not '-1'$`,
		c.Do("LAB", "CRASH", "DOWN", "-1").Str)
	require.Equal(t, "PONG", c.Do("PING").Str)
}

func TestACrashForgetsAllThatARestartForgets(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "SET", "lock", "v", "PX", "30000")
	sha := admin.Do("SCRIPT", "LOAD", "return 1").Str
	admin.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
	ok(t, admin, "CONFIG", "SET", "notify-keyspace-events", "")
	ok(t, admin, "ACL", "SETUSER", "bob", "on", "nopass", "+@all", "~*")
	run := infoField(admin, "run_id")
	now := labNow(admin)
	crash(t, admin)
	c := redistest.Dial(t, addr)
	require.Equal(t, int64(0), c.Do("DBSIZE").Int)
	require.Equal(t, int64(0), c.Do("SCRIPT", "EXISTS", sha).Elems[0].Int)
	require.Empty(t, c.Do("FUNCTION", "LIST").Elems)
	require.Equal(t, "AKE", c.Do("CONFIG", "GET", "notify-keyspace-events").Elems[1].Str)
	require.Len(t, c.Do("ACL", "USERS").Elems, 1)
	require.NotEqual(t, run, infoField(c, "run_id"))
	require.Equal(t, "1", infoField(c, "connected_clients"))
	require.Equal(t, "1", infoField(c, "total_connections_received"))
	require.Equal(t, now, labNow(c), "the time of the lab goes on as it was")
}

func TestACrashThatLosesNothingKeepsWhatIsOnDisk(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "SET", "lock", "v", "PX", "30000")
	admin.Do("RPUSH", "list", "a", "b")
	sha := admin.Do("SCRIPT", "LOAD", "return 1").Str
	admin.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)")
	crash(t, admin, "LOSE", "NOTHING")
	c := redistest.Dial(t, addr)
	require.Equal(t, int64(30000), c.Do("PTTL", "lock").Int)
	require.Equal(t, "b", c.Do("RPOP", "list").Str)
	require.Equal(t, int64(0), c.Do("SCRIPT", "EXISTS", sha).Elems[0].Int)
	require.Equal(t, int64(7), c.Do("FCALL", "f", "0").Int)
	sub := redistest.Dial(t, addr)
	sub.Do("SUBSCRIBE", "__keyevent@0__:expired")
	require.Equal(t, int64(1), c.Do("LAB", "CLOCK", "ADVANCE", "30001").Int)
	require.Equal(t, "lock", sub.Read().Elems[2].Str)
}

// Every client loses its connection, in whatever state it is.
func TestACrashResetsEveryConnection(t *testing.T) {
	addr, admin := startLab(t)
	sub := redistest.Dial(t, addr)
	sub.Do("SUBSCRIBE", "ch")
	var conns []*redistest.Conn
	for _, wait := range [][]string{
		{"BLPOP", "q", "0"}, {"BLPOP", "q", "5"}, {"XREAD", "BLOCK", "0", "STREAMS", "s", "$"}, {"WAIT", "1", "0"},
	} {
		c := redistest.Dial(t, addr)
		sendPending(t, admin, c, wait...)
		conns = append(conns, c)
	}
	dial := func() *redistest.Conn { return redistest.Dial(t, addr) }
	multi, watch, tracks, monitor, idle := dial(), dial(), dial(), dial(), dial()
	ok(t, multi, "MULTI")
	multi.Do("SET", "k", "v")
	ok(t, watch, "WATCH", "k")
	tracks.Do("HELLO", "3")
	ok(t, tracks, "CLIENT", "TRACKING", "ON", "BCAST")
	idle.Do("PING")
	big := redistest.Dial(t, addr)
	ok(t, big, "CLIENT", "SETNAME", "big")
	admin.Do("SET", "big", strings.Repeat("x", 8<<20))
	require.NoError(t, big.Send(resp.AppendRequest(nil, "GET", "big")))
	redistest.Until(t, func() bool { return listed(t, admin, idOfName(admin, "big"), "events") == "rw" })
	ok(t, monitor, "MONITOR")
	paused := redistest.Dial(t, addr)
	ok(t, admin, "CLIENT", "PAUSE", "100000", "WRITE")
	sendPending(t, admin, paused, "SET", "k", "v")
	conns = append(conns, sub, multi, watch, tracks, monitor, idle, big, paused)
	crash(t, admin)
	for _, c := range conns {
		requireReset(t, c)
	}
	c := redistest.Dial(t, addr)
	ok(t, c, "SET", "k", "v") // the pause has ended
	require.Equal(t, "0", infoField(c, "blocked_clients"))
	require.Equal(t, "0", infoField(c, "pubsub_channels"))
	require.Equal(t, "1", infoField(c, "connected_clients"))
	require.Equal(t, int64(2), c.Do("RPUSH", "q", "x", "y").Int)
	require.Equal(t, int64(0), c.Do("LAB", "CLOCK", "ADVANCE", "1000000").Int)
}

// With LOSE NOTHING the counter survives, so every reply that arrived is still true.
func TestACrashInAPipelineLosesRepliesAndNothingElse(t *testing.T) {
	addr, admin := startLab(t)
	var conns []*redistest.Conn
	var burst []byte
	for range 500 {
		burst = resp.AppendRequest(burst, "INCR", "n")
	}
	for range 8 {
		c := redistest.Dial(t, addr)
		c.Do("PING")
		conns = append(conns, c)
	}
	for _, c := range conns {
		require.NoError(t, c.Send(burst))
	}
	crash(t, admin, "LOSE", "NOTHING")
	got := 0
	for _, c := range conns {
		got += requireReset(t, c)
	}
	n, _ := strconv.Atoi(redistest.Dial(t, addr).Do("GET", "n").Str)
	require.GreaterOrEqual(t, n, got)
}

func TestAMasterThatIsDownRefusesUntilItsTimeIsOver(t *testing.T) {
	m := startMasters(t, 2)
	admin, other := dialMaster(t, m, 1), dialMaster(t, m, 2)
	admin.Do("LAB", "ALL", "CLOCK", "FREEZE")
	ok(t, other, "SET", "lock", "v")
	ok(t, admin, "LAB", "MASTER", "2", "CRASH", "DOWN", "30000")
	requireReset(t, other)
	addr := "127.0.0.1:" + strconv.Itoa(m[1].Port())
	for _, step := range []string{"29000", "999"} {
		admin.Do("LAB", "ALL", "CLOCK", "ADVANCE", step)
		ok(t, admin, "LAB", "MASTER", "2", "LISTEN", "ON") // too early: DOWN goes on
		_, err := net.Dial("tcp", addr)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	}
	admin.Do("LAB", "ALL", "CLOCK", "ADVANCE", "1")
	require.Equal(t, int64(0), redistest.Dial(t, addr).Do("DBSIZE").Int)
	require.Equal(t, "PONG", admin.Do("PING").Str)
}

// The system gives the port to nobody who asks for any port, or clients that try to come back would reach a stranger.
func TestAMasterThatIsDownKeepsItsPort(t *testing.T) {
	m := startMasters(t, 2)
	port := m[1].Port()
	lab := func(args ...string) {
		_, err := m.Do(t.Context(), 2, append([]string{"LAB"}, args...)...)
		require.NoError(t, err)
	}
	for _, step := range [][]string{
		{"LISTEN", "OFF"}, {"CRASH"}, {"CRASH", "DOWN", "3600000"}, {"CRASH", "DOWN", "7200000"},
	} {
		lab(step...)
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
		require.NoError(t, err)
		require.ErrorIs(t, syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}),
			syscall.EADDRINUSE, step)
		require.NoError(t, syscall.Close(fd))
		_, err = net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	}
	lab("RESET")
	require.Equal(t, "PONG", dialMaster(t, m, 2).Do("PING").Str)
}

// A connection that nobody has accepted is reset, too. It stays in the queue of the listener, and what it has sent is
// not executed.
func TestACrashNeverRefusesAClient(t *testing.T) {
	m := startMasters(t, 2)
	addr := "127.0.0.1:" + strconv.Itoa(m[1].Port())
	admin := dialMaster(t, m, 1)
	ok(t, admin, "LAB", "MASTER", "2", "BLACKHOLE", "ON")
	waits := redistest.Dial(t, addr)
	require.NoError(t, waits.Send(resp.AppendRequest(nil, "SET", "k", "v")))
	ok(t, admin, "LAB", "MASTER", "2", "CRASH", "LOSE", "NOTHING")
	requireReset(t, waits)
	ok(t, admin, "LAB", "MASTER", "2", "BLACKHOLE", "OFF")
	require.Equal(t, int64(0), dialMaster(t, m, 2).Do("DBSIZE").Int)

	stop, refused := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				refused <- nil
				return
			default:
			}
			c, err := net.Dial("tcp", addr)
			switch {
			case err == nil:
				_ = c.(*net.TCPConn).SetLinger(0) // no port of this machine waits for late packets
				_ = c.Close()
			case !errors.Is(err, syscall.ECONNRESET): // the crash is allowed to reset it
				refused <- err
				return
			}
		}
	}()
	for range 200 {
		ok(t, admin, "LAB", "MASTER", "2", "CRASH")
	}
	close(stop)
	require.NoError(t, <-refused)
}

// The caller gets the reply through the master that it asked, although that master crashes too.
func TestAllMastersCrashAtOnce(t *testing.T) {
	m := startMasters(t, 3)
	admin := dialMaster(t, m, 1)
	var conns []*redistest.Conn
	for n := range m {
		conns = append(conns, dialMaster(t, m, n+1))
		ok(t, conns[n], "SET", "lock", "v")
	}
	require.Equal(t, "OK", admin.Do("LAB", "ALL", "CRASH").Elems[2].Str)
	_, err := admin.TryRead()
	require.ErrorIs(t, err, io.EOF)
	for n, c := range conns {
		requireReset(t, c)
		require.Equal(t, int64(0), dialMaster(t, m, n+1).Do("DBSIZE").Int)
	}
}

// Two connections ask in one pass. Both get a reply, and the server loses what either of them may
// lose.
func TestEveryCallerOfACrashGetsAReply(t *testing.T) {
	for _, second := range []string{"NOTHING", "ALL"} {
		addr, admin := startLab(t)
		ok(t, admin, "SET", "k", "v")
		rule(t, admin, "both CMD get ACTION HOLD")
		a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
		pipeline(t, a, "GET k", "LAB CRASH LOSE NOTHING")
		waitParked(t, admin, "both")
		pipeline(t, b, "GET k", "LAB CRASH LOSE "+second)
		require.Len(t, admin.Do("LAB", "HOLD", "WAIT", "both", "0", "2").Elems, 10)
		pipeline(t, admin, "LAB HOLD RELEASE both")
		for _, c := range []*redistest.Conn{a, b} {
			require.Equal(t, "v", c.Read().Str)
			require.Equal(t, "OK", c.Read().Str)
			_, err := c.TryRead()
			require.ErrorIs(t, err, io.EOF)
		}
		requireReset(t, admin)
		c := redistest.Dial(t, addr)
		require.Equal(t, second == "NOTHING", c.Do("DBSIZE").Int == 1)
		crashes := 0
		for _, e := range c.Do("LAB", "LOG").Elems {
			if field(e, "event").Str == "crash" {
				crashes++
			}
		}
		require.Equal(t, 1, crashes)
	}
}

// A crash cuts off a script that is still running when the server crashes, as the end of a process
// does. Otherwise an endless script would delay the crash for ever.
func TestACrashDoesNotWaitForAScriptBehindIt(t *testing.T) {
	addr, admin := startLab(t, "--busy-reply-threshold", "10")
	rule(t, admin, "both CMD get ACTION HOLD")
	a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
	pipeline(t, a, "GET k", "LAB CRASH")
	waitParked(t, admin, "both")
	pipeline(t, b, "GET k", "EVAL '"+endless+"' 0")
	require.Len(t, admin.Do("LAB", "HOLD", "WAIT", "both", "20000", "2").Elems, 10)
	pipeline(t, admin, "LAB HOLD RELEASE both")
	a.Read()
	require.Equal(t, "OK", a.Read().Str)
	_, err := a.TryRead()
	require.ErrorIs(t, err, io.EOF)
	requireReset(t, b)
	require.Equal(t, "PONG", redistest.Dial(t, addr).Do("PING").Str)
}

func TestACrashOfAMasterThatIsDownKeepsItDownForItsOwnTime(t *testing.T) {
	m := startMasters(t, 2)
	admin := dialMaster(t, m, 1)
	admin.Do("LAB", "ALL", "CLOCK", "FREEZE")
	ok(t, admin, "LAB", "MASTER", "2", "CRASH", "DOWN", "1000")
	ok(t, admin, "LAB", "MASTER", "2", "CRASH", "DOWN", "30000")
	admin.Do("LAB", "MASTER", "2", "CLOCK", "ADVANCE", "29999")
	_, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(m[1].Port()))
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	admin.Do("LAB", "MASTER", "2", "CLOCK", "ADVANCE", "1")
	require.Equal(t, "PONG", dialMaster(t, m, 2).Do("PING").Str)
}

func TestAPartitionOutlastsACrash(t *testing.T) {
	addr, admin := startLab(t)
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "far", "ON")
	crash(t, admin)
	c, far := redistest.Dial(t, addr), redistest.Dial(t, addr)
	setName := resp.AppendRequest(nil, "CLIENT", "SETNAME", "far")
	require.NoError(t, far.Send(resp.AppendRequest(setName, "SET", "k", "v")))
	runPasses(c)
	require.Equal(t, int64(0), c.Do("EXISTS", "k").Int)
	ok(t, c, "LAB", "PARTITION", "CLIENT", "far", "OFF")
	require.Equal(t, "OK", far.Read().Str)
	require.Equal(t, "OK", far.Read().Str)
}

func TestCrashesInARowLeaveNothingBehind(t *testing.T) {
	addr, _ := startLab(t)
	for range 30 {
		admin, waits := redistest.Dial(t, addr), redistest.Dial(t, addr)
		sendPending(t, admin, waits, "BLPOP", "q", "10")
		require.Equal(t, int64(0), admin.Do("DBSIZE").Int)
		ok(t, admin, "SET", "k", "v", "PX", "1000")
		crash(t, admin)
		requireReset(t, waits)
	}
}

func TestACrashIsRefusedIfNoClientCouldConnectAfterwards(t *testing.T) {
	const refused = "ERR LAB CRASH: refused: " +
		"no connection could reach the lab afterwards (LISTEN is OFF or BLACKHOLE is ON)"
	addr, admin := startLab(t)
	for _, outage := range [][2]string{{"BLACKHOLE ON", "BLACKHOLE OFF"}, {"LISTEN OFF", "LISTEN ON"}} {
		ok(t, admin, line("LAB "+outage[0])...)
		require.Equal(t, refused, admin.Do("LAB", "CRASH").Str)
		ok(t, admin, line("LAB "+outage[1])...)
	}
	crash(t, admin)
	require.Equal(t, "PONG", redistest.Dial(t, addr).Do("PING").Str)

	m := startMasters(t, 2)
	first := dialMaster(t, m, 1)
	ok(t, first, "LAB", "MASTER", "2", "BLACKHOLE", "ON")
	all := first.Do("LAB", "ALL", "CRASH")
	require.Equal(t, "OK", all.Elems[0].Str)
	require.Equal(t, refused, all.Elems[1].Str)
	first = dialMaster(t, m, 1)
	ok(t, first, "LAB", "MASTER", "2", "CRASH") // allowed: this connection reaches the lab
	ok(t, first, "LAB", "MASTER", "2", "RESET")
	require.Equal(t, "PONG", dialMaster(t, m, 2).Do("PING").Str)
}

func TestAllMastersAreNotDownForEver(t *testing.T) {
	const refused = "ERR LAB CRASH: refused: " +
		"DOWN would never end: the clock is frozen, and no client could connect to move it"
	m := startMasters(t, 3)
	admin := dialMaster(t, m, 1)
	ok(t, admin, "LAB", "MASTER", "1", "CLOCK", "FREEZE")
	ok(t, admin, "LAB", "MASTER", "3", "CLOCK", "FREEZE")
	all := admin.Do("LAB", "ALL", "CRASH", "DOWN", "10")
	require.Equal(t, refused, all.Elems[0].Str)
	require.Equal(t, "OK", all.Elems[1].Str, "its clock runs")
	require.Equal(t, refused, all.Elems[2].Str)
	ok(t, admin, "LAB", "MASTER", "3", "CRASH", "DOWN", "10") // allowed: this connection reaches the lab
	_, err := m.Do(t.Context(), 0, "LAB", "ALL", "CRASH", "DOWN", "10")
	require.NoError(t, err, "a program can end it")
	_, err = m.Do(t.Context(), 0, "LAB", "ALL", "CLOCK", "ADVANCE", "10")
	require.NoError(t, err)
	require.Equal(t, "+PONG", dialMaster(t, m, 1).Do("PING").String())
}
