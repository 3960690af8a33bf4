package lualib

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxPackDepth   = 16   // lua_cmsgpack.c: LUACMSGPACK_MAX_NESTING; deeper tables become nil
	maxUnpackDepth = 1000 // the original ends where the stack of C does
)

func (lib *Lib) msgpackLib() *lua.LTable {
	return lib.Functions(map[string]lua.LGFunction{
		"pack": lib.msgPack, "unpack": lib.msgUnpack, "unpack_one": lib.msgUnpackOne, "unpack_limit": lib.msgUnpackLimit,
	})
}

func (lib *Lib) msgPack(l *lua.LState) int {
	if l.GetTop() == 0 {
		ArgError(l, 0, "pack", "MessagePack pack needs input.")
	}
	o := Output{lib: lib, l: l}
	for i := 1; i <= l.GetTop(); i++ {
		o.pack(l.Get(i), 0)
	}
	o.push()
	return 1
}

// pack appends v as MessagePack.
func (o *Output) pack(v lua.LValue, depth int) {
	const head = 9 // size of any number, and of the head of any string
	switch v := v.(type) {
	case lua.LString:
		o.expect(head + len(v))
		o.b = append(appendSize(o.b, len(v), 0xa0, 32, 0xd9, 0xda, 0xdb), v...)
		return
	case lua.LNumber:
		o.expect(head)
		o.b = appendPackedNumber(o.b, float64(v))
		return
	case lua.LBool:
		o.expect(head)
		if v {
			o.b = append(o.b, 0xc3)
		} else {
			o.b = append(o.b, 0xc2)
		}
		return
	case *lua.LTable:
		if depth < maxPackDepth {
			o.packTable(o.lib.behind(v), depth+1)
			return
		}
	}
	o.expect(head)
	o.b = append(o.b, 0xc0)
}

// appendSize appends the head of a string, an array or a map. one8 is 0 for a type without a
// one-byte length.
func appendSize(b []byte, n int, fix byte, below int, one8, two, four byte) []byte {
	switch {
	case n < below:
		return append(b, fix|byte(n))
	case n <= math.MaxUint8 && one8 != 0:
		return append(b, one8, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, two), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, four), uint32(n))
}

func appendPackedNumber(b []byte, f float64) []byte {
	n := Truncate(f)
	big := binary.BigEndian
	switch {
	case float64(n) != f || n == math.MaxInt64:
		if float64(float32(f)) == f {
			return big.AppendUint32(append(b, 0xca), math.Float32bits(float32(f)))
		}
		return big.AppendUint64(append(b, 0xcb), math.Float64bits(f))
	case n >= 0 && n <= 127, n < 0 && n >= -32:
		return append(b, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		return append(b, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		return big.AppendUint16(append(b, 0xcd), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		return big.AppendUint32(append(b, 0xce), uint32(n))
	case n >= 0:
		return big.AppendUint64(append(b, 0xcf), uint64(n))
	case n >= math.MinInt8:
		return append(b, 0xd0, byte(n))
	case n >= math.MinInt16:
		return big.AppendUint16(append(b, 0xd1), uint16(n))
	case n >= math.MinInt32:
		return big.AppendUint32(append(b, 0xd2), uint32(n))
	}
	return big.AppendUint64(append(b, 0xd3), uint64(n))
}

func (o *Output) packTable(t *lua.LTable, depth int) {
	o.lib.Tick(o.l, NextWork)
	n, array := 0, true
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		o.lib.Tick(o.l, 1)
		n++
		array = array && k == lua.LValue(lua.LNumber(n))
	}
	if array {
		o.b = appendSize(o.b, n, 0x90, 16, 0, 0xdc, 0xdd)
		for i := 1; i <= n; i++ {
			o.pack(Element(t, i), depth)
		}
		return
	}
	o.b = appendSize(o.b, n, 0x80, 16, 0, 0xde, 0xdf)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		o.pack(k, depth)
		o.pack(v, depth)
	}
}

func (lib *Lib) msgUnpack(l *lua.LState) int { return lib.unpackFrom(l, "unpack", 0, 0) }

func (lib *Lib) msgUnpackOne(l *lua.LState) int {
	return lib.unpackFrom(l, "unpack_one", 1, lib.OptInt(l, 2, 0, "unpack_one"))
}

func (lib *Lib) msgUnpackLimit(l *lua.LState) int {
	limit := lib.CheckInt(l, 2, "unpack_limit")
	return lib.unpackFrom(l, "unpack_limit", limit, lib.OptInt(l, 3, 0, "unpack_limit"))
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
		u.l.RawSet(t, k, v)
	}
	return t
}
