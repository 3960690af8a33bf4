package luaeval

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

const undefinedText = "Script attempted to access nonexistent global variable '%s'"

// openLibs makes the environment of all scripts. It never changes afterwards.
func (e *Engine) openLibs() {
	l := e.l
	e.lib = lualib.New(l, &e.limits, e.o.Seed)
	e.globals = e.lib.Globals
	e.handler = l.NewFunction(e.noteFailure)
	e.guardedCall = e.newGuarded()
	e.hidden = e.lib.Operators()
	e.unused = e.unusedCalls()

	e.known = map[string]lua.LValue{"_VERSION": lua.LString("Lua 5.1")}
	for name, f := range e.lib.Base() {
		e.known[name] = f
	}
	for name, f := range e.baseLib() {
		e.known[name] = l.NewFunction(f)
	}
	for name, t := range e.lib.Tables(&e.json.scripts) {
		e.known[name] = e.lib.Show(t)
	}
	e.known["redis"] = e.lib.Show(e.redisLib())
	e.known["os"] = e.lib.Show(e.lib.Functions(map[string]lua.LGFunction{"clock": e.osClock}))
	e.gproxy = e.lib.Show(e.globals)
	e.nothing = e.lib.Show(l.CreateTable(0, 0))
	e.known["_G"] = e.gproxy
	for name, v := range e.known {
		e.globals.RawSetString(name, v)
	}
	undefined := l.CreateTable(0, 8)
	undefined.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		lualib.Raise(l, fmt.Sprintf(undefinedText, l.Get(2).String()))
		return 0
	}))
	undefined.RawSetString("__newindex", e.lib.ReadOnly())
	e.globals.Metatable = undefined
	e.scriptScope = scope{chunk: chunkName, source: chunkName, known: e.known, env: e.gproxy}
	e.undefined = undefined
}

// noteFailure is the error handler of Run (eval.c: __redis__err__handler). It runs before
// the stack is unwound, and notes what the reply needs.
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

// counted marks the error table of a command. The name is Redis's.
const counted = "ignore_error_stats_update"

func isCounted(v lua.LValue) bool {
	t, ok := v.(*lua.LTable)
	return ok && t.RawGetString(counted) == lua.LTrue
}

// errorText returns the error line of an uncaught error: the err of a table, or else the text
// behind ERR.
func (e *Engine) errorText(v lua.LValue) string {
	if over := e.limits.Over(); over != nil { // its text without the position that gopher-lua adds
		return "ERR " + over.Error()
	}
	switch v := v.(type) {
	case *lua.LTable:
		if text, ok := lualib.ToText(v.RawGetString("err")); ok {
			return text
		}
		return "ERR unknown error"
	case lua.LString:
		return "ERR " + e.lib.SayAsLua(string(v))
	}
	text, ok := lualib.ToText(v)
	if !ok {
		text = v.String()
	}
	return "ERR " + text
}
