package luaeval

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func caughtSnippets() []string {
	return []string{
		// Variables that functions share survive a caught error.
		`local n=0 local f=function() n=n+1 end pcall(error) pcall(error) f() return n`,
		`local n=0 local f=function() n=n+1 end xpcall(error, type) xpcall(error, type) f() return n`,
		`local n=0 local f=function() n=n+1 end pcall(error) pcall(error) n=n+5 f() return n`,
		`local n=0 local f=function() n=n+1 end for i=1,3 do pcall(error) f() n=n+10 end return n`,
		`local g pcall(function() local x=7 g=function() x=x+1 return x end error("e") end) local a,b,c=1,2,3 return ` +
			`{g(),g(),a,b,c}`,
		`local g xpcall(function() local x=7 g=function() x=x+1 return x end error("e") end, function() return g() end) ` +
			`local a,b,c=1,2,3 return {g(),g(),a,b,c}`,
		`local g local r={xpcall(function() local x=7 g=function() x=x+1 return x end error("e") end, function(m) return ` +
			`m..g() end)} return {r[2],g()}`,
		`local g,h local r={pcall(function() local x=1 g=function() x=x+1 return x end pcall(function() local y=x ` +
			`h=function() y=y+x return y end error("a") end) x=5 error("b") end)} return {g(),h(),g(),h(),r[2]}`,
		`local fs={} for i=1,3 do pcall(function() local x=i fs[i]=function() x=x+1 return x end if i==2 then error("e") ` +
			`end end) end return {fs[1](),fs[2](),fs[3](),fs[2]()}`,
		`local g pcall(function() local x=3 g=function() return x end local y=nil y() end) pcall(error) return g()`,
		`local g pcall(function() local x=3 g=function() return x end table.sort({3,2,1},function(a,b) error("s") end) ` +
			`end) return g()`,
		`local g pcall(function() local x=3 g=function() return x end string.gsub("abc",".",function(a) error("s") end) ` +
			`end) return g()`,
		`local g pcall(function() local x=3 g=function() return x end coroutine.wrap(function() error("s") end)() end) ` +
			`local a,b,c,d=1,2,3,4 return g()`,
		`local g local co=coroutine.create(function() local x=3 g=function() x=x+1 return x end pcall(error) ` +
			`coroutine.yield(g()) pcall(error) return g() end) local _,a=coroutine.resume(co) pcall(error) local ` +
			`_,b=coroutine.resume(co) return {a,b,g()}`,
		`local g local co=coroutine.create(function() local x=3 g=function() x=x+1 return x end error("e") end) local ` +
			`r={coroutine.resume(co)} return {r[2],g(),g()}`,
		`local n=0 local function f(d) n=n+1 if d==0 then error("deep") end local ok,e=pcall(f,d-1) n=n+1 error(e,0) end ` +
			`local ok,e=pcall(f,20) return {n,e}`,
		`local n=0 local t=setmetatable({},{__index=function(t,k) n=n+1 error("no "..k) end}) local ` +
			`ok,e=pcall(function() return t.x end) pcall(function() return t.y end) return {n,e}`,
		// Results of pcall and xpcall.
		`return {pcall()}`, `return {pcall(nil)}`, `return {pcall(5)}`, `return {pcall({})}`, `return {pcall("x")}`,
		`return {pcall(cjson.null)}`, `return {pcall(pcall)}`, `return {pcall(pcall,error)}`,
		`return {pcall(pcall,error,"e")}`,
		`return {pcall(setmetatable({},{__call=function(...) return select("#",...) end}),1,2)}`,
		`return {pcall(setmetatable({},{__call=5}))}`, `return {pcall(function(...) return ... end,1,2,3)}`,
		`return {pcall(function(...) return select("#",...) end,nil,nil)}`,
		`return {xpcall()}`, `return {xpcall(error)}`, `return {xpcall(function() error("a") end,nil)}`,
		`return {xpcall(function() error("a") end,{})}`, `return {xpcall(function() return 1,2 end,5)}`,
		`return {xpcall(function() error("a") end,error)}`,
		`return {xpcall(function() error("a") end,function(m) error("b") end)}`,
		`return {xpcall(function() error("a") end,function() return 1,2,3 end)}`,
		`return {xpcall(function() error() end,function(m) return tostring(m) end)}`,
		`return {xpcall(function() error({err="q"}) end,function(m) return type(m) end)}`,
		`return {xpcall(function() error({err="q"}) end,function(m) return m end)}`,
		`return {xpcall(5,function(m) return "h:"..m end)}`, `return {xpcall(nil,function(m) return m end)}`,
		`return {xpcall(function() error("a") end,function(m) return {pcall(error,m..m)} end)}`,
		`return {#{pcall(unpack,{},1,7000)}}`,
		`local n=0 local r={xpcall(function() error("a") end,function(m) n=n+1 error("b") end)} return {n,r[2]}`,
		`local n=0 local r={xpcall(function() error("a") end,function(m) n=n+1 if n<4 then error("b"..n) end return m ` +
			`end)} return {n,r[2]}`,
		`local n=0 local function f(d) if d>0 then return pcall(f,d-1) end return xpcall(error,function(m) n=n+1 ` +
			`error("b") end) end f(10) return n`,
		`return {xpcall(error,setmetatable({},{__call=function() return 5 end}))}`,
		`local t,n={},0 xpcall(error,function(m) n=n+1 if tostring(m):find("C stack") then t[#t+1]=n t[#t+1]=m end ` +
			`error("b") end) return t`,
		// Positions.
		"return {pcall(function()\n error('x') end)}", "return {pcall(function()\n error('x',2) end)}",
		"return {pcall(function()\n error('x',3) end)}", "return {pcall(function()\n error('x',4) end)}",
		`return {pcall(error,"x")}`, `return {pcall(error,"x",2)}`, `return {pcall(error,"x",3)}`,
		"local function f()\n return {pcall(function() error('x',4) end)} end\nlocal r=f() return r",
		"return {xpcall(function()\n error('x',2) end,tostring)}", "return {xpcall(function()\n error('x',3) end,tostring)}",
		`return {xpcall(error,function(m) return tostring(m) end)}`,
		"return {pcall(function()\n pcall(function()\n error('a') end)\n error('b',3) end)}",
		`return {pcall(coroutine.wrap(function() error("z") end))}`,
		`return {pcall(function() coroutine.wrap(function() error("z") end)() end)}`,
		`coroutine.wrap(function() error("z") end)()`,
		`return {pcall(function() coroutine.wrap(function() error({err="t"}) end)() end)}`, `return {pcall(redis.call)}`,
		`return {pcall(function() x=1 end)}`, `return {pcall(function() return x end)}`, `return {pcall(rawset,_G,"x",1)}`,
		`return {pcall(math.floor)}`, `return {pcall(math.cos,{})}`, `return {pcall(math.pow)}`,
		`return {pcall(coroutine.status)}`, `return {pcall(rawequal)}`,
		"local function f()\n error('x',2) end\nlocal function g() return f() end\ng()",
		"local function f()\n error('x',3) end\nlocal function g() return f() end\ng()",
		"local function f()\n return error('x') end\nreturn f()",
		// Coroutines.
		`local w=coroutine.wrap(function() error("x") end) return {pcall(w),pcall(w)}`,
		`local w=coroutine.wrap(function() error("x") end) pcall(w) return {pcall(w)}`,
		`local w=coroutine.wrap(function() end) w() w()`,
		`local co co=coroutine.create(function() return coroutine.resume(co) end) return {coroutine.resume(co)}`,
		`local co co=coroutine.create(function() return pcall(coroutine.resume,co) end) return {coroutine.resume(co)}`,
		`local co co=coroutine.create(function() return coroutine.wrap(function() return coroutine.status(co), ` +
			`coroutine.resume(co) end)() end) return {coroutine.resume(co)}`,
		`local co co=coroutine.create(function() return select(2,pcall(coroutine.status,co)), coroutine.status(co) end) ` +
			`return {coroutine.resume(co)}`,
		`return {tostring(coroutine.running()), select(2,pcall(function() return tostring(coroutine.running()) end))}`,
		`local co co=coroutine.create(function() return co==coroutine.running(), select(2,pcall(function() return ` +
			`coroutine.running()==co end)) end) return {coroutine.resume(co)}`,
		`return {pcall(function() local co=coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end) return ` +
			`co(),co(),tostring(coroutine.running()) end)}`,
		`local co=coroutine.wrap(function() local ok,e=pcall(coroutine.yield,1) return e end) return co()`,
		`return {pcall(coroutine.yield,1)}`, `coroutine.yield(1)`,
		`return {coroutine.resume(coroutine.create(function() local x=nil+1 end))}`,
	}
}

