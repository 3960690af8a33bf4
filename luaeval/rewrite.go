package luaeval

import (
	"errors"
	"fmt"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

const (
	maxDepth = 2000 // of the tree; what nests to the left does not count in maxLevels
	maxBound = 60   // upvalues of the script; further globals are looked up by name
)

// hide makes a name that no script can spell.
func hide(name string) string { return "\x00" + name }

// rewriter walks the tree of a script once and changes it in place.
type rewriter struct {
	e       *Engine
	locals  []string
	scope   *scope
	names   []string        // bound, hidden
	first   []lua.LValue    // what they are at first
	values  []lua.LValue    // and in the end: the same for scripts
	escapes map[string]bool // KEYS, ARGV: used as a value
	depth   int
	nested  int  // functions around
	long    bool // has loops or functions
	vararg  bool // the chunk itself uses ...
	usesG   bool
	meta    bool            // a library that can make tables call functions
	brief   map[[2]int]bool // of a library, by first and last line: functions that end by themselves
	err     error
}

func newRewriter(e *Engine, s *scope) *rewriter {
	w := &rewriter{e: e, scope: s, escapes: map[string]bool{}}
	if s.library { // first, as it is where all goes that there is no room for
		w.names, w.first, w.values = []string{hide(environment)}, []lua.LValue{s.loading}, []lua.LValue{s.env}
	}
	return w
}

func (w *rewriter) fail(line int, text string) {
	if w.err == nil {
		w.err = errors.New(fmt.Sprint(w.scope.chunk, ":", line, ": ", text))
	}
}

func (w *rewriter) isLocal(name string) bool {
	for i := len(w.locals) - 1; i >= 0; i-- {
		if w.locals[i] == name {
			return true
		}
	}
	return false
}

// bind makes v an upvalue of the script and returns its identifier, or nil when there are too many.
func (w *rewriter) bind(name string, v lua.LValue, at ast.PositionHolder) ast.Expr {
	hidden := hide(name)
	known := false
	for _, n := range w.names {
		known = known || n == hidden
	}
	if !known {
		if len(w.names) >= maxBound {
			return nil
		}
		w.names, w.first, w.values = append(w.names, hidden), append(w.first, w.e.atFirst(w.scope, name, v)), append(w.values, v)
	}
	return placed(&ast.IdentExpr{Value: hidden}, at)
}

func placed[T ast.PositionHolder](n T, at ast.PositionHolder) T {
	n.SetLine(at.Line())
	n.SetLastLine(at.LastLine())
	return n
}

// function walks the body of a function with the given parameters.
func (w *rewriter) function(params []string, body []ast.Stmt) []ast.Stmt {
	from := len(w.locals)
	w.locals = append(w.locals, params...)
	w.stmts(body)
	w.locals = w.locals[:from]
	return body
}

func (w *rewriter) block(body []ast.Stmt) { w.function(nil, body) }

func (w *rewriter) stmts(list []ast.Stmt) {
	for i := range list {
		list[i] = w.stmt(list[i])
		if w.err != nil {
			return
		}
	}
}

func (w *rewriter) exprs(list []ast.Expr) {
	for i := range list {
		list[i] = w.expr(list[i])
	}
}

func (w *rewriter) stmt(stmt ast.Stmt) ast.Stmt {
	if w.depth++; w.depth > maxDepth {
		w.fail(stmt.Line(), "chunk has too many syntax levels")
		return stmt
	}
	defer func() { w.depth-- }()
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		w.exprs(s.Rhs)
		for i := range s.Lhs {
			s.Lhs[i] = w.target(s.Lhs[i])
		}
	case *ast.LocalAssignStmt:
		// gopher-lua cannot tell `local function f` from `local f = function`: both see f inside.
		if len(s.Names) == 1 && len(s.Exprs) == 1 {
			if _, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
				w.locals = append(w.locals, s.Names[0])
				w.exprs(s.Exprs)
				return s
			}
		}
		w.exprs(s.Exprs)
		w.locals = append(w.locals, s.Names...)
	case *ast.FuncCallStmt:
		s.Expr = w.expr(s.Expr)
	case *ast.DoBlockStmt:
		w.block(s.Stmts)
	case *ast.WhileStmt:
		w.long = true
		s.Condition = w.expr(s.Condition)
		w.block(s.Stmts)
	case *ast.RepeatStmt:
		w.long = true
		from := len(w.locals)
		w.stmts(s.Stmts)
		s.Condition = w.expr(s.Condition)
		w.locals = w.locals[:from]
	case *ast.IfStmt:
		s.Condition = w.expr(s.Condition)
		w.block(s.Then)
		w.block(s.Else)
	case *ast.NumberForStmt:
		w.numberFor(s)
	case *ast.GenericForStmt:
		w.long = true
		for i, x := range s.Exprs {
			s.Exprs[i] = w.reader(x, "ipairs", "pairs")
		}
		w.function(s.Names, s.Stmts)
	case *ast.FuncDefStmt:
		return w.funcDef(s)
	case *ast.ReturnStmt:
		w.exprs(s.Exprs)
	case *ast.LabelStmt:
		w.fail(s.Line(), "unexpected symbol near '::'")
	case *ast.GotoStmt:
		w.fail(s.Line(), "'=' expected near '"+s.Label+"'")
	}
	return stmt
}

