package luaeval

import (
	"testing"
)

func TestErrorsNameTheVariable(t *testing.T) {
	s := newSides(t)
	for _, code := range []string{
		`local a a()`, `local a={} a.x()`, `local a={} a:x()`, `local a={} a.b.c=1`, `local a a.b=1`, `local a return a.b`,
		`local a={} return a.b.c`, `local a={} return a[1].c`, `local a return a[1]`, `local a={b={}} return a.b.c.d.e`,
		`redis.foo()`, `redis.call.x.y=1`, `return redis.foo.bar`, `return pcall.x`, `pcall.x=1`, `string.foo("x")`,
		`("x"):foo()`, `local s="x" s:foo()`, `local s="x" return s.a.b`, `KEYS()`, `KEYS.a()`, `KEYS[1].a()`, `math.huge()`,
		`return math.huge.x.y`,
		`local a return a+1`, `local a return 1+a`, `local a={} return a.x+1`, `local a={} return 2*a.x`,
		`local a={} return a.x-a.y`, `local a return -a`, `local a={} return -a.x`, `local a return #a`,
		`local a={} return #a.x`, `return nil+1`, `return {}+1`, `return 1+"x"`, `local a="x" return a+1`,
		`local a return a%2`, `local a={} return a.x^2`, `local a return a.."x"`, `local a={} return "x"..a.y`,
		`local a={} return "x"..a`, `return "x"..nil`, `return "x"..{}.."y"`, `local a,b={},{} return "x"..a.x.."y"..b.y`,
		`local a local f=function() a() end f()`, `local a local f=function() return a.x end f()`,
		`local a={} local f=function() return a.x.y end f()`, `local a={} local f=function() return a.x() end f()`,
		`local a local f=function() return a+1 end f()`, `local a local f=function() return a.."x" end f()`,
		`local f=function(a) return a.x end f()`, `local f=function(a,b) return a+b end f(1)`,
		`local f=function(a,b) b() end f(1,{})`, `local a=5 a()`, `local a="x" a()`, `local a={} a()`, `local a=true a()`,
		`local a={x=5} a.x()`, `local a={x={}} a.x()`, `(nil)()`, `local t={} t[1]()`, `local t,k={},"x" t[k]()`,
		`local t={} t[1][2]=3`,
		`for i in 5 do end`, `for i in {} do end`, `local a for i=1,3 do a() end`, `for i=1,3 do i.x=1 end`,
		`for i=1,3 do i() end`, `for k,v in pairs({1}) do v() end`, `for k,v in pairs({1}) do return v.x.y end`,
		`local a if a or true then a() end`, `local a,b local c=a and b or a c()`, `local t={} local x=t.a or t.b x()`,
		`local t={} ;(t.a or t.b)()`, `local t={} return (t.a or t.b).c`, `local a a(1,2,3)`, `local a return a(1)`,
		`local t={} return t.x(1)`, `local t={} return t:x(1)`, `local a local b=a() return b`,
		`local a local x=1+a() return x`,
		`local function f() return nil end f().x=1`, `local function f() return nil end f()()`,
		`local function f() end return f()+1`, `local t=setmetatable({},{__index=function() end}) t.x()`,
		`local t=setmetatable({},{__index=5}) return t.x`, `local t=setmetatable({},{__call=5}) t()`,
		`local a do local b=a b() end`, `local a repeat local b=a b() until true`, `do local z=1 end local a={} a.x()`,
		`do local z=1 end local a={} local f=function() a.x.y() end f()`, `local t={f=function() local x x() end} t.f()`,
		`local n=0 local function f() if n>2 then local q q() end n=n+1 f() end f()`,
		`local ok,e=pcall(function() local x=nil; x() end) return e()`,
		`local t={} t.a.b.c()`, `local t={a={b={}}} t.a.b.c()`, `local t={a={b={}}} t.a.b:c()`, `local a,b,c a,b,c=1,2 c()`,
		`local a,b=1 return a<b`, `return {}<{}`, `return {}<1`, `local t={} return t.x<1`,
		`table.sort({3,2,1},function(a,b) return a.x.y end)`, `string.gsub("a",".",function(x) x() end)`,
		`local s=("x"):rep(3) return s:foo()`, `local x=tonumber("z") return x+1`,
		`do local z=1 end local a a()`, `do local z=1 end local t={} local b=t.x b()`,
		`for i=1,2 do local z=i end local t={} for i=1,2 do local b=t.x b() end`,
		`local v=redis.call("get","nokey") return v+1`, `local v=redis.call("get","nokey") return v.."x"`,
		`return redis.call("get","nokey")+1`, `return cjson.foo.bar`, `local t=cjson.decode("{}") return t.a.b`,
	} {
		s.same(t, code, nil)
		s.same(t, "return {pcall(function() "+code+" end)}", nil)
	}
}
