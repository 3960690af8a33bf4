package luaeval

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// A library's function is brief when it ends by itself, so that it can run without a context, as a
// script without loops and functions does. Unlike such a script it has functions around it. So it
// may call nothing that could be one of them, or that calls one back, and the library may not have
// metatables, by which any operation could be a call.

// noteBrief notes what the walk through f has found. Functions on the same lines are told apart no
// further.
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

// returnsSoon says whether what is called is known to take no longer than its arguments are long.
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
