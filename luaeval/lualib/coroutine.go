package lualib

import (
	lua "github.com/yuin/gopher-lua"
)

// maxCoroutines bounds the coroutines of one script. Each has a stack, which stays until the
// garbage collector runs.
const maxCoroutines = 10000

// coroutineBytes is what the stacks of a coroutine take at first, measured.
const coroutineBytes = 26 << 10

func (lib *Lib) coroutineLib() *lua.LTable {
	return lib.Functions(map[string]lua.LGFunction{
		"create": lib.coCreate, "wrap": lib.coWrap, "resume": lib.coResume, "yield": lib.coYield,
		"status": coStatus, "running": coRunning,
	})
}

func (lib *Lib) coCreate(l *lua.LState) int { return lib.thread(l, "create") }

// thread makes a coroutine for a function. gopher-lua gives a coroutine a child of its parent's context, which
// costs a goroutine and counts no instructions. Here both have the same context.
func (lib *Lib) thread(l *lua.LState, function string) int {
	if f, ok := l.Get(1).(*lua.LFunction); !ok || f.IsG {
		ArgError(l, 1, function, "Lua function expected")
	}
	if lib.threads++; lib.threads > maxCoroutines {
		Raise(l, "too many coroutines")
	}
	lib.Charge(l, coroutineBytes)
	if l.Context() == nil {
		return lib.gopher["coroutine.create"](l)
	}
	l.RemoveContext()
	n := lib.gopher["coroutine.create"](l)
	l.SetContext(lib.Limits)
	l.Get(-1).(*lua.LState).SetContext(lib.Limits)
	return n
}

// coWrap is coroutine.wrap. It raises an error of the coroutine anew in the code that resumed it.
// gopher-lua passes the error on without a position, and leaves variables of the frames open.
func (lib *Lib) coWrap(l *lua.LState) int {
	n := lib.thread(l, "wrap")
	th := l.Get(-1).(*lua.LState)
	l.Pop(1)
	l.Push(l.NewFunction(func(l *lua.LState) int {
		l.Insert(th, 1)
		got := lib.resume(l)
		if l.Get(-got) == lua.LTrue {
			return got - 1
		}
		v := l.Get(-1)
		if text, ok := v.(lua.LString); ok {
			Raise(l, string(text))
		}
		l.Error(v, 0)
		return 0
	}))
	return n
}

func (lib *Lib) coResume(l *lua.LState) int {
	if _, ok := l.Get(1).(*lua.LState); !ok {
		ArgError(l, 1, "resume", "coroutine expected")
	}
	return lib.resume(l)
}

// resume resumes the coroutine that is argument 1. It returns what coroutine.resume returns.
func (lib *Lib) resume(l *lua.LState) int {
	th := l.Get(1).(*lua.LState)
	if status := statusOf(l, th); status != "suspended" {
		l.Push(lua.LFalse)
		l.Push(lua.LString("cannot resume " + status + " coroutine"))
		return 2
	}
	if lib.Calls.All > maxCalls { // one more than other calls may have
		l.Push(lua.LFalse)
		l.Push(lua.LString(StackOfC))
		return 2
	}
	c, running := lib.count(), l.G.CurrentThread
	lib.Calls.Here = 0
	n := lib.gopher["coroutine.resume"](l)
	lib.Calls = c
	l.G.CurrentThread = running
	if over := lib.Limits.Over(); over != nil {
		Raise(l, over.Error())
	}
	if n > 1 && l.Get(-n) == lua.LFalse {
		if text, ok := l.Get(-1).(lua.LString); ok {
			if text == overflow { // it was raised where there is no position yet
				text = lua.LString(th.Where(0) + " stack overflow")
			}
			l.Pop(1)
			l.Push(lua.LString(lib.SayAsLua(string(text))))
		}
	}
	return n
}

// overflow is gopher-lua's error of a stack that grows no more.
const overflow = "lua callstack overflow"

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
		ArgError(l, 1, "status", "coroutine expected")
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

// coYield refuses to yield inside a callback of a library function: nobody could come back to the
// Go frames of that function.
func (lib *Lib) coYield(l *lua.LState) int {
	if l.Parent == nil || lib.Calls.Here > 0 {
		l.Error(lua.LString("attempt to yield across metamethod/C-call boundary"), 0)
	}
	return -1
}
