package luaeval

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// hideFunctions makes what the rewritten tree calls, and teaches strings to be numbers in arithmetic: gopher-lua asks for a
// metamethod before it reads a string as a number itself, which it would do with 010 as octal.
func (e *Engine) hideFunctions() {
	l := e.l
	e.hidden[".."] = l.NewFunction(e.concat)
	e.hidden["pass"] = l.NewFunction(func(l *lua.LState) int { return l.GetTop() })
	e.hidden["..list"] = l.NewFunction(e.concatList)
	e.hidden["%"], e.hidden["^"] = e.operator("__mod", modulo), e.operator("__pow", power)
	for _, what := range []string{"initial", "limit", "step"} {
		text := "'for' " + what + " value must be a number"
		if what != "initial" {
			text = "'for' " + what + " must be a number"
		}
		e.hidden["for "+what] = l.NewFunction(func(l *lua.LState) int {
			if n, ok := l.Get(1).(lua.LNumber); ok {
				l.Push(n)
				return 1
			}
			n, ok := e.number(l, l.Get(1))
			if !ok {
				raise(l, text)
			}
			l.Push(lua.LNumber(n))
			return 1
		})
	}
}

// concat is `..` of all its arguments, from the right.
func (e *Engine) concat(l *lua.LState) int {
	top := l.GetTop()
	size := 0
	for i := 1; i <= top; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			size += len(v)
		case lua.LNumber:
			size += 24
		default:
			return e.concatPairs(l, top)
		}
	}
	e.charge(l, size)
	var b strings.Builder
	b.Grow(size)
	for i := 1; i <= top; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			b.WriteString(string(v))
		case lua.LNumber:
			var room [32]byte
			b.Write(appendG(room[:0], float64(v), 14))
		}
	}
	l.Push(lua.LString(b.String()))
	return 1
}

// concatList is concat of the first n values of a table.
func (e *Engine) concatList(l *lua.LState) int {
	list, n := l.Get(1).(*lua.LTable), int(l.Get(2).(lua.LNumber))
	l.SetTop(0)
	for i := range n {
		l.Push(list.RawGetInt(i + 1))
	}
	return e.concat(l)
}

// concatPairs is the slow way, for operands with a __concat and those without one, which are errors.
func (e *Engine) concatPairs(l *lua.LState, top int) int {
	right := l.Get(top)
	for i := top - 1; i > 0; i-- {
		left := l.Get(i)
		a, aok := toText(left)
		b, bok := toText(right)
		if aok && bok {
			e.charge(l, len(a)+len(b))
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
			raise(l, "attempt to concatenate a "+bad.Type().String()+" value")
		}
		right = e.callback(l, f, left, right)
	}
	l.Push(right)
	return 1
}
