package luaeval

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/luaeval/lualib"
	"github.com/miniredisd/miniredisd/resp"
)

// loadOn returns the engine's answer to FUNCTION LOAD, and to FCALL of f after it.
func loadOn(e *Engine, proto int, code string, keys []string, args ...string) string {
	w := resp.Writer{Proto: proto}
	libraries := NewLibraries()
	lib, err := e.LoadLibrary(libraries, []byte(code), false)
	if err != nil {
		w.Error(err.Error())
		return string(w.Buf)
	}
	w.BulkString(lib.Name)
	if f := libraries.Find([]byte("f")); f != nil {
		e.RunFunction(f, words(keys), words(args), &w)
	}
	return string(w.Buf)
}

func headers() []string {
	return []string{
		``, `x`, `#!`, `#!lua`, "#!lua\n", "#!lua name=\n", "#!lua name=a-b\n", "#!lua name=a name=b\n",
		"#!lua foo=bar name=x\n", "#!foo name=x\n", "#!foo name=\n",
		"#!lua name=x\n", `#!lua name=x`, "#!LUA NAME=y\n", "#!lua name=\"q q\"\n", "#!lua name=\"qq\"\n", "#!lua \"name=x\n",
		"#! lua name=x\n", "#!lua name\n", "#!lua\tname=t\r\n",
		"#!\n", "#!  \n", "#!lua 'name=sq'\n", "#!\"lua\" name=zz\n", "#!lua name=x flags=no-writes\n", "return 1\n",
	}
}

// registrations are libraries that register the function f, or fail to do so.
func registrations() []string {
	return []string{
		``, `redis.register_function()`, `redis.register_function("f")`, `redis.register_function(1)`,
		`redis.register_function(nil)`, `redis.register_function("f",1)`, `redis.register_function("f",nil)`,
		`redis.register_function(1,function() end)`, `redis.register_function({},function() end)`,
		`redis.register_function("f-g",function() end)`, `redis.register_function("",function() end)`,
		`redis.register_function("f",function() end,1)`, `redis.register_function("f",function() end,nil)`,
		`redis.register_function{}`, `redis.register_function{function_name="f"}`,
		`redis.register_function{callback=function() end}`,
		`redis.register_function{function_name="f",callback=1}`,
		`redis.register_function{function_name=1,callback=function() end}`,
		`redis.register_function{function_name={},callback=function() end}`,
		`redis.register_function{function_name="f",callback=function() end,foo=1}`,
		`redis.register_function{function_name="f",callback=function() end,[1]=1}`, `redis.register_function{[true]=1}`,
		`redis.register_function{function_name="f",callback=function() end,description=1}`,
		`redis.register_function{function_name="f",callback=function() end,description={}}`,
		`redis.register_function{function_name="f",callback=function() end,flags=1}`,
		`redis.register_function{function_name="f",callback=function() end,flags={"x"}}`,
		`redis.register_function{function_name="f",callback=function() end,flags={1}}`,
		`redis.register_function{function_name="f",callback=function() end,flags={x=1}}`,
		`redis.register_function{function_name="f",callback=function() end,flags={"no-writes",true}}`,
		`redis.register_function{FUNCTION_NAME="f",CallBack=function() return 3 ` +
			`end,Flags={"NO-WRITES","allow-oom","allow-stale","no-cluster","allow-cross-slot-keys"}}`,
		`redis.register_function({function_name="f",callback=function() end},1)`,
		`redis.register_function{function_name="f\0g",callback=function() end}`,
		`redis.register_function("f",function() end) redis.register_function("f",function() end)`,
		`redis.register_function("f",function() return 1 end) redis.register_function("g",function() return 2 end)`,
		`for _,n in next,{"f"} do end`,
		`local function reg(n,f) redis.register_function(n,f) end reg("f",function() return 7 end)`,
		`local reg=redis.register_function reg("f",function() reg("g",function() end) end)`,
		`redis.register_function("f",redis.log)`, `for i=1,3 do redis.register_function("f"..i,function() return i end) end`,
	}
}

