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
		sep = e.checkString(l, 2, "concat")
	}
	i, j := e.optInt(l, 3, 1, "concat"), 0
	if l.Get(4) == lua.LNil {
		j = border(t)
	} else {
		j = e.checkInt(l, 4, "concat")
	}
	o := output{e: e, l: l}
	for ; i <= j; i++ {
		v := t.RawGet(lua.LNumber(i))
		text, ok := toText(v)
		if !ok {
			raise(l, "invalid value ("+v.Type().String()+") at index "+formatNumber(float64(i))+" in table for 'concat'")
		}
		o.text(text)
		if i < j {
			o.text(sep)
		}
	}
	o.push()
	return 1
}

func (e *Engine) tableInsert(l *lua.LState) int {
	t := checkTable(l, 1, "insert")
	e.mayChange(l, t)
	n := border(t)
	e.tick(l, 1+n/bytesPerUnit)
	switch l.GetTop() {
	case 2:
		t.RawSetInt(n+1, l.Get(2))
	case 3:
		e.insertAt(l, t, e.checkInt(l, 2, "insert"), n, l.Get(3))
	default:
		raise(l, "wrong number of arguments to 'insert'")
	}
	return 0
}

func (e *Engine) tableRemove(l *lua.LState) int {
	t := checkTable(l, 1, "remove")
	e.mayChange(l, t)
	n := border(t)
	e.tick(l, 1+n/bytesPerUnit)
	pos := e.optInt(l, 2, n, "remove")
	switch {
	case pos < 1 || pos > n:
		return 0
	case n < largestHole:
		l.Push(t.Remove(pos))
		return 1
	}
	l.Push(element(t, pos))
	for ; pos < n; pos++ {
		e.tick(l, 1)
		t.RawSetInt(pos, element(t, pos+1))
	}
	t.RawSetInt(n, lua.LNil)
	return 1
}

// insertAt moves the elements behind position at, of n, up by one.
func (e *Engine) insertAt(l *lua.LState, t *lua.LTable, at, n int, v lua.LValue) {
	if at < largestHole && n+1 < largestHole {
		e.charge(l, elementBytes*max(at-n, 0))
		t.Insert(at, v)
		return
	}
	for ; n >= max(at, 1); n-- {
		e.tick(l, 1)
		t.RawSetInt(n+1, element(t, n))
	}
	t.RawSet(lua.LNumber(at), v)
}

// border is #t. What stands at largestHole or behind it is not in the table's array, and gopher-lua does not count it.
func border(t *lua.LTable) int {
	n := t.Len()
	if n < largestHole-1 || element(t, n+1) == lua.LNil {
		return n
	}
	past := 2 * n
	for element(t, past) != lua.LNil {
		n, past = past, 2*past
	}
	for past-n > 1 {
		if middle := (n + past) / 2; element(t, middle) == lua.LNil {
			past = middle
		} else {
			n = middle
		}
	}
	return n
}

// element is t[i].
func element(t *lua.LTable, i int) lua.LValue {
	if i < largestHole {
		return t.RawGetInt(i)
	}
	return t.RawGet(lua.LNumber(i))
}

func (e *Engine) tableGetN(l *lua.LState) int {
	l.Push(lua.LNumber(border(e.behind(checkTable(l, 1, "getn")))))
	return 1
}

func (e *Engine) tableMaxN(l *lua.LState) int {
	largest := 0.0
	e.behind(checkTable(l, 1, "maxn")).ForEach(func(k, _ lua.LValue) {
		e.tick(l, 1)
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
		e.tick(l, nextWork)
		if out := e.callback(l, f, k, v); out != lua.LNil {
			l.Push(out)
			return 1
		}
	}
	return 0
}

func (e *Engine) tableForeachI(l *lua.LState) int {
	t, f := e.behind(checkTable(l, 1, "foreachi")), l.Get(2)
	for i, n := 1, border(t); i <= n; i++ {
		e.tick(l, 1)
		if out := e.callback(l, f, lua.LNumber(i), element(t, i)); out != lua.LNil {
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
