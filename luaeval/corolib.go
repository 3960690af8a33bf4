package luaeval

import (
	lua "github.com/yuin/gopher-lua"
)

// maxCoroutines bounds those of one script: a stack each that only the collector takes back.
const maxCoroutines = 10000

func (e *Engine) coroutineLib() *lua.LTable {
	return e.functions(map[string]lua.LGFunction{
		"create": e.thread, "wrap": e.coWrap, "resume": e.coResume, "yield": e.coYield,
		"status": coStatus, "running": coRunning,
	})
}

// thread is coroutine.create by gopher-lua's function. A coroutine of a state with a context would get a child context, which
// costs a goroutine and does not count instructions; it gets the same one instead.
func (e *Engine) thread(l *lua.LState) int {
	if _, ok := l.Get(1).(*lua.LFunction); !ok {
		typeError(l, 1, "create", "Lua function")
	}
	if e.run.threads++; e.run.threads > maxCoroutines {
		raise(l, "too many coroutines")
	}
	e.charge(l, 16<<10)
	if l.Context() == nil {
		return e.lib["coroutine.create"](l)
	}
	l.RemoveContext()
	n := e.lib["coroutine.create"](l)
	l.SetContext(&e.run.limits)
	l.Get(-1).(*lua.LState).SetContext(&e.run.limits)
	return n
}

// coWrap raises the errors of the coroutine anew where it was resumed: gopher-lua passes them on as they are, without a position
// and without closing the variables there.
func (e *Engine) coWrap(l *lua.LState) int {
	n := e.thread(l)
	th := l.Get(-1).(*lua.LState)
	l.Pop(1)
	l.Push(l.NewFunction(func(l *lua.LState) int {
		l.Insert(th, 1)
		got := e.resume(l)
		if l.Get(-got) == lua.LTrue {
			return got - 1
		}
		v := l.Get(-1)
		if text, ok := v.(lua.LString); ok {
			raise(l, string(text))
		}
		l.Error(v, 0)
		return 0
	}))
	return n
}

func (e *Engine) coResume(l *lua.LState) int {
	if _, ok := l.Get(1).(*lua.LState); !ok {
		argError(l, 1, "resume", "coroutine expected")
	}
	return e.resume(l)
}

// resume resumes the coroutine that is the first argument and returns what coroutine.resume does.
func (e *Engine) resume(l *lua.LState) int {
	th := l.Get(1).(*lua.LState)
	if status := statusOf(l, th); status != "suspended" {
		l.Push(lua.LFalse)
		l.Push(lua.LString("cannot resume " + status + " coroutine"))
		return 2
	}
	c, running := e.enter(l), l.G.CurrentThread
	e.run.calls.here = 0
	n := e.lib["coroutine.resume"](l)
	e.run.calls = c
	l.G.CurrentThread = running
	if over := e.run.limits.over; over != nil {
		raise(l, over.Error())
	}
	if n > 1 && l.Get(-n) == lua.LFalse {
		if text, ok := l.Get(-1).(lua.LString); ok {
			l.Pop(1)
			l.Push(lua.LString(e.sayAsLua(string(text))))
		}
	}
	return n
}

func statusOf(l, th *lua.LState) string {
	switch {
	case th.Dead:
		return "dead"
	case l.G.CurrentThread == th:
		return "running"
	case th.Parent != nil:
		return "normal"
	}
	return "suspended"
}

func coStatus(l *lua.LState) int {
	th, ok := l.Get(1).(*lua.LState)
	if !ok {
		argError(l, 1, "status", "coroutine expected")
	}
	l.Push(lua.LString(statusOf(l, th)))
	return 1
}

func coRunning(l *lua.LState) int {
	if l.G.CurrentThread == l.G.MainThread {
		l.Push(lua.LNil)
		return 1
	}
	l.Push(l.G.CurrentThread)
	return 1
}

// coYield is refused inside a callback of a library function, whose Go frames cannot be left and entered again.
func (e *Engine) coYield(l *lua.LState) int {
	if l.Parent == nil || e.run.calls.here > 0 {
		l.Error(lua.LString("attempt to yield across metamethod/C-call boundary"), 0)
	}
	return -1
}
