package luaeval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbered joins n copies of format, printed with 1 to n, by sep.
func numbered(n int, sep, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i+1)
	}
	return strings.Join(parts, sep)
}

// limitCase is a script that depends on a size. For each size, the engine answers as redis-server.
type limitCase struct {
	name   string
	sizes  []int
	script func(n int) string
}

const (
	tooComplex       = "function or expression too complex"
	tooLong          = "control structure too long"
	tooManyConstants = "constant table overflow"
)

func variableLimits() []limitCase {
	return []limitCase{
		{"locals of the chunk", []int{199, 200, 201, 202},
			func(n int) string { return numbered(n, " ", "local a%d=1") + " return 1" }},
		{"locals of one statement", []int{199, 200, 201, 300},
			func(n int) string { return "local " + numbered(n, ",", "a%d") + " return 1" }},
		{"locals set by a call", []int{199, 200, 201, 600},
			func(n int) string { return "local " + numbered(n, ",", "a%d") + "=redis.status_reply('x') return 1" }},
		{"locals of a function", []int{199, 200, 201}, func(n int) string {
			return "local f=function()\n" + numbered(n, " ", "local a%d=1") + " return 1 end return f()"
		}},
		{"locals and a loop", []int{195, 196, 197, 198}, func(n int) string {
			return numbered(n, " ", "local a%d=1") + " for i=1,2 do a1=a1+i end return a1"
		}},
		{"parameters", []int{199, 200, 201, 256, 300},
			func(n int) string {
				return "local f=function(" + numbered(n, ",", "a%d") + ") return a1 end return f(3)"
			}},
		{"parameters and ...", []int{198, 199, 200, 201},
			func(n int) string {
				return "local f=function(" + numbered(n, ",", "a%d") + ",...) return a1 end return f(3)"
			}},
		{"upvalues", []int{59, 60, 61, 100}, func(n int) string {
			return numbered(n, " ", "local a%d=1") + " local f=function()\nreturn " + numbered(n, "+", "a%d") + " end return f()"
		}},
		{"upvalues of two functions", []int{59, 60, 61, 130, 256, 300}, func(n int) string {
			h := n / 2
			return "local f=function() " + numbered(h, " ", "local a%d=1") + " return function() " + numbered(n-h, " ",
				"local b%d=1") +
				" return function()\nreturn " + numbered(h, "+", "a%d") + "+" + numbered(n-h, "+", "b%d") +
				" end end end return f()()()"
		}},
		{"targets", []int{2, 150, 200, 201, 300, 600},
			func(n int) string { return "local a " + strings.Repeat("a,", n-1) + "a=1 return a" }},
		{"targets set by a call", []int{2, 150, 200, 201, 600}, func(n int) string {
			return "local a local f=function() return 1,2,3 end " + strings.Repeat("a,", n-1) + "a=f() return tostring(a)"
		}},
		{"fields set by a call", []int{50, 60, 100, 200, 201, 300}, func(n int) string {
			return "local t={} local f=function() return 1,2,3 end " + numbered(n, ",", "t[%d]") + "=f() return t[2]"
		}},
	}
}

func valueLimits() []limitCase {
	return []limitCase{
		{"arguments of a call", []int{190, 195, 200, 247, 248, 250, 256, 300, 520}, func(n int) string {
			return "local f=function(...) return select('#',...) end return f(" + numbered(n, ",", "%d") + ")"
		}},
		{"arguments of a method", []int{190, 200, 250, 256, 520}, func(n int) string {
			return "local t={f=function(self,...) return select('#',...) end} return t:f(" + numbered(n, ",", "%d") + ")"
		}},
		{"values returned", []int{190, 202, 248, 251, 256, 600}, func(n int) string {
			return "local f=function() return " + numbered(n, ",", "%d") + " end return select('#',f())"
		}},
		{"values too many", []int{190, 202, 240, 251, 600},
			func(n int) string { return "local a a=" + numbered(n, ",", "%d") + " return a" }},
		{"strings", []int{255, 256, 257, 511, 512, 513, 5000}, func(n int) string {
			return "local s,t=0,{} " + numbered(n, " ", "t['k%[1]d']='v%[1]d'") + " for k,v in pairs(t) do s=s+1 end " +
				"return {s,t.k1,t.k255,t.k256,t.k257,t['k" + fmt.Sprint(n) + "']}"
		}},
		{"numbers", []int{255, 256, 257, 5000},
			func(n int) string { return "local s=0 " + numbered(n, " ", "s=s+%d.5") + " return s" }},
		{"numbers added up by the compiler", []int{255, 256, 257, 5000},
			func(n int) string { return "local s=0 " + numbered(n, " ", "s=s-(%d+0.25-2)") + " return s*1000" }},
		{"numbers divided by zero", []int{2, 5000},
			func(n int) string { return "local s=0 " + numbered(n, " ", "s=%d/0") + " return tostring(s)" }},
		{"strings in conditions", []int{255, 256, 257, 2000}, func(n int) string {
			return "local s,x=0,'v" + fmt.Sprint(n) + "' " + numbered(n, " ", "if x=='v%[1]d' and 'w%[1]d' and not (not "+
				"'u%[1]d') then s=s+1 end") +
				" while 'last' do s=s+1 if s>9 then break end end return s"
		}},
		{"methods", []int{255, 256, 257, 2000}, func(n int) string {
			return "local t=setmetatable({},{__index=function(t,k) return function(self,a) return k..a end end}) local s='' " +
				numbered(n, " ", "s=t:m%[1]d(%[1]d)") + " return s"
		}},
		{"methods defined", []int{255, 256, 257, 2000}, func(n int) string {
			return "local t={} " + numbered(n, " ", "function t:m%[1]d(a) return a+%[1]d end") + " return t:m1(1)+t:m" +
				fmt.Sprint(n) + "(1)"
		}},
		{"constants", []int{262143, 262144},
			func(n int) string { return "local t={" + numbered(n, ",", "%d") + "} return #t" }},
		{"functions", []int{255, 256, 257, 10000},
			func(n int) string {
				return "local s=0 local f " + strings.Repeat("f=function() return 1 end s=s+f() ", n) + " return s"
			}},
	}
}

