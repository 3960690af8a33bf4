package lualib

import (
	"encoding/binary"
	"math"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

const maxPackDepth = 16 // lua_cmsgpack.c: LUACMSGPACK_MAX_NESTING; deeper tables become nil

// msgPack is cmsgpack.pack(value ...).
func (lib *Lib) msgPack(l *lua.LState) int {
	if l.GetTop() == 0 {
		ArgError(l, 0, "pack", "MessagePack pack needs input.")
	}
	o := lib.shortOutput(l)
	p := packer{lib: lib, l: l, b: o.b, most: Portion}
	if p.packAll(); p.cut {
		p = packer{lib: lib, l: l}
		for i := 1; i <= l.GetTop(); i++ {
			p.measure(l.Get(i), 0)
		}
		lib.Charge(l, p.size)
		p.b = make([]byte, 0, p.size)
		p.packAll()
	}
	o.b = p.b
	o.push()
	o.keep()
	return 1
}

// packer packs values. When they take more than a few bytes, it measures them first. So a result that
// is too long takes neither memory nor time: 16 tables that each contain the one before ten times take
// 10^16 bytes, but each is measured once for each depth.
type packer struct {
	lib   *Lib
	l     *lua.LState
	b     []byte
	most  int             // bytes to pack before measuring; 0 when everything is measured
	cut   bool            // there are more
	size  int             // in bytes, of what was measured
	parts map[part]packed // tables that take partBytes or more
}

func (p *packer) packAll() {
	for i := 1; i <= p.l.GetTop(); i++ {
		p.pack(p.l.Get(i), 0)
	}
}

// part is a table at one depth. It takes less at a greater one, because nesting ends at maxPackDepth.
type part struct {
	t     *lua.LTable
	depth int
}

// packed is where a part was packed. It was not packed yet when its end is 0.
type packed struct{ size, end int }

// partBytes is the size from which on a table is measured once, and copied when it occurs again.
const partBytes = 64

// measure adds the bytes that v takes to p.size.
func (p *packer) measure(v lua.LValue, depth int) {
	p.lib.Tick(p.l, 1)
	var b [9]byte // of any number, and of the head of any string
	switch v := v.(type) {
	case lua.LString:
		p.size += len(appendStringHead(b[:0], len(v))) + len(v)
	case lua.LNumber:
		p.size += len(appendPackedNumber(b[:0], float64(v)))
	case *lua.LTable:
		if depth < maxPackDepth {
			p.measureTable(p.lib.behind(v), depth+1)
			return
		}
		p.size++
	default:
		p.size++
	}
	p.lib.tooLong(p.l, p.size)
}

func (p *packer) measureTable(t *lua.LTable, depth int) {
	at := part{t, depth}
	if known, ok := p.parts[at]; ok {
		p.size += known.size
		p.lib.tooLong(p.l, p.size)
		return
	}
	from := p.size
	n, isArray := p.shape(t)
	var b [5]byte
	p.size += len(appendTableHead(b[:0], n, isArray))
	p.each(t, n, isArray, depth, (*packer).measure)
	if p.size-from < partBytes {
		return
	}
	if p.parts == nil {
		p.parts = map[part]packed{}
	}
	p.parts[at] = packed{size: p.size - from}
}

// shape returns the number of elements, and whether their keys are 1 to n.
func (p *packer) shape(t *lua.LTable) (n int, isArray bool) {
	p.lib.Tick(p.l, NextWork)
	isArray = true
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		p.lib.Tick(p.l, 1)
		n++
		isArray = isArray && k == lua.LValue(lua.LNumber(n))
	}
	return n, isArray
}

// each calls do for all elements of an array, or for all keys and values.
func (p *packer) each(t *lua.LTable, n int, isArray bool, depth int, do func(*packer, lua.LValue, int)) {
	if isArray {
		for i := 1; i <= n && !p.cut; i++ {
			do(p, Element(t, i), depth)
		}
		return
	}
	for k, v := t.Next(lua.LNil); k != lua.LNil && !p.cut; k, v = t.Next(k) {
		do(p, k, depth)
		do(p, v, depth)
	}
}

// pack appends v as MessagePack.
func (p *packer) pack(v lua.LValue, depth int) {
	p.lib.Tick(p.l, 1)
	p.cut = p.cut || p.most > 0 && len(p.b) > p.most
	switch v := v.(type) {
	case lua.LString:
		if p.cut = p.cut || p.most > 0 && len(v) > p.most; p.cut {
			return
		}
		p.lib.Tick(p.l, len(v)/limits.BytesPerUnit)
		p.b = append(appendStringHead(p.b, len(v)), v...)
		return
	case lua.LNumber:
		p.b = appendPackedNumber(p.b, float64(v))
		return
	case lua.LBool:
		if v {
			p.b = append(p.b, 0xc3)
		} else {
			p.b = append(p.b, 0xc2)
		}
		return
	case *lua.LTable:
		if depth < maxPackDepth {
			p.packTable(p.lib.behind(v), depth+1)
			return
		}
	}
	p.b = append(p.b, 0xc0)
}

// packTable copies a table that it has packed before.
func (p *packer) packTable(t *lua.LTable, depth int) {
	at := part{t, depth}
	known, isPart := p.parts[at]
	if known.end > 0 {
		p.lib.Tick(p.l, known.size/limits.BytesPerUnit)
		p.b = append(p.b, p.b[known.end-known.size:known.end]...)
		return
	}
	n, isArray := p.shape(t)
	p.b = appendTableHead(p.b, n, isArray)
	p.each(t, n, isArray, depth, (*packer).pack)
	if isPart {
		known.end = len(p.b)
		p.parts[at] = known
	}
}

func appendStringHead(b []byte, n int) []byte {
	return appendSize(b, n, 0xa0, 32, 0xd9, 0xda, 0xdb)
}

func appendTableHead(b []byte, n int, isArray bool) []byte {
	if isArray {
		return appendSize(b, n, 0x90, 16, 0, 0xdc, 0xdd)
	}
	return appendSize(b, n, 0x80, 16, 0, 0xde, 0xdf)
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
