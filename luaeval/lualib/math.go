package lualib

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// mathLib is gopher-lua's math with the random numbers of Redis (rand.c), which are those of
// drand48. A script that sets the seed gets the same numbers from every server.
func (lib *Lib) mathLib(t *lua.LTable) *lua.LTable {
	t.RawSetString("random", lib.l.NewFunction(lib.mathRandom))
	t.RawSetString("randomseed", lib.l.NewFunction(lib.randomSeed))
	for _, name := range []string{"cos", "fmod", "log", "log10", "sin", "tan"} {
		t.RawSetString(name, lib.l.NewFunction(negativeNaN(t.RawGetString(name).(*lua.LFunction).GFunction)))
	}
	t.RawSetString("pow", lib.l.NewFunction(func(l *lua.LState) int {
		y := lib.checkNumber(l, 2, "pow") // C compilers evaluate the last argument first
		l.Push(lua.LNumber(Power(lib.checkNumber(l, 1, "pow"), y)))
		return 1
	}))
	t.RawSetString("mod", t.RawGetString("fmod"))
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
	return t
}

// noNumber returns the NaN that x86 makes. It is printed as -nan.
func noNumber() float64 { return math.Float64frombits(0xfff8 << 48) }

// negativeNaN wraps f, so that a NaN among its results is printed as on Redis.
func negativeNaN(f lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		n := f(l)
		if v, ok := l.Get(-1).(lua.LNumber); ok && v != v {
			l.Push(lua.LNumber(noNumber()))
		}
		return n
	}
}

// seed is srand48: it returns the state that a seed leads to.
func seed(n uint32) uint64 { return uint64(n)<<16 | 0x330e }

func (lib *Lib) mathRandom(l *lua.LState) int {
	lib.random = (lib.random*0x5deece66d + 0xb) & (1<<48 - 1)
	const most = 1<<31 - 1
	r := float64((lib.random>>17)%most) / most
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(r))
	case 1:
		u := float64(lib.CheckInt(l, 1, "random"))
		if u < 1 {
			ArgError(l, 1, "random", "interval is empty")
		}
		l.Push(lua.LNumber(math.Floor(r*u) + 1))
	case 2:
		from, to := float64(lib.CheckInt(l, 1, "random")), float64(lib.CheckInt(l, 2, "random"))
		if from > to {
			ArgError(l, 2, "random", "interval is empty")
		}
		l.Push(lua.LNumber(math.Floor(r*(to-from+1)) + from))
	default:
		Raise(l, "wrong number of arguments")
	}
	return 1
}

// SeedRandom makes math.random begin anew.
func (lib *Lib) SeedRandom(n uint32) { lib.random = seed(n) }

func (lib *Lib) randomSeed(l *lua.LState) int {
	lib.random = seed(uint32(lib.CheckInt(l, 1, "randomseed")))
	return 0
}
