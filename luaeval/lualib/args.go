package lualib

import (
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

// Raise raises text as an error, after the position of the Lua code that called the function. When
// Lua code did not call it, as in `pcall(cjson.decode, "x")`, there is no position.
func Raise(l *lua.LState, text string) {
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

// ArgError raises the error of a wrong argument n (lauxlib.c: luaL_argerror). It has the name that the caller uses
// for the function, and counts the arguments of a method without the object.
func ArgError(l *lua.LState, n int, function, text string) {
	kind, name := calledAs(l)
	if name == "" && !strings.HasPrefix(function, "(") || !calledByLua(l) {
		name = "?"
	}
	if name == "" {
		name = function
	}
	if kind == "method" {
		if n--; n == 0 {
			Raise(l, "calling '"+name+"' on bad self ("+text+")")
		}
	}
	Raise(l, "bad argument #"+strconv.Itoa(n)+" to '"+name+"' ("+text+")")
}

// calledAs returns the kind and the name of the variable that the running function was called by. The
// compiler has noted both with the call.
func calledAs(l *lua.LState) (kind, name string) {
	if at, ok := l.GetStack(0); ok {
		if _, err := l.GetInfo("n", at, lua.LNil); err == nil {
			kind, name, _ = strings.Cut(at.Name, ".")
		}
	}
	return kind, name
}

// TypeError raises the error of an argument n of a wrong type (lauxlib.c: luaL_typerror).
func TypeError(l *lua.LState, n int, function, want string) {
	got := "no value"
	if n <= l.GetTop() {
		got = l.Get(n).Type().String()
	}
	ArgError(l, n, function, want+" expected, got "+got)
}

func checkTable(l *lua.LState, n int, function string) *lua.LTable {
	t, ok := l.Get(n).(*lua.LTable)
	if !ok {
		TypeError(l, n, function, "table")
	}
	return t
}

func checkFunction(l *lua.LState, n int, function string) *lua.LFunction {
	f, ok := l.Get(n).(*lua.LFunction)
	if !ok {
		TypeError(l, n, function, "function")
	}
	return f
}

// CheckString returns argument n as a string. It counts the length of the string as work, because
// most functions take about as long as their strings are.
func (lib *Lib) CheckString(l *lua.LState, n int, function string) string {
	v := l.Get(n)
	if s, ok := v.(lua.LString); ok {
		lib.Tick(l, 1+len(s)/limits.BytesPerUnit)
		return string(s)
	}
	s, ok := ToText(v)
	if !ok {
		TypeError(l, n, function, "string")
	}
	return s
}

func (lib *Lib) checkNumber(l *lua.LState, n int, function string) float64 {
	f, ok := lib.number(l, l.Get(n))
	if !ok {
		TypeError(l, n, function, "number")
	}
	return f
}

// number is ToNumber, with the length of a string counted as work.
func (lib *Lib) number(l *lua.LState, v lua.LValue) (float64, bool) {
	if s, ok := v.(lua.LString); ok {
		lib.Tick(l, 1+len(s)/limits.BytesPerUnit)
	}
	return ToNumber(v)
}

// CheckInt returns argument n as an integer of 32 bits: of a larger one the low bits.
func (lib *Lib) CheckInt(l *lua.LState, n int, function string) int {
	return int(int32(lib.checkLong(l, n, function)))
}

// checkLong returns argument n as an integer of 64 bits.
func (lib *Lib) checkLong(l *lua.LState, n int, function string) int {
	return ToInt(lib.checkNumber(l, n, function))
}

// OptInt returns argument n as CheckInt does, or def when it is nil.
func (lib *Lib) OptInt(l *lua.LState, n, def int, function string) int {
	if l.Get(n) == lua.LNil {
		return def
	}
	return lib.CheckInt(l, n, function)
}

// optLong returns argument n as checkLong does, or def when it is nil.
func (lib *Lib) optLong(l *lua.LState, n, def int, function string) int {
	if l.Get(n) == lua.LNil {
		return def
	}
	return lib.checkLong(l, n, function)
}

// CheckAny returns argument n, which may be nil but must be there.
func CheckAny(l *lua.LState, n int, function string) lua.LValue {
	if l.GetTop() < n {
		ArgError(l, n, function, "value expected")
	}
	return l.Get(n)
}

// ToInt converts f as x86 does: a number that is too large becomes the smallest integer.
func ToInt(f float64) int {
	if f >= -1<<63 && f < 1<<63 {
		return int(f)
	}
	return -1 << 63
}
