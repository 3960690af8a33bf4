package lualib

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

// longJSON is the length in bytes from which on a text is measured.
const longJSON = 8 << 20

// refuseEndless raises an error when the JSON of v cannot fit into a string. Fifteen tables that each contain
// the one before eight times would otherwise be written until the memory is used up.
func (w *jsonWriter) refuseEndless(v lua.LValue) {
	m := jsonMeasure{w: w, most: int(w.lib.Limits.Longest()), least: map[*lua.LTable]int{}}
	if m.value(v, 0) > m.most {
		Raise(w.l, limits.ErrMemory.Error())
	}
}

// jsonMeasure finds a length that no JSON of a value is shorter than. It looks at each table once.
type jsonMeasure struct {
	w     *jsonWriter
	most  int
	least map[*lua.LTable]int // 0 while a table is being measured: it contains itself
}

// value returns at most a little more than most.
func (m *jsonMeasure) value(v lua.LValue, depth int) int {
	switch v := v.(type) {
	case lua.LString:
		return len(v) + len(`""`)
	case *lua.LTable:
		least, known := m.least[v]
		if !known && depth <= maxUnpack { // nesting ends there
			m.least[v] = 0
			least = m.table(v, depth)
			m.least[v] = least
		}
		return least
	}
	return 1
}

func (m *jsonMeasure) table(t *lua.LTable, depth int) int {
	m.w.lib.Tick(m.w.l, NextWork)
	size := len("[]")
	for k, v := t.Next(lua.LNil); k != lua.LNil && size <= m.most; k, v = t.Next(k) {
		m.w.lib.Tick(m.w.l, 1)
		size += m.value(v, depth+1)
	}
	return min(size, m.most+1)
}
