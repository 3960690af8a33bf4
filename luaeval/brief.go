package luaeval

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// A function of a library is brief when it ends by itself. It then runs without a context, like a
// script of few steps. A brief function calls nothing that could be a Lua function
// or call one. Its library has no metatables, because these turn any operation into a call.

// noteBrief notes whether f is brief. Of several functions on the same lines, all are brief or
// none.
func (w *rewriter) noteBrief(f *ast.FunctionExpr) {
	if !w.scope.library {
		return
	}
	if w.brief == nil {
		w.brief = map[[2]int]bool{}
	}
	at := [2]int{f.Line(), f.LastLine()}
	others, known := w.brief[at]
	w.brief[at] = !w.long && (others || !known)
}

func (w *rewriter) isBrief(f *lua.LFunction) bool {
	return !w.meta && !f.IsG && w.brief[[2]int{f.Proto.LineDefined, f.Proto.LastLineDefined}]
}

// returnsSoon reports whether a call is known to take no longer than its arguments are long.
func (w *rewriter) returnsSoon(called ast.Expr) bool {
	switch x := called.(type) {
	case *ast.IdentExpr:
		switch x.Value {
		case "assert", "error", "next", "rawequal", "rawget", "select", "tonumber", "tostring", "type", "unpack":
			return !w.isLocal(x.Value)
		}
	case *ast.AttrGetExpr:
		library, isName := x.Object.(*ast.IdentExpr)
		member, isField := x.Key.(*ast.StringExpr)
		if !isName || !isField || w.isLocal(library.Value) {
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
