package luaeval

import (
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// baseLib returns the global functions that must know how scripts are run.
func (e *Engine) baseLib() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"error": e.error, "pcall": e.pcall, "xpcall": e.xpcall, "getmetatable": e.getMetatable,
		"load": e.loadPieces, "loadstring": e.loadString,
	}
}

func (e *Engine) error(l *lua.LState) int {
	level := e.lib.OptInt(l, 2, 1, "error")
	v := l.Get(1)
	text, ok := lualib.ToText(v)
	e.lib.Tick(l, 1+len(text)/limits.BytesPerUnit)
	if ok && level > 0 {
		if at := e.where(l, level); at != "" && !strings.HasPrefix(at, "[G]") {
			v = lua.LString(at + " " + text)
		}
	}
	l.Error(v, 0)
	return 0
}

func (e *Engine) getMetatable(l *lua.LState) int {
	v := lualib.CheckAny(l, 1, "getmetatable")
	if t, ok := v.(*lua.LTable); ok && e.lib.Shown(t) != nil {
		if t == e.gproxy || t == e.libraryScope.env {
			l.Push(e.nothing)
			return 1
		}
		l.Push(lua.LNil)
		return 1
	}
	l.Push(l.GetMetatable(v))
	return 1
}

func (e *Engine) osClock(l *lua.LState) int {
	l.Push(lua.LNumber(float64(e.o.Clock()) / float64(time.Second)))
	return 1
}