// loads run while the library is loaded, when they can name very little.
func loads() []string {
	return []string{
		`redis.call("ping")`, `redis.pcall("ping")`, `return redis.foo`, `local x=redis.call`, `x=1`, `return x`, `foo()`,
		`error("x")`, `assert(false)`, `local a=nil+1`, `return return`, `function f() end`,
		`return redis.setresp(3)`, `return redis.sha1hex("")`, `return KEYS`, `return ARGV`, `string.rep=1`, `_G.x=1`,
		`rawset(_G,"x",1)`, `redis.x=1`, `redis=1`, `redis.register_function=1`,
		`return redis.REDIS_VERSION .. redis.LOG_DEBUG`,
		`print("x")`, `return math.random()`, `os.clock()`, `return cjson`, `return tonumber("1")`, `redis.log()`,
		`redis.log(9,"x")`, `redis.log(redis.LOG_DEBUG)`, `redis.log(redis.LOG_DEBUG,"x")`, `return redis.REPL_ALL`,
		`local function f() return string.rep("x",3) end f()`, `local function f() x=1 end f()`,
		`local function f() return redis.call("ping") end f()`, `local function f() return x end f()`,
		`local function f() redis.call("ping") end f()`, `local function f() redis.pcall("ping") end f()`,
		`local function f() return tonumber("1") end f()`,
		`local function f() redis.log(redis.LOG_DEBUG,"x"..redis.REDIS_VERSION) end f()`,
		`local function f() for k in pairs({}) do end end f()`, `local function f() redis.x=1 end f()`,
		`local function f() return redis.foo end f()`, `local function f() return _G end local g=f() g()`,
		`for i=1,"x" do end`, `local a={} .. "x"`, `local s="a" s:rep(3)`, `goto x`, `while true do end`,
	}
}

// calls are bodies of f(keys, args).
func functionBodies() []string {
	return []string{
		``, `return 1`, `return keys`, `return args`, `return {#keys,#args}`, `return {keys[1],args[2]}`,
		`keys[1]="z" return keys`, `return KEYS`, `return ARGV`, `return redis.foo`, `return redis.register_function`, `x=1`,
		`return x`, `function g() end`,
		`error("boom")`, `error("boom",0)`, `error({err="boo"})`, `error({err="My boo"})`, `error()`, `assert(false,"m")`,
		`return redis.call("set",keys[1],args[1])`, `return redis.error_reply("x y")`, `return redis.status_reply("x")`,
		`local n={} for k in pairs(redis) do n[#n+1]=k end table.sort(n) return n`, `return tostring(getmetatable(_G)~=nil)`,
		`return _VERSION`, `_G.x=1`, `redis.x=1`, `string.rep=1`, `rawset(_G,"x",1)`, `setmetatable(_G,{})`,
		`return type(print)`, `return _G.x`, `return type(_G.redis.call)`, `return _G._G==_G`,
		`return redis.setresp(3)`, `redis.call("hset","h","a","b") redis.setresp(3) return redis.call("hgetall","h")`,
		`return redis.breakpoint`, `return redis.replicate_commands`, `return redis.debug`, `return {double=1.5}`,
		`return arg`, `return redis.acl_check_cmd("get","x")`, `return debug`, `return os`, `return os.clock()`,
		`return {type(math.random()),string.rep("x",3),("y"):rep(2),tonumber("1e3"),cjson.encode({1}),bit.band(7,2),` +
			`struct.size("i"),#cmsgpack.pack(1),redis.sha1hex("")}`,
		`local ok,e=pcall(error,{err="x"}) return e`, `redis.set_repl(redis.REPL_ALL)`,
		`local function g() error("deep") end` + "\n" + `g()`,
		`local t=setmetatable({},{__index=function(t,k) return k end}) return t.q`,
		`for c="3",1,-1 do redis.call("incr","n") end return redis.call("get","n")`, `return 1 .. "x" .. 1e15`,
		`return {1,nil,2}`, `return {true,false,1.9}`,
		`return {err="x"}`, `return {err="x y"}`, `return redis.pcall("incrby","x","y")`,
		`return redis.call("incrby","x","y")`,
		`if redis.call("exists",keys[1])==0 then redis.call("hset",keys[1],args[1],1) redis.call("pexpire",keys[1],1000) ` +
			`return nil end return 5`,
		`return ...`, `return select("#",unpack(args))`,
		`for i,k in ipairs(keys) do redis.call("set",k,i) end return redis.call("mget",unpack(keys))`,
		`redis.pcall("incrby","x","y") redis.call("incrby","x","y")`,
		`redis.pcall() redis.call("set",keys[1],1) return redis.call("incr",keys[1])`,
	}
}

