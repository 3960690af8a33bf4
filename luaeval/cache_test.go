package luaeval

import (
	"crypto/sha1"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
	"github.com/miniredisd/miniredisd/resp"
)

func bySHA(e *Engine, sha string) string {
	w := resp.Writer{Proto: 2}
	e.Run(e.Find([]byte(sha)), nil, words([]string{"a"}), &w)
	return string(w.Buf)
}

// As on Redis, every script is kept. Only some stay compiled.
func TestScriptsAreKeptAndTheLastOnesCompiled(t *testing.T) {
	e := alone(Options{})
	const n = 3 * mostCompiled
	shas := make([]string, n)
	for i := range n {
		s, err := e.Load(fmt.Appendf(nil, "return %d", i))
		require.NoError(t, err)
		shas[i] = s.SHA
	}
	require.Equal(t, n, e.Len())
	require.Len(t, e.Bodies(), n)
	require.Len(t, e.scripts.bySHA, mostCompiled)
	require.Len(t, e.scripts.byTxt, mostCompiled)
	require.Less(t, e.Mem(), n*200)
	for i, sha := range shas {
		require.True(t, e.Has([]byte(strings.ToUpper(sha))))
		require.Equal(t, fmt.Sprintf(":%d\r\n", i), bySHA(e, sha))
		require.Equal(t, fmt.Sprintf(":%d\r\n", i), evalOn(e, 2, fmt.Sprintf("return %d", i), nil))
	}
	require.Equal(t, n, e.Len(), "those that were compiled again are counted once")
	require.Len(t, e.scripts.bySHA, mostCompiled)
	require.Nil(t, e.Find([]byte(strings.Repeat("0", 40))))
	require.False(t, e.Has([]byte("x")))
	e.Flush()
	require.Zero(t, e.Len())
	require.Zero(t, e.Mem())
	require.Equal(t, stateMem, e.StateMem())
	require.Nil(t, e.Find([]byte(shas[n-1])))
}

func TestAScriptThatIsUsedStaysCompiled(t *testing.T) {
	e := alone(Options{})
	first, err := e.Load([]byte("return 'used'"))
	require.NoError(t, err)
	for i := range 2 * mostCompiled {
		evalOn(e, 2, fmt.Sprintf("return %d", i), nil)
		require.Same(t, first, e.Find([]byte(first.SHA)))
	}
}

