package lualib

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// addArithmetic adds the arithmetic operators to the metatable of strings.
func (lib *Lib) addArithmetic(meta *lua.LTable) {
	for event, do := range map[string]func(a, b float64) float64{
		"__add": func(a, b float64) float64 { return a + b },
		"__sub": func(a, b float64) float64 { return a - b },
		"__mul": func(a, b float64) float64 { return a * b },
		"__div": func(a, b float64) float64 { return a / b },
		"__mod": Modulo,
		"__pow": Power,
		"__unm": func(a, _ float64) float64 { return -a },
	} {
		meta.RawSetString(event, lib.l.NewFunction(func(l *lua.LState) int {
			left, right := l.Get(1), l.Get(2)
			if event == "__unm" {
				right = left
			}
			return lib.arithmetic(l, left, right, event, do)
		}))
	}
}

// arithmetic computes an operator whose operands may be strings or have metamethods.
func (lib *Lib) arithmetic(l *lua.LState, left, right lua.LValue, event string, do func(a, b float64) float64) int {
	a, aok := lib.number(l, left)
	b, bok := lib.number(l, right)
	if aok && bok {
		l.Push(lua.LNumber(do(a, b)))
		return 1
	}
	if f := lib.otherMeta(l, left, right, event); f != lua.LNil {
		l.Push(lib.metamethod(l, f, left, right))
		return 1
	}
	bad := left
	if aok {
		bad = right
	}
	Raise(l, "attempt to perform arithmetic on a "+bad.Type().String()+" value")
	return 0
}

// Modulo is the % of Lua 5.1. gopher-lua's own % rounds better and handles infinity, so it differs.
func Modulo(a, b float64) float64 { return a - math.Floor(a/b)*b }

// Power is the pow of C, which rounds correctly. Go's math.Pow sometimes misses the last bit. For
// integral exponents, which most scripts use, Power multiplies with twice the digits.
func Power(a, b float64) float64 {
	const most = 64
	if (a != a || b != b) && a != 1 && b != 0 {
		return a + b // keep the sign of NaN, which is printed
	}
	r := math.Pow(a, b)
	if r != r {
		return noNumber()
	}
	if b != math.Trunc(b) || math.Abs(b) > most || math.IsInf(a, 0) || math.IsInf(r, 0) || r == 0 {
		return r
	}
	high, low := 1.0, 0.0
	for range int(math.Abs(b)) {
		product := high * a
		low = math.FMA(high, a, -product) + low*a
		high = product + low
		low = product - high + low
	}
	switch {
	case math.IsInf(high, 0) || high == 0 || high != high: // an intermediate result overflowed, the final one did not
		return r
	case b < 0:
		inverse := 1 / high
		return inverse + inverse*(math.FMA(-inverse, high, 1)-inverse*low)
	}
	return high
}

// operator returns the function for an operator that gopher-lua computes differently from Lua 5.1.
func (lib *Lib) operator(event string, do func(a, b float64) float64) *lua.LFunction {
	return lib.l.NewFunction(func(l *lua.LState) int {
		left, right := l.Get(1), l.Get(2)
		a, aok := left.(lua.LNumber)
		b, bok := right.(lua.LNumber)
		if aok && bok {
			l.Push(lua.LNumber(do(float64(a), float64(b))))
			return 1
		}
		return lib.arithmetic(l, left, right, event, do)
	})
}

func (lib *Lib) otherMeta(l *lua.LState, left, right lua.LValue, event string) lua.LValue {
	for _, v := range [2]lua.LValue{left, right} {
		if v.Type() != lua.LTString {
			if f := l.GetMetaField(v, event); f != lua.LNil {
				return f
			}
		}
	}
	return lua.LNil
}
