package luaeval

import "testing"

// A stack that is full has Redis's errors, at the same depth.
func TestRecursionEndsAsOnRedis(t *testing.T) {
	s := newSides(t)
	const deep = "local d=0 local function f(n) d=n return 1+f(n+1) end "
	const nested = "local d=0 local function f(n) d=n "
	for _, script := range []string{
		deep + "return f(1)", deep + "return {pcall(f,1)}", deep + "pcall(f,1) return d", deep + "pcall(pcall,f,1) return d",
		deep + "return {xpcall(function() return f(1) end, function(e) return e end)}",
		deep + "local ok,e=coroutine.resume(coroutine.create(f),1) return e", deep + "return coroutine.wrap(f)(1)",
		deep + "return {pcall(coroutine.wrap(f),1)}",
		deep + "table.sort({2,1,3},function() return f(1) end)",
		deep + "return string.gsub('aa','a',function() return f(1) end)",
		nested + "local a,b,c,e,g,h,i,j,k return 1+f(n+1) end pcall(f,1) return d",
		"local d=0 local function f(n,...) d=n return 1+f(n+1,...) end pcall(f,1,1,1,1,1) return d",
		"local d=0 local t=setmetatable({},{__call=function(t,k) d=k return 1+t(k+1) end}) return t(1)",
		"local d=0 local t=setmetatable({},{__call=function(t,k) d=k return 1+t(k+1) end}) pcall(t,1) return d",
		nested + "return pcall(f,n+1) end f(1) return d",
		nested + "return string.gsub('a','a',function() return f(n+1) end) end pcall(f,1) return d",
		nested + "return string.gsub('a','a',function() return f(n+1) end) end return f(1)",
		nested + "table.sort({1,2},function() return f(n+1) end) end pcall(f,1) return d",
		"local d=0 local c c=function(n) d=n return coroutine.wrap(c)(n+1) end pcall(c,1) return d",
		"local c c=function(n) return coroutine.wrap(c)(n+1) end return c(1)",
		"local t={} setmetatable(t,{__index=t}) return t[1]", "local t={} setmetatable(t,{__newindex=t}) t[1]=1",
		"return string.gsub('a','a',error)", "return string.gsub('a','a',string.rep)",
		"return string.byte(string.rep('x',8000),1,-1)", "return #{string.byte(string.rep('x',7990),1,-1)}",
	} {
		s.same(t, script, nil)
	}
}

// A metamethod is a call of C. These nest less deep.
func TestMetamethodsEndAsOnRedis(t *testing.T) {
	s := newSides(t)
	for _, c := range [][2]string{
		{"__concat=function(a,b) d=d+1 return a..b end", "t..1"}, {"__mod=function(a,b) d=d+1 return a%b end", "t%1"},
		{"__pow=function(a,b) d=d+1 return a^b end", "t^1"}, {"__add=function(a,b) d=d+1 return a+b end", "1+t"},
		{"__unm=function(a) d=d+1 return -a end", "-t"}, {"__eq=function(a,b) d=d+1 return a==b end", "t==u"},
		{"__lt=function(a,b) d=d+1 return a<b end", "t<u"}, {"__le=function(a,b) d=d+1 return a<=b end", "t<=u"},
		{"__tostring=function(a) d=d+1 return tostring(a) end", "tostring(t)"},
		{"__index=function(t,k) d=d+1 return t[k+1] end", "t[1]"},
		{"__newindex=function(t,k,v) d=d+1 t[k+1]=v end", "(function() t[1]=2 end)()"},
	} {
		head := "local d,m=0,{" + c[0] + "} local t,u=setmetatable({},m),setmetatable({},m) "
		s.same(t, head+"return "+c[1], nil)
		s.same(t, head+"pcall(function() return "+c[1]+" end) return d", nil)
	}
	s.same(t, "local m={} m.__index=function(t,k) error('x',2) end\nlocal t=setmetatable({},m)\nreturn t.a", nil)
	s.same(t, "local m={} m.__newindex=function(t,k,v) rawset(t,k,v) end local t=setmetatable({},m) t[2]=1 t[1]=1 "+
		"return {#t, getmetatable(t)==m}", nil)
	s.same(t, "local t=setmetatable({},{__index=function() coroutine.yield(1) end}) "+
		"return {coroutine.resume(coroutine.create(function() return t.x end))}", nil)
}
