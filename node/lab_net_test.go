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

// runPasses makes the server run enough passes to finish all pending work.
func runPasses(admin *redistest.Conn) {
	for range 20 {
		admin.Do("PING")
	}
}

func listed(t *testing.T, admin *redistest.Conn, id, field string) string {
	t.Helper()
	_, rest, found := strings.Cut(admin.Do("CLIENT", "LIST", "ID", id).Str, " "+field+"=")
	require.True(t, found)
	value, _, _ := strings.Cut(rest, " ")
	return value
}

func idOf(c *redistest.Conn) string { return strconv.FormatInt(c.Do("CLIENT", "ID").Int, 10) }

func TestLabNetNamesTheArgumentThatIsWrong(t *testing.T) {
	_, c := startLab(t)
	for _, bad := range [][2]string{
		{"LISTEN maybe", "ERR LAB LISTEN: expects ON or OFF, not 'maybe'"},
		{"BLACKHOLE 1", "ERR LAB BLACKHOLE: expects ON or OFF, not '1'"},
		{"PARTITION NODE x ON", "ERR LAB PARTITION: expects CLIENT or LIST, not 'NODE'"},
		{"PARTITION CLIENT x yes", "ERR LAB PARTITION CLIENT: expects ON or OFF, not 'yes'"},
		{"PARTITION CLIENT x OFF", "ERR LAB PARTITION CLIENT: no partition is named 'x'"},
		{"LISTEN", "ERR LAB LISTEN: expects ON or OFF"},
		{"LISTEN OFF now", "ERR LAB LISTEN OFF: 'now' is one argument too many"},
		{"BLACKHOLE", "ERR LAB BLACKHOLE: expects ON or OFF"},
		{"PARTITION", "ERR LAB PARTITION: expects CLIENT or LIST"},
		{"PARTITION CLIENT", "ERR LAB PARTITION CLIENT: name-glob is missing"},
		{"PARTITION CLIENT x", "ERR LAB PARTITION CLIENT: ON or OFF is missing"},
		{"PARTITION LIST x", "ERR LAB PARTITION LIST: 'x' is one argument too many"},
	} {
		require.Equal(t, bad[1], c.Do(strings.Fields("LAB "+bad[0])...).Str)
	}
}

// The counts show when LAB is sent through the pool of the client under test: that connection is
// spared.
func TestTheListOfPartitionsCountsTheClientsThatAreCutOff(t *testing.T) {
	addr, admin := startLab(t)
	list := func() string { return admin.Do("LAB", "PARTITION", "LIST").String() }
	admin.Do("CLIENT", "SETNAME", "app")
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "app", "ON")
	require.Equal(t, `[["client", "app", "cut", :0, "spared", :1]]`, list())
	near, far, left := redistest.Dial(t, addr), redistest.Dial(t, addr), redistest.Dial(t, addr)
	near.Do("PING")
	left.Do("CLIENT", "SETNAME", "app-2")
	far.Do("CLIENT", "SETNAME", "app-1")
	for _, glob := range []string{"app-*", "app-*", "*-1"} {
		ok(t, admin, "LAB", "PARTITION", "CLIENT", glob, "ON")
	}
	require.Equal(t, `[["client", "app", "cut", :0, "spared", :1], `+
		`["client", "app-*", "cut", :2, "spared", :0], ["client", "*-1", "cut", :1, "spared", :0]]`, list())
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "app-*", "OFF")
	require.Equal(t, "PONG", left.Do("PING").Str)
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "*-1", "OFF")
	require.Equal(t, "PONG", far.Do("PING").Str)
}

func TestAServerThatDoesNotListenKeepsItsClients(t *testing.T) {
	addr, admin := startLab(t)
	other := redistest.Dial(t, addr)
	other.Do("PING")
	for range 2 {
		ok(t, admin, "LAB", "LISTEN", "OFF")
		ok(t, admin, "LAB", "LISTEN", "OFF")
		_, err := net.Dial("tcp", addr)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.Equal(t, "PONG", other.Do("PING").Str)
		ok(t, admin, "LAB", "LISTEN", "ON")
		ok(t, admin, "LAB", "LISTEN", "ON")
		require.Equal(t, "PONG", redistest.Dial(t, addr).Do("PING").Str)
	}
}

