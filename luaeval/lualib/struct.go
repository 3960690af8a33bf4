package lualib

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// structLib packs and unpacks binary structures (struct 0.2 by Roberto Ierusalimschy).
func (lib *Lib) structLib() *lua.LTable {
	return lib.Functions(map[string]lua.LGFunction{
		"pack": lib.structPack, "unpack": lib.structUnpack, "size": lib.structSize,
	})
}

// layout reads a format letter by letter. It keeps the byte order and the alignment.
type layout struct {
	l        *lua.LState
	format   string
	function string
	i        int
	big      bool
	align    int
}

func (y *layout) number(def int) int {
	n, from := 0, y.i
	for y.i < len(y.format) && IsDigit(y.format[y.i]) {
		if n > (math.MaxInt32-9)/10 {
			Raise(y.l, "integral size overflow")
		}
		n = n*10 + int(y.format[y.i]-'0')
		y.i++
	}
	if from == y.i {
		return def
	}
	return n
}

// next returns the next element and its size. It handles letters that set the order or the
// alignment.
func (y *layout) next() (kind byte, size int) {
	kind = y.format[y.i]
	y.i++
	switch kind {
	case 'b', 'B', 'x':
		size = 1
	case 'h', 'H':
		size = 2
	case 'f':
		size = 4
	case 'l', 'L', 'T', 'd':
		size = 8
	case 'c':
		size = y.number(1)
	case 'i', 'I':
		if size = y.number(4); size > 32 {
			Raise(y.l, "integral size "+strconv.Itoa(size)+" is larger than limit of 32")
		}
	case 's', ' ':
	case '>':
		y.big = true
	case '<':
		y.big = false
	case '!':
		y.align = y.number(8)
		if y.align <= 0 || y.align&(y.align-1) != 0 {
			Raise(y.l, "alignment "+strconv.Itoa(y.align)+" is not a power of 2")
		}
	}
	return kind, size
}

// invalid raises the error of an unknown option.
func (y *layout) invalid(kind byte) {
	ArgError(y.l, 1, y.function, "invalid format option '"+string([]byte{kind})+"'")
}

// padding returns the bytes to skip before an element of the given kind and size at position at.
func (y *layout) padding(kind byte, size, at int) int {
	if size == 0 || kind == 'c' || kind == 'x' {
		return 0
	}
	a := min(size, y.align)
	if a <= 1 {
		return 0
	}
	return (a - at&(a-1)) & (a - 1)
}

func (lib *Lib) structPack(l *lua.LState) int {
	y := layout{l: l, format: lib.CheckString(l, 1, "pack"), function: "pack", align: 1}
	l.Push(lua.LNil) // the original has it after the arguments, and says nil of one that is missing
	o := Output{lib: lib, l: l}
	arg := 1
	for y.i < len(y.format) {
		kind, size := y.next()
		o.expect(32) // padding and a number
		b := append(o.b, make([]byte, y.padding(kind, size, len(o.b)))...)
		switch kind {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			arg++
			b = y.appendInt(b, lib.checkNumber(l, arg, "pack"), size)
		case 'x':
			b = append(b, 0)
		case 'f':
			arg++
			b = y.appendBits(b, uint64(math.Float32bits(float32(lib.checkNumber(l, arg, "pack")))), 4)
		case 'd':
			arg++
			b = y.appendBits(b, math.Float64bits(lib.checkNumber(l, arg, "pack")), 8)
		case 'c', 's':
			arg++
			s := lib.CheckString(l, arg, "pack")
			if size == 0 {
				size = len(s)
			}
			if len(s) < size {
				ArgError(l, arg+1, "pack", "string too short") // the original counts so
			}
			o.expect(size)
			b = append(b, s[:size]...)
			if kind == 's' {
				b = append(b, 0)
			}
		case ' ', '>', '<', '!':
		default:
			y.invalid(kind)
		}
		o.b = b
	}
	o.push()
	return 1
}

