package lualib

import (
	"strings"
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

// What gopher-lua's values take, measured for its tables: an LTable with the header of its array, a
// field in its three maps and lists, an element of its array.
const (
	tableBytes   = 96
	fieldsBytes  = 512 // the maps of a table with up to eight fields
	fieldBytes   = 120
	ElementBytes = 16
)

// tick raises the error of a script that has to end. Library functions call it as they go, see
// [limits.tick].
func (lib *Lib) Tick(l *lua.LState, n int) {
	if err := lib.Limits.Tick(n); err != nil {
		Raise(l, err.Error())
	}
}

// charge raises the error of a script that takes too much memory, before it takes it.
func (lib *Lib) Charge(l *lua.LState, n int) {
	if err := lib.Limits.Charge(n); err != nil {
		Raise(l, err.Error())
	}
}

// tooLong raises the error of a string that would be longer than a string may be.
func (lib *Lib) tooLong(l *lua.LState, n int) {
	if int64(n) > lib.Limits.MaxBulk() {
		Raise(l, limits.ErrMemory.Error())
	}
}

// newTable makes a table with room for n elements and so many fields, and counts it.
func (lib *Lib) NewTable(l *lua.LState, n, fields int) *lua.LTable {
	size := tableBytes + ElementBytes*n
	if fields > 0 {
		size += max(fieldsBytes, fieldBytes*fields)
	}
	lib.Charge(l, size)
	return l.CreateTable(min(n, LargestHole), fields)
}

// piece is s[from:to] as a string of the script. A small piece is copied: it would keep all of s in
// memory.
func (lib *Lib) piece(l *lua.LState, s string, from, to int) lua.LString {
	if len(s) < 1<<10 || to-from > len(s)/2 {
		return lua.LString(s[from:to])
	}
	lib.Charge(l, to-from)
	return lua.LString(strings.Clone(s[from:to]))
}

// output is a string that a library function builds. It counts what it grows by.
type Output struct {
	lib     *Lib
	l       *lua.LState
	b       []byte
	counted int
}

// Portion is how many bytes of an output, or of a reply, are counted at a time.
const Portion = 1 << 16

// expect is called before n bytes are appended.
func (o *Output) expect(n int) {
	o.lib.Tick(o.l, 1)
	if size := len(o.b) + n; size-o.counted > Portion {
		o.lib.Charge(o.l, size-o.counted)
		o.lib.tooLong(o.l, size)
		o.counted = size
	}
}

// text appends s.
func (o *Output) Text(s string) {
	o.expect(len(s))
	o.b = append(o.b, s...)
}

// push ends the output, which becomes a string of the script: a long one without a copy.
func (o *Output) push() {
	if n := len(o.b); n > Portion && cap(o.b)-n < n/4 {
		o.l.Push(lua.LString(unsafe.String(unsafe.SliceData(o.b), n)))
		return
	}
	o.l.Push(lua.LString(o.b))
}

// String returns the output.
func (o *Output) String() string { return string(o.b) }

// Len returns the length of the output in bytes.
func (o *Output) Len() int { return len(o.b) }

// NewOutput returns an empty output.
func (lib *Lib) NewOutput(l *lua.LState) *Output { return &Output{lib: lib, l: l} }