// target is the left side of an assignment. A global becomes a field of _G, which refuses it.
func (w *rewriter) target(x ast.Expr) ast.Expr {
	switch x := x.(type) {
	case *ast.IdentExpr:
		if !w.isLocal(x.Value) {
			return w.globalField(x)
		}
		return x
	case *ast.AttrGetExpr:
		x.Object, x.Key = w.expr(x.Object), w.expr(x.Key)
	}
	return x
}

func (w *rewriter) globalField(x *ast.IdentExpr) ast.Expr {
	if w.scope.library {
		return w.inEnvironment(x)
	}
	g := w.bind("_G", w.e.gproxy, x)
	if g == nil {
		w.fail(x.Line(), "too many global names")
		return x
	}
	return placed(&ast.AttrGetExpr{Object: g, Key: placed(&ast.StringExpr{Value: x.Value}, x)}, x)
}

func (w *rewriter) funcDef(s *ast.FuncDefStmt) ast.Stmt {
	if s.Name.Func == nil {
		s.Name.Receiver = w.expr(s.Name.Receiver)
		w.functionExpr(s.Func, "self")
		return s
	}
	w.functionExpr(s.Func)
	return placed(&ast.AssignStmt{Lhs: []ast.Expr{w.target(s.Name.Func)}, Rhs: []ast.Expr{s.Func}}, s)
}

func (w *rewriter) functionExpr(f *ast.FunctionExpr, self ...string) {
	w.long = false
	w.nested++
	params := append(self, f.ParList.Names...)
	if f.ParList.HasVargs {
		params = append(params, "arg")
	}
	w.function(params, f.Stmts)
	w.nested--
	w.noteBrief(f)
	w.long = true
}

// numberFor makes the three values numbers, as Lua does with strings that look like one.
func (w *rewriter) numberFor(s *ast.NumberForStmt) {
	w.long = true
	number := func(x ast.Expr, function string) ast.Expr {
		if x == nil {
			return nil
		}
		switch x := w.expr(x).(type) {
		case *ast.NumberExpr, *ast.UnaryLenOpExpr:
			return x
		default:
			return w.call(function, x, x)
		}
	}
	s.Init = number(s.Init, "for initial")
	s.Limit = number(s.Limit, "for limit")
	s.Step = number(s.Step, "for step")
	w.function([]string{s.Name}, s.Stmts)
}

// call is a call of a hidden function for one value.
func (w *rewriter) call(function string, at ast.Expr, args ...ast.Expr) ast.Expr {
	fn := w.bind(function, w.e.hidden[function], at)
	if fn == nil {
		w.fail(at.Line(), "too many global names")
		return at
	}
	for _, x := range args {
		one(x)
	}
	return placed(&ast.FuncCallExpr{Func: fn, Args: args, AdjustRet: true}, at)
}

// one cuts what may be several values to the first.
func one(x ast.Expr) {
	switch x := x.(type) {
	case *ast.FuncCallExpr:
		x.AdjustRet = true
	case *ast.Comma3Expr:
		x.AdjustRet = true
	}
}
