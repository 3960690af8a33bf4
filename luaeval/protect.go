package luaeval

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// guard is a state of its own for a call of pcall or xpcall.
//
// An error must close the variables of the frames that it unwinds, and no others. gopher-lua closes
// the variables of all frames of the state; it closes none when an outer state has an error
// handler. On a guard, all frames are frames that the error unwinds.
type guard struct {
	state *lua.LState
	from  *lua.LState // the state that called pcall
}

// Frames of a stack (luaconf.h: LUAI_MAXCALLS). Lua uses some itself. A coroutine's stack doubles, and the
// last time within the limit leads to 16384.
const (
	coroutineFrames = 16384

	mostFrames  = 19998
	leastFrames = 200
	keptGuards  = 16 // guards that are kept between scripts
)

// guardFrames is how deep calls may nest in a pcall, by the number of pcalls around it.
func guardFrames(depth int) int { return max(leastFrames, mostFrames>>max(depth-1, 0)-depth) }

// takeGuard returns the guard for a call from l. Guards nest, because a coroutine cannot yield out
// of a pcall.
func (e *Engine) takeGuard(l *lua.LState) *lua.LState {
	depth := e.lib.Calls.Guards
	e.lib.Calls.Guards++
	if depth == len(e.guards) {
		e.guards = append(e.guards, guard{})
	}
	g := &e.guards[depth]
	if g.state == nil {
		g.state = e.newGuard(depth)
	}
	g.from = l
	g.state.Env = l.Env
	if l.Context() != nil {
		g.state.SetContext(&e.limits)
	} else {
		g.state.RemoveContext()
	}
	return g.state
}

func (e *Engine) newGuard(depth int) *lua.LState {
	watched := e.maker.Context() != nil
	e.maker.RemoveContext() // with a context, NewThread would start a goroutine
	e.maker.Options.CallStackSize, e.maker.Options.MinimizeStackMemory = guardFrames(depth), false
	p, _ := e.maker.NewThread()
	e.maker.Options = coroutineStacks()
	p.Options = coroutineStacks()
	if watched {
		e.maker.SetContext(&e.limits)
	}
	return p
}

// trimGuards drops most guards of a script with many nested pcalls.
func (e *Engine) trimGuards() {
	if len(e.guards) > keptGuards {
		clear(e.guards[keptGuards:])
		e.guards = e.guards[:keptGuards]
	}
}

// caller returns the state whose pcall runs l, or nil.
func (e *Engine) caller(l *lua.LState) *lua.LState {
	for _, g := range e.guards[:e.lib.Calls.Guards] {
		if g.state == l {
			return g.from
		}
	}
	return nil
}

// where returns the position of the code at a level of the stack. A call that was replaced by a tail
// call has no position.
func (e *Engine) where(l *lua.LState, level int) string {
	on, at, replaced := e.level(l, level)
	if on == nil || replaced {
		return ""
	}
	return on.Where(at)
}

// level finds a level of the stack: it returns a state and a level of that state. The stack continues
// on the state that called pcall. replaced is true for a call that was replaced by a tail call. The
// state is nil beyond the last level.
func (e *Engine) level(l *lua.LState, level int) (on *lua.LState, at int, replaced bool) {
	for ; l != nil; l = e.caller(l) {
		i, hidden := 0, 0
		for at, ok := l.GetStack(0); ok; at, ok = l.GetStack(i) {
			f, _ := l.GetInfo("f", at, lua.LNil)
			switch fn, _ := f.(*lua.LFunction); {
			case lualib.IsCounted(fn):
				hidden++
				i++
				continue
			case i-hidden == level && fn == e.watchedCall: // the lowest call of a long script
				return nil, 0, false
			case i-hidden == level:
				return l, i, false
			}
			if i += 1 + int(frameField(at, "TailCall")); i-hidden > level {
				return l, level + hidden, true
			}
		}
		level -= i - hidden - 1 // the lowest frame is guardedCall, which stands for pcall
	}
	return nil, 0, false
}

// calling makes a function that calls its first argument with the others. An error calls raised.
func (e *Engine) calling(raised func(*lua.LState)) *lua.LFunction {
	return e.l.NewFunction(func(l *lua.LState) int {
		l.Panic = raised
		l.Call(l.GetTop()-1, lua.MultRet)
		return l.GetTop()
	})
}

// raised is called on a guard when an error is raised.
func (e *Engine) raised(l *lua.LState) {
	v := l.Get(-1)
	if text, ok := v.(lua.LString); ok {
		v = lua.LString(e.named(l, 0, string(text)))
	}
	unwind(v)
}

