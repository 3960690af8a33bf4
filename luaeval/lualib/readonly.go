package lualib

import lua "github.com/yuin/gopher-lua"

// A table that scripts may not change is shown to them as an empty table. Its metatable reads
// through to the real one and refuses to be written.

// ReadOnlyText is the error of an assignment to a read-only table.
const ReadOnlyText = "Attempt to modify a readonly table"

// Show returns the table that scripts see in place of t.
func (lib *Lib) Show(t *lua.LTable) *lua.LTable {
	proxy := lib.l.CreateTable(0, 0)
	meta := lib.l.CreateTable(0, 2)
	meta.RawSetString("__index", t)
	meta.RawSetString("__newindex", lib.readOnly)
	proxy.Metatable = meta
	lib.real[proxy] = t
	return proxy
}

// ReadOnly returns the function that raises the error of an assignment to a read-only table.
func (lib *Lib) ReadOnly() *lua.LFunction { return lib.readOnly }

// Shown returns the table behind t, or nil when t is not one that Show has made.
func (lib *Lib) Shown(t *lua.LTable) *lua.LTable { return lib.real[t] }

// behind is the table to read when a script names t.
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

// ShownTables counts the tables that Show has made, which stay for good.
func (lib *Lib) ShownTables() int { return len(lib.real) }