func (y *layout) appendInt(b []byte, f float64, size int) []byte {
	n := uint64(Truncate(f))
	if f >= 1<<63 && f < 1<<64 {
		n = uint64(f)
	}
	return y.appendBits(b, n, size)
}

// appendBits appends size bytes of n. Bytes beyond the eighth are zero.
func (y *layout) appendBits(b []byte, n uint64, size int) []byte {
	from := len(b)
	for i := range size {
		var c byte
		if i < 8 {
			c = byte(n >> (8 * i))
		}
		b = append(b, c)
	}
	if y.big {
		for i, j := from, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	return b
}

func (lib *Lib) structUnpack(l *lua.LState) int {
	y := layout{l: l, format: lib.CheckString(l, 1, "unpack"), function: "unpack", align: 1}
	data := lib.CheckString(l, 2, "unpack")
	at := lib.optLong(l, 3, 1, "unpack") - 1
	if at < 0 {
		ArgError(l, 3, "unpack", "offset must be 1 or greater")
	}
	n := 0
	last := lua.LValue(lua.LNil)
	push := func(v lua.LValue) {
		if last != lua.LNil {
			l.Push(last)
		}
		last = v
		n++
	}
	for y.i < len(y.format) {
		kind, size := y.next()
		lib.Tick(l, 1)
		at += y.padding(kind, size, at)
		if size > len(data) || at > len(data)-size {
			ArgError(l, 2, "unpack", "data string too short")
		}
		switch kind {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			push(y.integer(data[at:at+size], kind >= 'a'))
		case 'f':
			push(lua.LNumber(math.Float32frombits(uint32(y.bits(data[at : at+4])))))
		case 'd':
			push(lua.LNumber(math.Float64frombits(y.bits(data[at : at+8]))))
		case 'c':
			if size == 0 {
				// The length is the number before, which is not returned.
				count, ok := last.(lua.LNumber)
				if !ok {
					Raise(l, "format 'c0' needs a previous size")
				}
				size, last, n = ToInt(float64(count)), lua.LNil, n-1
				if size < 0 || size > len(data)-at {
					ArgError(l, 2, "unpack", "data string too short")
				}
			}
			push(lib.piece(l, data, at, at+size))
		case 's':
			if size = strings.IndexByte(data[at:], 0) + 1; size == 0 {
				Raise(l, "unfinished string in data")
			}
			push(lib.piece(l, data, at, at+size-1))
		case 'x', ' ', '>', '<', '!':
		default:
			y.invalid(kind)
		}
		at += size
	}
	push(lua.LNumber(at + 1))
	l.Push(last)
	return n
}

func (y *layout) bits(data string) uint64 {
	var room [8]byte
	for i := range min(len(data), 8) {
		if y.big {
			room[i] = data[len(data)-1-i]
		} else {
			room[i] = data[i]
		}
	}
	return binary.LittleEndian.Uint64(room[:])
}

func (y *layout) integer(data string, signed bool) lua.LNumber {
	n := y.bits(data)
	if !signed {
		return lua.LNumber(n)
	}
	if unused := 64 - 8*min(len(data), 8); unused > 0 {
		return lua.LNumber(int64(n<<unused) >> unused)
	}
	return lua.LNumber(int64(n))
}

func (lib *Lib) structSize(l *lua.LState) int {
	y := layout{l: l, format: lib.CheckString(l, 1, "size"), function: "size", align: 1}
	total := 0
	for y.i < len(y.format) {
		lib.Tick(l, 1)
		kind, size := y.next()
		if strings.IndexByte(" <>!", kind) < 0 && (kind == '_' || !IsAlpha(kind) && !IsDigit(kind)) {
			y.invalid(kind) // the original takes all letters and digits here
		}
		if kind == 's' {
			ArgError(l, 1, "size", "option 's' has no fixed size")
		}
		if kind == 'c' && size == 0 {
			ArgError(l, 1, "size", "option 'c0' has no fixed size")
		}
		total += y.padding(kind, size, total) + size
	}
	l.Push(lua.LNumber(total))
	return 1
}