func TestFunctionLibrariesAnswerAsOnRedis(t *testing.T) {
	s := newSides(t)
	compare := func(t *testing.T, code string) {
		for _, proto := range []int{2, 3} {
			s.direct[2].do("FLUSHALL")
			s.direct[2].do("FUNCTION", "FLUSH")
			theirs := s.eval[proto].do("FUNCTION", "LOAD", code)
			if reply := s.eval[proto].do("FCALL", "f", "2", "k1", "k2", "a1", "a2",
				"a3"); reply != "-ERR Function not found\r\n" {
				theirs += reply
			}
			s.direct[2].do("FLUSHALL")
			if ours := loadOn(s.e, proto, code, []string{"k1", "k2"}, "a1", "a2", "a3"); ours != theirs {
				t.Errorf("RESP%d\n%s\nredis:  %q\nengine: %q", proto, code, theirs, ours)
			}
		}
	}
	t.Run("headers", func(t *testing.T) {
		for _, header := range headers() {
			compare(t, header)
			if strings.HasSuffix(header, "\n") {
				compare(t, header+`redis.register_function("f",function() return 1 end)`)
			}
		}
	})
	t.Run("registrations", func(t *testing.T) {
		for _, body := range registrations() {
			compare(t, "#!lua name=l\n"+body)
		}
	})
	t.Run("loads", func(t *testing.T) {
		for _, body := range loads() {
			compare(t, "#!lua name=l\n"+`redis.register_function("f",function() return 1 end) `+body)
		}
	})
	t.Run("calls", func(t *testing.T) {
		for _, body := range functionBodies() {
			compare(t, "#!lua name=l\n\nredis.register_function('f',function(keys,args)\n"+body+"\nend)")
		}
	})
}

func TestALibraryKeepsItsLocals(t *testing.T) {
	e, libraries := alone(Options{}), NewLibraries()
	_, err := e.LoadLibrary(libraries, []byte("#!lua name=l\nlocal n = 0\nredis.register_function('f', function() n = "+
		"n + 1 return n end)\nredis.register_function('g', function() return n end)"), false)
	require.NoError(t, err)
	w := resp.Writer{}
	for _, name := range []string{"f", "f", "G"} {
		e.RunFunction(libraries.Find([]byte(name)), nil, nil, &w)
	}
	require.Equal(t, ":1\r\n:2\r\n:2\r\n", string(w.Buf))
}

// A library may name more globals than a function has upvalues. The rest are found by name and
// follow the same rules.
func TestALibraryWithManyGlobals(t *testing.T) {
	e := alone(Options{})
	body := "local function all()\n"
	for _, library := range []string{"string", "math", "table", "bit", "struct", "cjson", "coroutine"} {
		members := e.lib.Shown(e.known[library].(*lua.LTable))
		for name, _ := members.Next(lua.LNil); name != lua.LNil; name, _ = members.Next(name) {
			body += "local _ = " + library + "." + name.String() + "\n"
		}
	}
	require.Greater(t, strings.Count(body, "\n"), 65)
	for body, want := range map[string]string{
		body + "return redis.call('ping').ok\nend": "$1\r\nl\r\n$2\r\nOK\r\n",
		body + "return redis.call('ping')\nend\nall()": "-ERR Error registering functions: ERR user_function:63: Script " +
			"attempted to access nonexistent global variable",
		strings.Replace(body, "local function all()", "local function all(load) if not load then", 1) +
			"end\nreturn redis.call('ping')\nend\nall(true)": "call",
		strings.Replace(body, "local function all()", "local function all(load) if not load then", 1) +
			"end\nx = 1\nend\nall(true)": lualib.ReadOnlyText,
	} {
		require.Contains(t, loadOn(e, 2, "#!lua name=l\n"+body+"\nredis.register_function('f', all)", nil), want)
	}
}

