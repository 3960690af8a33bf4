package luaeval

import (
	"errors"
	"fmt"
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

const (
	maxDepth  = 16000 // depth of the tree; maxLevels does not count nesting to the left
	maxBound  = 60    // upvalues of a script; further globals are found by name
	maxNeeded = 16    // further upvalues, for globals that cannot be found by name
)

// hide returns a name that no script can spell.
func hide(name string) string { return "\x00" + name }

// rewriter walks the tree of a script once and changes it: see the package comment.
type rewriter struct {
	e       *Engine
	scope   *scope
	vars    []variable
	byName  map[string]int // the visible variable of a name, as an index of vars
	block   *block
	fn      *function
	marks   []mark
	none    *ast.NilExpr
	names   []string        // of bound globals, hidden
	first   []lua.LValue    // their values when the text begins to run
	values  []lua.LValue    // their values later; only libraries have different ones
	escapes map[string]bool // KEYS and ARGV, when used as values
	depth   int
	nested  int // functions around the walk
	line    int // of the current statement
	nodes   int // tree nodes so far
	steps   int // that the function takes, at most: see maxUnwatched
	walked  int // steps to find constants
	work    int // steps to find names
	spine   int // arithmetic operations in a row
	defined int // functions so far
	self    []ownName
	logical *ast.LogicalOpExpr // an operand of another one
	unused  ast.Expr           // the function that a statement calls
	long    bool               // it may run for long: it needs a context
	vararg  bool               // the text itself uses ...
	usesG   bool
	meta    bool            // a library may make tables that call functions
	brief   map[[2]int]bool // functions of a library that end by themselves, by first and last line
	err     error
}

func newRewriter(e *Engine, s *scope) *rewriter {
	w := &rewriter{e: e, scope: s, fn: &function{}, none: &ast.NilExpr{}}
	w.escapes, w.byName = map[string]bool{}, map[string]int{}
	if s.library { // the first upvalue: globals without an upvalue are its fields
		w.names, w.first, w.values = []string{hide(environment)}, []lua.LValue{s.loading}, []lua.LValue{s.env}
	}
	return w
}

func (w *rewriter) fail(line int, text string) {
	if w.err == nil {
		w.err = errors.New(fmt.Sprint(w.scope.chunk, ":", w.realLine(line), ": ", text))
	}
}

// bind makes v an upvalue of the script. It returns the identifier, or nil when there are too many.
func (w *rewriter) bind(name string, v lua.LValue, at ast.PositionHolder) ast.Expr {
	hidden := hide(name)
	known := false
	for _, n := range w.names {
		known = known || n == hidden
	}
	if !known {
		room := maxBound
		if v == lua.LNil || v == w.scope.env || w.e.hidden[name] != nil {
			room += maxNeeded
		}
		if len(w.names) >= room {
			return nil
		}
		w.names, w.values = append(w.names, hidden), append(w.values, v)
		w.first = append(w.first, w.e.atFirst(w.scope, name, v))
	}
	return placed(&ast.IdentExpr{Value: hidden}, at)
}

func placed[T ast.PositionHolder](n T, at ast.PositionHolder) T {
	n.SetLine(at.Line())
	n.SetLastLine(at.LastLine())
	return n
}

func (w *rewriter) inBlock(body []ast.Stmt) {
	from := w.enter(false)
	w.stmts(body)
	w.leave(from)
}

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
	w.line = stmt.Line()
	w.nodes++
	w.step(1)
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		return w.assign(s)
	case *ast.LocalAssignStmt:
		w.local(s)
	case *ast.FuncCallStmt:
		if call, ok := s.Expr.(*ast.FuncCallExpr); ok {
			w.unused = call.Func
		}
		s.Expr = w.expr(s.Expr)
	case *ast.DoBlockStmt:
		w.inBlock(s.Stmts)
	case *ast.WhileStmt:
		w.while(s)
	case *ast.RepeatStmt:
		return w.repeat(s)
	case *ast.BreakStmt:
		w.breaks()
	case *ast.IfStmt:
		w.labels(3)
		s.Condition = w.expr(s.Condition)
		w.inBlock(s.Then)
		w.inBlock(s.Else)
	case *ast.NumberForStmt:
		w.numberFor(s)
	case *ast.GenericForStmt:
		w.labels(3)
		w.long = w.long || !w.ticks(s.Exprs)
		for i, x := range s.Exprs {
			s.Exprs[i] = w.reader(x, "ipairs", "pairs")
		}
		names := append([]string{"(for generator)", "(for state)", "(for control)"}, s.Names...)
		s.Stmts = w.loopBody(notCounted, names, s.Stmts)
		if blockJumps(s.Stmts) {
			s.Stmts = append([]ast.Stmt{nothing(s)}, s.Stmts...)
		}
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

// target walks the left side of an assignment. A global becomes a field of _G, which refuses
// assignments.
func (w *rewriter) target(x ast.Expr) ast.Expr {
	switch x := x.(type) {
	case *ast.IdentExpr:
		w.mention(x.Value)
		if !w.isLocal(x.Value) {
			return w.globalField(x)
		}
		w.use(x.Value, x.Line())
		w.long = w.long || w.vars[w.byName[x.Value]].counts
		return x
	case *ast.AttrGetExpr:
		w.writeStep(x.Object, x.Key)
		x.Object, x.Key = w.expr(x.Object), w.expr(x.Key)
	}
	return x
}

func (w *rewriter) globalField(x *ast.IdentExpr) ast.Expr {
	if w.scope.library {
		return w.inEnvironment(x)
	}
	g := w.bind("_G", w.scope.env, x)
	if g == nil {
		w.fail(x.Line(), "too many global names")
		return x
	}
	return placed(&ast.AttrGetExpr{Object: g, Key: w.settle(placed(&ast.StringExpr{Value: x.Value}, x))}, x)
}

func (w *rewriter) funcDef(s *ast.FuncDefStmt) ast.Stmt {
	if s.Name.Func == nil {
		s.Name.Receiver = w.expr(s.Name.Receiver)
		w.method(s.Name.Method, s.Line())
		w.functionExpr(s.Func, "self")
		return s
	}
	target := w.target(s.Name.Func)
	w.functionExpr(s.Func)
	return placed(&ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{s.Func}}, s)
}

