package proxy

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/proxy/child"
)

// owner runs a proxy that has started a redis-server. The client sends LAB.
func owner(t *testing.T, command string) (r *running, lab conn) {
	redistest.Need(t, "redis-server")
	c, err := child.New(command, func(string) {}, func(string) {})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.NoError(t, c.Start())
	r = startWith(t, Config{Upstreams: []string{c.Addr}, Own: []*child.Child{c}, ClockKeys: 10})
	return r, r.client()
}

const forgetful = `redis-server --port {port} --save ""`

func TestACrashResetsClientsAndLosesWhatTheServerHasNotWritten(t *testing.T) {
	r, lab := owner(t, forgetful)
	other := r.client()
	require.Equal(t, "+OK", lab.do("LAB LOG WATCH lock:*"))
	require.Equal(t, "+OK", other.do("SET lock:o alice PX 100000"))
	require.Equal(t, "+OK", lab.do("LAB CRASH"))
	_, err := lab.Read()
	require.Error(t, err, "LAB CRASH ends its own connection")
	_, err = other.Do("PING")
	require.Error(t, err)
	lab = r.client()
	require.Equal(t, "(nil)", lab.do("GET lock:o"))
	require.Contains(t, lab.logText(), "|crash|||0|executed|\n", "all keys were lost")
}

func TestACrashOfAllServersRepliesToItsSender(t *testing.T) {
	for _, how := range []string{"ALL", "MASTER 1"} {
		_, lab := owner(t, forgetful)
		require.Equal(t, "+OK", lab.do("SET lock:o alice"))
		require.Contains(t, lab.do("LAB "+how+" CRASH LOSE ALL"), "+OK")
		_, err := lab.Read()
		require.ErrorIs(t, err, io.EOF, "LAB CRASH ends its own connection, too")
	}
}

func TestACrashThatLosesNothingKeepsKeysDeadlinesAndFunctions(t *testing.T) {
	r, lab := owner(t, forgetful)
	require.Equal(t, "+OK", lab.do("LAB LOG WATCH lock:*"))
	require.Equal(t, "+OK", lab.do("SET lock:o alice PX 100000"))
	at := lab.do("PEXPIRETIME lock:o")
	require.Equal(t, "+OK", lab.do("SELECT 3"))
	require.Equal(t, ":2", lab.do("RPUSH list a b"))
	_, err := lab.Do("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('one', function() return 1 end)")
	require.NoError(t, err)
	sha := lab.do("SCRIPT LOAD return")
	require.Equal(t, "+OK", lab.do("LAB CRASH LOSE NOTHING"))
	lab = r.client()
	require.Equal(t, at, lab.do("PEXPIRETIME lock:o"))
	require.Equal(t, ":1", lab.do("FCALL one 0"))
	require.Contains(t, lab.do("SCRIPT EXISTS "+strings.Trim(sha, `"`)), "0")
	require.Contains(t, lab.logText(), "|crash|||0|executed|keys kept")
	require.Equal(t, "+OK", lab.do("SELECT 3"))
	require.Equal(t, ":2", lab.do("LLEN list"))
}

func TestAServerThatIsDownRefusesConnectionsAndComesUpAgain(t *testing.T) {
	r, lab := owner(t, forgetful)
	ctx, addr := t.Context(), fmt.Sprintf("127.0.0.1:%d", r.proxy.Ports()[0])
	require.Equal(t, "+OK", lab.do("LAB LOG WATCH lock:*"))
	require.Equal(t, "+OK", lab.do("SET lock:o alice PX 100000"))
	require.Equal(t, "+OK", lab.do("LAB CRASH DOWN 3600000 LOSE NOTHING"))
	_, err := redistest.Connect(addr)
	require.ErrorContains(t, err, "connection refused")
	_, err = r.proxy.Do(ctx, 1, "LAB", "LOG", "EXPORT")
	require.NoError(t, err, "the lab is there all the time")
	_, err = r.proxy.Do(ctx, 1, "LAB", "SNAPSHOT", "SAVE", "a")
	require.ErrorContains(t, err, "the server is down")
	_, err = r.proxy.Do(ctx, 1, "LAB", "CLOCK", "ADVANCE", "1800000")
	require.NoError(t, err)
	_, err = redistest.Connect(addr)
	require.ErrorContains(t, err, "connection refused", "half of the time is left")
	_, err = r.proxy.Do(ctx, 1, "LAB", "CLOCK", "ADVANCE", "1800000")
	require.NoError(t, err)
	c, err := redistest.Connect(addr)
	require.NoError(t, err, "it is up when the reply comes")
	defer c.Close()
	v, err := c.Conn.Do("GET", "lock:o")
	require.NoError(t, err)
	require.True(t, v.Null, "its lease was over meanwhile")
	require.Contains(t, r.client().logText(), "|expired||lock:o|")
}

