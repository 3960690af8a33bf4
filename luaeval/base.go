package luaeval

import (
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// maxCalls is how deep pcall, resume and callbacks of library functions nest (luaconf.h: LUAI_MAXCCALLS).
const maxCalls = 200

// maxUnpack is how many values unpack returns (luaconf.h: LUAI_MAXCSTACK).
const maxUnpack = 8000

func (e *Engine) baseLib() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"assert": e.assert, "error": e.error, "pcall": e.pcall, "xpcall": e.xpcall,
		"getmetatable": e.getMetatable, "setmetatable": e.setMetatable,
		"rawget": e.rawGet, "rawset": e.rawSet, "rawequal": e.lib["_G.rawequal"],
		"next": e.next, "pairs": e.pairs, "ipairs": e.ipairs, "select": e.selectArgs,
		"load": e.loadPieces, "loadstring": e.loadString, "tonumber": e.toNumber, "tostring": e.toString, "type": e.typeOf, "unpack": e.unpack,
		"collectgarbage": e.collectGarbage, "gcinfo": e.collectGarbage,
	}
}

func (e *Engine) assert(l *lua.LState) int {
	if lua.LVAsBool(checkAny(l, 1, "assert")) {
		return l.GetTop()
	}
	text := "assertion failed!"
	if l.GetTop() > 1 && l.Get(2) != lua.LNil {
		text = e.checkString(l, 2, "assert")
	}
	raise(l, text)
	return 0
}

func (e *Engine) error(l *lua.LState) int {
	level := e.optInt(l, 2, 1, "error")
	v := l.Get(1)
	text, ok := toText(v)
	e.tick(l, 1+len(text)/bytesPerUnit)
	if ok && level > 0 {
		if at := e.where(l, level); at != "" && !strings.HasPrefix(at, "[G]") {
			v = lua.LString(at + " " + text)
		}
	}
	l.Error(v, 0)
	return 0
}

// calls counts the library functions around the running code that call back: in all, and in this coroutine, where they are in
// the way of yield. Of all, guards are pcalls.
type calls struct{ all, here, guards int }

// enter counts one more and returns the count to restore, which whoever catches an error does too.
func (e *Engine) enter(l *lua.LState) calls {
	c := e.run.calls
	if c.all >= maxCalls {
		raise(l, "C stack overflow")
	}
	e.run.calls.all++
	e.run.calls.here++
	return c
}

func (e *Engine) getMetatable(l *lua.LState) int {
	v := checkAny(l, 1, "getmetatable")
	if t, ok := v.(*lua.LTable); ok && e.real[t] != nil {
		if t == e.gproxy || t == e.libraryScope.env {
			l.Push(e.nothing)
			return 1
		}
		l.Push(lua.LNil)
		return 1
	}
	l.Push(l.GetMetatable(v))
	return 1
}

func (e *Engine) setMetatable(l *lua.LState) int {
	t := checkTable(l, 1, "setmetatable")
	meta := l.Get(2)
	if _, ok := meta.(*lua.LTable); !ok && (meta != lua.LNil || l.GetTop() < 2) {
		argError(l, 2, "setmetatable", "nil or table expected")
	}
	e.mayChange(l, t)
	if l.GetMetaField(t, "__metatable") != lua.LNil {
		raise(l, "cannot change a protected metatable")
	}
	t.Metatable = meta
	l.SetTop(1)
	return 1
}

func (e *Engine) rawGet(l *lua.LState) int {
	t := checkTable(l, 1, "rawget")
	l.Push(e.behind(t).RawGet(checkAny(l, 2, "rawget")))
	return 1
}

func (e *Engine) rawSet(l *lua.LState) int {
	t := checkTable(l, 1, "rawset")
	checkAny(l, 2, "rawset")
	checkAny(l, 3, "rawset")
	e.mayChange(l, t)
	l.RawSet(t, l.Get(2), l.Get(3))
	l.SetTop(1)
	return 1
}

// nextWork is what one step through a table costs at worst: behind what was deleted there may be nothing for long.
const nextWork = 256

