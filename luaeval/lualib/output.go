package lualib

import (
	"strings"
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

// Bytes that values of gopher-lua take: measured.
const (
	tableBytes   = 96
	fieldsBytes  = 512 // the maps of a table with up to eight fields
	fieldBytes   = 120
	ElementBytes = 16
)

// Tick counts n units of work. It raises an error when the script has to end. A function calls it
// while it works: see [limits.Limits.Tick].
func (lib *Lib) Tick(l *lua.LState, n int) {
	if err := lib.Limits.Tick(n); err != nil {
		Raise(l, err.Error())
	}
}

// Charge counts n bytes that are about to be taken. It raises an error when that is too much.
func (lib *Lib) Charge(l *lua.LState, n int) {
	if err := lib.Limits.Charge(n); err != nil {
		Raise(l, err.Error())
	}
}

// tooLong raises an error when n bytes are more than a string may have.
func (lib *Lib) tooLong(l *lua.LState, n int) {
	if int64(n) > lib.Limits.Longest() {
		Raise(l, limits.ErrMemory.Error())
	}
}

// NewTable makes a table with room for n elements and the given number of fields, and charges it.
func (lib *Lib) NewTable(l *lua.LState, n, fields int) *lua.LTable {
	size := tableBytes + ElementBytes*n
	if fields > 0 {
		size += max(fieldsBytes, fieldBytes*fields)
	}
	lib.Charge(l, size)
	return l.CreateTable(min(n, LargestHole), fields)
}

// piece returns s[from:to] as a string of the script. It copies a small piece of a long string:
// otherwise the piece would keep all of s in memory.
func (lib *Lib) piece(l *lua.LState, s string, from, to int) lua.LString {
	if len(s) < 1<<10 || to-from > len(s)/2 {
		return lua.LString(s[from:to])
	}
	lib.Charge(l, to-from)
	return lua.LString(strings.Clone(s[from:to]))
}

// Output is a string that a library function builds. It charges its growth.
type Output struct {
	lib     *Lib
	l       *lua.LState
	b       []byte
	counted int
}

// keptOutput is the size of the largest buffer that one shortOutput leaves to the next. It is less than a
// Portion, so no string shares the buffer.
const keptOutput = 1 << 10

// shortOutput is an output that is probably short. Nobody else may build one until keep is called.
func (lib *Lib) shortOutput(l *lua.LState) Output { return Output{lib: lib, l: l, b: lib.short[:0]} }

// keep leaves the buffer to the next shortOutput.
func (o *Output) keep() {
	if cap(o.b) <= keptOutput {
		o.lib.short = o.b
	}
}

// Portion is how many bytes of an output or a reply are charged at a time.
const Portion = 1 << 16

// expect announces that n bytes will be appended.
func (o *Output) expect(n int) {
	o.lib.Tick(o.l, 1)
	if size := len(o.b) + n; size-o.counted > Portion {
		o.lib.Charge(o.l, size-o.counted)
		o.lib.tooLong(o.l, size)
		o.counted = size
	}
}

// Text appends s.
func (o *Output) Text(s string) {
	o.expect(len(s))
	o.b = append(o.b, s...)
}

// push pushes the output as a string of the script. A long output is not copied, so it must not
// grow afterwards.
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
