package luaeval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/internal/test/amount"
	"github.com/miniredisd/miniredisd/resp"
)

// walkLua calls see(path, value, results) for every value that a script can reach: by fields,
// metatables and environments, and as a result of calling any function with a few arguments.
const walkLua = `
local function sorted(t)
  local keys = {}
  for k in next, t do keys[#keys + 1] = k end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end
local arguments = {{}, {'a'}, {''}, {'%s', 'b'}, {'[1,{"a":null}]'}, {'\147\1\2\3'}, {{}}, {{1, 2}}, {true},
  {cjson.null}, {function() return {} end}, {coroutine.create(function() return {} end)}, {'ECHO', 'x'}, {'GET', 'x'},
  {'HGETALL', 'x'}, {'NOSUCH'}, {string, {}}, {'i', 5}, {{err = 'E'}, 5}, {newproxy(true)}, {0}}
local changes = {setfenv = true, ['math.random'] = true, ['math.randomseed'] = true, load = true,
  ['redis.setresp'] = true, ['coroutine.wrap'] = true}
-- As on Redis, the settings of cjson stay.
local function isSetting(path) return path:find('^_G%.cjson%..*code_') end
local function walk(see)
  local seen, list = {}, {}
  local function add(path, v, result)
    see(path, v, result)
    local kind = type(v)
    local more = kind == 'table' or kind == 'function' or kind == 'userdata' or kind == 'thread'
    if more and not seen[v] then
      seen[v] = true
      list[#list + 1] = {path, v, result}
    end
  end
  add('_G', _G)
  add('getfenv(0)', getfenv(0))
  add('getfenv(1)', getfenv(1))
  for name, v in pairs({string = '', number = 0, boolean = true, none = getmetatable, thread = coroutine.create(add),
    userdata = cjson.null, proxy = newproxy(true)}) do
    add('getmetatable ' .. name, getmetatable(v), name == 'proxy')
  end
  add('getmetatable nil', getmetatable(nil))
  local done = 0
  while done < #list do
    done = done + 1
    local path, v, result = unpack(list[done], 1, 3)
    if type(v) == 'table' then
      for _, k in ipairs(sorted(v)) do add(path .. '.' .. tostring(k), v[k], result) end
    end
    local ok, meta = pcall(getmetatable, v)
    add('getmetatable ' .. path, meta, result)
    if type(v) == 'function' then
      local name = path:gsub('^_G%.', '')
      add('getfenv ' .. path, getfenv(v), result)
      if not result and not changes[name] then
        for i, args in ipairs(arguments) do
          if i == 1 or not isSetting(path) then
            for n, value in ipairs({pcall(v, unpack(args))}) do
              add(path .. ' of ' .. i .. ' gives ' .. n, value, true)
            end
          end
        end
      end
    end
  end
end
`

// describeLua returns what walkLua finds, as text. Tables, functions and the like that last have their
// addresses; results of calls have none.
const describeLua = walkLua + `
local lines = {}
walk(function(path, v, result)
  local text = tostring(v)
  if result or path == '_G.KEYS' or path == '_G.ARGV' then text = text:gsub('0x%x+', '') end
  lines[#lines + 1] = path .. ' = ' .. text:gsub('0x%x+ in', '')
end)
table.sort(lines)
return lines`

