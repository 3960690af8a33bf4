package lualib

import (
	"math"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

func (lib *Lib) tableLib() *lua.LTable {
	return lib.Functions(map[string]lua.LGFunction{
		"concat": lib.tableConcat, "insert": lib.tableInsert, "remove": lib.tableRemove, "sort": lib.tableSort,
		"getn": lib.tableGetN, "maxn": lib.tableMaxN, "setn": lib.tableSetN,
		"foreach": lib.tableForeach, "foreachi": lib.tableForeachI,
	})
}

func (lib *Lib) tableConcat(l *lua.LState) int {
	sep := ""
	if l.Get(2) != lua.LNil {
		sep = lib.CheckString(l, 2, "concat")
	}
	t := lib.behind(checkTable(l, 1, "concat"))
	i, j := lib.OptInt(l, 3, 1, "concat"), 0
	if l.Get(4) == lua.LNil {
		j = lib.border(t)
	} else {
		j = lib.CheckInt(l, 4, "concat")
	}
	o := lib.shortOutput(l)
	for ; i <= j; i++ {
		v := t.RawGetInt(i)
		if v == lua.LNil { // it may lie outside of the array
			v = t.RawGet(lua.LNumber(i))
		}
		text, ok := ToText(v)
		if !ok {
			Raise(l, "invalid value ("+v.Type().String()+") at index "+FormatNumber(float64(i))+" in table for 'concat'")
		}
		o.Text(text)
		if i < j {
			o.Text(sep)
		}
	}
	o.push()
	o.keep()
	return 1
}

func (lib *Lib) tableInsert(l *lua.LState) int {
	t := checkTable(l, 1, "insert")
	lib.mayChange(l, t)
	n := lib.border(t)
	lib.Tick(l, 1+n/limits.BytesPerUnit)
	switch l.GetTop() {
	case 2:
		lib.SetInt(t, n+1, l.Get(2))
	case 3:
		lib.insertAt(l, t, lib.CheckInt(l, 2, "insert"), n, l.Get(3))
	default:
		Raise(l, "wrong number of arguments to 'insert'")
	}
	return 0
}

func (lib *Lib) tableRemove(l *lua.LState) int {
	t := checkTable(l, 1, "remove")
	n := lib.border(t) // 0 for a read-only table: none of them has elements
	lib.Tick(l, 1+n/limits.BytesPerUnit)
	pos := lib.OptInt(l, 2, n, "remove")
	switch {
	case pos < 1 || pos > n:
		return 0
	case n < LargestHole && !lib.Exact:
		l.Push(t.Remove(pos))
		return 1
	}
	l.Push(Element(t, pos))
	for ; pos < n; pos++ {
		lib.Tick(l, 1)
		lib.SetInt(t, pos, Element(t, pos+1))
	}
	lib.SetInt(t, n, lua.LNil)
	return 1
}

// insertAt moves the elements of t from position at to n up by one, and puts v at position at.
func (lib *Lib) insertAt(l *lua.LState, t *lua.LTable, at, n int, v lua.LValue) {
	if at < LargestHole {
		lib.Charge(l, ElementBytes*max(at-n, 0))
	}
	if at > 0 && at < LargestHole && n+1 < LargestHole && !lib.Exact {
		t.Insert(at, v)
		return
	}
	for ; n >= at; n-- {
		lib.Tick(l, 1)
		lib.SetInt(t, n+1, Element(t, n))
	}
	lib.SetInt(t, at, v)
}

// border is #t of a table without holes. gopher-lua's own length misses elements from LargestHole on: they
// are not in the array.
func border(t *lua.LTable) int {
	n := t.Len()
	if n < LargestHole-1 || Element(t, n+1) == lua.LNil {
		return n
	}
	past := 2 * n
	for Element(t, past) != lua.LNil {
		n, past = past, 2*past
	}
	for past-n > 1 {
		if middle := (n + past) / 2; Element(t, middle) == lua.LNil {
			past = middle
		} else {
			n = middle
		}
	}
	return n
}

// Element returns t[i] without metamethods.
func Element(t *lua.LTable, i int) lua.LValue {
	if i < LargestHole {
		return t.RawGetInt(i)
	}
	return t.RawGet(lua.LNumber(i))
}

func (lib *Lib) tableGetN(l *lua.LState) int {
	l.Push(lua.LNumber(lib.border(lib.behind(checkTable(l, 1, "getn")))))
	return 1
}

func (lib *Lib) tableMaxN(l *lua.LState) int {
	largest := 0.0
	lib.behind(checkTable(l, 1, "maxn")).ForEach(func(k, _ lua.LValue) {
		lib.Tick(l, 1)
		if n, ok := k.(lua.LNumber); ok {
			largest = math.Max(largest, float64(n))
		}
	})
	l.Push(lua.LNumber(largest))
	return 1
}

func (lib *Lib) tableSetN(l *lua.LState) int {
	checkTable(l, 1, "setn")
	Raise(l, "'setn' is obsolete")
	return 0
}

func (lib *Lib) tableForeach(l *lua.LState) int {
	t, f := lib.behind(checkTable(l, 1, "foreach")), checkFunction(l, 2, "foreach")
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		lib.Tick(l, NextWork)
		if out := lib.callback(l, f, k, v); out != lua.LNil {
			l.Push(out)
			return 1
		}
	}
	return 0
}

func (lib *Lib) tableForeachI(l *lua.LState) int {
	t, f := lib.behind(checkTable(l, 1, "foreachi")), checkFunction(l, 2, "foreachi")
	for i, n := 1, lib.border(t); i <= n; i++ {
		lib.Tick(l, 1)
		if out := lib.callback(l, f, lua.LNumber(i), Element(t, i)); out != lua.LNil {
			l.Push(out)
			return 1
		}
	}
	return 0
}

// callback calls f, which a script has given, and returns its first result.
func (lib *Lib) callback(l *lua.LState, f lua.LValue, args ...lua.LValue) lua.LValue {
	return lib.callCounted(l, lib.enter(l), f, args...)
}

// metamethod is callback for a metamethod of an operator.
func (lib *Lib) metamethod(l *lua.LState, f lua.LValue, args ...lua.LValue) lua.LValue {
	return lib.callCounted(l, lib.enterOperator(l), f, args...)
}

// callCounted calls f and restores the count c.
func (lib *Lib) callCounted(l *lua.LState, c Calls, f lua.LValue, args ...lua.LValue) lua.LValue {
	l.Push(f)
	for _, v := range args {
		l.Push(v)
	}
	l.Call(len(args), 1)
	lib.Calls = c
	out := l.Get(-1)
	l.Pop(1)
	return out
}
