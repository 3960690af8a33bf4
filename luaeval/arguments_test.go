package luaeval

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// argumentsHead logs what a call returns, or its error. Addresses differ from server to server.
const argumentsHead = `local out = {}
local f, co = function(...) return ... end, coroutine.create(function() end)
local function S(x, deep)
  if type(x) == 'table' and not deep then
    return '{' .. #x .. ' ' .. S(x[1], true) .. ' ' .. S(x.err, true) .. ' ' .. S(x.ok, true) .. '}'
  end
  if type(x) == 'string' then return '"' .. x:gsub('0x%x+', 'ADDRESS') .. '"' end
  if type(x) == 'number' or type(x) == 'boolean' then return tostring(x) end
  return type(x)
end
local function log(...)
  local list = {}
  for i = 1, math.min(select('#', ...), 5) do list[i] = S((select(i, ...))) end
  out[#out + 1] = select('#', ...) .. ' ' .. table.concat(list, ' ')
end
`

// arguments are of every type, and at the edges of what functions take. The first ones are large.
var arguments = []string{
	"2^31", "2^53", "-2^53", "1/0", "0/0",
	"nil", "true", "false", "0", "1", "-1", "2", "0.5", "40", "''", "'x'", "'10'", "'0x10'", "'a,b'", "'%d'", "'%'",
	"'>I2'", "'c0'", "{}", "{1,2}", "{'b','a'}", "{x=1}", "f", "co", "cjson.null", "string.len",
	"setmetatable({},{__tostring=f})",
}

const largeArguments = 5

// functions returns all functions that a script can name, as code. Those that draw lots, or say what differs from
// server to server, are not among them.
func functions(e *Engine) []string {
	var names []string
	for name, v := range e.known {
		if t, ok := v.(*lua.LTable); ok && name != "_G" {
			e.lib.Shown(t).ForEach(func(k, v lua.LValue) {
				if v.Type() == lua.LTFunction {
					names = append(names, name+"."+k.String())
				}
			})
		} else if v.Type() == lua.LTFunction {
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		switch name {
		case "math.random", "math.randomseed", "collectgarbage", "gcinfo", "os.clock", "string.dump", "redis.log",
			"redis.call", "redis.pcall", "redis.setresp", "redis.set_repl", "redis.acl_check_cmd", "cjson.new", "getfenv",
			"setfenv", "load", "struct.unpack",
			"newproxy", "__redis__err__handler", "redis.breakpoint", "redis.debug", "xpcall", "pcall":
			return true
		}
		return strings.HasPrefix(name, "cjson.encode_") || strings.HasPrefix(name, "cjson.decode_")
	})
	slices.Sort(names)
	return names
}

// call draws a call of a function, by its name or by pcall.
func call(r *rand.Rand, name string) string {
	args, from := make([]string, r.IntN(4)), arguments
	switch name {
	case "string.rep", "table.insert", "math.sin", "math.cos", "math.tan", "math.pow":
		// Redis takes very long, or the last digit or the sign of a NaN differs.
		from = arguments[largeArguments:]
	}
	for i := range args {
		args[i] = from[r.IntN(len(from))]
	}
	list := strings.Join(args, ", ")
	method := ""
	if library, f, ok := strings.Cut(name, "."); ok && library == "string" && len(args) > 0 && r.IntN(4) == 0 {
		method = fmt.Sprintf("(%s):%s(%s)", args[0], f, strings.Join(args[1:], ", "))
	}
	switch {
	case method != "":
		return "log(pcall(function() return " + method + " end))"
	case r.IntN(3) == 0:
		return "log(pcall(" + strings.TrimSuffix(name+", "+list, ", ") + "))"
	case r.IntN(2) == 0:
		return "log(pcall(function() local v = " + name + "(" + list + ") return v end))"
	}
	return "log(pcall(function() return " + name + "(" + list + ") end))"
}

var argumentTurns = flag.Int("argument.turns", amount.Count(6, 40), "how many times 20 calls of each function")

// Functions answer wrong arguments, and odd ones, as on Redis.
func TestFunctionsTakeArgumentsAsOnRedis(t *testing.T) {
	s := newSides(t)
	r := rand.New(rand.NewPCG(11, 1))
	for _, name := range functions(s.e) {
		calls := make([]string, 20**argumentTurns)
		for i := range calls {
			calls[i] = call(r, name)
		}
		for part := range slices.Chunk(calls, 100) {
			script := argumentsHead + strings.Join(part, "\n") + "\nreturn out"
			if theirs, ours := s.theirs(2, script, nil), s.ours(2, script, nil); theirs != ours {
				a, b := strings.Split(theirs, "\r\n"), strings.Split(ours, "\r\n")
				for i := 2; i < min(len(a), len(b)); i += 2 {
					if a[i] != b[i] {
						t.Errorf("%s\nredis:  %s\nengine: %s", part[i/2-1], a[i], b[i])
					}
				}
				require.Equal(t, len(a), len(b), theirs)
			}
		}
	}
}