func constructorLimits() []limitCase {
	sizes := []int{49, 50, 51, 100, 25499, 25500, 25501, 25549, 25550, 25551, 25599, 25600, 25601, 40000}
	few := []int{49, 50, 51, 25500, 25549, 25550, 25551, 25600, 25601}
	fewer := []int{49, 50, 51, 25550, 25551}
	const look = " return " +
		"{#t,t[1],t[2],t[49],t[50],t[51],t[#t],t[25499],t[25500],t[25501],t[25550],t[25551],t[25600],t[25601]}"
	rep := strings.Repeat
	return []limitCase{
		{"strings", few, func(n int) string {
			return "local t={" + numbered(n, ",", "'k%d'") + "}" +
				look
		}},
		{"locals", few, func(n int) string {
			return "local x,y='x','y' local t={" + rep("x,y,", n/2) + rep("x,", n%2) + "}" + look
		}},
		{"values and a call", sizes, func(n int) string {
			return "local x,y='x','y' local f=function() return 7,8,9 end local t={" + rep("x,", n) + "f()}" + look
		}},
		{"values and a call cut to one", few, func(n int) string {
			return "local x,y='x','y' local f=function() return 7,8,9 end local t={" + rep("x,", n) + "(f())}" + look
		}},
		{"values and ...", few, func(n int) string {
			return "local x='x' local f=function(...) local t={" + rep("x,", n) + "...}" + look + " end return f(7,8,9)"
		}},
		{"values and a key", few, func(n int) string {
			return "local x='x' local t={" + rep("x,", n) + "a=redis.sha1hex('')} t[#t+1]=t.a " + look
		}},
		{"values and keys between", fewer, func(n int) string {
			return "local x,y='x','y' return {" + rep("x,k=tostring(y),", n) + "f=y}"
		}},
		{"values, keys and a call", []int{49, 50, 51, 25500, 25549, 25551, 25600, 25601}, func(n int) string {
			return "local f=function() return 7,8,9 end local t={" + numbered(n, ",", "%d") +
				",a=tostring(1),b=tostring(2),f()}" + look
		}},
		{"nested", []int{50, 51, 25550, 25551}, func(n int) string {
			return "local t={" + rep("{1},", n) + "{" + rep("2,", n) + "}} return {#t,#t[#t],t[#t-1][1]}"
		}},
		{"without a variable", fewer, func(n int) string {
			return "return {#{" + rep("1,", n) + "}, ({" + numbered(n, ",", "%d") + "})[" + fmt.Sprint(n) + "]+({" +
				numbered(n, ",", "%d") + "})[1]}"
		}},
	}
}

