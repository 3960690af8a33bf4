package lualib

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/internal/double"
)

// Operators returns the functions that a compiled text calls for operators. They are `..`, % and ^ as
// in Lua 5.1, "for", which converts the three values of a numeric for to numbers, and those of exact
// texts.
func (lib *Lib) Operators() map[string]lua.LValue {
	l := lib.l
	list := map[string]lua.LValue{
		"..": l.NewFunction(lib.concat), "for": l.NewFunction(lib.forNumbers),
		"%": lib.operator("__mod", Modulo), "^": lib.operator("__pow", Power),
	}
	for name, f := range lib.exactOperators() {
		list[name] = l.NewFunction(f)
	}
	return list
}

// forNumbers returns the initial value, the limit and the step of a numeric for as numbers.
func (lib *Lib) forNumbers(l *lua.LState) int {
	for i, what := range [3]string{"initial value", "limit", "step"} {
		v := l.Get(i + 1)
		if _, ok := v.(lua.LNumber); !ok {
			n, ok := lib.number(l, v)
			if !ok {
				Raise(l, "'for' "+what+" must be a number")
			}
			v = lua.LNumber(n)
		}
		l.Push(v)
	}
	return 3
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
			b.Write(double.AppendG(room[:0], float64(v), 14))
		}
	}
	l.Push(lua.LString(b.String()))
	return 1
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
		right = lib.metamethod(l, f, left, right)
	}
	l.Push(right)
	return 1
}
