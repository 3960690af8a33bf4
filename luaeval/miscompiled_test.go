package luaeval

import (
	"strings"
	"testing"
)

// Each script is one that a compiler easily gets wrong. redis-server says what is right.
func TestScriptsThatAreHardToCompile(t *testing.T) {
	s := newSides(t)
	fifty := numbered(50, ",", "%d")
	for _, script := range []string{
		// A jump back to a jump.
		`local n=0 while true do if false then n=9 else n=n+1 end if n>5 then break end end return n`,
		`local n=0 for k in pairs({1,2,3}) do if false then n=5 end n=n+1 end return n`,
		`local n=0 while true do while false do n=9 end n=n+1 if n>5 then break end end return n`,
		`local n=0 repeat while nil do n=9 end n=n+1 local f=function() return n end until f()>5 return n`,
		`local n=0 while true do local x = nil or n n=x+1 if n>5 then break end end return n`,
		`local n=0 while not nil and n<5 do n=n+1 end return n`,
		`local n=0 while 'x' and n<5 do n=n+1 end return n`,
		`local n=0 for k in pairs({1,2,3}) do break end return n`,
		// Several targets.
		`local a,b=1,2 a,b=b,a return {a,b}`,
		`local a,b,c=1,2,3 a,b,c=c,a,b return {a,b,c}`,
		`local a,t=1,{} a,t.x=2,a return {a,t.x}`,
		`local i,t=1,{} i,t[i]=i+1,20 return {i,t[1] or 0,t[2] or 0}`,
		`local a a,a,a=1,2,3 return tostring(a)`,
		`local a,t=1,{} t.x,t=1,{x=5} return t.x`,
		`local a,t=1,{} local u=t t,t.x={x=5},7 return {t.x,u.x}`,
		`local a,b=1,2 local f=function() return a,b end a,b=b,a return {f()}`,
		`local a,b=1,2 local f=function() return a,b end b,a=f() return {a,b}`,
		// An assignment to the last parameter.
		`local f=function(x) x=x..'a' return x end return f(5)`,
		`local f=function(y,x) x=x%4 return x end return f(5,6)`,
		`local f=function(x) x=(tostring(x)) return x end return f(5)`,
		`local f=function(y,x) y,x=(tostring(x)),(tostring(y)) return x..y end return f(5,6)`,
		`local f=function(y,x,...) y=(...) return {tostring(y),tostring(x)} end return f(5,6)`,
		`local f=function(...) local a,b,c=1,2,3 a=(...) return {a,b,c} end return f(5,6)`,
		// An `and` assigned to an existing variable.
		`local x,t=5,{} x = t.y and 3 return tostring(x)`,
		`local x,t=5,{} x = t.y and t.z or t.a and x return tostring(x)`,
		`local x,t=5,function() end x = t() and x return tostring(x)`,
		// Variables of a block that break leaves.
		`local fs={} local i=0 while true do i=i+1 do local x=i fs[#fs+1]=function() return x end if i==2 then break end ` +
			`end end ` +
			`local a,b,c=11,12,13 return {fs[1](),fs[2](),a,b,c}`,
		`local fs={} for i=1,3 do if i>1 then local x=i fs[#fs+1]=function() x=x+1 return x end break end end local ` +
			`a,b,c=1,2,3 return {fs[1](),fs[1](),a,b,c}`,
		// A function with the name of another variable.
		`local x = 1; local x = function() return x end return x()`,
		`local x = 1; local x = function() x = 5 end x() return type(x)`,
		`local x = 1; local function x() return type(x) end return x()`,
		// Constructors.
		`return {` + fifty + `,a=redis.sha1hex('')}`,
		`local f=function() return 7,8 end return {` + fifty + `,f()}`,
		`local f=function() return 7,8 end return {1,2,a=f()}`,
		`local f=function(...) return {1,2,a=...} end return f(7,8)`,
		// A tail call of a table, and of a function that needs all its registers.
		`local t=setmetatable({},{__call=function(_,a) return a end}) return t(5)`,
		`local f=function(a,b,c) return c end local g=function(...) return f(...) end return g(1,2,3)`,
		// A local variable that changes before the operator is computed.
		`local a=5 local f=function() a=7 return 2 end return {a%f(), a-f(), a..f(), a^f()}`,
		// Number literals. 0 and -0 are one constant, the first of them.
		`local s='x' return {s..0, tostring(-0), tostring(0)}`, `return {tostring(-0), tostring(0)}`,
		`return {-1, - -1, 1-1-1, 2*3+4, tostring(-0), tostring(0*-1), tostring(0/0), tostring(1/0), tostring(-1/0)}`,
		`local n=0 for i=-1,-3,-1 do n=n+i end return n`,
		`return "x"..1-1 ..2*3 .. -4`,
	} {
		t.Run(strings.ReplaceAll(script[:min(len(script), 60)], "/", "|"), func(t *testing.T) { s.same(t, script, nil) })
	}
}
