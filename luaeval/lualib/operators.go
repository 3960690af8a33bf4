package lualib

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Operators returns the functions that stand for operators in a rewritten script. They are `..`, %
// and ^ as in Lua 5.1, the conversions of the three values of a numeric for, and "pass", which
// returns its arguments.
func (lib *Lib) Operators() map[string]lua.LValue {
	l, operators := lib.l, map[string]lua.LValue{}
	operators[".."] = l.NewFunction(lib.concat)
	operators["pass"] = l.NewFunction(func(l *lua.LState) int { return l.GetTop() })
	operators["..list"] = l.NewFunction(lib.concatList)
	operators["%"], operators["^"] = lib.operator("__mod", modulo), lib.operator("__pow", power)
	for _, what := range []string{"initial", "limit", "step"} {
		text := "'for' " + what + " value must be a number"
		if what != "initial" {
			text = "'for' " + what + " must be a number"
		}
		operators["for "+what] = l.NewFunction(func(l *lua.LState) int {
			if n, ok := l.Get(1).(lua.LNumber); ok {
				l.Push(n)
				return 1
			}
			n, ok := lib.number(l, l.Get(1))
			if !ok {
				Raise(l, text)
			}
			l.Push(lua.LNumber(n))
			return 1
		})
	}
	return operators
}

// concat is `..` of all its arguments, which associates to the right.
func (lib *Lib) concat(l *lua.LState) int {
	top := l.GetTop()
	size := 0
	for i := 1; i <= top; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			size += len(v)
		case lua.LNumber:
			size += 24
		default:
			return lib.concatPairs(l, top)
		}
	}
	lib.Charge(l, size)
	var b strings.Builder
	b.Grow(size)
	for i := 1; i <= top; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			b.WriteString(string(v))
		case lua.LNumber:
			var room [32]byte
			b.Write(AppendG(room[:0], float64(v), 14))
		}
	}
	l.Push(lua.LString(b.String()))
	return 1
}

// concatList is concat of the first n elements of a table.
func (lib *Lib) concatList(l *lua.LState) int {
	list, n := l.Get(1).(*lua.LTable), int(l.Get(2).(lua.LNumber))
	l.SetTop(0)
	for i := range n {
		l.Push(list.RawGetInt(i + 1))
	}
	return lib.concat(l)
}

// concatPairs is the slow path of concat: for operands with a metamethod, and for errors.
func (lib *Lib) concatPairs(l *lua.LState, top int) int {
	right := l.Get(top)
	for i := top - 1; i > 0; i-- {
		left := l.Get(i)
		a, aok := ToText(left)
		b, bok := ToText(right)
		if aok && bok {
			lib.Charge(l, len(a)+len(b))
			right = lua.LString(a + b)
			continue
		}
		f := l.GetMetaField(left, "__concat")
		if f == lua.LNil {
			f = l.GetMetaField(right, "__concat")
		}
		if f == lua.LNil {
			bad := left
			if aok {
				bad = right
			}
			Raise(l, "attempt to concatenate a "+bad.Type().String()+" value")
		}
		right = lib.callback(l, f, left, right)
	}
	l.Push(right)
	return 1
}
