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
	for name, n := range map[string]int{
		"acos": 1, "asin": 1, "atan": 1, "atan2": 2, "ceil": 1, "cos": 1, "cosh": 1, "deg": 1, "exp": 1, "floor": 1,
		"fmod": 2, "frexp": 1, "log": 1, "log10": 1, "rad": 1, "sin": 1, "sinh": 1, "sqrt": 1, "tan": 1,
		"tanh": 1,
	} {
		t.RawSetString(name, lib.l.NewFunction(lib.ofNumbers(name, n, t.RawGetString(name).(*lua.LFunction).GFunction)))
	}
	t.RawSetString("pow", lib.l.NewFunction(lib.ofNumbers("pow", 2, func(l *lua.LState) int {
		l.Push(lua.LNumber(Power(float64(l.Get(1).(lua.LNumber)), float64(l.Get(2).(lua.LNumber)))))
		return 1
	})))
	for name, f := range map[string]lua.LGFunction{
		"abs": lib.abs, "ldexp": lib.ldexp, "modf": lib.modf,
		"max": lib.extreme("max", func(a, b float64) bool { return a > b }),
		"min": lib.extreme("min", func(a, b float64) bool { return a < b }),
	} {
		t.RawSetString(name, lib.l.NewFunction(f))
	}
	t.RawSetString("mod", t.RawGetString("fmod"))
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
	return t
}

func (lib *Lib) abs(l *lua.LState) int {
	l.Push(lua.LNumber(math.Abs(lib.checkNumber(l, 1, "abs"))))
	return 1
}

func (lib *Lib) ldexp(l *lua.LState) int {
	exponent := lib.CheckInt(l, 2, "ldexp")
	l.Push(lua.LNumber(math.Ldexp(lib.checkNumber(l, 1, "ldexp"), exponent)))
	return 1
}

func (lib *Lib) modf(l *lua.LState) int {
	n := lib.checkNumber(l, 1, "modf")
	whole, fraction := math.Trunc(n), 0.0
	if !math.IsInf(n, 0) {
		fraction = math.Abs(n - whole)
	}
	fraction = math.Copysign(fraction, n)
	l.Push(lua.LNumber(whole))
	l.Push(lua.LNumber(fraction))
	return 2
}

// extreme returns math.max or math.min.
func (lib *Lib) extreme(name string, beyond func(a, b float64) bool) lua.LGFunction {
	return func(l *lua.LState) int {
		best := lib.checkNumber(l, 1, name)
		for i := 2; i <= l.GetTop(); i++ {
			if n := lib.checkNumber(l, i, name); beyond(n, best) {
				best = n
			}
		}
		l.Push(lua.LNumber(best))
		return 1
	}
}

// noNumber returns the NaN that x86 makes. It is printed as -nan.
func noNumber() float64 { return math.Float64frombits(0xfff8 << 48) }

// ofNumbers wraps a function f of one or two numbers. It gives a NaN the sign that it has on Redis.
func (lib *Lib) ofNumbers(name string, args int, f lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		var numbers [2]float64
		for i := args; i > 0; i-- { // C compilers evaluate the last argument first
			numbers[i-1] = lib.checkNumber(l, i, name)
		}
		l.SetTop(0)
		for _, n := range numbers[:args] {
			l.Push(lua.LNumber(n))
		}
		n := f(l)
		if v, ok := l.Get(-1).(lua.LNumber); ok && v != v {
			r := numbers[0] + numbers[1]
			switch {
			case r != r && !math.IsInf(numbers[0], 0):
			case name == "acos" || name == "asin" || name == "log10":
				r = math.NaN()
			default:
				r = noNumber()
			}
			l.Push(lua.LNumber(r))
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
