package lualib

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

// tableSort is table.sort(table [, less]) (ltablib.c: sort).
func (lib *Lib) tableSort(l *lua.LState) int {
	t := checkTable(l, 1, "sort")
	if l.Get(2) != lua.LNil {
		if _, ok := l.Get(2).(*lua.LFunction); !ok {
			TypeError(l, 2, "sort", "function")
		}
	}
	c := lib.enter(l)
	s := sorter{lib, l, t, l.Get(2)}
	s.sort(1, lib.border(t)) // nothing in a read-only table: none of them has elements
	lib.Calls = c
	return 0
}

// sorter sorts a table in place. It makes the comparisons and swaps of Lua 5.1 in the same order.
// So equal elements end up as in Redis, and a contradictory comparison function fails the same way.
type sorter struct {
	lib  *Lib
	l    *lua.LState
	t    *lua.LTable
	less lua.LValue // nil for the operator <
}

// sort orders the elements from low to high.
func (s *sorter) sort(low, high int) {
	for low < high {
		middle := s.median(low, high)
		if high-low < 3 {
			return
		}
		pivot := Element(s.t, middle)
		s.swap(middle, high-1)
		i := s.partition(low, high, pivot)
		s.swap(high-1, i)
		if i-low < high-i { // recurse into the smaller part, to keep the stack short
			s.sort(low, i-1)
			low = i + 1
		} else {
			s.sort(i+1, high)
			high = i - 1
		}
	}
}

// median orders the first, the middle and the last element, and returns the index of the middle.
func (s *sorter) median(low, high int) int {
	if s.before(Element(s.t, high), Element(s.t, low)) {
		s.swap(low, high)
	}
	middle := (low + high) / 2
	switch {
	case high-low == 1:
	case s.before(Element(s.t, middle), Element(s.t, low)):
		s.swap(middle, low)
	case s.before(Element(s.t, high), Element(s.t, middle)):
		s.swap(middle, high)
	}
	return middle
}

// partition moves elements below the pivot to the front, and returns the pivot's final index. The
// pivot waits at high-1.
func (s *sorter) partition(low, high int, pivot lua.LValue) int {
	const invalid = "invalid order function for sorting"
	i, j := low, high-1
	for {
		for i++; s.before(Element(s.t, i), pivot); i++ {
			if i > high {
				Raise(s.l, invalid)
			}
		}
		for j--; s.before(pivot, Element(s.t, j)); j-- {
			if j < low {
				Raise(s.l, invalid)
			}
		}
		if j < i {
			return i
		}
		s.swap(i, j)
	}
}

func (s *sorter) swap(i, j int) {
	a, b := Element(s.t, i), Element(s.t, j)
	s.lib.SetInt(s.t, i, b)
	s.lib.SetInt(s.t, j, a)
}

func (s *sorter) before(a, b lua.LValue) bool {
	units := 1
	if text, ok := a.(lua.LString); ok {
		units += len(text) / limits.BytesPerUnit
	}
	s.lib.Tick(s.l, units)
	if s.less == lua.LNil {
		s.check(a, b)
		return s.l.LessThan(a, b)
	}
	s.l.Push(s.less)
	s.l.Push(a)
	s.l.Push(b)
	s.l.Call(2, 1)
	is := lua.LVAsBool(s.l.Get(-1))
	s.l.Pop(1)
	return is
}

// check raises the error of values that have no order. Unlike the error of an operator it has no
// line, because the comparison is not in the script.
func (s *sorter) check(a, b lua.LValue) {
	kind := a.Type()
	switch {
	case kind != b.Type():
		s.l.Error(lua.LString("attempt to compare "+kind.String()+" with "+b.Type().String()), 0)
	case kind != lua.LTNumber && kind != lua.LTString && s.l.GetMetaField(a, "__lt") == lua.LNil:
		s.l.Error(lua.LString("attempt to compare two "+kind.String()+" values"), 0)
	}
}
