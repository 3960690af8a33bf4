package luaeval

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// baseLib returns the global functions that must know how scripts are run.
func (e *Engine) baseLib() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"error": e.error, "pcall": e.pcall, "xpcall": e.xpcall, "getmetatable": e.getMetatable,
		"load": e.loadPieces, "loadstring": e.loadString, "getfenv": e.getEnvironment, "setfenv": e.setEnvironment,
		"newproxy": e.newProxy, "__redis__err__handler": e.describeError,
	}
}

func (e *Engine) error(l *lua.LState) int {
	level := e.lib.OptInt(l, 2, 1, "error")
	v := l.Get(1)
	text, ok := lualib.ToText(v)
	e.lib.Tick(l, 1+len(text)/limits.BytesPerUnit)
	if ok && level > 0 {
		v = lua.LString(text) // a number becomes a string, with or without a position
		if at := e.where(l, level); at != "" && !strings.HasPrefix(at, "[G]") {
			v = lua.LString(at + " " + text)
		}
	}
	l.Error(v, 0)
	return 0
}

func (e *Engine) getMetatable(l *lua.LState) int {
	l.Push(e.lib.Metatable(l, lualib.CheckAny(l, 1, "getmetatable")))
	return 1
}