// Long scripts weigh more than short ones.
func TestFewLongScriptsStayCompiled(t *testing.T) {
	e := alone(Options{})
	for i := range 8 {
		require.Equal(t, fmt.Sprintf(":%d\r\n", i), evalOn(e, 2, fmt.Sprintf("return %d --%s", i, strings.Repeat("x",
			2<<20)), nil))
	}
	require.Less(t, e.scripts.weight, mostWeight)
	require.Less(t, e.scripts.used.Len(), 3)
	require.Equal(t, 8, e.Len())
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A script keeps nothing alive after its end, with long values or an error.
func TestAScriptKeepsNothing(t *testing.T) {
	const size = 4 << 20
	value := []byte(strings.Repeat("v", size))
	e := New(Options{Budget: 64 << 20, Call: func(args [][]byte, w *resp.Writer) { w.Bulk(value) }})
	arg := strings.Repeat("a", size)
	before := heap()
	for _, script := range []string{
		`return #ARGV[1]`, `local t = ARGV return #t[1]`, `return #_G.ARGV[1]`,
		`return redis.call("set", "x", ARGV[1], ARGV[1] .. "y")`,
		`error(ARGV[1])`, `return redis.error_reply(ARGV[1])`, `return {pcall(error, ARGV[1])}`,
		`local a, b, c = ARGV[1] .. 1, ARGV[1] .. 2, {} for i = 1, 10 do c[i] = ARGV[1] .. i end return 1`,
		`local function f(n) if n == 0 then return 1 end return (f(n - 1)) end return f(1000), ARGV[1] .. 1`,
		`local co = coroutine.wrap(function() local s = ARGV[1] .. "c" coroutine.yield() return s .. "d" end) co() local ` +
			`s = ARGV[1] .. "e" return #(s .. "f")`,
		`return cjson.encode({ARGV[1]})`, `return #cmsgpack.pack(ARGV[1])`, `return redis.call("get", "x")`,
		`for i = 1, 1000 do getmetatable(_G) end`,
	} {
		evalOn(e, 2, script, []string{"k"}, arg)
		require.Less(t, heap()-before, 3<<20, script)
	}
	shown := e.lib.ShownTables()
	evalOn(e, 2, `for i = 1, 10 do getmetatable(_G) end`, nil)
	require.Equal(t, shown, e.lib.ShownTables())
}

// Lua has every string once. So a script that reads a large value many times holds it once.
func TestEqualLargeStringsAreHeldOnce(t *testing.T) {
	value := []byte(strings.Repeat("v", 1<<20))
	e := New(Options{Budget: 16 << 20, Call: func(args [][]byte, w *resp.Writer) {
		value[0]++
		value[0] %= 4
		w.Bulk(value)
	}})
	require.Equal(t, ":100\r\n", evalOn(e, 2, `local t = {} for i = 1, 100 do t[i] = redis.call("get", "x") end `+
		`return #t`, nil))
	require.Equal(t, ":1\r\n", evalOn(e, 2, `local a, b = redis.call("get", "x"), redis.call("get", "x") return a ~= `+
		`b and #a == #b`, nil))
}

// gopher-lua's arrays end at lualib.LargestHole. Lists must not.
func TestListsGoOnBeyondTheArray(t *testing.T) {
	const n = lualib.LargestHole + 10
	e := New(Options{Call: func(args [][]byte, w *resp.Writer) {
		w.Array(n)
		for i := range n {
			w.Int(int64(i + 1))
		}
	}})
	reply := evalOn(e, 2, strings.ReplaceAll(`local t, out = redis.call("lrange", "x", 0, -1), {}
		out[1] = table.getn(t)
		for i, v in ipairs(t) do assert(v == i) out[2] = i end
		out[3] = {unpack(t, N - 1)}
		out[4] = table.concat(t, " "):sub(-8)
		table.insert(t, "x")
		out[5] = t[N + 1]
		out[6] = table.remove(t)
		table.insert(t, 1, "y")
		out[7] = {t[1], t[2], t[N + 1]}
		out[8] = {table.remove(t, 1), t[1], t[N - 1], table.getn(t)}
		return {out, t}`, "N", fmt.Sprint(n)), nil)
	want := strings.ReplaceAll("*2|*8|:N|:N|*2|:M|:N|$8| N|$1|x|$1|x|*3|$1|y|:1|:N|*4|$1|y|:1|:M|:N|*N|:1|:2|", "N",
		fmt.Sprint(n))
	want = strings.NewReplacer("M", fmt.Sprint(n-1), "|", "\r\n").Replace(want)
	require.Equal(t, want, reply[:min(len(want), len(reply))])
	require.True(t, strings.HasSuffix(reply, fmt.Sprintf("\r\n:%d\r\n", n)))
}

// The estimates for INFO are close to what Go measures.
func TestWhatIsSaidOfMemoryIsMeasured(t *testing.T) {
	const n = 10
	kept := make([]any, 0, 3*n)
	measure := func(make func() any) int {
		before := heap()
		for range n {
			kept = append(kept, make())
		}
		return (heap() - before) / n
	}
	stack := measure(func() any { return lua.NewState(stacks()) })
	engine := measure(func() any { return alone(Options{}) })
	require.InDelta(t, stateMem, engine-stack, stateMem/5, "the state")
	words := measure(func() any { return kept[len(kept)-n].(*Engine).lib.SayAsLua("") })
	require.InDelta(t, wordsMem, words, wordsMem/5, "the words for errors")

	e := kept[n].(*Engine)
	e.lib.ForgetWords()
	libraries := measure(func() any { kept[len(kept)-n-n].(*Engine).openLibraryScope(); return nil })
	require.InDelta(t, scopeMem, libraries, scopeMem/5, "what libraries see")
	const unlock = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end --`
	before := heap()
	for i := range mostCompiled {
		evalOn(e, 2, fmt.Sprint(unlock, i), []string{"k"}, "a")
	}
	require.InDelta(t, e.StateMem()-stateMem+e.Mem(), heap()-before, float64(e.StateMem()-stateMem)/4, "short scripts")
	evalOn(e, 2, fmt.Sprint(strings.Repeat("redis.call('get', KEYS[1]) ", 50000), "return 1"), []string{"k"})
	require.InDelta(t, e.StateMem(), heap()-before+stateMem-e.Mem(), float64(e.StateMem())/2, "a long script")
	before = heap()
	for i := range 10000 {
		sum := sha1.Sum(fmt.Append(nil, i))
		e.scripts.texts[sum] = strings.Clone(unlock)
		e.scripts.size += len(unlock)
	}
	require.InDelta(t, 10000*(len(unlock)+textOverhead), heap()-before, 10000*textOverhead/2, "texts")
	runtime.KeepAlive(kept)
}