func TestCaughtErrorsAreAsOnRedis(t *testing.T) {
	s := newSides(t)
	for _, script := range caughtSnippets() {
		s.same(t, script, nil)
	}
}

// A guard that is used again holds nothing of the call before.
func TestCallsOfPcallDoNotMeet(t *testing.T) {
	e := alone(Options{})
	deep := `local fs = {} local function f(n) local x = n fs[n] = function() x = x + 1 return x end if n == 1 then ` +
		`error("e") end f(n - 1) end `
	for range 3 {
		require.Equal(t, ":150\r\n", evalOn(e, 2, deep+`pcall(f, 50) pcall(f, 50) local n = 0 for i = 1, 50 do n = n + `+
			`fs[i]() - i end for i = 1, 50 do n = n + fs[i]() - i end return n`, nil))
		require.Equal(t, ":0\r\n", evalOn(e, 2, `local n = 0 for i = 1, 3 do local r = {pcall(function(...) local a, b, `+
			`c if a or b or c then n = n + 1 end return ... end)} n = n + #r - 1 end return n`, nil))
		require.LessOrEqual(t, len(e.guards), keptGuards)
	}
}

// pcall keeps no memory, with or without an error.
func TestPcallTakesNoMemoryThatStays(t *testing.T) {
	e := alone(Options{})
	for _, script := range []string{
		`local f = function() end for i = 1, 1000 do pcall(f) end`,
		`for i = 1, 1000 do pcall(error) end`,
	} {
		evalOn(e, 2, script, nil)
		guards := e.guards[0].state
		evalOn(e, 2, strings.Repeat(script+" ", 3), nil)
		require.Same(t, guards, e.guards[0].state, script)
		require.Len(t, e.guards, 1)
	}
}
