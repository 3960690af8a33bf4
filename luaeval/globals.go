package luaeval

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

const undefinedText = "Script attempted to access nonexistent global variable '%s'"

// secondName is the table redis to scripts of other servers.
const secondName = "server"

// openLibs makes the environment of all scripts. It never changes afterwards.
func (e *Engine) openLibs() {
	l := e.l
	e.lib = lualib.New(l, &e.limits, e.o.Seed)
	e.globals = e.lib.Globals
	e.handler = l.NewFunction(e.handle)
	e.guardedCall, e.watchedCall = e.calling(e.raised), e.calling(e.failed)
	e.operators = e.lib.Operators()
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
	if e.o.OSClock {
		e.known["os"] = e.lib.Show(e.lib.Functions(map[string]lua.LGFunction{"clock": e.osClock}))
	}
	e.known["redis"] = e.lib.Show(e.redisLib())
	if e.o.Server.Name != "" {
		e.known[secondName] = e.known["redis"]
	}
	e.undefined = e.newUndefined()
	e.gproxy = e.showGlobals(e.globals)
	e.known["_G"] = e.gproxy
	for name, v := range e.known {
		e.globals.RawSetString(name, v)
	}
	e.globals.Metatable = e.undefined
	e.scriptScope = scope{chunk: chunkName, source: chunkName, known: e.known, env: e.gproxy}
	e.scriptScope.words = []string{"KEYS", "ARGV"}
}

// osClock is os.clock. It returns the seconds of the engine's clock. Lua's own returns the CPU time of the process.
func (e *Engine) osClock(l *lua.LState) int {
	l.Push(lua.LNumber(float64(e.o.Clock()) / 1e9))
	return 1
}

// newUndefined returns the metatable of globals. It refuses names that are not there.
func (e *Engine) newUndefined() *lua.LTable {
	meta := e.l.CreateTable(0, 2)
	meta.RawSetString("__index", e.l.NewFunction(func(l *lua.LState) int {
		lualib.Raise(l, fmt.Sprintf(undefinedText, l.Get(2).String()))
		return 0
	}))
	meta.RawSetString("__newindex", e.lib.ReadOnly())
	return meta
}

// showGlobals returns what scripts see of a table of globals. As in Redis, its metatable has the
// function that refuses names.
func (e *Engine) showGlobals(globals *lua.LTable) *lua.LTable {
	visible := e.l.CreateTable(0, 1)
	visible.RawSetString("__index", e.undefined.RawGetString("__index"))
	return e.lib.View(globals, globals, e.lib.Show(visible))
}

// handle is the error handler of a script that is not long (eval.c: __redis__err__handler). It runs
// before the stack is unwound.
func (e *Engine) handle(l *lua.LState) int {
	e.noteFailure(l, l.Get(1), 1)
	l.Push(l.Get(1))
	return 1
}

// noteFailure keeps the error's text and its place in the script for the reply. v is the error, and level is the
// level of the Lua stack that raised it.
func (e *Engine) noteFailure(l *lua.LState, v lua.LValue, level int) {
	f := &e.run.fail
	if text, ok := v.(lua.LString); ok {
		v = lua.LString(e.named(l, level, string(text)))
	}
	f.text, f.counted = e.errorText(v), isCounted(v)
	if f.source, f.line = e.codePosition(l, level); f.source == inGo {
		f.source, f.line = e.codePosition(l, level+1)
	}
}

// describeError is __redis__err__handler(error), which Redis leaves among the globals of scripts. It
// returns the error as a table, with the position of the code that called it.
func (e *Engine) describeError(l *lua.LState) int {
	v := l.Get(1)
	if v.Type() != lua.LTTable {
		l.Push(e.globals.RawGetString("tostring"))
		l.Push(v)
		l.Call(1, 1)
		text, _ := lualib.ToText(l.Get(-1))
		v = e.tagged("err", lua.LString("ERR "+text))
	}
	source, line := e.codePosition(l, 1)
	if source == inGo {
		source, line = e.codePosition(l, 2)
	}
	if source != "" {
		l.SetField(v, "source", lua.LString(source))
		l.SetField(v, "line", lua.LNumber(line))
	}
	l.Push(v)
	return 1
}

// inGo is the source of a function that is not written in Lua. The word is Lua's.
const inGo = "=[C]"

// codePosition returns the source and the line of the code at a level of the stack. The source is
// empty beyond the last level.
func (e *Engine) codePosition(l *lua.LState, level int) (source string, line int) {
	on, at, replaced := e.level(l, level)
	switch {
	case replaced:
		return "=(tail call)", -1
	case on == nil:
		return "", 0
	}
	call, _ := on.GetStack(at)
	if _, err := on.GetInfo("Sl", call, lua.LNil); err != nil || call.Source == "" {
		return inGo, -1
	}
	return sourceOf(call.Source), call.CurrentLine
}

// counted marks the error table of a command. The name is Redis's.
const counted = "ignore_error_stats_update"

func isCounted(v lua.LValue) bool {
	t, ok := v.(*lua.LTable)
	return ok && t.RawGetString(counted) == lua.LTrue
}

// errorText returns the error line of an uncaught error: the err of a table, or else the text
// after ERR.
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
