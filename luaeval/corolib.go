package luaeval

import (
	lua "github.com/yuin/gopher-lua"
)

// maxCoroutines bounds those of one script: a stack each that only the collector takes back.
const maxCoroutines = 10000

func (e *Engine) coroutineLib() *lua.LTable {
	return e.functions(map[string]lua.LGFunction{
		"create": e.coCreate, "wrap": e.coWrap, "resume": e.coResume, "yield": e.coYield,
		"status": e.lib["coroutine.status"], "running": e.lib["coroutine.running"],
	})
}

// thread makes a coroutine by gopher-lua's function. A coroutine of a state with a context would get a child context, which
// costs a goroutine and does not count instructions; it gets the same one instead.
func (e *Engine) thread(l *lua.LState, make string) int {
	if _, ok := l.Get(1).(*lua.LFunction); !ok {
		typeError(l, 1, "create", "Lua function")
	}
	if e.run.threads++; e.run.threads > maxCoroutines {
		raise(l, "too many coroutines")
	}
	e.charge(l, 16<<10)
	if l.Context() == nil {
		return e.lib[make](l)
	}
	l.RemoveContext()
	n := e.lib[make](l)
	l.SetContext(&e.run.limits)
	made := l.Get(-1)
	if f, ok := made.(*lua.LFunction); ok {
		made = f.Upvalues[0].Value()
	}
	made.(*lua.LState).SetContext(&e.run.limits)
	return n
}

func (e *Engine) coCreate(l *lua.LState) int { return e.thread(l, "coroutine.create") }

func (e *Engine) coWrap(l *lua.LState) int {
	n := e.thread(l, "coroutine.wrap")
	inner := l.Get(-1).(*lua.LFunction)
	resume := inner.GFunction
	inner.GFunction = func(l *lua.LState) int { return e.resume(l, resume) }
	return n
}

func (e *Engine) coResume(l *lua.LState) int {
	if _, ok := l.Get(1).(*lua.LState); !ok {
		argError(l, 1, "resume", "coroutine expected")
	}
	return e.resume(l, e.lib["coroutine.resume"])
}

func (e *Engine) resume(l *lua.LState, by lua.LGFunction) int {
	c := e.enter(l)
	e.run.calls.here = 0
	n := by(l)
	e.run.calls = c
	if over := e.run.limits.over; over != nil {
		raise(l, over.Error())
	}
	return n
}

// coYield is refused inside a callback of a library function, whose Go frames cannot be left and entered again.
func (e *Engine) coYield(l *lua.LState) int {
	if l.Parent == nil {
		raise(l, "attempt to yield across metamethod/C-call boundary")
	}
	if e.run.calls.here > 0 {
		raise(l, "attempt to yield across metamethod/C-call boundary")
	}
	return -1
}