// attackLua tries to change everything that walkLua finds, in every way. It returns the paths of the
// tables that a write has changed, and of the functions that got another environment.
const attackLua = walkLua + `
local function poison() return 'poisoned' end
local writes = {
  function(t) t.poisoned = poison end,
  function(t) t[1] = poison end,
  function(t) rawset(t, 'poisoned', poison) end,
  function(t) rawset(t, 1, nil) end,
  function(t) table.insert(t, poison) end,
  function(t) table.insert(t, 1, poison) end,
  function(t) setmetatable(t, {__index = poison, __newindex = poison, __call = poison}) end,
  function(t) setmetatable(t, nil) end,
  function(t) setmetatable({}, {__newindex = t}).poisoned = poison end,
  function(t) setfenv(function() poisoned = poison end, t)() end,
  function(t) setfenv(loadstring('function poisoned() end'), t)() end,
}
local attempts = {
  function(t) table.remove(t) end,
  function(t) table.remove(t, 1) end,
  function(t) table.sort(t, poison) end,
  function(t) setmetatable({}, t).poisoned = poison end,
  function(t) getmetatable(t).__index = poison end,
  function(t) getmetatable(t).__newindex = nil end,
  function(t) getmetatable(t).__metatable = nil end,
  function(t) setmetatable(getmetatable(t), {}) end,
  function(t) getmetatable(setmetatable({}, t)).poisoned = poison end,
  function(t) for k in next, t do t[k] = nil end end,
  function(t) for k in next, t do t[k] = poison end end,
  function(t) for k in pairs(t) do rawset(t, k, poison) end end,
  function(t) table.foreach(t, function(k) t[k] = poison end) end,
  function(t) local p = newproxy(true) getmetatable(p).__newindex = t p.poisoned = poison end,
}
local open, reached = {}, {}
walk(function(path, v, result)
  if type(v) == 'table' or type(v) == 'function' then reached[#reached + 1] = {path, v, result} end
end)
for _, r in ipairs(reached) do
  local path, v, result = unpack(r, 1, 3)
  for i, write in ipairs(type(v) == 'table' and writes or {}) do
    if pcall(write, v) and not result then open[#open + 1] = path end
  end
  for _, attempt in ipairs(type(v) == 'table' and attempts or {}) do pcall(attempt, v) end
  if type(v) == 'function' and not result and pcall(setfenv, v, {}) then open[#open + 1] = 'setfenv ' .. path end
end
pcall(setfenv, 0, {poisoned = 1})
coroutine.wrap(function() setfenv(0, {poisoned = 1}) end)()
pcall(function() setfenv(0, {poisoned = 1}) setfenv(3, {poisoned = 1}) end)
return open`

// house is an engine with libraries. Commands answer with an error, a status or a bulk string.
type house struct {
	e         *Engine
	libraries *Libraries
}

func newHouse(t *testing.T) *house {
	h := &house{libraries: NewLibraries()}
	h.e = New(Options{Call: func(args [][]byte, w *resp.Writer) {
		switch string(args[0]) {
		case "ECHO":
			w.Status("OK")
		case "GET":
			w.Null()
		case "HGETALL":
			w.Array(2)
			w.BulkString("field")
			w.BulkString("value")
		default:
			w.Error("ERR unknown command")
		}
	}})
	h.load(t, "describe", describeLua)
	return h
}

// load loads a library with one function that has the same name.
func (h *house) load(t *testing.T, name, body string) {
	_, err := h.e.LoadLibrary(h.libraries, fmt.Appendf(nil,
		"#!lua name=%[1]s\nredis.register_function('%[1]s', function(KEYS, ARGV)%[2]s\nend)", name, body), true)
	require.NoError(t, err)
}

func (h *house) call(name string) []string {
	w := resp.Writer{}
	h.e.RunFunction(h.libraries.Find([]byte(name)), nil, nil, &w)
	return linesOf(string(w.Buf))
}

func (h *house) eval(script string) []string {
	return linesOf(evalOn(h.e, 2, script, []string{"k"}, "a"))
}

