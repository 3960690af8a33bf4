package compile

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// A function of a library is brief when it ends by itself. It then runs without a context, like a
// script of few steps. A brief function calls nothing that could be a Lua function
// or call one. Its library has no metatables, because these turn any operation into a call.

// noteBrief notes whether the function that was just compiled is brief.
func (c *compiler) noteBrief(p *lua.FunctionProto) {
	if !c.text.Library || c.long {
		return
	}
	if c.code.brief == nil {
		c.code.brief = map[*lua.FunctionProto]bool{}
	}
	c.code.brief[p] = true
}

// returnsSoon reports whether a call is known to take no longer than its arguments are long.
func (c *compiler) returnsSoon(called ast.Expr) bool {
	switch x := called.(type) {
	case *ast.IdentExpr:
		switch x.Value {
		case "assert", "error", "next", "rawequal", "rawget", "select", "tonumber", "tostring", "type", "unpack":
			return !c.isLocal(x.Value)
		}
	case *ast.AttrGetExpr:
		library, isName := x.Object.(*ast.IdentExpr)
		member, isField := x.Key.(*ast.StringExpr)
		if !isName || !isField || c.isLocal(library.Value) {
			return false
		}
		switch library.Value {
		case "redis", "math", "cjson", "cmsgpack", "struct", "bit":
			return true
		case "string", "table":
			switch member.Value {
			case "byte", "char", "concat", "format", "insert", "len", "lower", "remove", "sub", "upper":
				return true
			}
		}
	}
	return false
}
