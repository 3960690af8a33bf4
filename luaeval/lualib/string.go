package lualib

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

func (lib *Lib) stringLib() *lua.LTable {
	t := lib.Functions(map[string]lua.LGFunction{
		"byte": lib.strByte, "char": lib.strChar, "dump": strDump, "find": lib.strFind,
		"format": lib.strFormat, "gmatch": lib.strGmatch, "gsub": lib.strGsub, "len": lib.strLen,
		"lower": lib.strLower, "match": lib.strMatch, "rep": lib.strRep, "reverse": lib.strReverse,
		"sub": lib.strSub, "upper": lib.strUpper,
	})
	t.RawSetString("gfind", t.RawGetString("gmatch"))
	meta := lib.l.CreateTable(0, 16)
	meta.RawSetString("__index", t)
	// getmetatable("") returns a read-only table with the read-only library. Out of reach are the
	// metatable in use and the table behind the library, which all scripts share.
	visible := lib.l.CreateTable(0, 1)
	visible.RawSetString("__index", lib.Show(t))
	meta.RawSetString("__metatable", lib.Show(visible))
	lib.addArithmetic(meta)
	lib.l.SetMetatable(lua.LString(""), meta)
	return t
}

// span converts the range i to j of Lua to the bounds of a slice.
func span(n, i, j int) (from, to int) {
	if i < 0 {
		i += n + 1
	}
	if j < 0 {
		j += n + 1
	}
	i, j = max(i, 1), min(j, n)
	if i > j {
		return 0, 0
	}
	return i - 1, j
}

func (lib *Lib) strSub(l *lua.LState) int {
	s := lib.CheckString(l, 1, "sub")
	from, to := span(len(s), lib.checkLong(l, 2, "sub"), lib.optLong(l, 3, -1, "sub"))
	l.Push(lib.piece(l, s, from, to))
	return 1
}

func (lib *Lib) strByte(l *lua.LState) int {
	s := lib.CheckString(l, 1, "byte")
	i := lib.optLong(l, 2, 1, "byte")
	from, to := span(len(s), i, lib.optLong(l, 3, i, "byte"))
	if to-from >= maxUnpack {
		Raise(l, "stack overflow (string slice too long)")
	}
	for _, c := range []byte(s[from:to]) {
		l.Push(lua.LNumber(c))
	}
	return to - from
}

func (lib *Lib) strChar(l *lua.LState) int {
	b := make([]byte, l.GetTop())
	for i := range b {
		c := lib.CheckInt(l, i+1, "char")
		if c < 0 || c > 255 {
			ArgError(l, i+1, "char", "invalid value")
		}
		b[i] = byte(c)
	}
	l.Push(lua.LString(b))
	return 1
}

// dumpHeader begins a binary chunk of Lua 5.1 on a 64-bit machine (lundump.c: luaU_header).
const dumpHeader = "\x1bLuaQ\x00\x01\x04\x08\x04\x08\x00"

// strDump is string.dump. It returns the header of a binary chunk without code: loadstring refuses
// all binary chunks.
func strDump(l *lua.LState) int {
	f, ok := l.Get(1).(*lua.LFunction)
	if !ok {
		TypeError(l, 1, "dump", "function")
	}
	if f.IsG {
		Raise(l, "unable to dump given function")
	}
	l.Push(lua.LString(dumpHeader))
	return 1
}

func (lib *Lib) strLen(l *lua.LState) int {
	l.Push(lua.LNumber(len(lib.CheckString(l, 1, "len"))))
	return 1
}

func (lib *Lib) strLower(l *lua.LState) int {
	return lib.mapped(l, "lower", 'A', 'Z')
}

func (lib *Lib) strUpper(l *lua.LState) int {
	return lib.mapped(l, "upper", 'a', 'z')
}

// mapped changes the case of the letters between from and to.
func (lib *Lib) mapped(l *lua.LState, function string, from, to byte) int {
	s := lib.CheckString(l, 1, function)
	lib.Charge(l, len(s))
	b := []byte(s)
	for i, c := range b {
		if c >= from && c <= to {
			b[i] = c ^ 0x20
		}
	}
	l.Push(lua.LString(b))
	return 1
}

func (lib *Lib) strReverse(l *lua.LState) int {
	s := lib.CheckString(l, 1, "reverse")
	lib.Charge(l, len(s))
	b := make([]byte, len(s))
	for i := range len(s) {
		b[len(s)-1-i] = s[i]
	}
	l.Push(lua.LString(b))
	return 1
}

func (lib *Lib) strRep(l *lua.LState) int {
	s, n := lib.CheckString(l, 1, "rep"), lib.CheckInt(l, 2, "rep")
	if n <= 0 || s == "" {
		l.Push(lua.LString(""))
		return 1
	}
	if int64(n) > lib.Limits.Longest()/int64(len(s)) {
		Raise(l, limits.ErrMemory.Error())
	}
	lib.Charge(l, n*len(s))
	l.Push(lua.LString(strings.Repeat(s, n)))
	return 1
}
