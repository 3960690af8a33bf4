package compile

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// block compiles statements in a scope of their own.
func (c *compiler) block(list []ast.Stmt) {
	c.openBlock(false)
	c.stmts(list)
	c.closeBlock()
}

// stmts compiles statements in the current scope.
func (c *compiler) stmts(list []ast.Stmt) {
	c.enter()
	for _, s := range list {
		if line := s.Line(); line > 0 {
			c.line = line
		}
		c.stmt(s)
		c.f.free = c.f.active
	}
	c.level--
}

func (c *compiler) stmt(stmt ast.Stmt) {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		c.assign(s)
	case *ast.LocalAssignStmt:
		c.local(s)
	case *ast.FuncCallStmt:
		c.callStmt(s)
	case *ast.DoBlockStmt:
		c.block(s.Stmts)
	case *ast.WhileStmt:
		c.while(s)
	case *ast.RepeatStmt:
		c.repeat(s)
	case *ast.BreakStmt:
		c.breaks()
	case *ast.IfStmt:
		c.ifStmt(s)
	case *ast.NumberForStmt:
		c.numberFor(s)
	case *ast.GenericForStmt:
		c.genericFor(s)
	case *ast.FuncDefStmt:
		c.funcDef(s)
	case *ast.ReturnStmt:
		c.returns(s)
	case *ast.LabelStmt:
		c.fail("unexpected symbol near '::'")
	case *ast.GotoStmt:
		c.fail("'=' expected near '" + s.Label + "'")
	}
}

func (c *compiler) callStmt(s *ast.FuncCallStmt) {
	if call, ok := s.Expr.(*ast.FuncCallExpr); ok {
		c.unused = call.Func
	}
	e := c.expr(s.Expr)
	if e.kind == call {
		c.setC(e.a, 1)
	}
}

// adjust makes a list of n expressions, of which e is the last, one of want values.
func (c *compiler) adjust(want, n int, e *exp) {
	extra := want - n
	if e.isOpen() {
		extra = max(extra+1, 0)
		c.takeValues(e, extra)
		if extra > 1 {
			c.reserve(extra - 1)
		}
		return
	}
	if e.kind != void {
		c.toNext(e)
	}
	if extra > 0 {
		from := c.f.free
		c.reserve(extra)
		c.nils(from, extra)
	}
}

// local compiles a declaration. In the tree, only `local function f` has a last line.
func (c *compiler) local(s *ast.LocalAssignStmt) {
	c.room(len(s.Names))
	if len(s.Names) == 1 && len(s.Exprs) == 1 && s.LastLine() > 0 {
		if f, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
			reg := c.f.free
			c.reserve(1)
			c.declare(s.Names...)
			e := c.function(f, s.Line(), false)
			c.toRegister(&e, reg)
			return
		}
	}
	last := c.exprs(s.Exprs)
	c.adjust(len(s.Names), len(s.Exprs), &last)
	c.declare(s.Names...)
}

// funcDef compiles `function name() end`.
func (c *compiler) funcDef(s *ast.FuncDefStmt) {
	var to exp
	if s.Name.Func == nil {
		to = c.expr(s.Name.Receiver)
		c.toAny(&to)
		key := value(literal, c.constant(lua.LString(s.Name.Method)))
		c.index(&to, &key)
	} else {
		to = c.target(s.Name.Func)
	}
	e := c.function(s.Func, s.Line(), s.Name.Func == nil)
	c.store(&to, &e)
	c.atLine(s.Line())
}

// target compiles the left side of an assignment.
func (c *compiler) target(x ast.Expr) exp {
	switch x := x.(type) {
	case *ast.IdentExpr:
		if i, ok := c.byName[x.Value]; ok {
			c.long = c.long || c.vars[i].counts
			c.holes.assign(x.Value)
			return c.ident(x.Value)
		}
		c.line = max(c.line, x.Line())
		return c.globalField(x.Value)
	case *ast.AttrGetExpr:
		c.writeStep(x.Object, x.Key)
		e := c.expr(x.Object)
		c.toAny(&e)
		key := c.expr(x.Key)
		c.toValue(&key)
		c.index(&e, &key)
		return e
	}
	c.fail("syntax error")
	return exp{}
}

// assign compiles an assignment. Lua computes all values before it assigns the first, and assigns
// from right to left (lparser.c: assignment).
func (c *compiler) assign(s *ast.AssignStmt) {
	var room [4]exp
	targets := room[:0]
	for i, x := range s.Lhs {
		if to, ok := x.(*ast.AttrGetExpr); ok {
			var v ast.Expr
			if i < len(s.Rhs) {
				v = s.Rhs[i]
			}
			c.noteWrite(to, v)
		}
		if i > 0 {
			c.limit(c.f, i, maxLevels-c.level, "variables in assignment")
		}
		to := c.target(x)
		if to.kind == local {
			c.keep(targets, to.a)
		}
		targets = append(targets, to)
	}
	e := c.exprs(s.Rhs)
	n := len(targets)
	if len(s.Rhs) == n {
		c.takeOne(&e)
		c.store(&targets[n-1], &e)
		n--
	} else {
		c.adjust(n, len(s.Rhs), &e)
		if more := len(s.Rhs) - n; more > 0 {
			c.f.free -= more
		}
	}
	for n > 0 {
		n--
		e := value(fixed, c.f.free-1)
		c.store(&targets[n], &e)
	}
}

// keep copies a local variable that is assigned to. Earlier targets use it as their table or index.
func (c *compiler) keep(targets []exp, reg int) {
	copied := c.f.free
	conflict := false
	for i := range targets {
		to := &targets[i]
		if to.kind != indexed {
			continue
		}
		if to.a == reg {
			to.a, conflict = copied, true
		}
		if to.b == reg {
			to.b, conflict = copied, true
		}
	}
	if conflict {
		c.move(copied, reg)
		c.reserve(1)
	}
}

func (c *compiler) returns(s *ast.ReturnStmt) {
	f := c.f
	from, n := f.active, len(s.Exprs)
	e := c.exprs(s.Exprs)
	switch {
	case e.isOpen():
		c.takeValues(&e, -1)
		if e.kind == call && n == 1 {
			inst := &f.proto.Code[e.a]
			*inst = *inst&(1<<shiftOp-1) | uint32(lua.OP_TAILCALL)<<shiftOp
		}
		n = -1
	case n == 1:
		from = c.toAny(&e)
	case n > 1:
		c.toNext(&e)
	}
	c.emit(lua.OP_RETURN, from, n+1, 0)
}

// condition compiles a condition and returns the jumps when it is false.
func (c *compiler) condition(x ast.Expr) int {
	e := c.expr(x)
	if e.kind == isNil {
		e.kind = isFalse // all that is false is the same here
	}
	c.goIfTrue(&e)
	return e.whenFalse
}

// ifStmt compiles a chain of `if`, `elseif` and `else`. In the tree, an `elseif` is an `if` alone in
// the else part.
func (c *compiler) ifStmt(s *ast.IfStmt) {
	out := noJump
	for {
		otherwise := c.condition(s.Condition)
		c.block(s.Then)
		if len(s.Else) == 0 {
			c.patchToHere(c.join(out, otherwise))
			return
		}
		out = c.join(out, c.jump())
		c.patchToHere(otherwise)
		next, ok := s.Else[0].(*ast.IfStmt)
		if !ok || len(s.Else) > 1 {
			break
		}
		s = next
		c.line = max(c.line, s.Line())
	}
	c.block(s.Else)
	c.patchToHere(out)
}
