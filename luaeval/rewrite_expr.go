package luaeval

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

func (w *rewriter) expr(expr ast.Expr) ast.Expr {
	if expr == nil || w.err != nil {
		return expr
	}
	if w.depth++; w.depth > maxDepth {
		w.fail(expr.Line(), "chunk has too many syntax levels")
		return expr
	}
	defer func() { w.depth-- }()
	switch x := expr.(type) {
	case *ast.NumberExpr:
		w.number(x)
	case *ast.Comma3Expr:
		w.vararg = w.vararg || w.nested == 0
	case *ast.IdentExpr:
		return w.ident(x)
	case *ast.AttrGetExpr:
		return w.attr(x)
	case *ast.TableExpr:
		for _, f := range x.Fields {
			f.Key, f.Value = w.expr(f.Key), w.expr(f.Value)
		}
	case *ast.FuncCallExpr:
		w.long = w.long || w.scope.library && !w.returnsSoon(x.Func)
		if x.Func != nil {
			return w.reader(x, "unpack")
		}
		x.Receiver = w.expr(x.Receiver)
		w.exprs(x.Args)
	case *ast.LogicalOpExpr:
		x.Lhs, x.Rhs = w.expr(x.Lhs), w.expr(x.Rhs)
	case *ast.RelationalOpExpr:
		x.Lhs, x.Rhs = w.expr(x.Lhs), w.expr(x.Rhs)
	case *ast.ArithmeticOpExpr:
		x.Lhs, x.Rhs = w.expr(x.Lhs), w.expr(x.Rhs)
		if x.Operator == "%" || x.Operator == "^" {
			return w.call(x.Operator, x, x.Lhs, x.Rhs)
		}
	case *ast.StringConcatOpExpr:
		return w.concat(x)
	case *ast.UnaryMinusOpExpr:
		x.Expr = w.expr(x.Expr)
	case *ast.UnaryNotOpExpr:
		x.Expr = w.expr(x.Expr)
	case *ast.UnaryLenOpExpr:
		if w.words(x.Expr) == "" {
			x.Expr = w.expr(x.Expr)
		} else {
			x.Expr = w.look(x.Expr.(*ast.IdentExpr))
		}
	case *ast.FunctionExpr:
		w.functionExpr(x)
	}
	return expr
}

// number writes a literal so that gopher-lua, which takes 010 for octal, reads what Lua reads.
func (w *rewriter) number(x *ast.NumberExpr) {
	n, ok := parseNumber(x.Value)
	if !ok {
		digits := strings.TrimSuffix(x.Value, "\xff") // which is how the scanner writes the end of the text
		w.fail(x.Line(), "malformed number near '"+digits+"'")
		return
	}
	x.Value = string(appendExact(nil, n))
}

func (w *rewriter) ident(x *ast.IdentExpr) ast.Expr {
	name := x.Value
	switch {
	case w.isLocal(name):
		return x
	case w.scope.library:
		return w.libraryIdent(x)
	}
	if name == "KEYS" || name == "ARGV" {
		w.escapes[name] = true
		return w.look(x)
	}
	if name == "_G" {
		w.usesG = true
	}
	if v, ok := w.scope.known[name]; ok {
		if bound := w.bind(name, v, x); bound != nil {
			return bound
		}
	}
	return x
}

// look is KEYS or ARGV where the script cannot keep or change it.
func (w *rewriter) look(x *ast.IdentExpr) ast.Expr {
	if bound := w.bind(x.Value, lua.LNil, x); bound != nil {
		return bound
	}
	w.fail(x.Line(), "too many global names")
	return x
}

// words says whether x is the global KEYS or ARGV.
func (w *rewriter) words(x ast.Expr) string {
	id, ok := x.(*ast.IdentExpr)
	if ok && !w.scope.library && (id.Value == "KEYS" || id.Value == "ARGV") && !w.isLocal(id.Value) {
		return id.Value
	}
	return ""
}

// attr resolves `library.member`; a read of KEYS[i] does not let the table out.
func (w *rewriter) attr(x *ast.AttrGetExpr) ast.Expr {
	if w.words(x.Object) != "" {
		x.Object = w.look(x.Object.(*ast.IdentExpr))
		x.Key = w.expr(x.Key)
		return x
	}
	id, isName := x.Object.(*ast.IdentExpr)
	key, isField := x.Key.(*ast.StringExpr)
	if isName && isField && !w.isLocal(id.Value) && !w.onlyLoads() {
		if proxy, ok := w.scope.known[id.Value].(*lua.LTable); ok && proxy != w.scope.env {
			if member := w.e.real[proxy].RawGetString(key.Value); member != lua.LNil {
				if bound := w.bind(id.Value+"."+key.Value, member, x); bound != nil {
					return bound
				}
			}
		}
	}
	x.Object, x.Key = w.expr(x.Object), w.expr(x.Key)
	return x
}

// reader walks a call. When it is one of the named functions with KEYS or ARGV as its first argument, that table is not
// let out either.
func (w *rewriter) reader(expr ast.Expr, names ...string) ast.Expr {
	x, ok := expr.(*ast.FuncCallExpr)
	if !ok || x.Func == nil {
		return w.expr(expr)
	}
	from := 0
	if id, ok := x.Func.(*ast.IdentExpr); ok && !w.isLocal(id.Value) && len(x.Args) > 0 && w.words(x.Args[0]) != "" {
		for _, name := range names {
			if id.Value == name {
				x.Args[0], from = w.look(x.Args[0].(*ast.IdentExpr)), 1
			}
		}
	}
	x.Func = w.expr(x.Func)
	w.exprs(x.Args[from:])
	return x
}

// concat makes one call of a chain `a .. b .. c`; as it prints numbers, literals among them are printed here.
func (w *rewriter) concat(x *ast.StringConcatOpExpr) ast.Expr {
	var args []ast.Expr
	var rest ast.Expr = x
	for {
		c, ok := rest.(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		args = append(args, w.operand(c.Lhs))
		rest = c.Rhs
	}
	args = append(args, w.operand(rest))
	if len(args) > maxLevels-2 {
		w.fail(x.Line(), "chunk has too many syntax levels")
		return x
	}
	// A call takes a register for each argument, of which there are 200: long chains go in parts, from the right.
	const part = 40
	for len(args) > part {
		n := len(args) - part
		args = append(args[:n:n], w.call("..", x, args[n:]...))
	}
	return w.call("..", x, args...)
}

func (w *rewriter) operand(x ast.Expr) ast.Expr {
	x = w.expr(x)
	if n, ok := x.(*ast.NumberExpr); ok {
		if f, ok := parseNumber(n.Value); ok {
			return placed(&ast.StringExpr{Value: formatNumber(f)}, n)
		}
	}
	return x
}
