package miniredistest_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest"
	"github.com/miniredisd/miniredisd/resp"
)

// dialIn connects a client in a bubble.
func dialIn(t *testing.T, srv *miniredistest.Server) *redistest.Conn {
	t.Helper()
	conn, err := srv.Dial(t.Context(), "", "")
	require.NoError(t, err)
	return redistest.Wrap(t, conn)
}

func TestInABubbleALeaseExpiresBySleeping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := miniredistest.Run(t)
		begin := time.Now()
		owner, other := dialIn(t, srv), dialIn(t, srv)
		require.Equal(t, "OK", owner.Do("SET", "lock", "a", "NX", "PX", "30000").Str)
		require.True(t, other.Do("SET", "lock", "b", "NX", "PX", "30000").Null)
		require.Equal(t, 30*time.Second, srv.TTL("lock"))
		time.Sleep(29 * time.Second)
		require.Equal(t, time.Second, srv.TTL("lock"))
		time.Sleep(2 * time.Second)
		srv.AssertNone("*")
		require.Equal(t, "OK", other.Do("SET", "lock", "b", "NX", "PX", "30000").Str)
		require.Equal(t, 31*time.Second, time.Since(begin), "commands take no time")
		srv.AssertOneHolder("lock")
	})
}

func TestInABubbleBlockingCommandsWaitForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := miniredistest.Run(t)
		begin := time.Now()
		c := dialIn(t, srv)
		require.True(t, c.Do("BLPOP", "q", "10").Null)
		require.Equal(t, 10*time.Second, time.Since(begin).Truncate(time.Second))
		got := make(chan string)
		go func() { got <- c.Do("BLPOP", "q", "0").Elems[1].Str }()
		time.Sleep(50 * time.Second)
		srv.Do("RPUSH", "q", "job")
		require.Equal(t, "job", <-got)
	})
}

func TestInABubbleFaultsAndCrashesAreAsOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredistest.RunMasters(t, 2)
		srv := m[1]
		srv.Fault("lost").Cmd("SET").Nth(1).DropReply()
		srv.Fault("slow").Cmd("GET").DelayReply(30 * time.Second)
		c := dialIn(t, srv)
		require.NoError(t, c.Send(resp.AppendRequest(nil, "SET", "k", "v")))
		_, err := c.TryRead()
		require.Error(t, err)
		begin := time.Now()
		require.Equal(t, "v", dialIn(t, srv).Do("GET", "k").Str)
		require.Equal(t, 30*time.Second, time.Since(begin).Truncate(time.Second))
		srv.Crash(time.Minute, miniredistest.LoseKeys)
		_, err = srv.Dial(t.Context(), "", "")
		require.Error(t, err)
		time.Sleep(61 * time.Second)
		require.True(t, dialIn(t, srv).Do("EXISTS", "k").Int == 0)
		require.Equal(t, "PONG", dialIn(t, m[0]).Do("PING").Str)
	})
}

func TestConnectionsOfABubbleHaveDeadlinesAndRoomForLargeValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := miniredistest.Run(t)
		large := strings.Repeat("x", 4<<20)
		c := dialIn(t, srv)
		require.Equal(t, "OK", c.Do("SET", "k", large).Str)
		require.Equal(t, large, c.Do("GET", "k").Str)
		conn, err := srv.Dial(t.Context(), "", "")
		require.NoError(t, err)
		begin := time.Now()
		require.NoError(t, conn.SetDeadline(begin.Add(5*time.Second)))
		_, err = conn.Read(make([]byte, 1))
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout())
		require.Equal(t, 5*time.Second, time.Since(begin))
		require.NoError(t, conn.SetDeadline(time.Time{}))
		go func() {
			time.Sleep(time.Second)
			conn.Close()
		}()
		_, err = conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, net.ErrClosed)
	})
}

// A client resolves an address that is no number, and a resolver that is asked in two bubbles ends the process.
func TestInABubbleServersDifferByAddressesThatNeedNoResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[string]bool{}
		servers := append(miniredistest.RunMasters(t, 3), miniredistest.Run(t, miniredistest.Replicas(2)).Nodes()...)
		for _, srv := range servers {
			at, err := netip.ParseAddrPort(srv.Addr())
			require.NoError(t, err)
			require.True(t, at.Addr().IsLoopback())
			require.EqualValues(t, srv.Port(), at.Port())
			require.Equal(t, "redis://"+srv.Addr(), srv.URL())
			require.Contains(t, srv.Do("INFO", "server").Str, fmt.Sprintf("\r\ntcp_port:%d\r\n", srv.Port()))
			require.False(t, seen[srv.Addr()], srv.Addr())
			seen[srv.Addr()] = true

			conn, err := srv.Dial(t.Context(), "tcp", "elsewhere:1")
			require.NoError(t, err)
			require.Equal(t, srv.Addr(), conn.RemoteAddr().String())
			require.Equal(t, "PONG", redistest.Wrap(t, conn).Do("PING").Str)
			srv.Listen(false)
			_, err = srv.Dial(t.Context(), "tcp", srv.Addr())
			require.EqualError(t, err, "dial tcp "+srv.Addr()+": connect: connection refused")
			srv.Listen(true)
			_, err = net.Dial("tcp", srv.Addr())
			require.ErrorIs(t, err, unix.ECONNREFUSED, "a client without Dial reaches nobody")
		}
	})
}

