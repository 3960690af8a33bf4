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
	t.RawSetString("mod", t.RawGetString("fmod"))
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
	return t
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
		u := float64(checkInt(l, 1, "random"))
		if u < 1 {
			argError(l, 1, "random", "interval is empty")
		}
		l.Push(lua.LNumber(math.Floor(r*u) + 1))
	case 2:
		from, to := float64(checkInt(l, 1, "random")), float64(checkInt(l, 2, "random"))
		if from > to {
			argError(l, 2, "random", "interval is empty")
		}
		l.Push(lua.LNumber(math.Floor(r*(to-from+1)) + from))
	default:
		raise(l, "wrong number of arguments")
	}
	return 1
}

func (e *Engine) randomSeed(l *lua.LState) int {
	e.random = seed(uint32(checkInt(l, 1, "randomseed")))
	return 0
}
