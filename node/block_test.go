package node_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// sendPending sends a command that is not answered yet. It returns when CLIENT LIST shows that the
// server has executed or postponed the command.
func sendPending(t *testing.T, admin, c *redistest.Conn, args ...string) {
	t.Helper()
	id := strconv.FormatInt(c.Do("CLIENT", "ID").Int, 10)
	require.NoError(t, c.Send(resp.AppendRequest(nil, args...)))
	seen := regexp.MustCompile(` flags=\w*b| cmd=` + strings.ToLower(args[0]) + ` `)
	redistest.Until(t, func() bool { return seen.MatchString(admin.Do("CLIENT", "LIST", "ID", id).Str) })
}

func TestTheLongestWaitingClientIsServedFirst(t *testing.T) {
	t.Parallel()
	addr := start(t, nil)
	admin := redistest.Dial(t, addr)
	rng := rand.New(rand.NewPCG(1, 2))
	var waiting []*redistest.Conn
	for i := range 500 {
		c := redistest.Dial(t, addr)
		waiting = append(waiting, c)
		sendPending(t, admin, c, "BLPOP", fmt.Sprint("own", i), "q", fmt.Sprint("shared", i%7), "0")
	}
	require.Equal(t, "508", infoField(admin, "total_blocking_keys"))
	for n := 0; n < len(waiting); {
		push := []string{"RPUSH", "q"}
		for range min(1+rng.IntN(5), len(waiting)-n) {
			push = append(push, strconv.Itoa(n))
			n++
		}
		admin.Do(push...)
		require.Zero(t, admin.Do("EXISTS", "q").Int)
	}
	for i, c := range waiting {
		reply := c.Read()
		require.Len(t, reply.Elems, 2)
		require.Equal(t, strconv.Itoa(i), reply.Elems[1].Str)
	}
	require.Equal(t, "0", infoField(admin, "total_blocking_keys"))
	require.Equal(t, "0", infoField(admin, "blocked_clients"))
}

func TestNothingIsTakenForAClientThatHasGone(t *testing.T) {
	addr := start(t, nil)
	admin := redistest.Dial(t, addr)
	for _, wait := range [][]string{
		{"BLPOP", "q", "0"}, {"BLMOVE", "q", "r", "LEFT", "LEFT", "0"}, {"BLMPOP", "0", "1", "q", "LEFT"},
		{"BRPOP", "other", "q", "100"},
	} {
		c, stays := redistest.Dial(t, addr), redistest.Dial(t, addr)
		sendPending(t, admin, c, wait...)
		sendPending(t, admin, stays, "BLPOP", "q", "0")
		require.Equal(t, "2", infoField(admin, "blocked_clients"))
		c.Close()
		waitForField(admin, "blocked_clients", "1")
		admin.Do("RPUSH", "q", "x", "y")
		require.Equal(t, "x", stays.Read().Elems[1].Str)
		require.Equal(t, "y", admin.Do("LPOP", "q").Str)
		require.Zero(t, admin.Do("EXISTS", "r").Int)
	}
	require.Equal(t, "0", infoField(admin, "total_blocking_keys"))
	require.Equal(t, "0", infoField(admin, "clients_in_timeout_table"))
}

func TestNoWaitEndsBeforeItsTime(t *testing.T) {
	addr := start(t, nil)
	clock, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
	micros := func() int64 {
		now := clock.Do("TIME")
		s, err := strconv.ParseInt(now.Elems[0].Str, 10, 64)
		require.NoError(t, err)
		us, err := strconv.ParseInt(now.Elems[1].Str, 10, 64)
		require.NoError(t, err)
		return s*1e6 + us
	}
	for _, wait := range []struct {
		micros int64
		args   []string
	}{
		{3_000, []string{"BLPOP", "q", "0.003"}},
		{4_000, []string{"BLPOP", "q", "0.0031"}}, // a started millisecond counts
		{1_000, []string{"BZPOPMIN", "q", "1e-9"}},
		{7_000, []string{"XREAD", "BLOCK", "7", "STREAMS", "s", "$"}},
		{5_000, []string{"WAIT", "1", "5"}},
	} {
		before := micros()
		c.Do(wait.args...)
		require.GreaterOrEqual(t, micros()-before, wait.micros, "%v", wait.args)
	}
}