func TestInABubbleServersFollowEachOtherByTheirAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredistest.RunMasters(t, 2)
		host, port, err := net.SplitHostPort(m[0].Addr())
		require.NoError(t, err)
		m[0].Do("SET", "k", "v")
		require.Equal(t, "OK", m[1].Do("REPLICAOF", host, port).Str)
		m[0].Synced()
		m[1].AssertString("k", "v")
		require.Contains(t, m[0].Do("INFO", "replication").Str, fmt.Sprintf("slave0:ip=%s,port=%d,", host, m[1].Port()))
		require.Contains(t, m[1].Do("INFO", "replication").Str, "master_port:"+port+"\r\n")
		require.Equal(t, "OK", m[1].Do("CONFIG", "SET", "port", "1").Str, "it listens nowhere")
		require.Equal(t, "PONG", dialIn(t, m[1]).Do("PING").Str)
	})
}

func TestInABubbleThePortIsWhatTheTestAsksFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredistest.RunMasters(t, 2, miniredistest.Config("--port", "7001"))
		require.Equal(t, []string{"127.0.0.1:7001", "127.0.0.1:7002"}, m.Addrs())
	})
}

func TestInABubbleKeysMigrateBetweenServersThatWereStartedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredistest.RunMasters(t, 2)
		m[0].Do("SET", "k", "v", "PX", "30000")
		host, port, err := net.SplitHostPort(m[1].Addr())
		require.NoError(t, err)
		require.Equal(t, "OK", m[0].Do("MIGRATE", host, port, "k", "0", "1000").Str)
		m[0].AssertNone("*")
		m[1].AssertString("k", "v")
		require.Equal(t, 30*time.Second, m[1].TTL("k"))
		m[1].Crash(time.Hour, miniredistest.KeepKeys)
		m[0].Do("SET", "k", "v")
		_, err = m[0].Try("MIGRATE", host, port, "k", "0", "1000", "REPLACE")
		require.ErrorContains(t, err, "IOERR error or timeout writing to target instance")
		m[0].AssertString("k", "v")
	})
}

// Else a bubble in which all wait for ever would not notice it.
func TestInABubbleAnIdleServerDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := miniredistest.Run(t)
		dialIn(t, srv).Do("SET", "k", "v")
		before := cycles(t, srv)
		time.Sleep(9_000_000 * time.Second)
		require.LessOrEqual(t, cycles(t, srv)-before, 20)
	})
}

// cycles returns how many turns the loop has made.
func cycles(t *testing.T, srv *miniredistest.Server) int {
	t.Helper()
	_, rest, _ := strings.Cut(srv.Do("INFO", "stats").Str, "eventloop_cycles:")
	n, err := strconv.Atoi(strings.SplitN(rest, "\r\n", 2)[0])
	require.NoError(t, err)
	return n
}

// A server answers where it lives. Elsewhere its channels would panic, or stop the time.
func TestAServerIsAskedWhereItLives(t *testing.T) {
	const why = "a server outside of a testing/synctest bubble cannot be run or asked inside it"
	outside := miniredistest.Run(t)
	var inside *miniredistest.Server
	synctest.Test(t, func(t *testing.T) {
		_, err := outside.Try("PING")
		require.ErrorContains(t, err, why)
		inside = miniredistest.Run(t)
		inside.Do("SET", "k", "v")
	})
	_, err := inside.Try("PING")
	require.ErrorContains(t, err, why)
	conn, err := outside.Dial(context.Background(), "", "")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

func TestAClientInABubbleReachesAServerOutside(t *testing.T) {
	srv := miniredistest.Run(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		conn, err := net.Dial("tcp", srv.Addr())
		require.NoError(t, err)
		defer conn.Close()
		_, err = conn.Write([]byte("PING\r\n"))
		require.NoError(t, err)
		var answer [7]byte
		_, err = conn.Read(answer[:])
		require.NoError(t, err)
		require.Equal(t, "+PONG\r\n", string(answer[:]))
	})
}

func TestInABubbleAServerSavesWhileCommandsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialIn(t, miniredistest.Run(t))
		c.Do("SET", "k", "v")
		require.Equal(t, "Background saving started", c.Do("BGSAVE").Str)
		time.Sleep(time.Minute)
		require.Contains(t, c.Do("INFO", "persistence").Str, "rdb_changes_since_last_save:0\r\nrdb_bgsave_in_progress:0")
		require.Equal(t, "OK", c.Do("CONFIG", "SET", "save", "100 1").Str)
		c.Do("SET", "k", "w")
		time.Sleep(30 * time.Second)
		require.Contains(t, c.Do("INFO", "persistence").Str, "rdb_saves:1\r\n")
		time.Sleep(time.Minute)
		require.Contains(t, c.Do("INFO", "persistence").Str, "rdb_saves:2\r\n")
	})
}
