package luaeval

import (
	"fmt"
	"maps"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// scope is what a text sees of the world. Scripts have one, libraries another.
//
// While the text of a library runs, to register its functions, it sees redis.register_function,
// redis.log and next to nothing else; its functions, once registered, see what scripts see. Redis
// changes the table of globals in between (function_lua.c: luaEngineCreate). Here a global inside a
// function is an upvalue that all functions of the library share, and it is that which changes,
// from one that refuses to be used to the real thing. Text outside functions looks its globals up.
type scope struct {
	chunk   string // the name of the text in messages of the compiler
	source  string // and in those of the running code
	known   map[string]lua.LValue
	env     *lua.LTable // _G
	library bool
	loaded  bool // by load or loadstring: KEYS and ARGV are those of _G

	loading *lua.LTable // _G while a library is loaded
	redis   *lua.LTable // and its redis
}

// environment is the name under which a library finds what it does not know.
const environment = "environment"

// openLibraryScope makes what libraries see, for the first of them.
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

// atFirst is what the bound name is when the text begins to run: v itself in a script.
func (e *Engine) atFirst(s *scope, name string, v lua.LValue) lua.LValue {
	switch {
	case !s.library || e.hidden[name] != nil:
		return v
	case name == "redis":
		return s.redis
	}
	library, member, isMember := strings.Cut(name, ".")
	if !isMember || library != "redis" {
		return e.refusing(library)
	}
	if v := e.lib.Shown(s.redis).RawGetString(member); v != lua.LNil {
		return v
	}
	return e.refusing(member)
}

// refusing returns a value that cannot be used for anything, because there is no such global yet.
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

// release makes the globals of a library that has been loaded what they are for its functions.
func (w *rewriter) release(chunk *lua.LFunction) {
	for i, name := range chunk.Proto.DbgUpvalues {
		for k, bound := range w.names {
			if name == bound {
				chunk.Upvalues[i].SetValue(w.values[k])
			}
		}
	}
}

// onlyLoads says whether the walk is in a library's text outside its functions.
func (w *rewriter) onlyLoads() bool { return w.scope.library && w.nested == 0 }

// libraryIdent is a global in a library.
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
