package node_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

const killed = "ERR Script killed by user with SCRIPT KILL..."

// startBusyScript starts a script with the given body on one client. It returns when the server is
// busy and serves other clients during the script.
func startBusyScript(t *testing.T, addr string, body string) (script, other *redistest.Conn) {
	script, other = redistest.Dial(t, addr), redistest.Dial(t, addr)
	other.Do("HELLO", "3")
	other.Do("SUBSCRIBE", "busy")
	require.NoError(t, script.Send(resp.AppendRequest(nil, "EVAL", `redis.call("publish", "busy", "") `+body, "0")))
	require.Equal(t, "message", other.Read().Elems[0].Str)
	require.True(t, strings.HasPrefix(other.Do("PING").Str, "BUSY "))
	return script, other
}

func TestClientsComeAndGoWhileAScriptRuns(t *testing.T) {
	t.Parallel()
	addr := start(t, []string{"--busy-reply-threshold", "10"})
	script, other := startBusyScript(t, addr, "while true do end")
	script.Close()
	for range 100 { // the next connection gets the same file descriptor
		a, b := redistest.Dial(t, addr), redistest.Dial(t, addr)
		require.True(t, strings.HasPrefix(a.Do("GET", "k").Str, "BUSY "))
		a.Close()
		require.Equal(t, "OK", b.Do("MULTI").Str)
		b.Close()
	}
	require.Equal(t, "OK", other.Do("SCRIPT", "KILL").Str)
	require.Equal(t, "OK", other.Do("SET", "k", "v").Str)
	waitForField(other, "connected_clients", "1") // the server may still be closing the last clients
}

func TestRequestsBehindASlowScriptWaitForIt(t *testing.T) {
	addr := start(t, []string{"--busy-reply-threshold", "10"})
	script, other := startBusyScript(t, addr, "while true do end")
	require.NoError(t, script.Send(resp.AppendRequest(resp.AppendRequest(nil, "PING"), "ECHO", "x")))
	for range 20 {
		require.True(t, strings.HasPrefix(other.Do("PING").Str, "BUSY "))
	}
	require.Equal(t, "OK", other.Do("SCRIPT", "KILL").Str)
	require.True(t, strings.HasPrefix(script.Read().Str, killed))
	require.Equal(t, "PONG", script.Read().Str)
	require.Equal(t, "x", script.Read().Str)
}

func TestTimeStandsStillWhileOthersAreServed(t *testing.T) {
	t.Parallel()
	addr := start(t, []string{"--busy-reply-threshold", "10"})
	script, other := startBusyScript(t, addr, `
		redis.call("set", "short", "x", "PX", 5)
		local before = redis.call("pttl", "short")
		repeat until redis.call("pubsub", "numsub", "busy")[2] == 0
		return {before, redis.call("pttl", "short"), redis.call("exists", "short")}`)
	for i := range 50 {
		other.Do("WATCH", "key"+strconv.Itoa(i))
	}
	other.Do("RESET") // this ends the subscription
	reply := script.Read().Elems
	require.Equal(t, reply[0].Int, reply[1].Int)
	require.Equal(t, int64(1), reply[2].Int)
	require.Equal(t, int64(0), other.Do("EXISTS", "short").Int)
}

// After each script the process lives, its memory is bounded, and the next script finds everything
// as it was.
func TestHostileScriptsDoNotHurtTheServer(t *testing.T) {
	addr := start(t, []string{"--busy-reply-threshold", "10"})
	c, killer := redistest.Dial(t, addr), redistest.Dial(t, addr)
	for name, h := range map[string]struct{ script, want string }{
		"a huge string":     {`return string.rep("x", 1e11)`, "not enough memory"},
		"1 MB of {":         {"return " + strings.Repeat("{", 1<<20), "too many syntax levels"},
		"a chain of ..":     {"return 'a'" + strings.Repeat("..'a'", 1e5), "too many syntax levels"},
		"a pattern bomb":    {`return string.find(("a"):rep(100000), ("a-"):rep(15) .. "b")`, ""},
		"nested coroutines": {`local function f() return coroutine.wrap(f)() end return f()`, "C stack overflow"},
		"many coroutines": {
			`local t = {} for i = 1, 20000 do t[i] = coroutine.create(function() end) end`, "too many"},
		"the strings' metatable":  {`getmetatable("").__index = nil`, "Attempt to modify a readonly table"},
		"a library by rawset":     {`rawset(redis, "call", nil)`, "Attempt to modify a readonly table"},
		"an endless loop":         {`while true do end`, killed},
		"an endless loop, caught": {`while true do pcall(function() while true do end end) end`, killed},
		"an endless loop inside":  {`coroutine.wrap(function() while true do end end)()`, killed},
		"endless calls":           {`while true do redis.call("get", "x") end`, killed},
		"endless errors":          {`while true do redis.pcall("nosuch") end`, killed},
		"a global":                {`x = 1`, "Attempt to modify a readonly table"},
		"a table that grows":      {`local t = {} while true do t[#t+1] = ("x"):rep(1e6) .. #t end`, "not enough memory"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, c.Send(resp.AppendRequest(nil, "EVAL", h.script, "0")))
			if h.want == killed || h.want == "" {
				for strings.HasPrefix(killer.Do("SCRIPT", "KILL").Str, "NOTBUSY ") {
				}
			}
			require.Contains(t, c.Read().String(), h.want)
			require.Equal(t, "xxx7hello:1", c.Do("EVAL", `return ("x"):rep(3) .. 7 .. string.sub("hello!", 1, 5)`+
				` .. ":" .. redis.call("incr", KEYS[1])`, "1", t.Name()).Str)
			require.Less(t, info(t, c, "used_memory_rss"), 3<<30) // the race detector needs memory too
		})
	}
}
