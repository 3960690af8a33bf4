package lualib

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const maxUnpackDepth = 1000 // the original ends where the stack of C does

func (lib *Lib) msgpackLib() *lua.LTable {
	t := lib.Functions(map[string]lua.LGFunction{
		"pack": lib.msgPack, "unpack": lib.msgUnpack, "unpack_one": lib.msgUnpackOne, "unpack_limit": lib.msgUnpackLimit,
	})
	for name, text := range map[string]string{
		"_NAME": "cmsgpack", "_VERSION": "lua-cmsgpack 0.4.0",
		"_COPYRIGHT": "Copyright (c) 2026 The miniredisd authors", "_DESCRIPTION": "MessagePack for Lua",
	} {
		t.RawSetString(name, lua.LString(text))
	}
	return t
}

func (lib *Lib) msgUnpack(l *lua.LState) int { return lib.unpackFrom(l, "unpack", 0, 0) }

func (lib *Lib) msgUnpackOne(l *lua.LState) int {
	return lib.unpackFrom(l, "unpack_one", 1, lib.optLong(l, 2, 0, "unpack_one"))
}

func (lib *Lib) msgUnpackLimit(l *lua.LState) int {
	limit := lib.checkLong(l, 2, "unpack_limit")
	return lib.unpackFrom(l, "unpack_limit", limit, lib.optLong(l, 3, 0, "unpack_limit"))
}

// unpackFrom reads up to limit values from the given offset. Before the values it returns the
// offset of the next one, or -1 at the end. With limit and offset 0 it returns all values and no
// offset.
func (lib *Lib) unpackFrom(l *lua.LState, function string, limit, offset int) int {
	u := unpacker{lib: lib, l: l, s: lib.CheckString(l, 1, function), i: offset}
	switch {
	case offset < 0 || limit < 0: // as in the original, the text has the length in place of the limit
		Raise(l, fmt.Sprintf("Invalid request to unpack with offset of %d and limit of %d.", int32(offset), len(u.s)))
	case offset > len(u.s):
		Raise(l, fmt.Sprintf("Start offset %d greater than input length %d.", int32(offset), len(u.s)))
	}
	all := limit == 0 && offset == 0
	top := l.GetTop()
	if !all {
		l.Push(lua.LNil)
	}
	for n := 1; u.i < len(u.s) && (all || n <= limit); n++ {
		if n >= maxUnpack {
			Raise(l, "too many values")
		}
		l.Push(u.value(0))
	}
	if !all {
		next := u.i
		if next == len(u.s) {
			next = -1
		}
		l.Replace(top+1, lua.LNumber(next))
	}
	return l.GetTop() - top
}

type unpacker struct {
	lib *Lib
	l   *lua.LState
	s   string
	i   int
}

func (u *unpacker) take(n int) string {
	if n > len(u.s)-u.i {
		Raise(u.l, "Missing bytes in input.")
	}
	u.i += n
	return u.s[u.i-n : u.i]
}

func (u *unpacker) uint(size int) uint64 {
	n := uint64(0)
	for _, c := range []byte(u.take(size)) {
		n = n<<8 | uint64(c)
	}
	return n
}

func (u *unpacker) value(depth int) lua.LValue {
	if depth > maxUnpackDepth {
		Raise(u.l, "stack overflow (in function mp_decode_to_lua_type)")
	}
	u.lib.Charge(u.l, ElementBytes)
	c := u.take(1)[0]
	switch {
	case c < 0x80:
		return lua.LNumber(c)
	case c >= 0xe0:
		return lua.LNumber(int8(c))
	case c < 0x90:
		return u.table(int(c&15), true, depth)
	case c < 0xa0:
		return u.table(int(c&15), false, depth)
	case c < 0xc0:
		return u.text(int(c & 31))
	}
	switch c {
	case 0xc0:
		return lua.LNil
	case 0xc2, 0xc3:
		return lua.LBool(c == 0xc3)
	case 0xca:
		return lua.LNumber(math.Float32frombits(uint32(u.uint(4))))
	case 0xcb:
		return lua.LNumber(math.Float64frombits(u.uint(8)))
	case 0xcc, 0xcd, 0xce, 0xcf: // Lua 5.1 reads them as signed: the largest come out negative
		return lua.LNumber(int64(u.uint(1 << (c - 0xcc))))
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := 1 << (c - 0xd0)
		unused := 64 - 8*size
		return lua.LNumber(int64(u.uint(size)<<unused) >> unused)
	case 0xd9, 0xda, 0xdb:
		return u.text(int(u.uint(1 << (c - 0xd9))))
	case 0xdc, 0xdd:
		return u.table(int(u.uint(2<<(c-0xdc))), false, depth)
	case 0xde, 0xdf:
		return u.table(int(u.uint(2<<(c-0xde))), true, depth)
	}
	Raise(u.l, "Bad data format in input.")
	return lua.LNil
}

func (u *unpacker) text(n int) lua.LValue {
	s := u.take(n)
	u.lib.Charge(u.l, n)
	return lua.LString(strings.Clone(s))
}

// table reads an array or a map of n elements. n may be a lie: room is made for 64 elements at most
// before they are seen.
func (u *unpacker) table(n int, pairs bool, depth int) lua.LValue {
	room, fields := min(n, len(u.s)-u.i, 64), 0
	if pairs {
		room, fields = 0, room
	}
	t := u.lib.NewTable(u.l, room, fields)
	for i := 1; i <= n; i++ {
		k := lua.LValue(lua.LNumber(i))
		if pairs {
			k = u.value(depth + 1)
		}
		v := u.value(depth + 1)
		u.lib.rawSet(u.l, t, k, v)
	}
	return t
}
