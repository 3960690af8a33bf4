package lualib

import lua "github.com/yuin/gopher-lua"

// Scripts see a read-only table as an empty table, whose metatable reads through to the real one
// and refuses assignments.

// ReadOnlyText is the error of an assignment to a read-only table.
const ReadOnlyText = "Attempt to modify a readonly table"

// Show returns the table that scripts see in place of t. It is the same one each time.
func (lib *Lib) Show(t *lua.LTable) *lua.LTable {
	proxy := lib.shown[t]
	if proxy == nil {
		proxy = lib.View(t, t, lua.LNil)
		lib.shown[t] = proxy
	}
	return proxy
}

// View returns a read-only table. Its own fields are those of t. A field that is read comes from
// index, and getmetatable returns meta.
func (lib *Lib) View(t, index *lua.LTable, meta lua.LValue) *lua.LTable {
	behind := lib.l.CreateTable(0, 3)
	behind.RawSetString("__index", index)
	behind.RawSetString("__newindex", lib.readOnly)
	behind.RawSetString(shownMeta, meta)
	proxy := lib.l.CreateTable(0, 0)
	proxy.Metatable = behind
	lib.real[proxy] = t
	return proxy
}

// shownMeta is where the metatable of a read-only table keeps the one that scripts see.
const shownMeta = "__metatable"

// Metatable returns what getmetatable returns for v.
func (lib *Lib) Metatable(l *lua.LState, v lua.LValue) lua.LValue {
	if t, ok := v.(*lua.LTable); ok && lib.Shown(t) != nil {
		return t.Metatable.(*lua.LTable).RawGetString(shownMeta)
	}
	meta := l.GetMetatable(v)
	if _, ok := meta.(*shape); ok {
		return lua.LNil
	}
	if t, ok := meta.(*lua.LTable); ok && lib.shown[t] != nil { // setmetatable was given what Show has made
		return lib.shown[t]
	}
	return meta
}

// ReadOnly returns the function that raises the error of an assignment to a read-only table.
func (lib *Lib) ReadOnly() *lua.LFunction { return lib.readOnly }

// Shown returns the table behind t, or nil when t is not one that Show has made.
func (lib *Lib) Shown(t *lua.LTable) *lua.LTable { return lib.real[t] }

// behind returns the table to read when a script names t: the real one of a table that Show has
// made, else t.
func (lib *Lib) behind(t *lua.LTable) *lua.LTable {
	if t.Metatable == lua.LNil {
		return t
	}
	if r := lib.real[t]; r != nil {
		return r
	}
	return t
}

// mayChange raises the error of a read-only table when t is one.
func (lib *Lib) mayChange(l *lua.LState, t *lua.LTable) {
	if t.Metatable != lua.LNil && lib.real[t] != nil {
		l.Error(lua.LString(ReadOnlyText), 0)
	}
}

// ShownTables returns the number of tables that Show has made. They are never given back.
func (lib *Lib) ShownTables() int { return len(lib.real) }