// A black hole delays everything until it is off: requests, replies, messages and new connections.
func TestABlackHoleKeepsEverythingBackUntilItIsOff(t *testing.T) {
	addr, admin := startLab(t)
	asks, waits, listens := redistest.Dial(t, addr), redistest.Dial(t, addr), redistest.Dial(t, addr)
	id := idOf(listens)
	asksID := idOf(asks)
	listens.Do("SUBSCRIBE", "ch")
	sendPending(t, admin, waits, "BLPOP", "q", "10")
	clients := infoField(admin, "connected_clients")
	ok(t, admin, "LAB", "BLACKHOLE", "ON")
	require.NoError(t, asks.Send(resp.AppendRequest(nil, "SET", "k", "v")))
	comes := redistest.Dial(t, addr)
	require.NoError(t, comes.Send(resp.AppendRequest(nil, "PING")))
	require.Equal(t, int64(1), admin.Do("PUBLISH", "ch", "message").Int)
	admin.Do("RPUSH", "q", "x")
	runPasses(admin)
	require.Equal(t, int64(0), admin.Do("DBSIZE").Int, "the waiter has got x, and k is not heard of")
	require.Equal(t, clients, infoField(admin, "connected_clients"))
	require.NotEqual(t, "0", listed(t, admin, id, "obl"))
	require.Equal(t, "", listed(t, admin, asksID, "events"))
	ok(t, admin, "LAB", "BLACKHOLE", "OFF")
	require.Equal(t, "OK", asks.Read().Str)
	require.Equal(t, "message", listens.Read().Elems[2].Str)
	require.Equal(t, "x", waits.Read().Elems[1].Str)
	require.Equal(t, "PONG", comes.Read().Str)
	require.Equal(t, "PONG", waits.Do("PING").Str)
}

func TestAPortThatIsChangedMeanwhileIsAsDeafAsTheOld(t *testing.T) {
	_, admin := startLab(t)
	ok(t, admin, "LAB", "LISTEN", "OFF")
	addr := moveListener(t, admin)
	_, err := net.Dial("tcp", addr)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	ok(t, admin, "LAB", "LISTEN", "ON")
	require.Equal(t, "PONG", redistest.Dial(t, addr).Do("PING").Str)

	ok(t, admin, "LAB", "BLACKHOLE", "ON")
	before := infoField(admin, "total_connections_received")
	comes := redistest.Dial(t, moveListener(t, admin))
	require.NoError(t, comes.Send(resp.AppendRequest(nil, "PING")))
	runPasses(admin)
	require.Equal(t, before, infoField(admin, "total_connections_received"))
	ok(t, admin, "LAB", "BLACKHOLE", "OFF")
	require.Equal(t, "PONG", comes.Read().Str)
}

func TestABlockedClientTimesOutBehindABlackHole(t *testing.T) {
	addr, admin := startLab(t)
	c := redistest.Dial(t, addr)
	sendPending(t, admin, c, "BLPOP", "q", "10")
	ok(t, admin, "LAB", "BLACKHOLE", "ON")
	admin.Do("LAB", "CLOCK", "ADVANCE", "10000")
	require.Equal(t, "0", infoField(admin, "blocked_clients"))
	require.Equal(t, int64(1), admin.Do("RPUSH", "q", "x").Int)
	ok(t, admin, "LAB", "BLACKHOLE", "OFF")
	require.Equal(t, "(nil array)", c.Read().String())
	require.Equal(t, "x", c.Do("LPOP", "q").Str)
}

