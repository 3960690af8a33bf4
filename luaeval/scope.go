package luaeval

import (
	"fmt"
	"maps"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/compile"
	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// scope is what a text can name. Scripts have one scope, libraries another.
//
// A library is loaded in two steps. First its text runs and registers functions: it sees
// redis.register_function, redis.log and little else. Later its functions run: they see what
// scripts see. Redis changes the table of globals in between (function_lua.c: luaEngineCreate).
// The environment of libraries is an empty table that shows others: let changes which.
//
// Here a global inside a function is an upvalue that all functions of the library share. At first
// its value refuses every use; release replaces it by the real one. The text outside of functions
// finds globals by name, and so does a whole library that may reach environments.
type scope struct {
	chunk   string // name of the text in errors of the compiler
	source  string // name of the text in errors of running code
	known   map[string]lua.LValue
	words   []string    // names of the tables that each run gets
	env     *lua.LTable // environment of the text
	library bool
	loaded  bool // a text of load or loadstring

	loading, running *lua.LTable // what env shows while a library is loaded, and later
	redis            *lua.LTable // redis while a library is loaded
}

// openLibraryScope makes the scope of libraries when the first one is loaded.
func (e *Engine) openLibraryScope() {
	s, undefined := &e.libraryScope, e.undefined
	if s.library {
		return
	}
	*s = scope{chunk: libraryChunk, source: libraryChunk, library: true, known: maps.Clone(e.known)}
	delete(s.known, "__redis__err__handler")
	full := e.lib.Shown(e.known["redis"].(*lua.LTable))
	redis, loading := e.l.CreateTable(0, 8), e.l.CreateTable(0, 8)
	for key, v := full.Next(lua.LNil); key != lua.LNil; key, v = full.Next(key) {
		switch name := string(key.(lua.LString)); {
		case name == "breakpoint" || name == "debug" || name == "replicate_commands":
		case name == "log" || strings.HasPrefix(name, "LOG_") || strings.HasPrefix(name, "REDIS_"),
			name == "SERVER_NAME" || strings.Contains(name, "_VERSION"):
			loading.RawSet(key, v)
			fallthrough
		default:
			redis.RawSet(key, v)
		}
	}
	loading.RawSetString("register_function", e.l.NewFunction(e.registerFunction))
	loading.Metatable = undefined
	s.redis = e.lib.Show(loading)
	s.known["redis"] = e.lib.Show(redis)
	if s.known[secondName] != nil {
		s.known[secondName] = s.known["redis"]
	}
	s.known["cjson"] = e.lib.Show(e.lib.JSON(&e.json.functions))

	s.running, s.loading = e.l.CreateTable(0, 8), e.l.CreateTable(0, 8)
	global := e.showGlobals(s.running)
	s.known["_G"] = global
	for name, v := range s.known {
		s.running.RawSetString(name, v)
	}
	s.loading.RawSetString("redis", s.redis)
	if s.known[secondName] != nil {
		s.loading.RawSetString(secondName, s.redis)
	}
	s.running.Metatable, s.loading.Metatable = undefined, undefined
	visible := e.l.CreateTable(0, 1)
	visible.RawSetString("__index", global)
	s.env = e.lib.View(e.l.CreateTable(0, 0), s.running, e.lib.Show(visible))
}

// let makes the environment of libraries show globals.
func (s *scope) let(globals *lua.LTable) {
	s.env.Metatable.(*lua.LTable).RawSetString("__index", globals)
}

// atFirst returns the value of a bound name when the text begins to run. In a script that is v.
func (e *Engine) atFirst(s *scope, name string, v lua.LValue) lua.LValue {
	switch {
	case !s.library || name == compile.Environment || e.operators[name] != nil:
		return v
	case e.isRedis(name):
		return s.redis
	}
	library, member, isMember := strings.Cut(name, ".")
	if !isMember || !e.isRedis(library) {
		return e.refusing(library)
	}
	if v := e.lib.Shown(s.redis).RawGetString(member); v != lua.LNil {
		return v
	}
	return e.refusing(member)
}

// isRedis reports whether scripts know the table redis by this name.
func (e *Engine) isRedis(name string) bool {
	return name == "redis" || name == secondName && e.o.Server.Name != ""
}

// refusing returns a value for a global that does not exist yet: every use raises an error.
func (e *Engine) refusing(name string) lua.LValue {
	refuse := e.l.NewFunction(func(l *lua.LState) int {
		lualib.Raise(l, fmt.Sprintf(undefinedText, name))
		return 0
	})
	meta := e.l.CreateTable(0, 3)
	for _, event := range []string{"__index", "__newindex", "__call"} {
		meta.RawSetString(event, refuse)
	}
	t := e.l.CreateTable(0, 0)
	t.Metatable = meta
	return t
}

// release gives the globals of a loaded library the values that its functions see.
func release(c *compile.Code, chunk *lua.LFunction) {
	for i, b := range c.Bound {
		chunk.Upvalues[i].SetValue(b.Value)
	}
}
