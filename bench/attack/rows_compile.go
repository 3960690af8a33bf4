package main

import "strings"

// repeated is a script that consists of n times one piece between a head and a tail.
func repeated(head, each, separator, tail string) func(*attacker) {
	return func(x *attacker) { x.do("EVAL", head+joined(each, separator, x.n)+tail, "0") }
}

// bodies sends n scripts of which no two are alike.
func bodies(command string) func(*attacker) {
	return func(x *attacker) {
		x.pipe(x.n, func(i int) []string {
			body := "local k = KEYS[1] if redis.call('get', k) == ARGV[1] then return redis.call('del', k) end " +
				"return " + itoa(i)
			if command == "EVAL" {
				return []string{"EVAL", body, "1", "lock", "me"}
			}
			return []string{"SCRIPT", "LOAD", body}
		})
	}
}

// compileRows are scripts that are hard to compile.
var compileRows = []attack{
	{name: "compile: constants", does: "EVAL of a table of n distinct string constants.",
		short: 10_000, full: 300_000,
		run: repeated("return #{", `"k{i}"`, ",", "}")},
	{name: "compile: numbers", does: "EVAL of a table of n distinct numbers.", short: 10_000, full: 300_000,
		run: repeated("return #{", `{i}.5`, ",", "}")},
	{name: "compile: constructor", does: "The length of a constructor of n elements is right.",
		short: 40_000, full: 400_000,
		run: func(x *attacker) { x.alike(x.eval("return #{" + joined(`{i}`, ",", x.n) + "}")) }},
	{name: "compile: keyed constructor", does: "EVAL of a table of n named fields.", short: 8_000, full: 100_000,
		run: repeated("local t={", `f{i}={i}`, ",", "} return t.f7")},
	{name: "compile: fields", does: "n assignments to fields of distinct names.", short: 8_000, full: 100_000,
		run: repeated("local t={} ", "t.f{i}=1", " ", " return 1")},
	{name: "compile: locals", does: "n blocks with a local of its own name each.", short: 8_000, full: 100_000,
		run: repeated("", "do local a{i}={i} end", " ", " return 1")},
	{name: "compile: functions", does: "n functions in one script.", short: 4_000, full: 100_000,
		run: repeated("local t={} ", "t[{i}]=function(a) return a+{i} end", " ", " return #t")},
	{name: "compile: closures", does: "n functions that share upvalues.", short: 4_000, full: 50_000,
		run: repeated("local a,b,c,d=1,2,3,4 local t={} ", "t[1]=function() return a+b+c+d end", " ", " return #t")},
	{name: "compile: elseif", does: "A chain of n elseif.", short: 4_000, full: 20_000,
		run: repeated("local x=0 if x==1 then return 1 ", "elseif x=={i}+2 then return {i}", " ", " end return 2")},
	{name: "compile: concat", does: "A chain of n concatenations.", short: 150, full: 10_000,
		run: repeated("return ", `"a{i}"`, "..", "")},
	{name: "compile: sum", does: "A sum of n terms.", short: 4_000, full: 100_000,
		run: repeated("local a=1 return a", "+a", "", "")},
	{name: "compile: and", does: "n times and.", short: 4_000, full: 50_000,
		run: repeated("local a=1 return a", " and a", "", "")},
	{name: "compile: nested tables", does: "n tables within each other.", short: 5_000, full: 1_000_000,
		run: func(x *attacker) { x.eval("return " + strings.Repeat("{", x.n) + strings.Repeat("}", x.n)) }},
	{name: "compile: nested blocks", does: "n blocks within each other.", short: 5_000, full: 500_000,
		run: func(x *attacker) { x.eval(strings.Repeat("do ", x.n) + strings.Repeat("end ", x.n)) }},
	{name: "compile: nested functions", does: "n functions within each other.", short: 5_000, full: 300_000,
		run: func(x *attacker) {
			x.eval(strings.Repeat("local f=function() ", x.n) + strings.Repeat("end ", x.n))
		}},
	{name: "compile: brackets", does: "n brackets within each other.", short: 5_000, full: 1_000_000,
		run: func(x *attacker) { x.eval("return " + strings.Repeat("(", x.n) + "1" + strings.Repeat(")", x.n)) }},
	{name: "compile: not", does: "n times not.", short: 5_000, full: 1_000_000,
		run: repeated("return ", "not", " ", " 1")},
	{name: "compile: comment", does: "A comment of n bytes.", short: 4_000_000, full: 100_000_000,
		run: func(x *attacker) { x.eval("--[[" + strings.Repeat("x", x.n) + "]] return 1") }},
	{name: "compile: comments", does: "n comments.", short: 200_000, full: 5_000_000,
		run: repeated("", "--x\n", "", "return 1")},
	{name: "compile: string", does: "A string of n bytes.", short: 4_000_000, full: 100_000_000,
		run: func(x *attacker) { x.eval("return #'" + strings.Repeat("x", x.n) + "'") }},
	{name: "compile: long string", does: "A string of n bytes between long brackets.",
		short: 4_000_000, full: 100_000_000,
		run: func(x *attacker) { x.eval("return #[==[" + strings.Repeat("]=", x.n/2) + "]==]") }},
	{name: "compile: escapes", does: "A string of n escapes.", short: 500_000, full: 20_000_000,
		run: repeated("return #'", `\065`, "", "'")},
	{name: "compile: digits", does: "A number of n digits.", short: 100_000, full: 10_000_000,
		run: repeated("return ", "7", "", "")},
	{name: "compile: spaces", does: "n empty lines.", short: 1_000_000, full: 50_000_000,
		run: repeated("", "\n", "", "return 1")},
	{name: "compile: calls", does: "n calls in a row.", short: 8_000, full: 200_000,
		run: repeated("local f=tostring ", "f({i})", " ", "")},
	{name: "compile: damaged", does: "A script of n statements with an error at its end.",
		short: 20_000, full: 300_000,
		run: repeated("local t={} ", "t.f{i}=1", " ", " return return")},
	{name: "compile: library", does: "FUNCTION LOAD of n distinct string constants.", short: 8_000, full: 300_000,
		run: func(x *attacker) {
			x.do("FUNCTION", "LOAD", "#!lua name=a\nlocal t={"+joined(`"k{i}"`, ",", x.n)+"} "+
				"redis.register_function('f', function() return #t end)")
		}},
	{name: "compile: functions of a library", does: "FUNCTION LOAD of a library of n functions.",
		short: 2_000, full: 50_000, run: func(x *attacker) {
			x.do("FUNCTION", "LOAD", "#!lua name=a\nfor i=1,"+itoa(x.n)+" do "+
				"redis.register_function('f'..i, function() return i end) end")
		}},
	{name: "compile: bodies", does: "n distinct EVAL bodies.", short: 4_000, full: 200_000, held: true,
		run: bodies("EVAL")},
	{name: "compile: bodies and maxmemory", does: "n distinct EVAL bodies under maxmemory 100mb.",
		short: 4_000, full: 200_000, held: true,
		options: []string{"--maxmemory", "100mb"}, run: bodies("EVAL")},
	{name: "compile: loaded bodies", does: "SCRIPT LOAD of n distinct bodies.",
		known: "gopher-lua compiles more slowly than Lua",
		short: 4_000, full: 200_000,
		held: true, run: bodies("SCRIPT LOAD")},
	{name: "compile: wrong bodies", does: "n distinct EVAL bodies that do not compile.",
		short: 4_000, full: 200_000, run: times("EVAL return+{i}+ 0")},
}
