package luaeval

import "github.com/yuin/gopher-lua/ast"

// gopher-lua's compiler has two errors with jumps back. It shortens a jump to a jump, and goes
// wrong when a jump back leads to a jump that was shortened before: so no loop may begin with a
// jump. And it does not check that a jump back fits into 17 bits: so both ends of a long loop are
// marked.

// longLoop is the number of tree nodes from which on a loop may be too long.
const longLoop = maxJump / 16

// while walks a while loop.
func (w *rewriter) while(s *ast.WhileStmt) {
	w.long = true
	w.labels(6)
	nodes := w.nodes
	s.Condition = w.expr(s.Condition)
	s.Stmts = w.loopBody(notCounted, nil, s.Stmts)
	endless := false
	switch s.Condition.(type) {
	case *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr:
		endless = true
	}
	jumps := isLiteral(s.Condition) || jumpsFirst(s.Condition)
	if endless {
		jumps = blockJumps(s.Stmts)
	}
	if !jumps && w.nodes-nodes < longLoop {
		return
	}
	if !endless {
		out := placed(&ast.IfStmt{Condition: s.Condition, Else: []ast.Stmt{placed(&ast.BreakStmt{}, s)}}, s)
		s.Condition = placed(&ast.TrueExpr{}, s)
		s.Stmts = append([]ast.Stmt{out}, s.Stmts...)
	}
	w.markLoop(s)
}

// markLoop makes an endless loop begin with an instruction without effect, and marks both ends.
func (w *rewriter) markLoop(s *ast.WhileStmt) {
	start := placed(&ast.LocalAssignStmt{Names: []string{hide("")}}, s)
	w.marked(start).loop = loopStart
	s.Stmts = append([]ast.Stmt{placed(&ast.DoBlockStmt{Stmts: []ast.Stmt{start}}, s)}, s.Stmts...)
	s.SetLastLine(w.mark(mark{line: int32(s.LastLine()), loop: loopBack}))
}

// repeat walks a repeat loop.
func (w *rewriter) repeat(s *ast.RepeatStmt) ast.Stmt {
	w.long = true
	w.labels(6)
	nodes := w.nodes
	from := w.enter(true)
	w.stmts(s.Stmts)
	s.Condition = w.expr(s.Condition)
	s.Stmts = w.closing(s.Stmts, s)
	w.leave(from)
	if w.nodes-nodes < longLoop && !blockJumps(s.Stmts) {
		return s
	}
	out := placed(&ast.IfStmt{Condition: s.Condition, Then: []ast.Stmt{placed(&ast.BreakStmt{}, s)}}, s)
	body := append(s.Stmts[:len(s.Stmts):len(s.Stmts)], out)
	loop := placed(&ast.WhileStmt{Condition: placed(&ast.TrueExpr{}, s), Stmts: body}, s)
	w.markLoop(loop)
	return loop
}

// loopBody walks the body of a loop, which declares names. The last name has values up to largest.
func (w *rewriter) loopBody(largest float64, names []string, body []ast.Stmt) []ast.Stmt {
	from := w.enter(true)
	w.declare(w.line, names...)
	if largest < notCounted {
		last := &w.vars[len(w.vars)-1]
		last.counts, last.largest = true, largest
	}
	w.stmts(body)
	if len(body) > 0 {
		body = w.closing(body, body[0])
	}
	w.leave(from)
	return body
}

// closing makes a loop close its variables on break. gopher-lua does so only when a function uses a
// variable of the loop's own body. It forgets variables of inner blocks that break leaves.
func (w *rewriter) closing(body []ast.Stmt, at ast.PositionHolder) []ast.Stmt {
	if !w.block.unclosed {
		return body
	}
	const kept = "kept"
	keep := placed(&ast.LocalAssignStmt{Names: []string{hide(kept)}}, at)
	back := placed(&ast.ReturnStmt{Exprs: []ast.Expr{placed(&ast.IdentExpr{Value: hide(kept)}, at)}}, at)
	use := placed(&ast.FunctionExpr{ParList: &ast.ParList{}, Stmts: []ast.Stmt{back}}, at)
	never := placed(&ast.LocalAssignStmt{Names: []string{hide("")}, Exprs: []ast.Expr{use}}, at)
	skip := placed(&ast.IfStmt{Condition: placed(&ast.FalseExpr{}, at), Then: []ast.Stmt{never}}, at)
	return append([]ast.Stmt{keep, skip}, body...)
}

// nothing returns a statement of one instruction without effect.
func nothing(at ast.PositionHolder) ast.Stmt {
	one := placed(&ast.LocalAssignStmt{Names: []string{hide("")}}, at)
	return placed(&ast.DoBlockStmt{Stmts: []ast.Stmt{one}}, at)
}

// blockJumps reports whether the first instruction of a list of statements may be a jump.
func blockJumps(list []ast.Stmt) bool {
	if len(list) == 0 {
		return true
	}
	switch s := list[0].(type) {
	case *ast.LocalAssignStmt:
		return len(s.Exprs) > 0 && jumpsFirst(s.Exprs[0])
	case *ast.AssignStmt:
		for _, x := range s.Lhs {
			if jumpsFirst(x) {
				return true
			}
		}
		return jumpsFirst(s.Rhs[0])
	case *ast.FuncCallStmt:
		return jumpsFirst(s.Expr)
	case *ast.ReturnStmt:
		return len(s.Exprs) > 0 && jumpsFirst(s.Exprs[0])
	case *ast.IfStmt:
		return isLiteral(s.Condition) || jumpsFirst(s.Condition)
	case *ast.WhileStmt:
		return isLiteral(s.Condition) && blockJumps(s.Stmts) || jumpsFirst(s.Condition)
	case *ast.RepeatStmt:
		return blockJumps(s.Stmts)
	case *ast.DoBlockStmt:
		return blockJumps(s.Stmts)
	case *ast.NumberForStmt:
		return jumpsFirst(s.Init)
	case *ast.GenericForStmt:
		return jumpsFirst(s.Exprs[0])
	case *ast.FuncDefStmt:
		return s.Name.Receiver != nil && jumpsFirst(s.Name.Receiver)
	}
	return true
}

// jumpsFirst reports whether the first instruction of an expression may be a jump. It is one behind
// a literal in `and` and `or`.
func jumpsFirst(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.LogicalOpExpr:
		return isLiteral(x.Lhs) || jumpsFirst(x.Lhs)
	case *ast.RelationalOpExpr:
		return jumpsFirst(x.Lhs) || jumpsFirst(x.Rhs)
	case *ast.ArithmeticOpExpr:
		return jumpsFirst(x.Lhs) || jumpsFirst(x.Rhs)
	case *ast.UnaryMinusOpExpr:
		return jumpsFirst(x.Expr)
	case *ast.UnaryNotOpExpr:
		return isLiteral(x.Expr) || jumpsFirst(x.Expr)
	case *ast.UnaryLenOpExpr:
		return jumpsFirst(x.Expr)
	case *ast.AttrGetExpr:
		return jumpsFirst(x.Object) || jumpsFirst(x.Key)
	case *ast.FuncCallExpr:
		if x.Func == nil {
			return jumpsFirst(x.Receiver)
		}
		return jumpsFirst(x.Func)
	}
	return false
}

func isLiteral(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.NilExpr, *ast.FalseExpr, *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr:
		return true
	case *ast.UnaryNotOpExpr:
		return isLiteral(x.Expr)
	}
	return false
}
