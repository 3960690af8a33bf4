package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// claiming starts a server with a stream s and its group g, and a consumer that has read the entry 1-0.
func claiming(t *testing.T) (addr string, admin *redistest.Conn) {
	t.Helper()
	addr, admin = startLab(t, "--dialect", "redis-8.4")
	admin.Do("XADD", "s", "1-0", "f", "v")
	ok(t, admin, "XGROUP", "CREATE", "s", "g", "0")
	admin.Do("XREADGROUP", "GROUP", "g", "slow", "STREAMS", "s", ">")
	return addr, admin
}

// waiter returns a client with a request that blocks.
func waiter(t *testing.T, addr string, admin *redistest.Conn, request string) *redistest.Conn {
	t.Helper()
	before := info(t, admin, "blocked_clients")
	c := redistest.Dial(t, addr)
	require.NoError(t, c.Send([]byte(request+"\r\n")))
	redistest.Until(t, func() bool { return info(t, admin, "blocked_clients") == before+1 })
	return c
}

func TestABlockedReaderClaimsAnEntryAtTheMillisecondThatItIsIdle(t *testing.T) {
	addr, admin := claiming(t)
	c := waiter(t, addr, admin, "XREADGROUP GROUP g fast BLOCK 0 CLAIM 1000 STREAMS s >")
	advance(t, admin, 999)
	require.Equal(t, 1, info(t, admin, "blocked_clients"))
	advance(t, admin, 1)
	require.Equal(t, `[["s", [["1-0", ["f", "v"], :1000, :1]]]]`, c.Read().String())
	require.Equal(t, `[["1-0", "fast", :0, :2]]`, admin.Do("XPENDING", "s", "g", "-", "+", "9").String())
}

func TestABlockedReaderClaimsWhatAnotherOneGotMeanwhile(t *testing.T) {
	addr, admin := claiming(t)
	admin.Do("XACK", "s", "g", "1-0")
	first := waiter(t, addr, admin, "XREADGROUP GROUP g a BLOCK 0 CLAIM 100 STREAMS s >")
	second := waiter(t, addr, admin, "XREADGROUP GROUP g b BLOCK 0 CLAIM 100 STREAMS s >")
	advance(t, admin, 5000)
	admin.Do("XADD", "s", "2-0", "f", "w")
	require.Equal(t, `[["s", [["2-0", ["f", "w"], :0, :0]]]]`, first.Read().String())
	advance(t, admin, 99)
	require.Equal(t, 1, info(t, admin, "blocked_clients"))
	advance(t, admin, 1)
	require.Equal(t, `[["s", [["2-0", ["f", "w"], :100, :1]]]]`, second.Read().String())
}

func TestABlockedReaderClaimsWhatXCLAIMMadeOld(t *testing.T) {
	addr, admin := claiming(t)
	c := waiter(t, addr, admin, "XREADGROUP GROUP g fast BLOCK 0 CLAIM 60000 STREAMS s >")
	admin.Do("XCLAIM", "s", "g", "slow", "0", "1-0", "IDLE", "59999", "JUSTID")
	require.Equal(t, 1, info(t, admin, "blocked_clients"))
	advance(t, admin, 1)
	require.Equal(t, `[["s", [["1-0", ["f", "v"], :60000, :1]]]]`, c.Read().String())
}

// An entry that nobody can claim must not keep the server busy either.
func TestTheTimeOfABlockedReaderEndsBeforeAnEntryIsIdle(t *testing.T) {
	addr, admin := claiming(t)
	admin.Do("XADD", "s", "2-0", "f", "gone")
	admin.Do("XREADGROUP", "GROUP", "g", "slow", "STREAMS", "s", ">")
	admin.Do("XDEL", "s", "2-0")
	c := waiter(t, addr, admin, "XREADGROUP GROUP g fast BLOCK 500 CLAIM 501 STREAMS s >")
	advance(t, admin, 499)
	require.Equal(t, 1, info(t, admin, "blocked_clients"))
	advance(t, admin, 1)
	require.Equal(t, "(nil array)", c.Read().String())
}
