package lualib

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// bitLib is LuaBitOp: operations on 32 bits with signed results.
func (lib *Lib) bitLib() *lua.LTable {
	fold := func(name string, do func(a, b uint32) uint32) lua.LGFunction {
		return func(l *lua.LState) int {
			v := lib.bitArg(l, 1, name)
			for i := l.GetTop(); i > 1; i-- { // the order in which LuaBitOp reads them
				v = do(v, lib.bitArg(l, i, name))
			}
			return pushBits(l, v)
		}
	}
	shift := func(name string, do func(v uint32, n int) uint32) lua.LGFunction {
		return func(l *lua.LState) int {
			return pushBits(l, do(lib.bitArg(l, 1, name), int(lib.bitArg(l, 2, name)&31)))
		}
	}
	one := func(name string, do func(v uint32) uint32) lua.LGFunction {
		return func(l *lua.LState) int { return pushBits(l, do(lib.bitArg(l, 1, name))) }
	}
	return lib.Functions(map[string]lua.LGFunction{
		"tobit":   one("tobit", func(v uint32) uint32 { return v }),
		"bnot":    one("bnot", func(v uint32) uint32 { return ^v }),
		"bswap":   one("bswap", bits.ReverseBytes32),
		"band":    fold("band", func(a, b uint32) uint32 { return a & b }),
		"bor":     fold("bor", func(a, b uint32) uint32 { return a | b }),
		"bxor":    fold("bxor", func(a, b uint32) uint32 { return a ^ b }),
		"lshift":  shift("lshift", func(v uint32, n int) uint32 { return v << n }),
		"rshift":  shift("rshift", func(v uint32, n int) uint32 { return v >> n }),
		"arshift": shift("arshift", func(v uint32, n int) uint32 { return uint32(int32(v) >> n) }),
		"rol":     shift("rol", func(v uint32, n int) uint32 { return bits.RotateLeft32(v, n) }),
		"ror":     shift("ror", func(v uint32, n int) uint32 { return bits.RotateLeft32(v, -n) }),
		"tohex":   lib.bitToHex,
	})
}

// bitArg converts a number to an integer as LuaBitOp does. It adds 2^52 + 2^51, which leaves the
// integer, rounded to even, in the low 32 bits. A number that is too large leaves other bits there.
func (lib *Lib) bitArg(l *lua.LState, n int, function string) uint32 {
	return uint32(math.Float64bits(lib.checkNumber(l, n, function) + (1<<52 + 1<<51)))
}

func pushBits(l *lua.LState, v uint32) int {
	l.Push(lua.LNumber(int32(v)))
	return 1
}

func (lib *Lib) bitToHex(l *lua.LState) int {
	v, n := lib.bitArg(l, 1, "tohex"), 8
	if l.GetTop() > 1 {
		n = int(int32(lib.bitArg(l, 2, "tohex")))
	}
	upper := n < 0
	if upper {
		n = -n
	}
	text := strconv.FormatUint(uint64(v)|1<<32, 16)[1:]
	text = text[8-min(n, 8):]
	if upper {
		text = strings.ToUpper(text)
	}
	l.Push(lua.LString(text))
	return 1
}
