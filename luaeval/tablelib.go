package luaeval

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

func (e *Engine) tableLib() *lua.LTable {
	return e.functions(map[string]lua.LGFunction{
		"concat": e.tableConcat, "insert": e.tableInsert, "remove": e.tableRemove, "sort": e.tableSort,
		"getn": e.tableGetN, "maxn": e.tableMaxN, "foreach": e.tableForeach, "foreachi": e.tableForeachI, "setn": e.tableSetN,
	})
}

func (e *Engine) tableConcat(l *lua.LState) int {
	t := e.behind(checkTable(l, 1, "concat"))
	sep := ""
	if l.Get(2) != lua.LNil {
		sep = checkString(l, 2, "concat")
	}
	i, j := optInt(l, 3, 1, "concat"), 0
	if l.Get(4) == lua.LNil {
		j = t.Len()
	} else {
		j = checkInt(l, 4, "concat")
	}
	var b []byte
	for ; i <= j; i++ {
		v := t.RawGet(lua.LNumber(i))
		text, ok := toText(v)
		if !ok {
			raise(l, "invalid value ("+v.Type().String()+") at index "+formatNumber(float64(i))+" in table for 'concat'")
		}
		e.charge(l, len(text)+len(sep))
		e.tooLong(l, len(b)+len(text)+len(sep))
		b = append(b, text...)
		if i < j {
			b = append(b, sep...)
		}
	}
	l.Push(lua.LString(b))
	return 1
}

// tooLong raises the error of a string that would be longer than a string may be.
func (e *Engine) tooLong(l *lua.LState, n int) {
	if int64(n) > e.o.MaxBulk {
		raise(l, errMemory.Error())
	}
}

func (e *Engine) tableInsert(l *lua.LState) int {
	t := checkTable(l, 1, "insert")
	e.mayChange(l, t)
	switch l.GetTop() {
	case 2:
		l.RawSet(t, lua.LNumber(t.Len()+1), l.Get(2))
	case 3:
		t.Insert(checkInt(l, 2, "insert"), l.Get(3))
	default:
		raise(l, "wrong number of arguments to 'insert'")
	}
	return 0
}

func (e *Engine) tableRemove(l *lua.LState) int {
	t := checkTable(l, 1, "remove")
	e.mayChange(l, t)
	n := t.Len()
	pos := optInt(l, 2, n, "remove")
	if pos < 1 || pos > n {
		return 0
	}
	l.Push(t.Remove(pos))
	return 1
}

func (e *Engine) tableSort(l *lua.LState) int {
	t := checkTable(l, 1, "sort")
	e.mayChange(l, t)
	if l.Get(2) != lua.LNil {
		if _, ok := l.Get(2).(*lua.LFunction); !ok {
			typeError(l, 2, "sort", "function")
		}
	}
	for l.GetTop() > 1 && l.Get(-1) == lua.LNil {
		l.Pop(1)
	}
	for i := t.Len() + 1; i <= t.MaxN(); i++ {
		t.Remove(i)
	}
	c := e.enter(l)
	n := e.lib["table.sort"](l)
	e.run.calls = c
	return n
}

func (e *Engine) tableGetN(l *lua.LState) int {
	l.Push(lua.LNumber(e.behind(checkTable(l, 1, "getn")).Len()))
	return 1
}

func (e *Engine) tableMaxN(l *lua.LState) int {
	largest := 0.0
	e.behind(checkTable(l, 1, "maxn")).ForEach(func(k, _ lua.LValue) {
		if n, ok := k.(lua.LNumber); ok {
			largest = math.Max(largest, float64(n))
		}
	})
	l.Push(lua.LNumber(largest))
	return 1
}

func (e *Engine) tableSetN(l *lua.LState) int {
	raise(l, "'setn' is obsolete")
	return 0
}

func (e *Engine) tableForeach(l *lua.LState) int {
	t, f := e.behind(checkTable(l, 1, "foreach")), l.Get(2)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if out := e.callback(l, f, k, v); out != lua.LNil {
			l.Push(out)
			return 1
		}
	}
	return 0
}

func (e *Engine) tableForeachI(l *lua.LState) int {
	t, f := e.behind(checkTable(l, 1, "foreachi")), l.Get(2)
	for i := 1; i <= t.Len(); i++ {
		if out := e.callback(l, f, lua.LNumber(i), t.RawGetInt(i)); out != lua.LNil {
			l.Push(out)
			return 1
		}
	}
	return 0
}

// callback calls f, given by a script, for one value.
func (e *Engine) callback(l *lua.LState, f lua.LValue, args ...lua.LValue) lua.LValue {
	c := e.enter(l)
	l.Push(f)
	for _, v := range args {
		l.Push(v)
	}
	l.Call(len(args), 1)
	e.run.calls = c
	out := l.Get(-1)
	l.Pop(1)
	return out
}
