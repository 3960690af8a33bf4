package luaeval

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/compile"
	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// Every function has an environment, the table of its globals. In a text that can name getfenv or
// setfenv, the first upvalue of every function is its environment: see compile.SetEnvironment. Every
// other text has its globals as upvalues, so nothing in it shows what its environment is.
//
// A script cannot change an environment for another one. Its own function gets its environment back
// when the script ends, and so does the thread. All other functions of a script go with it. The
// functions of a library belong to the library, like its local variables.

const cannotSet = "'setfenv' cannot change environment of given object"

// threadEnvironment returns the environment of a thread, which loaded texts begin with.
func (e *Engine) threadEnvironment(l *lua.LState) *lua.LTable {
	switch {
	case l.Env != e.globals:
		return l.Env
	case e.run.script != nil:
		return e.scriptScope.env
	}
	return e.libraryScope.env
}

// getEnvironment is getfenv([function or level]) (lbaselib.c: luaB_getfenv).
func (e *Engine) getEnvironment(l *lua.LState) int {
	level := 1
	if _, isFunction := l.Get(1).(*lua.LFunction); !isFunction {
		level = e.lib.OptInt(l, 1, 1, "getfenv")
	}
	if f := e.functionAt(l, level, "getfenv"); !f.IsG {
		l.Push(f.Env)
		return 1
	}
	l.Push(e.threadEnvironment(l))
	return 1
}

// setEnvironment is setfenv(function or level, table) (lbaselib.c: luaB_setfenv).
func (e *Engine) setEnvironment(l *lua.LState) int {
	env, ok := l.Get(2).(*lua.LTable)
	if !ok {
		lualib.TypeError(l, 2, "setfenv", "table")
	}
	level := 1
	if _, isFunction := l.Get(1).(*lua.LFunction); !isFunction {
		level = e.lib.CheckInt(l, 1, "setfenv")
	}
	f := e.functionAt(l, level, "setfenv")
	switch {
	case level == 0:
		for ; l != nil; l = e.caller(l) {
			l.Env = env
		}
		return 0
	case f.IsG:
		lualib.Raise(l, cannotSet)
	}
	compile.SetEnvironment(f, env)
	l.Push(f)
	return 1
}

// functionAt returns argument 1 if it is a function, else the function at a level of the stack
// (lbaselib.c: getfunc).
func (e *Engine) functionAt(l *lua.LState, level int, caller string) *lua.LFunction {
	if f, ok := l.Get(1).(*lua.LFunction); ok {
		return f
	}
	if level < 0 {
		lualib.ArgError(l, 1, caller, "level must be non-negative")
	}
	on, at, replaced := e.level(l, level)
	switch {
	case replaced:
		lualib.Raise(l, fmt.Sprint("no function environment for tail call at level ", level))
	case on == nil:
		lualib.ArgError(l, 1, caller, "invalid level")
	}
	call, _ := on.GetStack(at)
	f, _ := on.GetInfo("f", call, lua.LNil)
	return f.(*lua.LFunction)
}

// ownEnvironments undoes what the script that has ended did to environments that outlive it.
func (e *Engine) ownEnvironments() {
	if s := e.run.script; s != nil {
		compile.SetEnvironment(s.fn, e.scriptScope.env)
	}
	e.l.Env = e.globals
}

// proxy is the content of what newproxy returns.
type proxy struct{}

// newProxy is newproxy([true or another proxy]). With an argument, the new value has a metatable
// (lbaselib.c: luaB_newproxy).
func (e *Engine) newProxy(l *lua.LState) int {
	p := &lua.LUserData{Value: proxy{}, Metatable: lua.LNil}
	e.lib.Charge(l, proxyBytes)
	switch like := l.Get(1).(type) {
	case *lua.LUserData:
		if _, ok := like.Value.(proxy); !ok || like.Metatable == lua.LNil {
			lualib.ArgError(l, 1, "newproxy", notAProxy)
		}
		p.Metatable = like.Metatable
	case lua.LBool:
		if like {
			p.Metatable = e.lib.NewTable(l, 0, 0)
		}
	default:
		if like != lua.LNil {
			lualib.ArgError(l, 1, "newproxy", notAProxy)
		}
	}
	l.Push(p)
	return 1
}

const (
	notAProxy  = "boolean or proxy expected"
	proxyBytes = 48 // of a lua.LUserData
)
