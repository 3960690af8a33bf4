package luaeval

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

const (
	readOnlyText  = "Attempt to modify a readonly table"
	undefinedText = "Script attempted to access nonexistent global variable '%s'"
)

// openLibs fills the environment of all scripts, which never changes afterwards.
func (e *Engine) openLibs() {
	l := e.l
	e.known, e.hidden = map[string]lua.LValue{}, map[string]lua.LValue{}
	e.lib = map[string]lua.LGFunction{}
	e.readOnly = l.NewFunction(func(l *lua.LState) int {
		raise(l, readOnlyText)
		return 0
	})
	e.handler = l.NewFunction(e.noteFailure)
	e.following = l.NewFunction(nextElement)
	e.guardedCall = e.newGuarded()
	e.borrow(lua.OpenBase, "_G", "rawequal", "select", "type")
	e.borrow(lua.OpenCoroutine, lua.CoroutineLibName, "create", "resume")
	mathLib := e.borrow(lua.OpenMath, lua.MathLibName)
	// gopher-lua registered its libraries in a table scripts never see.
	e.globals = l.CreateTable(0, 8)
	l.G.Global, l.Env = e.globals, e.globals
	l.G.Registry = l.CreateTable(0, 0)
	e.handler.Env, e.readOnly.Env = e.globals, e.globals

	e.library("math", e.mathLib(mathLib))
	e.library("table", e.tableLib())
	e.library("string", e.stringLib())
	e.library("coroutine", e.coroutineLib())
	e.library("redis", e.redisLib())
	e.library("os", e.functions(map[string]lua.LGFunction{"clock": e.osClock}))
	e.moreLibs()
	for name, f := range e.baseLib() {
		e.known[name] = l.NewFunction(f)
	}
	e.known["_VERSION"] = lua.LString("Lua 5.1")
	e.gproxy = e.show(e.globals)
	e.nothing = e.show(l.CreateTable(0, 0))
	e.known["_G"] = e.gproxy
	for name, v := range e.known {
		e.globals.RawSetString(name, v)
	}
	undefined := l.CreateTable(0, 8)
	undefined.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		raise(l, fmt.Sprintf(undefinedText, l.Get(2).String()))
		return 0
	}))
	undefined.RawSetString("__newindex", e.readOnly)
	e.globals.Metatable = undefined
	e.scriptScope = scope{chunk: chunkName, source: chunkName, known: e.known, env: e.gproxy}
	e.undefined = undefined
	e.hideFunctions()
}

// borrow opens one of gopher-lua's libraries and remembers functions of it by `library.name`.
func (e *Engine) borrow(open lua.LGFunction, library string, names ...string) *lua.LTable {
	e.l.Push(e.l.NewFunction(open))
	e.l.Call(0, 1)
	t := e.l.Get(-1).(*lua.LTable)
	e.l.SetTop(0)
	for _, name := range names {
		f := t.RawGetString(name).(*lua.LFunction)
		e.lib[library+"."+name] = f.GFunction
	}
	return t
}

func (e *Engine) functions(list map[string]lua.LGFunction) *lua.LTable {
	t := e.l.CreateTable(0, len(list))
	for name, f := range list {
		t.RawSetString(name, e.l.NewFunction(f))
	}
	return t
}

// library makes t a global that scripts can read and not change.
func (e *Engine) library(name string, t *lua.LTable) { e.known[name] = e.show(t) }

// show returns the table that stands for t in scripts: it is empty, so that every access goes to its metatable.
func (e *Engine) show(t *lua.LTable) *lua.LTable {
	proxy := e.l.CreateTable(0, 0)
	meta := e.l.CreateTable(0, 2)
	meta.RawSetString("__index", t)
	meta.RawSetString("__newindex", e.readOnly)
	proxy.Metatable = meta
	e.real[proxy] = t
	return proxy
}

// behind is the table to read when a script names t.
func (e *Engine) behind(t *lua.LTable) *lua.LTable {
	if t.Metatable == lua.LNil {
		return t
	}
	if r := e.real[t]; r != nil {
		return r
	}
	return t
}

// mayChange raises the error of a read-only table when t is one.
func (e *Engine) mayChange(l *lua.LState, t *lua.LTable) {
	if t.Metatable != lua.LNil && e.real[t] != nil {
		l.Error(lua.LString(readOnlyText), 0)
	}
}

// noteFailure is the error handler of Run: it sees the stack as it is where the error was raised, and notes what the
// reply needs (the job of __redis__err__handler).
func (e *Engine) noteFailure(l *lua.LState) int {
	f := &e.run.fail
	v := l.Get(1)
	if text, ok := v.(lua.LString); ok {
		v = lua.LString(e.named(l, 1, string(text)))
	}
	f.text, f.counted = e.errorText(v), isCounted(v)
	f.source, f.line = "", 0
	for level := 1; ; level++ {
		at, ok := l.GetStack(level)
		if !ok {
			break
		}
		if _, err := l.GetInfo("Sl", at, lua.LNil); err == nil && at.Source != "" {
			f.source, f.line = sourceOf(at.Source), at.CurrentLine
			break
		}
	}
	l.Push(l.Get(1))
	return 1
}

// counted marks the errors of commands in their tables, under the name Redis has for it.
const counted = "ignore_error_stats_update"

func isCounted(v lua.LValue) bool {
	t, ok := v.(*lua.LTable)
	return ok && t.RawGetString(counted) == lua.LTrue
}

// errorText is the error line for an uncaught error: a table's err, anything else as text behind ERR.
func (e *Engine) errorText(v lua.LValue) string {
	if over := e.run.limits.over; over != nil { // gopher-lua has put the position before it
		return "ERR " + over.Error()
	}
	switch v := v.(type) {
	case *lua.LTable:
		if text, ok := toText(v.RawGetString("err")); ok {
			return text
		}
		return "ERR unknown error"
	case lua.LString:
		return "ERR " + e.sayAsLua(string(v))
	}
	text, ok := toText(v)
	if !ok {
		text = v.String()
	}
	return "ERR " + text
}
