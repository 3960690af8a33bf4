package luaeval

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// mathLib is gopher-lua's with the random numbers of Redis, which are those of the C library's drand48 (rand.c), so that a
// script that seeds them gets the same ones on every server.
func (e *Engine) mathLib(t *lua.LTable) *lua.LTable {
	t.RawSetString("random", e.l.NewFunction(e.mathRandom))
	t.RawSetString("randomseed", e.l.NewFunction(e.randomSeed))
	for _, name := range []string{"cos", "fmod", "log", "log10", "sin", "tan"} {
		t.RawSetString(name, e.l.NewFunction(negativeNaN(t.RawGetString(name).(*lua.LFunction).GFunction)))
	}
	t.RawSetString("pow", e.l.NewFunction(func(l *lua.LState) int {
		y := e.checkNumber(l, 2, "pow") // C compilers look at the last argument first
		l.Push(lua.LNumber(power(e.checkNumber(l, 1, "pow"), y)))
		return 1
	}))
	t.RawSetString("mod", t.RawGetString("fmod"))
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
	return t
}

// noNumber is NaN as processors of Redis's kind make it, which prints as -nan.
func noNumber() float64 { return math.Float64frombits(0xfff8 << 48) }

// negativeNaN makes what f has no answer for print as on Redis.
func negativeNaN(f lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		n := f(l)
		if v, ok := l.Get(-1).(lua.LNumber); ok && v != v {
			l.Push(lua.LNumber(noNumber()))
		}
		return n
	}
}

// seed is srand48.
func seed(n uint32) uint64 { return uint64(n)<<16 | 0x330e }

func (e *Engine) mathRandom(l *lua.LState) int {
	e.random = (e.random*0x5deece66d + 0xb) & (1<<48 - 1)
	const most = 1<<31 - 1
	r := float64((e.random>>17)%most) / most
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(r))
	case 1:
		u := float64(e.checkInt(l, 1, "random"))
		if u < 1 {
			argError(l, 1, "random", "interval is empty")
		}
		l.Push(lua.LNumber(math.Floor(r*u) + 1))
	case 2:
		from, to := float64(e.checkInt(l, 1, "random")), float64(e.checkInt(l, 2, "random"))
		if from > to {
			argError(l, 2, "random", "interval is empty")
		}
		l.Push(lua.LNumber(math.Floor(r*(to-from+1)) + from))
	default:
		raise(l, "wrong number of arguments")
	}
	return 1
}

// SeedRandom has math.random begin anew.
func (e *Engine) SeedRandom(n uint32) { e.random = seed(n) }

func (e *Engine) randomSeed(l *lua.LState) int {
	e.random = seed(uint32(e.checkInt(l, 1, "randomseed")))
	return 0
}
