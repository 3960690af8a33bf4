package luaeval

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
	"github.com/miniredisd/miniredisd/resp"
)

func alone(o Options) *Engine {
	o.Call = func(_ [][]byte, w *resp.Writer) { w.OK() }
	return New(o)
}

// A hostile script soon ends with an error. The next script finds the engine as before.
func TestHostileScriptsAreBounded(t *testing.T) {
	e := alone(Options{Budget: 12 << 20, MaxBulk: 64 << 20, MaxSteps: 1 << 20})
	for name, c := range map[string]struct{ script, want string }{
		"a huge string":        {`return string.rep("x", 1e11)`, "not enough memory"},
		"a huge concatenation": {`local s = ("x"):rep(1e6) for i = 1, 20 do s = s .. s end`, "not enough memory"},
		"huge pieces":          {`local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1e6) .. i end`, "not enough memory"},
		"a growing table":      {`local t = {} local i = 0 while true do i = i + 1 t[i] = {} end`, "not enough memory"},
		"a growing map": {`local t = {} local i = 0 while true do i = i + 1 t["k" .. i] = i end`,
			"not enough memory"},
		"huge holes":           {`local t = {} for i = 1, 1e6 do t[i] = {} t[i][100000] = 1 end`, "not enough memory"},
		"gsub that multiplies": {`return (("x"):rep(1e5):gsub("x", ("y"):rep(1e5)))`, "not enough memory"},
		"a format of wide text": {`local s = ("x"):rep(3e6) return string.format("%s%s%s%s%s", s, s, s, s, s)`,
			"not enough memory"},
		"braces":         {"return " + strings.Repeat("{", 1<<20), "too many syntax levels"},
		"parentheses":    {"return " + strings.Repeat("(", 1<<20), "too many syntax levels"},
		"functions":      {strings.Repeat("return function() ", 1<<16), "too many syntax levels"},
		"a chain of ..":  {"return 'a'" + strings.Repeat("..'a'", 1e5), "too many syntax levels"},
		"a chain of +":   {"return 1" + strings.Repeat("+1", 1e5), ":100001"},
		"a chain of not": {"return " + strings.Repeat("not ", 1e5) + "1", "too many syntax levels"},
		"a chain of -":   {"return " + strings.Repeat("- ", 1e5) + "1", "too many syntax levels"},
		"a pattern":      {`return string.find(("a"):rep(100000), ("a-"):rep(15) .. "b")`, "pattern too complex"},
		"a pattern in pcall": {`return {pcall(string.find, ("a"):rep(100000), ("a-"):rep(15) .. "b")}`,
			"pattern too complex"},
		"deep matching":      {`return string.find(("a"):rep(1e5), ("a?"):rep(1e5))`, "pattern too complex"},
		"nested coroutines":  {`local function f() return coroutine.wrap(f)() end return f()`, "C stack overflow"},
		"many coroutines":    {`local t = {} for i = 1, 1e6 do t[i] = coroutine.create(function() end) end`, "o"},
		"recursion":          {`local function f() return 1 + f() end return f()`, "stack overflow"},
		"recursion by pcall": {`local function f() local ok, e = pcall(f) error(e) end f()`, "C stack overflow"},
		"recursion by metatable": {`local t = {} setmetatable(t, {__index = function(t, k) return t[k .. "x"] end}) ` +
			`return t.x`,
			"o"},
		"the strings' metatable": {`getmetatable("").__index = nil`, lualib.ReadOnlyText},
		"a library":              {`rawset(string, "rep", nil)`, lualib.ReadOnlyText},
		"goto":                   {"::a:: goto a", "Error compiling script"},
		"keys that are tables":   {`local t = {} for i = 1, 30000 do t[{}] = i end return #t`, ":0"},
		"an array of holes": {`local j = cjson.new() j.encode_sparse_array(false, 0) return j.encode({[2^31-1] = 1})`,
			"not enough memory"},
		"many arrays of holes": {`local j = cjson.new() j.encode_sparse_array(false, 0) local t = {} for i = 1, 1000 ` +
			`do t[i] = {[2e6] = 1} end return j.encode(t)`, "not enough memory"},
		"JSON without a limit": {`local j = cjson.new() j.encode_max_depth(2^31-1) local t = {} t[1] = t t[2] = t ` +
			`return j.encode(t)`, "excessive nesting (7998)"},
		"a reply of the same": {`local t = {("x"):rep(1000)} for i = 1, 60 do t = {t, t} end return t`,
			"not enough memory"},
		"a reply without end": {`local t = {} t[1] = t t[2] = t return t`, "not enough memory"},
		"braces from the start": {strings.Repeat("{", 1<<20), "Error compiling script (new function): user_script:1: " +
			"unexpected symbol near '{'"},
		"a table that holds itself": {`local t = {} t[1] = t return t`,
			"reached lua stack limit"},
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC() // the budget counts from the heap at the start, with what earlier scripts have left
			require.Contains(t, evalOn(e, 2, c.script, nil), c.want)
			require.Equal(t, "$9\r\nxxx7hello\r\n", evalOn(e, 2, `return ("x"):rep(3) .. 7 .. string.sub("hello!", 1, 5)`,
				nil), "the next script")
		})
	}
}

