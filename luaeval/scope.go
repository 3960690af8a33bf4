package luaeval

import (
	"fmt"
	"maps"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// scope is what a text can name. Scripts have one scope, libraries another.
//
// A library is loaded in two steps. First its text runs and registers functions: it sees
// redis.register_function, redis.log and little else. Later its functions run: they see what
// scripts see. Redis changes the table of globals in between (function_lua.c: luaEngineCreate).
// Here a global inside a function is an upvalue that all functions of the library share. At first
// its value refuses every use; release replaces it by the real one. The text outside of functions
// finds globals by name.
type scope struct {
	chunk   string // name of the text in errors of the compiler
	source  string // name of the text in errors of running code
	known   map[string]lua.LValue
	env     *lua.LTable // _G
	library bool
	loaded  bool // a text of load or loadstring: it finds KEYS and ARGV in _G

	loading *lua.LTable // _G while a library is loaded
	redis   *lua.LTable // redis while a library is loaded
}

// environment is the hidden name of _G in a library. Unknown globals are its fields.
const environment = "environment"

// openLibraryScope makes the scope of libraries when the first one is loaded.
func (e *Engine) openLibraryScope() {
	s, undefined := &e.libraryScope, e.undefined
	if s.library {
		return
	}
	*s = scope{chunk: libraryChunk, source: libraryChunk, library: true, known: maps.Clone(e.known)}
	delete(s.known, "os")
	full := e.lib.Shown(e.known["redis"].(*lua.LTable))
	redis, loading := e.l.CreateTable(0, 8), e.l.CreateTable(0, 8)
	for key, v := full.Next(lua.LNil); key != lua.LNil; key, v = full.Next(key) {
		switch name := string(key.(lua.LString)); {
		case name == "breakpoint" || name == "debug" || name == "replicate_commands":
		case name == "log" || strings.HasPrefix(name, "LOG_") || strings.HasPrefix(name, "REDIS_"):
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
	s.known["cjson"] = e.lib.Show(e.lib.JSON(&e.json.functions))

	globals, atLoad := e.l.CreateTable(0, 8), e.l.CreateTable(0, 8)
	s.env, s.loading = e.lib.Show(globals), e.lib.Show(atLoad)
	s.known["_G"] = s.env
	for name, v := range s.known {
		globals.RawSetString(name, v)
	}
	atLoad.RawSetString("redis", s.redis)
	globals.Metatable, atLoad.Metatable = undefined, undefined
}

// atFirst returns the value of a bound name when the text begins to run. In a script that is v.
func (e *Engine) atFirst(s *scope, name string, v lua.LValue) lua.LValue {
	switch {
	case !s.library || e.hidden[name] != nil:
		return v
	case name == "redis":
		return s.redis
	}
	library, member, isMember := strings.Cut(strings.TrimSuffix(name, unused), ".")
	if !isMember || library != "redis" {
		return e.refusing(library)
	}
	if v := e.lib.Shown(s.redis).RawGetString(member); v != lua.LNil {
		return v
	}
	return e.refusing(member)
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
func (w *rewriter) release(chunk *lua.LFunction) {
	for i, name := range chunk.Proto.DbgUpvalues {
		for k, bound := range w.names {
			if name == bound {
				chunk.Upvalues[i].SetValue(w.values[k])
			}
		}
	}
}

// onlyLoads reports whether the walk is in a library, outside of its functions.
func (w *rewriter) onlyLoads() bool { return w.scope.library && w.nested == 0 }

// libraryIdent walks a global of a library.
func (w *rewriter) libraryIdent(x *ast.IdentExpr) ast.Expr {
	w.meta = w.meta || x.Value == "setmetatable" || x.Value == "_G"
	if v, ok := w.scope.known[x.Value]; ok && !w.onlyLoads() {
		if bound := w.bind(x.Value, v, x); bound != nil {
			return bound
		}
	}
	return w.inEnvironment(x)
}

func (w *rewriter) inEnvironment(x *ast.IdentExpr) ast.Expr {
	env := placed(&ast.IdentExpr{Value: hide(environment)}, x)
	return placed(&ast.AttrGetExpr{Object: env, Key: w.settle(placed(&ast.StringExpr{Value: x.Value}, x))}, x)
}
