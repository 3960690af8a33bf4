package luaeval

import (
	"strings"
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// What gopher-lua's values take, measured for its tables: an LTable with the header of its array, a field in its three maps
// and lists, an element of its array.
const (
	tableBytes   = 96
	fieldsBytes  = 512 // the maps of a table with up to eight fields
	fieldBytes   = 120
	elementBytes = 16
)

// tick raises the error of a script that has to end. Library functions call it as they go, see [limits.tick].
func (e *Engine) tick(l *lua.LState, n int) {
	if err := e.run.limits.tick(n); err != nil {
		raise(l, err.Error())
	}
}

// charge raises the error of a script that takes too much memory, before it takes it.
func (e *Engine) charge(l *lua.LState, n int) {
	if err := e.run.limits.charge(n); err != nil {
		raise(l, err.Error())
	}
}

// tooLong raises the error of a string that would be longer than a string may be.
func (e *Engine) tooLong(l *lua.LState, n int) {
	if int64(n) > e.o.MaxBulk {
		raise(l, errMemory.Error())
	}
}

// newTable makes a table with room for n elements and so many fields, and counts it.
func (e *Engine) newTable(l *lua.LState, n, fields int) *lua.LTable {
	size := tableBytes + elementBytes*n
	if fields > 0 {
		size += max(fieldsBytes, fieldBytes*fields)
	}
	e.charge(l, size)
	return l.CreateTable(min(n, largestHole), fields)
}

// piece is s[from:to] as a string of the script. A small piece is copied: it would keep all of s in memory.
func (e *Engine) piece(l *lua.LState, s string, from, to int) lua.LString {
	if len(s) < 1<<10 || to-from > len(s)/2 {
		return lua.LString(s[from:to])
	}
	e.charge(l, to-from)
	return lua.LString(strings.Clone(s[from:to]))
}

// output is a string that a library function builds. It counts what it grows by.
type output struct {
	e       *Engine
	l       *lua.LState
	b       []byte
	counted int
}

// portion is how many bytes of an output, or of a reply, are counted at a time.
const portion = 1 << 16

// expect is called before n bytes are appended.
func (o *output) expect(n int) {
	o.e.tick(o.l, 1)
	if size := len(o.b) + n; size-o.counted > portion {
		o.e.charge(o.l, size-o.counted)
		o.e.tooLong(o.l, size)
		o.counted = size
	}
}

// text appends s.
func (o *output) text(s string) {
	o.expect(len(s))
	o.b = append(o.b, s...)
}

// push ends the output, which becomes a string of the script: a long one without a copy.
func (o *output) push() {
	if n := len(o.b); n > portion && cap(o.b)-n < n/4 {
		o.l.Push(lua.LString(unsafe.String(unsafe.SliceData(o.b), n)))
		return
	}
	o.l.Push(lua.LString(o.b))
}