// Poll ends an endless script, even when the script catches the error.
func TestPollEndsAScript(t *testing.T) {
	for _, script := range []string{
		`while true do end`,
		`repeat until false`,
		`for i = 1, 1e300 do end`,
		`while true do pcall(function() while true do end end) end`,
		`local function f() return f() end return f()`,
		`local co = coroutine.wrap(function() while true do end end) co()`,
		`while true do coroutine.wrap(function() pcall(function() while true do end end) end)() end`,
		`while true do pcall(redis.call, "x") end`,
		`while true do xpcall(function() error("x") end, function() end) end`,
		`local t = {} t[1] = t t[2] = t return t`,
		`return string.find(("a"):rep(100000), ("a-"):rep(15) .. "b")`,
	} {
		var now int64
		polls := 0
		e := alone(Options{
			MaxSteps: 1 << 60,
			Clock:    func() int64 { now += int64(time.Millisecond); return now },
			Poll: func(ran time.Duration) error {
				if polls++; polls < 5 {
					return nil
				}
				require.Greater(t, ran, time.Millisecond)
				return errors.New("Script killed by user with SCRIPT KILL.")
			},
		})
		require.Contains(t, evalOn(e, 2, script, nil), "Script killed by user with SCRIPT KILL.", script)
		require.Equal(t, ":1\r\n", evalOn(e, 2, `return 1`, nil))
	}
}

// A context costs time at each instruction. Only a script that can run long has one.
func TestOnlyLongScriptsAreWatched(t *testing.T) {
	e := alone(Options{})
	for script, long := range map[string]bool{
		`return redis.call("get", KEYS[1])`:                          false,
		`if redis.call("get", KEYS[1]) == ARGV[1] then return 1 end`: false,
		`local f = function() end`:                                   true,
		`while false do end`:                                         true,
		`repeat until true`:                                          true,

		`for i = 1, 3 do end`:                                            false,
		`for i = 1, 1e5 do end`:                                          true,
		`for i = 100, 1, -1 do redis.call("x", i) end`:                   false,
		`for i = 1, 200 do for j = 1, 200 do local x = i + j end end`:    true,
		`for i = 1, #KEYS do end`:                                        true,
		`for i = 1, 10, 0 do end`:                                        true,
		`for i = 1, 2, 1e-6 do end`:                                      true,
		`for i = 1e17, 1e17 + 32 do end`:                                 true,
		`for i = 1, 10 do i = i * 1000 end`:                              true,
		`for _, k in ipairs(KEYS) do redis.call("del", k) end`:           false,
		`for k, v in pairs({}) do end`:                                   false,
		`local pairs = next for k, v in pairs, {} do end`:                true,
		`local ipairs = redis.call for i in ipairs("x") do end`:          true,
		`local t = {} for i = 1, 1000 do t[i] = i end`:                   false,
		`local t = {} for i = 1, 100 do t[#t + 1] = ARGV[i] end`:         false,
		`local t, u = {}, {} for i = 1, 100 do t[#u + 1] = ARGV[i] end`:  true,
		`for i = 1, 100 do local t = {} t[i * 10000] = i end`:            true,
		`for i = 1, 100 do local t = {[1000000] = i} end`:                true,
		`for i = 1, 1000 do if ARGV[1] == ARGV[2] then return 1 end end`: true,
		`for i = 1, 1000 do if ARGV[1] == "x" then return 1 end end`:     false,
	} {
		s, err := e.Load([]byte(script))
		require.NoError(t, err)
		require.Equal(t, long, s.long, script)
	}
}
