package luaeval

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/resp"
)

// looks are calls whose time grows with their arguments. The arguments are a string s of a million
// bytes, a table t of 20,000 numbers, and a map m of as many; j and p are JSON and MessagePack of
// 10,000 empty tables. The scripts take few steps, so they run without a context: only
// the library function can look at the clock.
func looks() map[string]string {
	return map[string]string{
		"assert": `assert(tonumber(s .. "x") == nil, s) error("looked")`, "error": `error(s)`,
		"tonumber": `return tonumber(s)`,
		"load":     `load(s:gmatch("x"))`, "loadstring": `loadstring(s)`, "next": strings.Repeat(`next(t) `, 20),
		"unpack": strings.Repeat(`unpack(t, 1, 7000) `, 3),
		"pcall":  `pcall(string.upper, s)`, "coroutine.wrap": `pcall(coroutine.wrap(function(x) return x:upper() end), s)`,
		"coroutine.resume": `coroutine.resume(coroutine.create(function(x) return x:upper() end), s)`,

		"string.byte": `s:byte(1)`, "string.char": `string.char(s)`, "string.find": `s:find("x-y")`,
		"string.find plain": `s:find("y", 1, true)`,
		"string.format":     `string.format("%s", s)`, "string.format of nothing": `string.format(("%%"):rep(5000))`,
		"string.format quoted": `string.format("%q", s)`, "string.gmatch": `s:gmatch("x-y")()`,
		"string.gfind": `string.gfind(s, "x-y")()`,
		"string.gsub":  `s:gsub("x", "y")`, "string.gsub of one": `("x"):gsub("x", ("%0"):rep(10000))`,
		"string.len":   `s:len()`,
		"string.lower": `s:lower()`, "string.match": `s:match("x-y")`,
		"string.match by a long set": `("x"):rep(100):match("[" .. s .. "]*y")`,
		"string.match again":         `(s .. s):match("(.+)%1y")`, "string.match balanced": `s:match("%bxy")`,
		"string.rep":     `("x"):rep(1e6)`,
		"string.reverse": `s:reverse()`, "string.sub": `s:sub(2)`, "string.upper": `s:upper()`,

		"table.concat": `table.concat(t)`, "table.foreach": `table.foreach(t, math.randomseed)`,
		"table.foreachi": `table.foreachi(t, math.randomseed)`,
		"table.insert":   strings.Repeat(`table.insert(t, 1, 1) `, 30), "table.maxn": `table.maxn(t)`,
		"table.remove": strings.Repeat(`table.remove(t, 1) `, 30), "table.sort": `table.sort(t)`,
		"table.sort by": `table.sort(t, rawequal)`,

		"cjson.decode": `cjson.decode(j)`, "cjson.decode a number": `cjson.decode("[" .. ("1"):rep(1e6) .. "]")`,
		"cjson.encode": `cjson.encode(t)`, "cjson.encode a map": `cjson.encode(m)`,
		"cjson.encode a string": `cjson.encode(s)`,
		"cmsgpack.pack":         `cmsgpack.pack(t)`, "cmsgpack.pack a map": `cmsgpack.pack(m)`,
		"cmsgpack.unpack":     `cmsgpack.unpack(p)`,
		"cmsgpack.unpack_one": `cmsgpack.unpack_one(p)`, "cmsgpack.unpack_limit": `cmsgpack.unpack_limit(p, 1)`,
		"struct.pack": `struct.pack(("x"):rep(5000))`, "struct.pack a string": `struct.pack("s", s)`,
		"struct.unpack": `struct.unpack(("b"):rep(5000), s)`, "struct.size": `struct.size(("b"):rep(5000))`,

		"redis.call": strings.Repeat(`redis.call("x") `, 70), "redis.call of much": `redis.call("x", s)`,
		"redis.call for many":     `return redis.call("many")`,
		"redis.pcall":             `redis.pcall("x", s)`,
		"redis.sha1hex":           `redis.sha1hex(s)`,
		"redis.log":               `redis.log(1, s)`,
		"redis.error_reply":       `redis.error_reply(s)`,
		"redis.acl_check_cmd":     `redis.acl_check_cmd("x", s)`,
		"..":                      `local x = s .. "y"`,
		"arithmetic":              `local x = s + 1`,
		"a reply":                 `return t`,
		"a reply of empty tables": `return {{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}`,
	}
}

// soonFunctions take little time, whatever their arguments are.
func soonFunctions() map[string]bool {
	names := map[string]bool{}
	for _, list := range []string{
		"tostring xpcall rawequal rawget rawset getmetatable setmetatable select pairs ipairs type collectgarbage gcinfo",
		"getfenv setfenv newproxy __redis__err__handler",
		"table.getn table.setn string.dump",
		"coroutine.create coroutine.yield coroutine.status coroutine.running",
		"cjson.new cjson.encode_sparse_array cjson.encode_max_depth cjson.decode_max_depth cjson.encode_number_precision " +
			"cjson.encode_keep_buffer",
		"cjson.encode_invalid_numbers cjson.decode_invalid_numbers",
		"redis.status_reply redis.setresp redis.set_repl redis.replicate_commands redis.breakpoint redis.debug",
	} {
		for _, name := range strings.Fields(list) {
			names[name] = true
		}
	}
	return names
}

// looking returns an engine in which a millisecond passes with each look at the clock. After the
// script has called "begin", every poll ends it.
func looking() *Engine {
	var now int64
	begun := false
	return New(Options{
		MaxSteps: 1 << 60,
		Clock:    func() int64 { now += int64(time.Millisecond); return now },
		Poll: func(time.Duration) error {
			if begun {
				return errors.New("looked")
			}
			return nil
		},
		Call: func(args [][]byte, w *resp.Writer) {
			switch string(args[0]) {
			case "begin":
				begun = true
				w.OK()
			case "many":
				w.Array(5000)
				for range 5000 {
					w.Array(0)
				}
			default:
				w.OK()
			}
		},
	})
}

func TestLibraryFunctionsLookAtTheClock(t *testing.T) {
	const prelude = `local s, t, m, j, p = ("x"):rep(1e6), cjson.decode(ARGV[1]), cjson.decode(ARGV[2]), ARGV[3], ` +
		`ARGV[4] redis.call("begin"); `
	var numbers, fields strings.Builder
	for i := range 20000 {
		numbers.WriteString(",1")
		fields.WriteString(`,"` + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + `":1`)
	}
	args := []string{
		"[" + numbers.String()[1:] + "]", "{" + fields.String()[1:] + "}",
		"[" + strings.Repeat("[],", 9999) + "[]]", "\xdc\x27\x10" + strings.Repeat("\x90", 10000),
	}
	for name, script := range looks() {
		if !amount.Picked(name, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			reply := evalOn(looking(), 2, prelude+script, nil, args...)
			require.Contains(t, reply[:min(len(reply), 200)], "looked")
		})
	}
}

// A new library function must be in one of the two lists.
func TestAllLibraryFunctionsAreKnownToLookOrToBeSoon(t *testing.T) {
	e := alone(Options{})
	long, short := looks(), soonFunctions()
	check := func(name string, v lua.LValue) {
		if _, ok := v.(*lua.LFunction); !ok || strings.HasPrefix(name, "math.") || strings.HasPrefix(name, "bit.") {
			return // functions of numbers, which are short
		}
		require.True(t, long[name] != "" != short[name], name)
	}
	for name, v := range e.known {
		check(name, v)
		if shown, ok := v.(*lua.LTable); ok && name != "_G" {
			e.lib.Shown(shown).ForEach(func(k, v lua.LValue) { check(name+"."+k.String(), v) })
		}
	}
}