func (e *Engine) next(l *lua.LState) int {
	units := 1
	if l.Context() == nil { // else the instructions around it are counted
		units = nextWork
	}
	e.tick(l, units)
	k, v := e.behind(checkTable(l, 1, "next")).Next(l.Get(2))
	l.Push(k)
	if k == lua.LNil {
		return 1
	}
	l.Push(v)
	return 2
}

func (e *Engine) pairs(l *lua.LState) int {
	t := checkTable(l, 1, "pairs")
	l.Push(e.known["next"])
	l.Push(t)
	l.Push(lua.LNil)
	return 3
}

func (e *Engine) ipairs(l *lua.LState) int {
	t := checkTable(l, 1, "ipairs")
	l.Push(e.following)
	l.Push(t)
	l.Push(lua.LNumber(0))
	return 3
}

// nextElement is the iterator of ipairs.
func nextElement(l *lua.LState) int {
	t := checkTable(l, 1, "(for generator)")
	i, _ := l.Get(2).(lua.LNumber)
	v := element(t, int(i)+1)
	if v == lua.LNil {
		return 0
	}
	l.Push(i + 1)
	l.Push(v)
	return 2
}

func (e *Engine) selectArgs(l *lua.LState) int {
	n := l.GetTop()
	if s, ok := l.Get(1).(lua.LString); ok && s == "#" {
		l.Push(lua.LNumber(n - 1))
		return 1
	}
	i := e.checkInt(l, 1, "select")
	switch {
	case i < 0:
		i = n + i
	case i > n:
		i = n
	}
	if i < 1 {
		argError(l, 1, "select", "index out of range")
	}
	return n - i
}

func (e *Engine) typeOf(l *lua.LState) int {
	l.Push(lua.LString(checkAny(l, 1, "type").Type().String()))
	return 1
}

func (e *Engine) toString(l *lua.LState) int {
	v := checkAny(l, 1, "tostring")
	l.Push(e.text(l, v))
	return 1
}

func (e *Engine) text(l *lua.LState, v lua.LValue) lua.LValue {
	switch v := v.(type) {
	case lua.LString:
		return v
	case lua.LNumber:
		return lua.LString(formatNumber(float64(v)))
	}
	if f, ok := l.GetMetaField(v, "__tostring").(*lua.LFunction); ok {
		l.Push(f)
		l.Push(v)
		l.Call(1, 1)
		out := l.Get(-1)
		l.Pop(1)
		return out
	}
	return lua.LString(v.String())
}

func (e *Engine) toNumber(l *lua.LState) int {
	base := e.optInt(l, 2, 10, "tonumber")
	v := checkAny(l, 1, "tonumber")
	if base != 10 {
		return numberInBase(l, e.checkString(l, 1, "tonumber"), base)
	}
	if n, ok := v.(lua.LNumber); ok {
		l.Push(n)
		return 1
	}
	if n, ok := e.number(l, v); ok {
		l.Push(lua.LNumber(n))
		return 1
	}
	l.Push(lua.LNil)
	return 1
}

func numberInBase(l *lua.LState, text string, base int) int {
	if base < 2 || base > 36 {
		argError(l, 2, "tonumber", "base out of range")
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

func (e *Engine) unpack(l *lua.LState) int {
	t := e.behind(checkTable(l, 1, "unpack"))
	i, j := e.optInt(l, 2, 1, "unpack"), 0
	if l.Get(3) == lua.LNil {
		j = border(t)
	} else {
		j = e.checkInt(l, 3, "unpack")
	}
	if i > j {
		return 0
	}
	n := j - i + 1
	if n <= 0 || n >= maxUnpack {
		raise(l, "too many results to unpack")
	}
	e.tick(l, n)
	for ; i <= j; i++ {
		l.Push(t.RawGet(lua.LNumber(i)))
	}
	return n
}

// collectGarbage pretends: the collector is the server's, and a script is not to start it.
func (e *Engine) collectGarbage(l *lua.LState) int {
	l.Push(lua.LNumber(0))
	return 1
}

func (e *Engine) osClock(l *lua.LState) int {
	l.Push(lua.LNumber(float64(e.o.Clock()) / float64(time.Second)))
	return 1
}
