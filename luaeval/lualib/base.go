package lualib

import (
	"reflect"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxCalls is how deep pcall, metamethods and callbacks of library functions may nest (luaconf.h:
// LUAI_MAXCCALLS). The script itself is one of these calls in Lua.
const maxCalls = 198

// StackOfC is the error of calls that nest deeper.
const StackOfC = "C stack overflow"

// maxUnpack is one more than the number of values that unpack may return (luaconf.h:
// LUAI_MAXCSTACK).
const maxUnpack = 8000

// Base returns the global functions, except those that must know how scripts are run.
func (lib *Lib) Base() map[string]*lua.LFunction {
	list := map[string]*lua.LFunction{"next": lib.next}
	for name, f := range map[string]lua.LGFunction{
		"assert": lib.assert, "setmetatable": lib.setMetatable, "rawget": lib.rawGet, "rawset": lib.setRaw,
		"rawequal": lib.gopher["_G.rawequal"], "pairs": lib.pairs, "ipairs": lib.ipairs, "select": lib.selectArgs,
		"tonumber": lib.tonumber, "tostring": lib.toString, "type": lib.typeOf, "unpack": lib.unpack,
		"collectgarbage": lib.collectGarbage, "gcinfo": lib.collectGarbage,
	} {
		list[name] = lib.l.NewFunction(f)
	}
	return list
}

func (lib *Lib) assert(l *lua.LState) int {
	if lua.LVAsBool(CheckAny(l, 1, "assert")) {
		return l.GetTop()
	}
	text := "assertion failed!"
	if l.GetTop() > 1 && l.Get(2) != lua.LNil {
		text = lib.CheckString(l, 2, "assert")
	}
	Raise(l, text)
	return 0
}

// Calls counts the running library functions that call Lua code: All of them, those Here in the
// current coroutine, and those that are pcalls (Guards). A coroutine cannot yield while Here is
// above zero.
type Calls struct{ All, Here, Guards int }

// TryEnter counts a call of Lua code, unless too many nest. It returns the count to restore afterwards;
// code that catches an error restores it too.
func (lib *Lib) TryEnter() (before Calls, ok bool) {
	if lib.Calls.All >= maxCalls {
		return lib.Calls, false
	}
	return lib.count(), true
}

func (lib *Lib) count() (before Calls) {
	before = lib.Calls
	lib.Calls.All++
	lib.Calls.Here++
	return before
}

// enter is TryEnter for a library function. Its error has no position, as in C.
func (lib *Lib) enter(l *lua.LState) Calls {
	c, ok := lib.TryEnter()
	if !ok {
		l.Error(lua.LString(StackOfC), 0)
	}
	return c
}

// enterOperator is enter for a metamethod, which the code of the script calls.
func (lib *Lib) enterOperator(l *lua.LState) Calls {
	c, ok := lib.TryEnter()
	if !ok {
		l.RaiseError("%s", StackOfC)
	}
	return c
}

func (lib *Lib) setMetatable(l *lua.LState) int {
	t := checkTable(l, 1, "setmetatable")
	meta := l.Get(2)
	if _, ok := meta.(*lua.LTable); !ok && (meta != lua.LNil || l.GetTop() < 2) {
		ArgError(l, 2, "setmetatable", "nil or table expected")
	}
	lib.mayChange(l, t)
	if l.GetMetaField(t, "__metatable") != lua.LNil {
		Raise(l, "cannot change a protected metatable")
	}
	if m, ok := meta.(*lua.LTable); ok && lib.shown[lib.behind(m)] == m {
		meta = lib.behind(m) // the virtual machine reads metatables without metamethods
	}
	lib.setMeta(t, meta)
	l.SetTop(1)
	return 1
}

func (lib *Lib) rawGet(l *lua.LState) int {
	t := checkTable(l, 1, "rawget")
	l.Push(lib.behind(t).RawGet(CheckAny(l, 2, "rawget")))
	return 1
}

func (lib *Lib) setRaw(l *lua.LState) int {
	t := checkTable(l, 1, "rawset")
	CheckAny(l, 2, "rawset")
	CheckAny(l, 3, "rawset")
	lib.mayChange(l, t)
	lib.rawSet(l, t, l.Get(2), l.Get(3))
	l.SetTop(1)
	return 1
}

// NextWork is the work of one step through a table, at worst: Next skips the slots of deleted
// fields.
const NextWork = 256

func (lib *Lib) nextPair(l *lua.LState) int {
	lib.tickTurn(l)
	t, key := lib.behind(checkTable(l, 1, "next")), l.Get(2)
	if key != lua.LNil && t.RawGet(key) == lua.LNil && !hasHad(t, key) {
		l.Error(lua.LString("invalid key to 'next'"), 0)
	}
	k, v := t.Next(key)
	l.Push(k)
	if k == lua.LNil {
		return 1
	}
	l.Push(v)
	return 2
}

// hasHad reports whether t has ever had a value for a key. A traversal may delete the field that it has come to.
func hasHad(t *lua.LTable, key lua.LValue) bool {
	fields := reflect.ValueOf(t).Elem()
	if i := index(key); i > 0 && i < LargestHole {
		return i <= fields.FieldByName("array").Len()
	}
	return fields.FieldByName("k2i").MapIndex(reflect.ValueOf(key)).IsValid()
}

func (lib *Lib) pairs(l *lua.LState) int {
	t := checkTable(l, 1, "pairs")
	l.Push(lib.next)
	l.Push(t)
	l.Push(lua.LNil)
	return 3
}

func (lib *Lib) ipairs(l *lua.LState) int {
	t := checkTable(l, 1, "ipairs")
	l.Push(lib.element)
	l.Push(t)
	l.Push(lua.LNumber(0))
	return 3
}

// nextElement is the iterator of ipairs.
func (lib *Lib) nextElement(l *lua.LState) int {
	lib.tickTurn(l)
	t := checkTable(l, 1, "(for generator)")
	at, _ := l.Get(2).(lua.LNumber)
	i := int(at) + 1
	v := Element(t, i)
	if v == lua.LNil {
		return 0
	}
	l.Push(lib.Integer(i))
	l.Push(v)
	return 2
}

// tickTurn counts a turn of a generic for. With a context, the instructions of the loop are counted.
func (lib *Lib) tickTurn(l *lua.LState) {
	if l.Context() == nil {
		lib.Tick(l, NextWork)
	} else {
		lib.Tick(l, 1)
	}
}

// Integer returns n as a Lua value. Small numbers are converted once, when the library is made.
func (lib *Lib) Integer(n int) lua.LValue {
	if n >= 0 && n < len(lib.integers) {
		return lib.integers[n]
	}
	return lua.LNumber(n)
}

func (lib *Lib) selectArgs(l *lua.LState) int {
	n := l.GetTop()
	if s, ok := l.Get(1).(lua.LString); ok && s == "#" {
		l.Push(lua.LNumber(n - 1))
		return 1
	}
	i := lib.CheckInt(l, 1, "select")
	switch {
	case i < 0:
		i = n + i
	case i > n:
		i = n
	}
	if i < 1 {
		ArgError(l, 1, "select", "index out of range")
	}
	return n - i
}

func (lib *Lib) typeOf(l *lua.LState) int {
	l.Push(lua.LString(CheckAny(l, 1, "type").Type().String()))
	return 1
}

func (lib *Lib) toString(l *lua.LState) int {
	v := CheckAny(l, 1, "tostring")
	l.Push(lib.text(l, v))
	return 1
}

func (lib *Lib) text(l *lua.LState, v lua.LValue) lua.LValue {
	switch v := v.(type) {
	case lua.LString:
		return v
	case lua.LNumber:
		return lua.LString(FormatNumber(float64(v)))
	case *lua.LUserData:
		if v == lib.Null {
			return lua.LString("userdata: (nil)")
		}
	}
	if f, ok := l.GetMetaField(v, "__tostring").(*lua.LFunction); ok {
		return lib.callback(l, f, v)
	}
	return lua.LString(v.String())
}

func (lib *Lib) tonumber(l *lua.LState) int {
	base := lib.OptInt(l, 2, 10, "tonumber")
	v := CheckAny(l, 1, "tonumber")
	if base != 10 {
		return numberInBase(l, lib.CheckString(l, 1, "tonumber"), base)
	}
	if n, ok := v.(lua.LNumber); ok {
		l.Push(n)
		return 1
	}
	if n, ok := lib.number(l, v); ok {
		l.Push(lua.LNumber(n))
		return 1
	}
	l.Push(lua.LNil)
	return 1
}

func numberInBase(l *lua.LState, text string, base int) int {
	if base < 2 || base > 36 {
		ArgError(l, 2, "tonumber", "base out of range")
	}
	text = strings.ToLower(strings.Trim(text, " \t\n\v\f\r"))
	digits := strings.TrimLeft(text, "-+")
	if base == 16 {
		digits = strings.TrimPrefix(digits, "0x")
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil && n == 0 || len(text)-len(strings.TrimLeft(text, "-+")) > 1 {
		l.Push(lua.LNil)
		return 1
	}
	if text[0] == '-' {
		n = -n // strtoul wraps around
	}
	l.Push(lua.LNumber(n))
	return 1
}

func (lib *Lib) unpack(l *lua.LState) int {
	t := lib.behind(checkTable(l, 1, "unpack"))
	i, j := lib.OptInt(l, 2, 1, "unpack"), 0
	if l.Get(3) == lua.LNil {
		j = lib.border(t)
	} else {
		j = lib.CheckInt(l, 3, "unpack")
	}
	if i > j {
		return 0
	}
	n := j - i + 1
	if n <= 0 || n >= maxUnpack {
		Raise(l, "too many results to unpack")
	}
	lib.Tick(l, n)
	for ; i <= j; i++ {
		l.Push(t.RawGet(lua.LNumber(i)))
	}
	return n
}

// collectGarbage answers 0. A script must not start the collector of the whole server.
func (lib *Lib) collectGarbage(l *lua.LState) int {
	l.Push(lua.LNumber(0))
	return 1
}