func TestAPartitionIsAboutClientsOfItsNames(t *testing.T) {
	addr, admin := startLab(t)
	a, b, unnamed := redistest.Dial(t, addr), redistest.Dial(t, addr), redistest.Dial(t, addr)
	ok(t, a, "CLIENT", "SETNAME", "worker-a")
	ok(t, b, "CLIENT", "SETNAME", "worker-b")
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "worker-a", "ON")
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "*-a", "ON")
	require.NoError(t, a.Send(resp.AppendRequest(nil, "SET", "k", "a")))
	runPasses(admin)
	ok(t, b, "SET", "k", "b", "NX")
	ok(t, unnamed, "SET", "other", "v")
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "worker-a", "OFF")
	runPasses(admin)
	require.Equal(t, "b", b.Do("GET", "k").Str)
	// A partition applies from the moment of the name. The request after the name is not executed.
	setName := resp.AppendRequest(nil, "CLIENT", "SETNAME", "x-a")
	require.NoError(t, unnamed.Send(resp.AppendRequest(setName, "DEL", "k")))
	runPasses(admin)
	require.Equal(t, int64(2), admin.Do("DBSIZE").Int)
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "*-a", "OFF")
	require.Equal(t, "OK", a.Read().Str)
	require.Equal(t, "OK", unnamed.Read().Str)
	unnamed.Read()
	require.Equal(t, "PONG", unnamed.Do("PING").Str)
}

func TestLargeOutputIsCompleteAfterAPartition(t *testing.T) {
	addr, admin := startLab(t)
	c := redistest.Dial(t, addr)
	ok(t, c, "CLIENT", "SETNAME", "reader")
	admin.Do("SET", "big", strings.Repeat("x", 8<<20))
	require.NoError(t, c.Send(resp.AppendRequest(nil, "GET", "big")))
	redistest.Until(t, func() bool { return listed(t, admin, idOfName(admin, "reader"), "events") == "rw" })
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "reader", "ON")
	runPasses(admin)
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "reader", "OFF")
	require.Len(t, c.Read().Str, 8<<20)
	require.Equal(t, "PONG", c.Do("PING").Str)
}

func idOfName(admin *redistest.Conn, name string) string {
	for _, line := range strings.Split(admin.Do("CLIENT", "LIST").Str, "\n") {
		if strings.Contains(line, " name="+name+" ") {
			id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
			return id
		}
	}
	return ""
}

// Within one pass a partition may go on and off any number of times.
func TestABlockedClientStaysBlockedThroughManyBlackHoles(t *testing.T) {
	addr, admin := startLab(t)
	client := redistest.Dial(t, addr)
	client.Do("PING")
	ok(t, admin, "LAB", "BLACKHOLE", "ON")
	pipeline(t, client, "BLPOP none 1", "SET behind x")
	pipeline(t, admin, "LAB BLACKHOLE OFF",
		"LAB BLACKHOLE ON", "LAB BLACKHOLE OFF", "LAB BLACKHOLE ON", "LAB BLACKHOLE OFF")
	for range 5 {
		require.Equal(t, "+OK", admin.Read().String())
	}
	require.Eventually(t, func() bool { return infoField(admin, "blocked_clients") == "1" }, limit, tick)
	require.Equal(t, ":0", admin.Do("EXISTS", "behind").String())
	admin.Do("LAB", "CLOCK", "ADVANCE", "1000")
	require.True(t, client.Read().Null)
	require.Equal(t, "+OK", client.Read().String())
	require.Equal(t, "0", infoField(admin, "blocked_clients"))
}

