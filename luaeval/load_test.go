package luaeval

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/resp"
)

func TestTextsThatAScriptLoadsAreAsOnRedis(t *testing.T) {
	s := newSides(t)
	for _, script := range []string{
		`return {loadstring("return 1")()}`,
		`return {loadstring("return +")}`,
		`return {load(function() return nil end)}`,
		`local n=0 return {load(function() n=n+1 if n==1 then return "return 5" end end)()}`,
		`return {loadstring("x=1")}`,
		`return loadstring("x=1")()`,
		`return {pcall(loadstring("x=1"))}`,
		`return {pcall(loadstring("return y"))}`,
		`return {loadstring("return ...")(1,2,3)}`,
		`return {loadstring("error(\"a\")")}`,
		`return {pcall(loadstring("error(\"a\")"))}`,
		`return {pcall(loadstring("error(\"a\")","=my"))}`,
		`return {pcall(loadstring("error(\"a\")","@my"))}`,
		`return {pcall(loadstring("error(\"a\")","my"))}`,
		`return {loadstring("\27Lua")}`,
		`return {pcall(loadstring)}`,
		`return {pcall(loadstring,{})}`,
		`return {pcall(loadstring,5)}`,
		`return {pcall(load)}`,
		`return {pcall(load,"x")}`,
		`local n=0 return {load(function() n=n+1 if n<3 then return 5 end end)}`,
		`return {pcall(load, function() error({}) end)}`,
		`return {loadstring("return KEYS[1]")()}`,
		`local KEYS={7} return {loadstring("return KEYS[1]")()}`,
		`return {loadstring("\n\nreturn 1 1")}`,
		`return {loadstring(("x"):rep(100).."+")}`,
		`return {loadstring("a\nb+")}`,
		`return {pcall(loadstring("KEYS[1]=5")),KEYS[1]}`,
		`local f=loadstring("error(\"x\")") f()`,
		`return loadstring("local a a()")()`,
		`return tostring(loadstring("return _G")()==_G)`,
		`return {pcall(loadstring, "return 1", {})}`,
		`return {pcall(loadstring, "error(1)", 5)}`,
		`return {pcall(loadstring("error(1)", 5))}`,
		`return {pcall(loadstring("error(1)", ("=y"):rep(50)))}`,
		`return {pcall(loadstring("error(1)", ("@y"):rep(50)))}`,
		`return {pcall(load,function() return nil end, {})}`,
		`return {pcall(dofile,"x")}`,
		`return {loadstring("#!lua\nreturn 1")}`,
		`return {loadstring("#x\nreturn 1")}`,
		`local f = loadstring("return function() return x end") return {pcall(f())}`,
		`return {loadstring("goto x")}`,
		`return {loadstring("")()}`,
		`return {pcall(load(function() return "" end))}`,
		`return {pcall(load(function() end, "=x"))}`,
		`return {load("return 1")}`,
		`return {pcall(loadstring("return error(\"a\")","my"))}`,
		`return {loadstring("x y","=")}`,
		`return {loadstring("x y","")}`,
		`return {select(2,loadstring("return +"))}`,
		`return {select(2,loadstring("x y"))}`,
		`return {select(2,loadstring("x y","="))}`,
		`return {select(2,loadstring("x y",""))}`,
		`return {select(2,loadstring(("x"):rep(100).."+"))}`,
		`return {select(2,loadstring(("x"):rep(43).." y"))}`,
		`return {select(2,loadstring(("x"):rep(41).."+"))}`,
		`return {select(2,loadstring(("x"):rep(42).."+"))}`,
		`return {select(2,loadstring(("x"):rep(43).."+"))}`,
		`return {select(2,loadstring("a\nb+"))}`,
		`return {select(2,loadstring("\27Lua"))}`,
		`return {select(2,loadstring("\27Lua","=x"))}`,
		`return {select(2,loadstring("\27"))}`,
		`local n=0 return {select(2,load(function() n=n+1 if n<3 then return 5 end end))}`,
		`local n=0 return {select(2,load(function() n=n+1 if n<2 then return "return +" end end))}`,
		`local n=0 return {select(2,load(function() n=n+1 if n<2 then return "return +" end end,"@foo"))}`,
		`return {select(2,loadstring("#!lua\nreturn 1"))}`,
		`return {select(2,loadstring("goto x"))}`,
		`return {select(2,loadstring("x y","=a\0b"))}`,
		`return {select(2,loadstring("x y","a\0b"))}`,
		`return {select(2,loadstring("x y",("@y"):rep(26)))}`,
		`return {select(2,loadstring("x y",("@y"):rep(27)))}`,
		`return {select(2,loadstring("x y",("=y"):rep(29)))}`,
		`return {select(2,loadstring("x y",("=y"):rep(31)))}`,
		`local n=0 load(function() n=n+1 if n<4 then return " " end return nil end)() return n`,
		`return {pcall(load, 5)}`,
		`return {loadstring("return select('#',...)")(1,nil,nil)}`,
		`local x=5 return {pcall(loadstring("return x"))}`,
		`return loadstring("local a=... return function() return a end")(7)()`,
		`local f=loadstring("return 1,2,3") return {f(),f()}`,
		`return loadstring("return loadstring('return 9')")()()`,
		`return {pcall(loadstring("local t={} t.x.y=1"))}`,
		`return loadstring("return redis.call('set',KEYS[1],1)")()`,
		`KEYS[1]="z" return loadstring("return KEYS[1]")()`,
		`local k=KEYS k[2]="z" return loadstring("return #KEYS")()`,
		`_G.KEYS[1]="q" return KEYS[1]`,
		`return {pcall(loadstring("function f() end"))}`,
		`return {pcall(loadstring("_G.x=1"))}`,
		`return {pcall(loadstring("string.x=1"))}`,
		`return {pcall(loadstring("return string.x"))}`,
		`return {type(load),type(loadstring)}`,
		`local f=loadstring("error('a',2)") f()`,
		`return {pcall(function() local f=loadstring("error('a',2)") f() end)}`,
		`local f=loadstring("error({err='E x'})") f()`,
		`loadstring("error('a')","@my")()`,
		`loadstring("error('a')","my")()`,
		`load(function() error("e") end)`,
		`return load(coroutine.wrap(function() coroutine.yield("return ") coroutine.yield("4") end))()`,
		`return {pcall(coroutine.wrap(loadstring("coroutine.yield(1) return 2")))}`,
		`return #tostring(loadstring("")) > 10`,
		`return load`,
		`return {loadstring("return ARGV[1]")()}`,
		`return {pcall("x")}`,
		`return {pcall(nil)}`,
		`return {pcall({})}`,
		`return {pcall(true)}`,
		`return {pcall(setmetatable({},{__call=5}))}`,
		`return {xpcall(5,function(e) return e end)}`,
		`table.sort({1,2,3},5)`,
		`return (string.gsub("abc","b",setmetatable({},{__call=function() end})))`,
		`return {pcall(function() local x = 5 x() end)}`,
		`return {pcall(function() return load(function() error("e") end) end)}`,
		`return {pcall(function() return load(function() return {} end) end)}`,
		`return {pcall(function() return load(function() coroutine.yield(1) end) end)}`,
		`return {pcall(function() return load(function() error({}) end) end)}`,
		`return load(5)`,
		`loadstring({})`,
	} {
		s.same(t, script, []string{"k"}, "a")
	}
}