func nestingLimits() []limitCase {
	rep := strings.Repeat
	return []limitCase{
		{"levels of blocks", []int{197, 198, 201}, func(n int) string {
			return rep("do ", n) + rep(" end", n) +
				" return 1"
		}},
		{"levels of loops", []int{40, 48, 49, 50, 51, 66, 67},
			func(n int) string {
				return "local s=0 " + rep("for i=1,1 do ", n) + " s=s+1 " + rep(" end", n) + " return s"
			}},
		{"elseifs", []int{100, 1000, 10000}, func(n int) string {
			return "local x='k" + fmt.Sprint(n) + "' if x==0 then return 0 " + numbered(n, " ",
				"elseif x=='k%[1]d' then return %[1]d") + " end"
		}},
		{"sums", []int{32, 33, 100, 10000}, func(n int) string { return "local a=1 return a" + rep("+a", n) }},
		{"sums of literals", []int{32, 33, 100, 10000}, func(n int) string { return "return 1" + rep("-1", n) }},
		{"mixed sums", []int{40, 5000}, func(n int) string { return "local a=1 return 5" + rep("+1*2-a", n) }},
		{"concatenations", []int{39, 40, 41, 100, 196, 198, 200, 1000},
			func(n int) string { return "local a='x' return #(a" + rep("..a", n) + ")" }},
		{"ands", []int{1000, 10000}, func(n int) string { return "local a=1 return a" + rep(" and a", n) }},
		{"ors in a condition", []int{1000, 10000}, func(n int) string {
			return "local a=1 if not a" + rep(" or a", n) +
				" then return 1 end"
		}},
		{"fields of fields", []int{1000, 10000}, func(n int) string {
			return "local t={} t.a=t return t" + rep(".a",
				n) + "==t"
		}},
	}
}

// manyLimits are texts that are long without being deep.
func manyLimits() []limitCase {
	rep := strings.Repeat
	return []limitCase{
		{"constants", []int{262141, 262142, 262143, 300000}, func(n int) string {
			return "local t={" + numbered(n, ",", "%d.5") + "} return #t"
		}},
		{"functions", []int{20000}, func(n int) string { return "local f " + rep("f=function() end ", n) + " return 1" }},
		{"methods", []int{300, 20000}, func(n int) string {
			return "local t=setmetatable({},{__index=function(_,k) return function() return k end end}) local s " +
				numbered(n, " ", "s=t:m%d()") + " return s"
		}},
		{"declared", []int{32765, 32766, 32767, 32768}, func(n int) string {
			return rep("do local a end ", n) + " return 1"
		}},
		{"orders", []int{40000}, func(n int) string { return "local a=1 return a" + rep(" and a==1", n) }},
		{"remainders", []int{10000}, func(n int) string { return "local a=5 return a" + rep("%a", n) }},
		{"calls of calls", []int{10000}, func(n int) string {
			return "local f f=function() return f end return f" + rep("()", n) + "==f"
		}},
	}
}

func jumpLimits() []limitCase {
	rep := strings.Repeat
	around := []int{9000, 131050, 140000}
	return []limitCase{
		{"while", around, func(n int) string {
			return "local n,a=0 while n<2 do n=n+1 " + rep("a=n ", n) +
				" end return a"
		}},
		{"while true", around, func(n int) string {
			return "local n,a=0,0 while true do n=n+1 if n>3 then return n end " + rep("a=n ", n) + " end return a"
		}},
		{"repeat", around, func(n int) string {
			return "local n,a=0,0 repeat n=n+1 " + rep("a=n ", n) +
				" until n>2 return a"
		}},
		{"for", around, func(n int) string {
			return "local n,a=0,0 for i=1,3 do n=n+1 " + rep("a=n ", n) +
				" end return a"
		}},
		{"generic for", around, func(n int) string {
			return "local n,a=0,0 for i in pairs({1,2,3}) do n=n+1 " + rep("a=n ", n) + " end return a"
		}},
		{"if", around, func(n int) string {
			return "local n,a=0,0 if n==0 then " + rep("a=n ", n) +
				" n=5 end return n"
		}},
		{"else", around, func(n int) string {
			return "local n,a=0,0 if n==1 then n=4 else " + rep("a=n ", n) + " n=5 end return n"
		}},
	}
}

// compared returns an answer without the parts of an error that may differ: the token at the limit,
// and the script.
func compared(answer string) string {
	for _, limit := range []string{tooComplex, tooLong, tooManyConstants} {
		if before, _, ok := strings.Cut(answer, limit); ok {
			return before + limit
		}
	}
	answer, _, _ = strings.Cut(answer, " script: ")
	return answer
}

func TestLimitsOfTheCompiler(t *testing.T) {
	s := newSides(t)
	for group, cases := range map[string][]limitCase{
		"variables": variableLimits(), "values": valueLimits(), "constructors": constructorLimits(),
		"nesting": nestingLimits(), "jumps": jumpLimits(), "many": manyLimits(),
	} {
		for _, c := range cases {
			t.Run(group+"/"+c.name, func(t *testing.T) {
				for _, n := range c.sizes {
					script := c.script(n)
					require.Equal(t, compared(s.theirs(2, script, nil)), compared(s.ours(2, script, nil)), n)
				}
			})
		}
	}
}
