package luaeval

import (
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// expr walks an expression and returns its replacement.
func (w *rewriter) expr(expr ast.Expr) ast.Expr { return w.settle(w.raw(expr)) }

// raw is expr, but keeps literals.
func (w *rewriter) raw(expr ast.Expr) ast.Expr {
	if expr == nil || w.err != nil {
		return expr
	}
	if w.depth++; w.depth > maxDepth {
		w.fail(expr.Line(), "chunk has too many syntax levels")
		return expr
	}
	defer func() { w.depth-- }()
	w.nodes++
	w.step(1)
	switch x := expr.(type) {
	case *ast.ArithmeticOpExpr:
		expr = w.arithmetic(x)
	case *ast.UnaryMinusOpExpr:
		expr = w.minus(x)
	default:
		w.spine = 0
		expr = w.other(expr)
	}
	w.spine = 0
	return expr
}

// other walks every expression but arithmetic.
func (w *rewriter) other(expr ast.Expr) ast.Expr {
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
			if f.Key != nil {
				w.writeStep(x, f.Key)
			}
			f.Key, f.Value = w.expr(f.Key), w.expr(f.Value)
		}
		return w.constructor(x)
	case *ast.FuncCallExpr:
		w.long = w.long || w.scope.library && !w.returnsSoon(x.Func)
		if x.Func != nil {
			return w.reader(x, "unpack")
		}
		x.Receiver = w.expr(x.Receiver)
		w.method(x.Method, x.Line())
		w.exprs(x.Args)
	case *ast.LogicalOpExpr:
		w.either(x)
	case *ast.RelationalOpExpr:
		w.labels(1)
		w.compareStep(x)
		x.Lhs, x.Rhs = w.expr(x.Lhs), w.expr(x.Rhs)
	case *ast.StringConcatOpExpr:
		return w.concat(x)
	case *ast.UnaryNotOpExpr:
		x.Expr = w.expr(x.Expr)
	case *ast.UnaryLenOpExpr:
		if w.words(x.Expr) == "" {
			w.step(slowStep)
			x.Expr = w.expr(x.Expr)
		} else {
			x.Expr = w.look(x.Expr.(*ast.IdentExpr))
		}
	case *ast.FunctionExpr:
		w.functionExpr(x)
	}
	return expr
}

// either walks `and` and `or`.
func (w *rewriter) either(x *ast.LogicalOpExpr) {
	w.labels(1)
	if w.logical != x {
		w.labels(3)
	}
	w.logical, _ = x.Lhs.(*ast.LogicalOpExpr)
	x.Lhs = w.expr(x.Lhs)
	w.logical, _ = x.Rhs.(*ast.LogicalOpExpr)
	x.Rhs = w.expr(x.Rhs)
}

// number rewrites a literal so that gopher-lua reads what Lua reads: gopher-lua takes 010 for
// octal.
func (w *rewriter) number(x *ast.NumberExpr) {
	n, ok := lualib.ParseNumber(x.Value)
	if !ok {
		digits := strings.TrimSuffix(x.Value, "\xff") // gopher-lua's scanner writes the end of the text so
		w.fail(x.Line(), "malformed number near '"+digits+"'")
		return
	}
	x.Value = string(lualib.AppendExact(nil, n))
}

func (w *rewriter) ident(x *ast.IdentExpr) ast.Expr {
	name := x.Value
	w.mention(name)
	switch {
	case w.isLocal(name):
		w.use(name, x.Line())
		return x
	case w.scope.library:
		return w.libraryIdent(x)
	}
	if !w.scope.loaded && (name == "KEYS" || name == "ARGV") {
		w.escapes[name] = true
		return w.look(x)
	}
	if name == "_G" || name == "load" || name == "loadstring" {
		w.usesG, w.long = true, true
	}
	if v, ok := w.scope.known[name]; ok {
		if bound := w.bind(name, v, x); bound != nil {
			return bound
		}
	}
	if w.scope.loaded || !w.room(lua.LString(name)) {
		return w.globalField(x)
	}
	return x
}

// look is KEYS or ARGV in a place where the script can only read it.
func (w *rewriter) look(x *ast.IdentExpr) ast.Expr {
	if bound := w.bind(x.Value, lua.LNil, x); bound != nil {
		return bound
	}
	w.fail(x.Line(), "too many global names")
	return x
}

// words returns the name if x is the global KEYS or ARGV, else "".
func (w *rewriter) words(x ast.Expr) string {
	id, ok := x.(*ast.IdentExpr)
	if ok && !w.scope.library && !w.scope.loaded && (id.Value == "KEYS" || id.Value == "ARGV") && !w.isLocal(id.Value) {
		return id.Value
	}
	return ""
}

// attr walks an index. It resolves `library.member`. Reading KEYS[i] does not make the table a
// value.
func (w *rewriter) attr(x *ast.AttrGetExpr) ast.Expr {
	w.readStep(x.Key)
	if w.words(x.Object) != "" {
		x.Object = w.look(x.Object.(*ast.IdentExpr))
		x.Key = w.expr(x.Key)
		return x
	}
	if name, member := w.member(x); member != nil {
		if bound := w.bind(name, member, x); bound != nil {
			return bound
		}
	}
	x.Object, x.Key = w.expr(x.Object), w.expr(x.Key)
	return x
}

// member returns the name and the value of `library.member`, and nil for another index.
func (w *rewriter) member(x *ast.AttrGetExpr) (string, lua.LValue) {
	library, isName := x.Object.(*ast.IdentExpr)
	key, isField := x.Key.(*ast.StringExpr)
	if !isName || !isField || w.isLocal(library.Value) || w.onlyLoads() {
		return "", nil
	}
	proxy, ok := w.scope.known[library.Value].(*lua.LTable)
	if !ok || proxy == w.scope.env {
		return "", nil
	}
	name := library.Value + "." + key.Value
	if f := w.e.unused[name]; f != nil && x == w.unused {
		return name + unused, f
	}
	if v := w.e.lib.Shown(proxy).RawGetString(key.Value); v != lua.LNil {
		return name, v
	}
	return "", nil
}

// reader walks a call. KEYS or ARGV as the first argument of one of the named functions does not
// become a value either.
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

// concat makes one call of a chain `a .. b .. c`. It prints number literals, because the call would
// print them each time.
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
	// A call takes a register for each argument, and there are 200. A constructor takes 50.
	const most = 40
	if len(args) > most {
		list := placed(&ast.TableExpr{}, x)
		for _, arg := range args {
			one(arg)
			list.Fields = append(list.Fields, &ast.Field{Value: arg})
		}
		return w.call("..list", x, list, w.settle(placed(&ast.NumberExpr{Value: strconv.Itoa(len(args))}, x)))
	}
	return w.call("..", x, args...)
}

func (w *rewriter) operand(x ast.Expr) ast.Expr {
	x = w.raw(x)
	if n := literal(x); n != nil {
		x = placed(&ast.StringExpr{Value: lualib.FormatNumber(*n)}, x)
	}
	return w.settle(x)
}
