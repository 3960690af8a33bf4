package luaeval

import (
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// raise raises text with the position of the Lua code that called: none when what called is no Lua code, as pcall is
// in `pcall(cjson.decode, "x")`.
func raise(l *lua.LState, text string) {
	if !calledByLua(l) {
		l.Error(lua.LString(text), 0)
	}
	l.RaiseError("%s", text)
}

func calledByLua(l *lua.LState) bool {
	at, ok := l.GetStack(1)
	if !ok {
		return false
	}
	_, err := l.GetInfo("l", at, lua.LNil)
	return err == nil && at.CurrentLine != -1
}

func argError(l *lua.LState, n int, function, text string) {
	if !calledByLua(l) {
		function = "?"
	}
	raise(l, "bad argument #"+strconv.Itoa(n)+" to '"+function+"' ("+text+")")
}

func typeError(l *lua.LState, n int, function, want string) {
	got := "no value"
	if n <= l.GetTop() {
		got = l.Get(n).Type().String()
	}
	argError(l, n, function, want+" expected, got "+got)
}

func checkTable(l *lua.LState, n int, function string) *lua.LTable {
	t, ok := l.Get(n).(*lua.LTable)
	if !ok {
		typeError(l, n, function, "table")
	}
	return t
}

// checkString is argument n as a string. What a function does to a string takes about as long as the string is, which is
// counted here for all of them.
func (e *Engine) checkString(l *lua.LState, n int, function string) string {
	v := l.Get(n)
	if s, ok := v.(lua.LString); ok {
		e.tick(l, 1+len(s)/bytesPerUnit)
		return string(s)
	}
	s, ok := toText(v)
	if !ok {
		typeError(l, n, function, "string")
	}
	return s
}

func (e *Engine) checkNumber(l *lua.LState, n int, function string) float64 {
	f, ok := e.number(l, l.Get(n))
	if !ok {
		typeError(l, n, function, "number")
	}
	return f
}

// number is toNumber, counted.
func (e *Engine) number(l *lua.LState, v lua.LValue) (float64, bool) {
	if s, ok := v.(lua.LString); ok {
		e.tick(l, 1+len(s)/bytesPerUnit)
	}
	return toNumber(v)
}

func (e *Engine) checkInt(l *lua.LState, n int, function string) int {
	return toInt(e.checkNumber(l, n, function))
}

func (e *Engine) optInt(l *lua.LState, n, def int, function string) int {
	if l.Get(n) == lua.LNil {
		return def
	}
	return e.checkInt(l, n, function)
}

func checkAny(l *lua.LState, n int, function string) lua.LValue {
	if l.GetTop() < n {
		argError(l, n, function, "value expected")
	}
	return l.Get(n)
}

func toInt(f float64) int {
	if f >= -1<<63 && f < 1<<63 {
		return int(f)
	}
	return -1 << 63
}
