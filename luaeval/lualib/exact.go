package lualib

import (
	lua "github.com/yuin/gopher-lua"
)

// The virtual machine does not know Lua's length of a table with holes. A text that can make such a table,
// and asks for lengths, is compiled to be exact: each assignment to a table is a call of a
// function here, which keeps the shape of the table. Library functions do the same while Exact is set.
// All other texts assign by instructions, and the length of their tables has one answer.

// exactOperators are the functions for tables of an exact text.
func (lib *Lib) exactOperators() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{"#": lib.length, "[]=": lib.assign, "{}": lib.shaped, "{...}": lib.listed}
}

// shapeOf returns the shape of t.
func (lib *Lib) shapeOf(t *lua.LTable) *shape {
	if s, ok := t.Metatable.(*shape); ok {
		return s
	}
	if s := lib.shapes[t]; s != nil {
		return s
	}
	s := guessed(t)
	lib.setShape(t, s)
	return s
}

func (lib *Lib) setShape(t *lua.LTable, s *shape) {
	if t.Metatable == lua.LNil {
		t.Metatable = s
		return
	}
	if lib.shapes == nil {
		lib.shapes = map[*lua.LTable]*shape{}
	}
	lib.shapes[t] = s
}

// setMeta sets the metatable of t, which keeps its shape.
func (lib *Lib) setMeta(t *lua.LTable, meta lua.LValue) {
	s, shaped := t.Metatable.(*shape)
	if !shaped {
		s = lib.shapes[t]
		delete(lib.shapes, t)
	}
	if t.Metatable = meta; s != nil {
		lib.setShape(t, s)
	}
}

// SetInt assigns v to element i of t, without metamethods.
func (lib *Lib) SetInt(t *lua.LTable, i int, v lua.LValue) {
	if lib.Exact {
		if s := lib.shapeOf(t); i > s.array {
			s.insert(t, lua.LNumber(i))
		}
	}
	t.RawSetInt(i, v)
}

// border is #t.
func (lib *Lib) border(t *lua.LTable) int {
	if lib.Exact {
		return lib.shapeOf(t).border(t)
	}
	return border(t)
}

// length is the operator #. It has no metamethod for tables (lvm.c: OP_LEN).
func (lib *Lib) length(l *lua.LState) int {
	switch v := l.Get(1).(type) {
	case lua.LString:
		l.Push(lua.LNumber(len(v)))
	case *lua.LTable:
		l.Push(lib.Integer(lib.border(v)))
	default:
		f := l.GetMetaField(v, "__len")
		if f == lua.LNil {
			Raise(l, "attempt to get length of a "+v.Type().String()+" value")
		}
		l.Push(lib.metamethod(l, f, v, lua.LNil))
	}
	return 1
}

// shaped gives a new table its shape. The arguments are the table, and one more than its elements and fields.
func (lib *Lib) shaped(l *lua.LState) int {
	n, fields := l.Get(2).(lua.LNumber), l.Get(3).(lua.LNumber)
	l.Get(1).(*lua.LTable).Metatable = newShape(int(n)-1, int(fields)-1)
	return 0
}

// listed sets the last elements of a constructor. The arguments are the table, the index of the first one, and
// the values.
func (lib *Lib) listed(l *lua.LState) int {
	t, first, n := l.Get(1).(*lua.LTable), int(l.Get(2).(lua.LNumber)), l.GetTop()-2
	lib.Charge(l, ElementBytes*n)
	lib.shapeOf(t).fit(t, first-1+n)
	for i := range n {
		t.RawSetInt(first+i, l.Get(3+i))
	}
	return 0
}

// maxLoop is how many tables an index may lead through (lvm.c: MAXTAGLOOP).
const maxLoop = 100

// assign is an assignment to a field (lvm.c: luaV_settable).
func (lib *Lib) assign(l *lua.LState) int {
	to, key, v := l.Get(1), l.Get(2), l.Get(3)
	for range maxLoop {
		h := lua.LValue(lua.LNil)
		t, isTable := to.(*lua.LTable)
		if isTable {
			meta, hasMeta := t.Metatable.(*lua.LTable)
			if !hasMeta || lib.real[t] == nil {
				lib.makeRoom(l, t, key)
			}
			if hasMeta && t.RawGet(key) == lua.LNil {
				h = meta.RawGetString("__newindex")
			}
		} else {
			h = l.GetMetaField(to, "__newindex")
		}
		switch {
		case h == lua.LNil && isTable:
			t.RawSet(key, lib.stored(key, v))
			return 0
		case h == lua.LNil:
			Raise(l, "attempt to index a "+to.Type().String()+" value")
		case h.Type() == lua.LTFunction:
			return callNewIndex(l, h.(*lua.LFunction), to, key, v)
		}
		to = h
	}
	Raise(l, "loop in settable")
	return 0
}

// callNewIndex calls the metamethod of an assignment. One in Go takes the place of this function, so that Lua code
// calls it.
func callNewIndex(l *lua.LState, f *lua.LFunction, args ...lua.LValue) int {
	inPlace := f.IsG && !IsCounted(f)
	if inPlace {
		l.SetTop(0)
	} else {
		l.Push(f)
	}
	for _, v := range args {
		l.Push(v)
	}
	if inPlace {
		f.GFunction(l)
	} else {
		l.Call(len(args), 0)
	}
	return 0
}

// makeRoom makes room for a key in the shape of t.
func (lib *Lib) makeRoom(l *lua.LState, t *lua.LTable, key lua.LValue) {
	if problem := unfit(key); problem != "" {
		Raise(l, problem)
	}
	lib.shapeOf(t).insert(t, key)
}

// rawSet is Set for a key that may be nil or NaN.
func (lib *Lib) rawSet(l *lua.LState, t *lua.LTable, key, v lua.LValue) {
	if problem := unfit(key); problem != "" {
		l.Error(lua.LString(problem), 0)
	}
	if lib.Exact {
		lib.shapeOf(t).insert(t, key)
		v = lib.stored(key, v)
	}
	t.RawSet(key, v)
}

// unfit returns the error of a key that no table can have, or "".
func unfit(key lua.LValue) string {
	if n, ok := key.(lua.LNumber); ok && n != n {
		return "table index is NaN"
	}
	if key == lua.LNil {
		return "table index is nil"
	}
	return ""
}

// stored returns what a table keeps for a value.
func (lib *Lib) stored(key, v lua.LValue) lua.LValue {
	if name, ok := key.(lua.LString); ok && isMetamethod(string(name)) {
		return lib.counted(v)
	}
	return v
}

// counted returns the function of a metamethod as one that counts its calls, so that they nest as deep as
// in Lua. The virtual machine calls metamethods itself, and counts none.
func (lib *Lib) counted(v lua.LValue) lua.LValue {
	f, ok := v.(*lua.LFunction)
	if !ok || f.IsG {
		return v
	}
	if lib.metamethods[f] == nil {
		if lib.metamethods == nil {
			lib.metamethods = map[*lua.LFunction]*lua.LFunction{}
		}
		lib.metamethods[f] = lib.l.NewClosure(lib.callCountedMeta, f)
	}
	return lib.metamethods[f]
}

// IsCounted reports whether f is a function that counts calls of a metamethod. Lua has no such call.
func IsCounted(f *lua.LFunction) bool { return f.IsG && len(f.Upvalues) == 1 }

func (lib *Lib) callCountedMeta(l *lua.LState) int {
	n := l.GetTop()
	c := lib.enterOperator(l)
	l.Insert(l.Get(lua.UpvalueIndex(1)), 1)
	l.Call(n, lua.MultRet)
	lib.Calls = c
	return l.GetTop()
}