// A black hole also hides from a client that the server has closed its connection.
func TestAKilledClientNoticesItAfterTheBlackHole(t *testing.T) {
	t.Parallel()
	for _, sends := range []string{"nothing", "something before", "something after"} {
		t.Run(sends, func(t *testing.T) {
			addr, admin := startLab(t)
			c := redistest.Dial(t, addr)
			id := idOf(c)
			ok(t, admin, "LAB", "BLACKHOLE", "ON")
			if sends == "something before" {
				pipeline(t, c, "SET k v")
				c.WaitForArrival()
			}
			require.Equal(t, int64(1), admin.Do("CLIENT", "KILL", "ID", id).Int)
			require.Empty(t, admin.Do("CLIENT", "LIST", "ID", id).Str)
			requireSilence(t, c, admin)
			if sends == "something after" {
				pipeline(t, c, "SET k v")
				c.WaitForArrival()
			}
			ok(t, admin, "LAB", "PARTITION", "CLIENT", "other", "ON")
			requireSilence(t, c, admin)
			ok(t, admin, "LAB", "BLACKHOLE", "OFF")
			if sends == "nothing" {
				_, err := c.TryRead()
				require.ErrorIs(t, err, io.EOF)
			} else {
				requireReset(t, c)
			}
			require.Equal(t, int64(0), admin.Do("EXISTS", "k").Int)
		})
	}
}

func TestAClientClosedBehindAPartitionNoticesItAfterwards(t *testing.T) {
	for _, end := range []string{"CLIENT KILL USER default", "CLIENT KILL TYPE normal", "LAB CRASH", "ACL DELUSER bob"} {
		t.Run(end, func(t *testing.T) {
			addr, admin := startLab(t)
			ok(t, admin, "ACL", "SETUSER", "bob", "on", "nopass", "+@all")
			near, far := redistest.Dial(t, addr), redistest.Dial(t, addr)
			for name, c := range map[string]*redistest.Conn{"near": near, "far": far} {
				if strings.Contains(end, "bob") {
					ok(t, c, "AUTH", "bob", "x")
				}
				ok(t, c, "CLIENT", "SETNAME", name)
			}
			ok(t, admin, "LAB", "PARTITION", "CLIENT", "f*", "ON")
			admin.Do(strings.Fields(end)...)
			_, err := near.TryRead()
			require.Error(t, err)
			again := redistest.Dial(t, addr)
			requireSilence(t, far, again)
			ok(t, again, "LAB", "PARTITION", "CLIENT", "f*", "OFF")
			_, err = far.TryRead()
			require.Error(t, err)
			require.Equal(t, end == "LAB CRASH", errors.Is(err, syscall.ECONNRESET))
		})
	}
}

func TestLingeringSocketsStayWithinMaxclients(t *testing.T) {
	addr, admin := startLab(t, "--maxclients", "10")
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "far", "ON")
	var far []*redistest.Conn
	for range 30 {
		c := redistest.Dial(t, addr)
		pipeline(t, c, "CLIENT SETNAME far")
		var id string
		for id == "" {
			id = idOfName(admin, "far")
		}
		require.Equal(t, int64(1), admin.Do("CLIENT", "KILL", "ID", id).Int)
		far = append(far, c)
	}
	_, err := far[20].TryRead()
	require.Error(t, err)
	for _, c := range far[21:] {
		requireSilence(t, c, admin)
	}
	require.NoError(t, admin.Send([]byte("SHUTDOWN NOSAVE\r\n")))
	for _, c := range far[21:] {
		_, err := c.TryRead()
		require.Error(t, err, "the end of the process is theirs, too")
	}
}

func TestNewClientsReplaceLingeringSockets(t *testing.T) {
	addr, admin := startLab(t, "--maxclients", "10")
	ok(t, admin, "LAB", "PARTITION", "CLIENT", "far", "ON")
	var far []*redistest.Conn
	for n := range 9 {
		c := redistest.Dial(t, addr)
		pipeline(t, c, "CLIENT SETNAME far")
		redistest.Until(t, func() bool { return strings.Count(admin.Do("CLIENT", "LIST").Str, " name=far ") > n })
		far = append(far, c)
	}
	require.Equal(t, int64(9), admin.Do("CLIENT", "KILL", "TYPE", "normal").Int)
	for _, c := range far {
		requireSilence(t, c, admin)
		require.Equal(t, "PONG", redistest.Dial(t, addr).Do("PING").Str)
	}
	for _, c := range far {
		_, err := c.TryRead()
		require.ErrorIs(t, err, io.EOF)
	}
}