func TestAResetEndsWhenAServerThatWasDownIsUp(t *testing.T) {
	r, lab := owner(t, forgetful)
	require.Equal(t, "+OK", lab.do("LAB CRASH DOWN 3600000"))
	v, err := r.proxy.Do(t.Context(), 1, "LAB", "ALL", "RESET")
	require.NoError(t, err)
	require.Equal(t, "[+OK]", v.String())
	require.Equal(t, "+OK", r.client().do("FLUSHALL"))
}

func TestACrashOfAServerThatIsDownReplacesTheOneBefore(t *testing.T) {
	r, lab := owner(t, forgetful)
	ctx, addr := t.Context(), fmt.Sprintf("127.0.0.1:%d", r.proxy.Ports()[0])
	require.Equal(t, "+OK", lab.do("SET k v"))
	require.Equal(t, "+OK", lab.do("LAB CRASH DOWN 3600000 LOSE NOTHING"))
	_, err := r.proxy.Do(ctx, 1, "LAB", "CRASH", "DOWN", "7200000")
	require.NoError(t, err)
	_, err = redistest.Connect(addr)
	require.ErrorContains(t, err, "connection refused")
	_, err = r.proxy.Do(ctx, 1, "LAB", "CRASH")
	require.NoError(t, err)
	lab = r.client()
	require.Equal(t, `"v"`, lab.do("GET k"), "that crash was to lose nothing")
	require.Equal(t, "+OK", lab.do("LAB SNAPSHOT SAVE up"), "it is up")
	require.Equal(t, "+OK", lab.do("SET k new"))
	require.Equal(t, "+OK", lab.do("LAB RESET"))
	require.Equal(t, `"new"`, r.client().do("GET k"), "no older crash brings its keys back")
}

func TestWhatAServerFindsOnItsDiskIsKept(t *testing.T) {
	r, lab := owner(t, forgetful+` --appendonly yes --appendfsync always --dir {dir}`)
	require.Equal(t, "+OK", lab.do("LAB LOG WATCH lock:*"))
	require.Equal(t, "+OK", lab.do("SET lock:o alice"))
	require.Equal(t, "+OK", lab.do("LAB CRASH"))
	lab = r.client()
	require.Equal(t, `"alice"`, lab.do("GET lock:o"))
	require.Contains(t, lab.logText(), "|crash|||0|executed|keys kept")
	require.Equal(t, "+OK", lab.do("LAB CRASH LOSE ALL"))
	lab = r.client()
	require.Equal(t, "(nil)", lab.do("GET lock:o"))
	require.Contains(t, lab.logText(), "|crash|||0|executed|\n")
}

func TestASnapshotIsPutBackAsOftenAsOneLikes(t *testing.T) {
	r, lab := owner(t, forgetful)
	require.Equal(t, "+OK", lab.do("LAB LOG WATCH lock:*"))
	require.Equal(t, "+OK", lab.do("SET lock:o alice PX 100000"))
	require.Equal(t, "+OK", lab.do("LAB SNAPSHOT SAVE clean"))
	require.Equal(t, "+OK", lab.do("SET lock:o bob"))
	require.Equal(t, "+OK", lab.do("SET more 1"))
	require.Equal(t, "+OK", lab.do("LAB SNAPSHOT RESTORE clean"))
	require.Equal(t, `"alice"`, lab.do("GET lock:o"))
	require.Equal(t, "(nil)", lab.do("GET more"))
	require.Contains(t, lab.logText(), "|restore|||0|executed|")
	require.Equal(t, ":1", lab.do("LAB CLOCK ADVANCE 100000"))
	require.Equal(t, "+OK", lab.do("LAB SNAPSHOT RESTORE clean"))
	require.Equal(t, "(nil)", lab.do("GET lock:o"), "its lease is over")
	require.Contains(t, lab.do("LAB SNAPSHOT LIST"), `"clean"`)
	require.Equal(t, "+OK", lab.do("LAB SNAPSHOT DEL clean"))
	require.Contains(t, lab.do("LAB SNAPSHOT DEL clean"), "no snapshot is named 'clean'")
	_, err := lab.Do("EVAL", "for i = 1, 10001 do redis.call('set', i, i) end", "0")
	require.NoError(t, err)
	for _, refused := range []string{"SNAPSHOT SAVE large", "CRASH LOSE NOTHING"} {
		require.Contains(t, lab.do("LAB "+refused), "more than 10000 keys, and a proxy saves no more")
	}
	require.Equal(t, "+PONG", r.client().do("PING"), "a crash that is refused kills nothing")
}