// A loaded text is as bounded as the script around it.
func TestTextsThatAScriptLoadsAreBounded(t *testing.T) {
	var now int64 // a millisecond passes with each look at the clock
	e := alone(Options{
		Budget: 32 << 20, MaxBulk: 64 << 20,
		Clock: func() int64 { now += int64(time.Millisecond); return now },
		Poll: func(ran time.Duration) error {
			if ran > time.Second {
				return errors.New("too long")
			}
			return nil
		},
	})
	for name, c := range map[string]struct{ script, want string }{
		"texts in a loop":     {`for i = 1, 1e6 do loadstring("return " .. i) end`, "too long"},
		"texts that are kept": {`local t = {} for i = 1, 1e6 do t[i] = loadstring("return " .. i) end`, "-ERR"},
		"a text in a text":    {`local s = "return loadstring(...)(...)" return loadstring(s)(s)`, "-ERR"},
		"a text that calls itself": {`local s = "local s = ... return 1 + loadstring(s)(s)" return loadstring(s)(s)`,
			"-ERR"},
		"a text without an end": {`loadstring("while true do end")()`, "too long"},
		"a text in pcall":       {`while true do pcall(loadstring("while true do end")) end`, "too long"},
		"a text of _G":          {`_G.loadstring("while true do end")()`, "too long"},
		"a long text":           {`return loadstring(("x=1 "):rep(1e6))`, "not enough memory"},
		"pieces without an end": {`load(function() return ("x"):rep(1e5) end)`, "-ERR"},
		"short pieces":          {`load(function() return "x" end)`, "-ERR"},
		"a reader that loads": {`local function f() return load(f)() end return {select(2, load(f))}`,
			"attempt to call a nil value"},
		"a reader that runs for ever": {`load(function() while true do end end)`, "too long"},
		"brackets":                    {`return loadstring("return " .. ("("):rep(1e5))()`, "-ERR"},
	} {
		t.Run(name, func(t *testing.T) {
			reply := evalOn(e, 2, c.script, nil)
			require.Contains(t, reply, c.want)
			require.Equal(t, ":2\r\n", evalOn(e, 2, `return loadstring("return 1 + 1")()`, nil))
		})
	}
}

func TestAFunctionLoadsATextWithWhatFunctionsSee(t *testing.T) {
	e := alone(Options{})
	libraries := NewLibraries()
	_, err := e.LoadLibrary(libraries, []byte(`#!lua name=l
		redis.register_function('f', function(keys, args) return loadstring(args[1])(keys, args) end)`), false)
	require.NoError(t, err)
	for text, want := range map[string]string{
		`return ...`:                           "*1\r\n$1\r\nk\r\n",
		`return KEYS`:                          "nonexistent global variable 'KEYS'",
		`return redis.register_function`:       "$-1\r\n",
		`return redis.call("x")`:               "+OK\r\n",
		`x = 1`:                                "Attempt to modify a readonly table",
		`return tostring(_G.string == string)`: "$4\r\ntrue\r\n",
	} {
		w := resp.Writer{Proto: 2}
		e.RunFunction(libraries.Find([]byte("f")), words([]string{"k"}), words([]string{text}), &w)
		require.Contains(t, string(w.Buf), want, text)
	}
	_, err = e.LoadLibrary(NewLibraries(), []byte("#!lua name=m\nloadstring('return 1')()"), false)
	require.ErrorContains(t, err, "nonexistent global variable 'loadstring'")
}