func TestALibraryThatDoesNotEndIsRefused(t *testing.T) {
	var now int64
	e := alone(Options{
		Clock: func() int64 { now += int64(time.Millisecond); return now },
		Poll:  func(time.Duration) error { panic("nobody is to be let in while a library is loaded") },
	})
	for _, body := range []string{`while true do end`, `local function f() return f() end f()`} {
		require.Equal(t, "-ERR Error registering functions: ERR FUNCTION LOAD timeout\r\n", loadOn(e, 2,
			"#!lua name=l\n"+body, nil))
	}
	require.Equal(t, "$1\r\nl\r\n:1\r\n", loadOn(e, 2, "#!lua name=l\nredis.register_function('f', function() return "+
		"1 end)", nil))
}

// Nothing can end a function without a context. So only functions that end by themselves have none.
func TestOnlyBriefFunctionsAreNotWatched(t *testing.T) {
	e := alone(Options{})
	for body, long := range map[string]bool{
		"register('f', function(keys) return redis.call('get', keys[1]) end)":                                   false,
		"local function g() while true do end end\nregister('f', function() return redis.call('get', 'k') end)": false,
		"local function g() while true do end end\nregister('f', function() return g() end)":                    true,
		"local g = {}\nfunction g.g() while true do end end\nregister('f', function() return g.g() end)":        true,
		"local g = {}\nfunction g.g() while true do end end\nregister('f', function() return g:g() end)":        true,
		"local function tonumber() while true do end end\nregister('f', function() return tonumber('1') end)":   true,
		"local redis = {call = function() while true do end end}\nregister('f', function() redis.call() end)":   true,
		"local function g() while true do end end\nregister('f', function() pcall(g) end)":                      true,
		"local function g() while true do end end\nregister('f', function() string.gsub('x', 'x', g) end)":      true,
		"local function g() while true do end end\nregister('f', function() table.sort({1, 2}, g) end)":         true,
		"local t\nregister('f', function() return t.x end)\nlocal function g() setmetatable(t, {}) end":         true,
		"local t\nregister('f', function() return t.x end)\nlocal function g() _G['set' .. 'metatable'](t) end": true,
		"register('f', function() for i = 1, 3 do end end)":                                                     false,
		"register('f', function() for i = 1, 1e9 do end end)":                                                   true,
		"register('f', function() local function g() end end)":                                                  true,
		"register('f', function(keys) return 1 end) register('g', function() while true do end end)":            false,
		"register('f', function(keys) return ('x'):rep(3) end)":                                                 true,
		"register('f', redis.log)": true,
	} {
		libraries := NewLibraries()
		_, err := e.LoadLibrary(libraries, []byte("#!lua name=l\nlocal register = redis.register_function\n"+body), false)
		require.NoError(t, err, body)
		require.Equal(t, long, libraries.Find([]byte("f")).long, body)
	}
}