func TestWithoutAServerOfItsOwnAProxyRefusesToKill(t *testing.T) {
	_, lab := withServer(t)
	for _, verb := range []string{"CRASH", "SNAPSHOT SAVE a", "SNAPSHOT LIST"} {
		require.Contains(t, lab.do("LAB "+verb), "start both with miniredisd proxy --server COMMAND")
	}
	require.NotContains(t, lab.do("LAB HELP"), "CRASH")
}

func TestLabCrashSaysWhatItExpects(t *testing.T) {
	_, lab := owner(t, forgetful)
	for args, why := range map[string]string{
		"UP 5": "not 'UP'", "DOWN": "DOWN expects an argument", "DOWN -1": "not '-1'", "LOSE SOME": "not 'SOME'",
	} {
		require.Contains(t, lab.do("LAB CRASH "+args), why)
	}
}

func TestACrashEndsWhatClientsWaitFor(t *testing.T) {
	r, lab := owner(t, forgetful)
	held, blocked := r.client(), r.client()
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD slow CMD get ACTION HOLD"))
	held.send("GET a")
	blocked.send("BLPOP list 0")
	waited := make(chan error, 1)
	go func() {
		_, err := r.proxy.Do(t.Context(), 1, "LAB", "HOLD", "WAIT", "slow", "0", "2")
		waited <- err
	}()
	require.Contains(t, lab.do("LAB HOLD WAIT slow 0"), "GET")
	require.Equal(t, "+OK", lab.do("LAB CRASH"))
	_, err := held.Read()
	require.Error(t, err)
	_, err = blocked.Read()
	require.Error(t, err)
	again := []conn{r.client(), r.client()}
	for _, c := range again {
		c.send("GET a")
	}
	require.NoError(t, <-waited, "the rule is there after the crash, and so is a wait over no connection")
}

func TestRenewEndsClientsAndForgetsThem(t *testing.T) {
	r, lab := owner(t, forgetful)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.Equal(t, "+OK", lab.do("LAB SNAPSHOT SAVE a"))
	_, err := r.proxy.Do(ctx, 1, "LAB", "CRASH", "DOWN", "3600000")
	require.NoError(t, err)
	require.NoError(t, r.proxy.Renew(ctx))
	lab = r.client()
	require.Equal(t, "+OK", lab.do("LAB LOG WATCH *"), "the server is up")
	require.Equal(t, "[]", lab.do("LAB SNAPSHOT LIST"))
	require.Equal(t, "+OK", lab.do("SET k v"))
	v, err := lab.Do("LAB", "LOG", "1")
	require.NoError(t, err)
	require.Contains(t, v.String(), `"client", :1,`)
}

func TestOrderCountsAClientWhoseScriptTheServerDoesNotKnowOnce(t *testing.T) {
	r, lab := owner(t, forgetful)
	const body = "return redis.call('set',KEYS[1],ARGV[1])"
	sha := (&labState{own: &owned{}}).learnScript(body)
	require.Equal(t, "+OK", lab.do("LAB FAULT ADD second KEY k ORDER 2 NTH 1 ACTION DROP-BEFORE"))
	a, b := r.client(), r.client()
	eval := func(c conn, words ...string) string {
		v, err := c.Do(words...)
		if err != nil {
			return "lost"
		}
		return v.String()
	}
	require.Contains(t, eval(a, "EVALSHA", sha, "1", "k", "1"), "NOSCRIPT")
	require.Equal(t, "+OK", eval(a, "EVAL", body, "1", "k", "1"))
	require.Equal(t, "+OK", eval(a, "EVALSHA", sha, "1", "k", "1"))
	require.Equal(t, "lost", eval(b, "EVALSHA", sha, "1", "k", "2"))
}