// failed is called on the state of a long script when an error is raised: nobody catches it.
func (e *Engine) failed(l *lua.LState) {
	v := l.Get(-1)
	e.noteFailure(l, v, 0)
	unwind(v)
}

// unwind ends all calls up to the last PCall. Without StackTrace, gopher-lua would describe each of them.
func unwind(v lua.LValue) {
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: v, StackTrace: "none"})
}

// protected calls f with the top n values of l and removes them. The returned state holds the
// results of f, and nothing else.
func (e *Engine) protected(l *lua.LState, f lua.LValue, n int) (*lua.LState, error) {
	if _, ok := f.(*lua.LFunction); !ok {
		if _, ok = l.GetMetaField(f, "__call").(*lua.LFunction); !ok {
			text := lua.LString("attempt to call a " + f.Type().String() + " value")
			return nil, &lua.ApiError{Type: lua.ApiErrorRun, Object: text}
		}
	}
	c, ok := e.lib.TryEnter()
	if !ok {
		return nil, &lua.ApiError{Type: lua.ApiErrorRun, Object: lua.LString(lualib.StackOfC)}
	}
	running := l.G.CurrentThread
	p := e.takeGuard(l)
	p.Push(e.guardedCall)
	p.Push(f)
	l.XMoveTo(p, n)
	err := p.PCall(n+1, lua.MultRet, nil)
	if failed, ok := err.(*lua.ApiError); ok && failed.Type == lua.ApiErrorPanic {
		e.guards[c.Guards].state = nil // its variables are still open
	}
	e.lib.Calls = c
	l.G.CurrentThread = running
	if over := e.limits.Over(); over != nil {
		lualib.Raise(l, over.Error())
	}
	return p, err
}

// succeed returns true and all values of p.
func succeed(l, p *lua.LState) int {
	l.SetTop(0)
	l.Push(lua.LTrue)
	n := p.GetTop()
	p.XMoveTo(l, n)
	return 1 + n
}

func failWith(l *lua.LState, v lua.LValue) int {
	l.SetTop(0)
	l.Push(lua.LFalse)
	l.Push(v)
	return 2
}

// pcall returns the text of an error table in place of the table. Without arguments it calls true.
// Both are as in Redis (script_lua.c: luaRedisPcall).
func (e *Engine) pcall(l *lua.LState) int {
	f := lua.LValue(lua.LTrue)
	if l.GetTop() > 0 {
		f = l.Get(1)
	}
	p, err := e.protected(l, f, l.GetTop()-1)
	if err == nil {
		return succeed(l, p)
	}
	v := e.caught(err)
	t, ok := v.(*lua.LTable)
	if !ok {
		return failWith(l, v)
	}
	text := t.RawGetString("err")
	if _, ok := lualib.ToText(text); ok {
		return failWith(l, text)
	}
	failWith(l, v)
	l.Push(text) // Redis leaves it on the stack
	return 3
}

// mostHandlers is how often a failing error handler is called again, less the pcalls around it
// (ldo.c: luaD_call).
const mostHandlers = 221

// handlersBehind is how many of these calls use the reserve of the stack. The first of them gets
// the error of the overflow.
const handlersBehind = 24

// xpcall calls the handler after the stack was unwound; Lua calls it before. When the handler
// fails, it is called with its own error.
func (e *Engine) xpcall(l *lua.LState) int {
	lualib.CheckAny(l, 2, "xpcall")
	handler, callable := l.Get(2).(*lua.LFunction)
	p, err := e.protected(l, l.Get(1), 0)
	for left := mostHandlers - e.lib.Calls.All; left > 0 && err != nil && callable; left-- {
		v := e.caught(err)
		if left == handlersBehind {
			v = lua.LString(lualib.StackOfC)
		}
		l.Push(v)
		if p, err = e.protected(l, handler, 1); err == nil {
			v := p.Get(1)
			p.SetTop(0)
			return failWith(l, v)
		}
	}
	if err != nil {
		return failWith(l, lua.LString("error in error handling"))
	}
	return succeed(l, p)
}

// caught returns the value that a script sees of an error.
func (e *Engine) caught(err error) lua.LValue {
	failed, ok := err.(*lua.ApiError)
	if !ok {
		return lua.LString(err.Error())
	}
	if text, ok := failed.Object.(lua.LString); ok {
		return lua.LString(e.lib.SayAsLua(string(text)))
	}
	return failed.Object
}
