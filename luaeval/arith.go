package luaeval

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// addArithmetic gives the strings' metatable the operators.
func (e *Engine) addArithmetic(meta *lua.LTable) {
	for event, do := range map[string]func(a, b float64) float64{
		"__add": func(a, b float64) float64 { return a + b },
		"__sub": func(a, b float64) float64 { return a - b },
		"__mul": func(a, b float64) float64 { return a * b },
		"__div": func(a, b float64) float64 { return a / b },
		"__mod": func(a, b float64) float64 { return a - math.Floor(a/b)*b },
		"__pow": math.Pow,
		"__unm": func(a, _ float64) float64 { return -a },
	} {
		meta.RawSetString(event, e.l.NewFunction(func(l *lua.LState) int {
			left, right := l.Get(1), l.Get(2)
			if event == "__unm" {
				right = left
			}
			a, aok := toNumber(left)
			b, bok := toNumber(right)
			if aok && bok {
				l.Push(lua.LNumber(do(a, b)))
				return 1
			}
			if f := e.otherMeta(l, left, right, event); f != lua.LNil {
				l.Push(e.callback(l, f, left, right))
				return 1
			}
			bad := left
			if aok {
				bad = right
			}
			raise(l, "attempt to perform arithmetic on a "+bad.Type().String()+" value")
			return 0
		}))
	}
}

func (e *Engine) otherMeta(l *lua.LState, left, right lua.LValue, event string) lua.LValue {
	for _, v := range [2]lua.LValue{left, right} {
		if v.Type() != lua.LTString {
			if f := l.GetMetaField(v, event); f != lua.LNil {
				return f
			}
		}
	}
	return lua.LNil
}