// A client may have lost the permission when the key becomes ready, or the memory may be full.
func TestABlockedClientIsServedOnlyIfItsCommandIsStillAllowed(t *testing.T) {
	addr := start(t, nil)
	admin, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
	admin.Do("ACL", "SETUSER", "worker", "on", "nopass", "~*", "+@all")
	require.Equal(t, "OK", c.Do("AUTH", "worker", "any").Str)
	sendPending(t, admin, c, "BLPOP", "q", "0")
	admin.Do("ACL", "SETUSER", "worker", "-blpop")
	admin.Do("RPUSH", "q", "x")
	require.Regexp(t, "^NOPERM ", c.Read().Str)
	require.Equal(t, "x", admin.Do("LPOP", "q").Str)

	admin.Do("ACL", "SETUSER", "worker", "+@all")
	admin.Do("RPUSH", "source", "x")
	sendPending(t, admin, c, "BLMOVE", "q", "r", "LEFT", "LEFT", "0")
	admin.Do("CONFIG", "SET", "maxmemory", "1")
	require.Equal(t, "OK", admin.Do("RENAME", "source", "q").Str)
	require.Regexp(t, "^OOM ", c.Read().Str)
	require.Equal(t, "x", admin.Do("LINDEX", "q", "0").Str)
}

func TestAPauseHoldsBlockedClientsToo(t *testing.T) {
	addr := start(t, nil)
	admin, pops, reads := redistest.Dial(t, addr), redistest.Dial(t, addr), redistest.Dial(t, addr)
	sendPending(t, admin, pops, "BLPOP", "q", "0")
	sendPending(t, admin, reads, "XREAD", "BLOCK", "0", "STREAMS", "s", "$")
	admin.Do("MULTI")
	admin.Do("RPUSH", "q", "x")
	admin.Do("XADD", "s", "1-1", "f", "v")
	admin.Do("CLIENT", "PAUSE", "1000000", "WRITE")
	admin.Do("EXEC")
	require.Len(t, reads.Read().Elems, 1, "reads nothing it might change")
	require.Equal(t, int64(1), admin.Do("LLEN", "q").Int)
	require.Equal(t, "1", infoField(admin, "blocked_clients"))
	admin.Do("CLIENT", "UNPAUSE")
	require.Equal(t, "x", pops.Read().Elems[1].Str)

	id := strconv.FormatInt(pops.Do("CLIENT", "ID").Int, 10)
	admin.Do("CLIENT", "PAUSE", "1000000", "WRITE")
	sendPending(t, admin, pops, "BLPOP", "q", "0")
	require.Zero(t, admin.Do("CLIENT", "UNBLOCK", id).Int, "it is the pause that it waits for")
	admin.Do("CLIENT", "UNPAUSE")
	require.Equal(t, int64(1), admin.Do("CLIENT", "UNBLOCK", id).Int)
	require.Nil(t, pops.Read().Elems)
}

func TestAStreamThatExpiresEndsTheWaitOfItsConsumers(t *testing.T) {
	addr := start(t, nil)
	admin, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
	admin.Do("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
	sendPending(t, admin, c, "XREADGROUP", "GROUP", "g", "alice", "BLOCK", "0", "STREAMS", "s", ">")
	require.NoError(t, c.Send(resp.AppendRequest(nil, "ECHO", "behind")))
	require.Equal(t, "1", infoField(admin, "total_blocking_keys_on_nokey"))
	admin.Do("PEXPIRE", "s", "5")
	require.Equal(t, "NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option", c.Read().Str)
	require.Equal(t, "behind", c.Read().Str)
	require.Equal(t, "0", infoField(admin, "total_blocking_keys_on_nokey"))
}

func TestShutdownDoesNotWaitForBlockedClients(t *testing.T) {
	addr := start(t, nil)
	admin, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
	sendPending(t, admin, c, "BLPOP", "q", "0")
	require.NoError(t, admin.Send(resp.AppendRequest(nil, "SHUTDOWN", "NOSAVE")))
	requireClosed(t, c)
	requireClosed(t, admin)
}

// The client that calls CLIENT UNBLOCK keeps the messages that wait for its own reply.
func TestEndingAWaitLeavesTheCallersMessagesToTheCaller(t *testing.T) {
	addr := start(t, nil)
	admin, c := redistest.Dial(t, addr), redistest.Dial(t, addr)
	id := strconv.FormatInt(c.Do("CLIENT", "ID").Int, 10)
	admin.Do("HELLO", "3")
	admin.Do("CLIENT", "TRACKING", "ON")
	admin.Do("GET", "k")
	admin.Do("SUBSCRIBE", "channel")
	c.Do("HELLO", "3")
	c.Do("CLIENT", "TRACKING", "ON")
	sendPending(t, redistest.Dial(t, addr), c, "BLPOP", "q", "0")
	for _, args := range [][]string{
		{"MULTI"}, {"PUBLISH", "channel", "message"}, {"SET", "k", "v"}, {"CLIENT", "UNBLOCK", id},
	} {
		admin.Do(args...)
	}
	require.Equal(t, `[:1, +OK, :1]`, admin.Do("EXEC").String())
	require.Equal(t, byte('_'), c.Read().Kind)
	require.Equal(t, "PONG", c.Do("PING").Str)
	require.Equal(t, `>["invalidate", ["k"]]`, admin.Read().String())
	require.Equal(t, `>["message", "channel", "message"]`, admin.Read().String())
}