func (w *rewriter) functionExpr(f *ast.FunctionExpr, self ...string) {
	if w.defined++; w.defined > maxFunctions {
		w.fail(f.Line(), fmt.Sprint("chunk has more than ", maxFunctions, " functions"))
		return
	}
	steps := w.steps
	w.long, w.steps = false, 0
	w.nested++
	w.fn = &function{outer: w.fn, line: f.Line()}
	from := w.enter(false)
	w.declare(f.Line(), self...)
	w.declare(f.Line(), f.ParList.Names...)
	if f.ParList.HasVargs {
		w.declare(f.Line(), "arg")
	}
	w.stmts(f.Stmts)
	w.leave(from)
	w.fn = w.fn.outer
	w.nested--
	w.noteBrief(f)
	w.long, w.steps = true, steps
}

// numberFor converts the three values of a for loop to numbers, as Lua does with strings.
func (w *rewriter) numberFor(s *ast.NumberForStmt) {
	w.labels(1)
	number := func(x ast.Expr, function string) (ast.Expr, float64) {
		switch x := w.raw(x).(type) {
		case *ast.NumberExpr:
			return w.settle(x), *literal(x)
		case *ast.UnaryLenOpExpr:
			return x, math.NaN()
		default:
			at := placed(&ast.NilExpr{}, x)
			return w.call(function, at, w.settle(x)), math.NaN()
		}
	}
	var init, limit, step float64 = 0, 0, 1
	s.Init, init = number(s.Init, "for initial")
	s.Limit, limit = number(s.Limit, "for limit")
	if s.Step != nil {
		s.Step, step = number(s.Step, "for step")
	}
	n, largest := turns(init, limit, step)
	from := w.steps
	s.Stmts = w.loopBody(largest, []string{"(for index)", "(for limit)", "(for step)", s.Name}, s.Stmts)
	w.again(from, n)
}

// call returns a call of a hidden function, for one value.
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

// one cuts a call or ... to its first value.
func one(x ast.Expr) {
	switch x := x.(type) {
	case *ast.FuncCallExpr:
		x.AdjustRet = true
	case *ast.Comma3Expr:
		x.AdjustRet = true
	}
}

// ownName is the name of a local variable whose value, a function, is being walked. That function
// does not see the variable.
type ownName struct {
	name string
	seen bool
}

// local walks a declaration. gopher-lua compiles `local f = function` like `local function f`: the
// function sees f. With a second value it does not see f. In the tree, only `local function f` has
// a last line.
func (w *rewriter) local(s *ast.LocalAssignStmt) {
	if len(s.Names) != 1 || len(s.Exprs) != 1 {
		w.exprs(s.Exprs)
		w.declare(s.Line(), s.Names...)
		return
	}
	f, isFunction := s.Exprs[0].(*ast.FunctionExpr)
	if isFunction && s.LastLine() > 0 {
		w.declare(s.Line(), s.Names...)
		w.functionExpr(f)
		return
	}
	if !isFunction {
		w.exprs(s.Exprs)
		w.declare(s.Line(), s.Names...)
		return
	}
	w.self = append(w.self, ownName{name: s.Names[0]})
	w.functionExpr(f)
	last := len(w.self) - 1
	if w.self[last].seen {
		s.Exprs = append(s.Exprs, placed(&ast.NilExpr{}, s))
	}
	w.self = w.self[:last]
	w.declare(s.Line(), s.Names...)
}

// mention notes the use of a name.
func (w *rewriter) mention(name string) {
	for i := range w.self {
		if w.self[i].name == name {
			w.self[i].seen = true
		}
	}
}