// linesOf returns the strings of an array reply, or the reply itself.
func linesOf(reply string) []string {
	if !strings.HasPrefix(reply, "*") {
		return []string{reply}
	}
	var lines []string
	for i, line := range strings.Split(reply, "\r\n") {
		if i > 0 && i%2 == 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// bound returns what scripts and functions see of each global that they name, when globals are upvalues.
func (h *house) bound(t *testing.T) []string {
	var lines []string
	for _, name := range boundNames(h.e) {
		body := "\nreturn {'" + name + "', tostring(" + name + ")}"
		lines = append(lines, h.eval("return {'"+name+"', tostring("+name+")}")...)
		h.load(t, "bound", body)
		lines = append(lines, h.call("bound")...)
	}
	const works = "\nlocal t = {3, 1, 2} table.sort(t) return {'abc' .. 1, tostring('5' + 1), ('abc'):len() .. '', " +
		"string.len('abc') .. '', ('x'):rep(3), tostring(('a').len), cjson.encode(t), tostring(getmetatable('')), " +
		"redis.call('ECHO').ok, redis.error_reply('x').err, tostring(pcall(error))}"
	h.load(t, "bound", works)
	return append(append(lines, h.eval(works)...), h.call("bound")...)
}

func boundNames(e *Engine) (names []string) {
	for name, v := range e.known {
		if name == "_G" || strings.HasSuffix(name, "fenv") || strings.HasPrefix(name, "load") {
			continue
		}
		names = append(names, name)
		if library, ok := v.(*lua.LTable); ok {
			e.lib.Shown(library).ForEach(func(member, _ lua.LValue) { names = append(names, name+"."+member.String()) })
		}
	}
	slices.Sort(names)
	return names
}

// Whatever scripts and functions try, all scripts and functions find everything as it was.
func TestNothingThatAScriptReachesChangesForAnother(t *testing.T) {
	h := newHouse(t)
	script, function, bound := h.eval(describeLua), h.call("describe"), h.bound(t)
	require.Greater(t, len(script), 1000)
	require.Greater(t, len(function), 1000)
	require.Contains(t, strings.Join(script, "\n"), "getmetatable string.__index = table")
	require.Equal(t, script, h.eval(describeLua), "two scripts find the same")
	require.Equal(t, function, h.call("describe"))
	for range amount.Count(1, 2) {
		for name, attack := range map[string]func() []string{
			"a script":   func() []string { return h.eval(attackLua) },
			"a function": func() []string { h.load(t, "attack", attackLua); return h.call("attack") },
			"a library":  h.loadHostile,
		} {
			for _, open := range attack() {
				require.Contains(t, []string{"_G.KEYS", "_G.ARGV"}, open, name)
			}
			require.Equal(t, script, h.eval(describeLua), name)
			require.Equal(t, function, h.call("describe"), name)
			require.Equal(t, bound, h.bound(t), name)
		}
	}
}

// loadHostile loads libraries whose texts attack what they can name.
func (h *house) loadHostile() (loaded []string) {
	for _, body := range []string{
		"redis.log = nil", "redis.x = 1", "redis = nil", "redis.register_function = nil", "x = 1", "function f() end",
		"function redis.f() end", "local r = redis r.log = nil", "local function f() redis.log = nil end f()",
		"local function f() string.len = nil end f()", "local function f() _G.x = 1 end f()",
		"local function f() setfenv(0, {}) end f()", "('').len = 5", "local s = 'x' s.len = nil",
		"local function f(t) t[1] = 1 end f(redis)", "redis[redis] = redis", "redis.log.x = 1",
	} {
		code := "#!lua name=hostile\nredis.register_function('hostile', function() end) " + body
		if _, err := h.e.LoadLibrary(h.libraries, []byte(code), true); err == nil {
			loaded = append(loaded, body)
		}
	}
	return loaded
}

// A script has a table either from something that all scripts share, or from itself.
func TestEverySharedTableIsReadOnly(t *testing.T) {
	h := newHouse(t)
	require.Empty(t, h.open(h.e.gproxy), "_G of scripts")
	require.Empty(t, h.open(h.e.libraryScope.env), "environment of functions")
	require.Empty(t, h.open(h.libraries.Find([]byte("describe")).call), "a function that may reach environments")
	for _, name := range boundNames(h.e) {
		body := "return " + name + ", redis.call, getmetatable, ('x'):rep(3) .. 1"
		h.load(t, "bound", "\n"+body)
		require.Empty(t, h.open(h.libraries.Find([]byte("bound")).call), name)
		s, err := h.e.Load([]byte(body))
		require.NoError(t, err)
		require.Empty(t, h.open(s.fn), name)
	}
}

// open returns the paths to tables that can be changed, as Lua code can go there from v.
func (h *house) open(v lua.LValue) (paths []string) {
	seen := map[lua.LValue]bool{}
	var walk func(path string, v lua.LValue)
	fields := func(path string, t *lua.LTable) {
		t.ForEach(func(k, v lua.LValue) {
			walk(path+" key", k)
			walk(path+"."+k.String(), v)
		})
	}
	walk = func(path string, v lua.LValue) {
		if v == nil || seen[v] {
			return
		}
		switch x := v.(type) {
		case *lua.LTable:
			seen[v] = true
			if shown := h.e.lib.Shown(x); shown != nil {
				fields(path, shown)
			} else {
				paths = append(paths, path)
				fields(path, x)
			}
			walk(path+" metatable", h.e.lib.Metatable(h.e.l, x))
		case *lua.LFunction:
			seen[v] = true
			if !x.IsG {
				walk(path+" environment", x.Env)
			}
			for i, up := range x.Upvalues {
				walk(fmt.Sprint(path, " upvalue ", i), up.Value())
			}
		case *lua.LUserData:
			seen[v] = true
			walk(path+" metatable", x.Metatable)
		}
	}
	walk("", v)
	return paths
}