// Anyone can send a library, so it may be hostile too.
func TestHostileLibrariesAreBounded(t *testing.T) {
	// A library has half a second. Here time passes with each look at the clock, on a machine of any speed.
	var now int64
	clock := func() int64 { now += int64(20 * time.Microsecond); return now }
	e := alone(Options{Budget: 32 << 20, MaxBulk: 64 << 20, MaxSteps: 1 << 20, Clock: clock})
	const f = "\nredis.register_function('f', function() "
	for body, want := range map[string]string{
		"return " + strings.Repeat("{", 1<<20): "Error compiling " +
			"function: user_function:2: chunk has too many syntax levels",
		strings.Repeat("return function() ", 1<<16): "Error compiling " +
			"function: user_function:2: chunk has too many syntax levels",
		"local function g() return 1 + g() end g()": "stack overflow",
		"local t, i = {}, 0 while true do i = i + 1 t[i] = {} end": "Error registering " +
			"functions: ERR ",
		"local s = 'x' while true do s = s .. s end":                                           "not enough memory",
		f + "return string.rep('x', 1e11) end)":                                                "not enough memory",
		f + "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1e6) .. i end end)":               "not enough memory",
		f + "return string.find(('a'):rep(100000), ('a-'):rep(15) .. 'b') end)":                "pattern too complex",
		f + "rawset(string, 'rep', nil) end)":                                                  lualib.ReadOnlyText,
		f + "getmetatable('').__index = nil end)":                                              lualib.ReadOnlyText,
		f + "getmetatable(_G).__index = nil end)":                                              lualib.ReadOnlyText,
		f + "_G.redis = nil end)":                                                              lualib.ReadOnlyText,
		"local kept = {}" + f + "kept.f = kept return kept end) kept[1] = kept":                "reached lua stack limit",
		"local function g() local ok, e = pcall(g) error(e) end" + f + "g() end)":              "C stack overflow",
		"local co" + f + "co = coroutine.wrap(function() error('in it') end) return co() end)": "in it",
	} {
		if !amount.Picked(body, 2) {
			continue
		}
		require.Contains(t, loadOn(e, 2, "#!lua name=l\n"+body, nil), want, "%.100s", body)
		require.Equal(t, "$1\r\nl\r\n$5\r\nxxx71\r\n", loadOn(e, 2, "#!lua name=l"+f+"return ('x'):rep(3) .. 7 .. 1 end)",
			nil), "the next library")
		require.Equal(t, "$4\r\nxxx7\r\n", evalOn(e, 2, `return ("x"):rep(3) .. 7`, nil), "the next script")
	}
}

func TestLibrariesShareOneSpaceOfFunctions(t *testing.T) {
	e, libraries := alone(Options{}), NewLibraries()
	load := func(name string, replace bool, functions ...string) error {
		code := "#!lua name=" + name + "\n"
		for _, f := range functions {
			code += "redis.register_function('" + f + "', function() return '" + name + "' end)\n"
		}
		_, err := e.LoadLibrary(libraries, []byte(code), replace)
		return err
	}
	require.NoError(t, load("a", false, "f1", "f2"))
	require.NoError(t, load("b", false, "g", "G"), "two names of one library may differ in case: the first is called")
	require.EqualError(t, load("b", false, "h"), "ERR Library 'b' already exists")
	require.EqualError(t, load("c", false, "F2"), "ERR Function F2 already exists")
	require.EqualError(t, load("a", true, "f1", "g"), "ERR Function g already exists")
	require.NotNil(t, libraries.Find([]byte("f2")), "a replacement that failed has changed nothing")
	require.NoError(t, load("a", true, "f1"))
	require.Nil(t, libraries.Find([]byte("f2")))
	require.True(t, libraries.Delete("b"))
	require.False(t, libraries.Delete("b"))
	require.Nil(t, libraries.Find([]byte("g")))

	other := NewLibraries()
	first := libraries
	libraries = other
	require.NoError(t, load("a", false, "x"))
	require.NoError(t, load("d", false, "y"))
	require.EqualError(t, first.Join(other, false), "ERR Library a already exists")
	require.NotNil(t, first.Find([]byte("f1")))
	require.NoError(t, first.Join(other, true))
	require.Nil(t, first.Find([]byte("f1")))
	count, functions := first.Len()
	require.Equal(t, []int{2, 2}, []int{count, functions})
}
