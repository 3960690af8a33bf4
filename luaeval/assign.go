package luaeval

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// assign walks an assignment. Lua computes all values before it assigns the first. gopher-lua's
// compiler puts each value into its local variable at once, so `a, b = b, a` makes both equal.
// assign gives the values variables of their own.
func (w *rewriter) assign(s *ast.AssignStmt) ast.Stmt {
	if len(s.Lhs) > maxTargets+1 {
		w.fail(s.Line(), fmt.Sprint(w.fn, " has more than ", maxTargets, " variables in assignment"))
	}
	local, field := false, false
	for i := range s.Lhs {
		s.Lhs[i] = w.target(s.Lhs[i])
		switch x := s.Lhs[i].(type) {
		case *ast.IdentExpr:
			at, ok := w.byName[x.Value]
			local = local || ok && w.vars[at].in == w.fn
		case *ast.AttrGetExpr:
			field = true
		}
	}
	w.exprs(s.Rhs)
	if len(s.Lhs) == len(s.Rhs) {
		open(s.Rhs[len(s.Rhs)-1])
	}
	if len(s.Lhs) == 1 && local && len(s.Rhs) == 1 && hasAnd(s.Rhs[0]) {
		return inTurn(s)
	}
	if len(s.Lhs) == 1 || !field && len(s.Rhs) == 1 && isOpen(s.Rhs[0]) {
		return s
	}
	return inTurn(s)
}

// open makes a call or ... return all its values; an assignment takes the first. gopher-lua's
// compiler gets both wrong when they are cut to one value. A call is put into the register of the
// last parameter: in `x = x .. "y"`, x would be the function. And ... empties all registers behind
// its variable.
func open(x ast.Expr) {
	switch x := x.(type) {
	case *ast.FuncCallExpr:
		x.AdjustRet = false
	case *ast.Comma3Expr:
		x.AdjustRet = false
	}
}

// hasAnd reports whether `and` computes an expression. When its left side is false, gopher-lua's
// compiler does not put that value into the variable assigned to.
func hasAnd(x ast.Expr) bool {
	op, ok := x.(*ast.LogicalOpExpr)
	return ok && (op.Operator == "and" || hasAnd(op.Lhs) || hasAnd(op.Rhs))
}

// inTurn returns a block that computes the values first, and assigns from right to left.
func inTurn(s *ast.AssignStmt) ast.Stmt {
	keep := func(list *ast.LocalAssignStmt, x ast.Expr) ast.Expr {
		name := hide(fmt.Sprint("kept ", len(list.Names)))
		list.Names, list.Exprs = append(list.Names, name), append(list.Exprs, x)
		return placed(&ast.IdentExpr{Value: name}, x)
	}
	tables := placed(&ast.LocalAssignStmt{}, s)
	for _, x := range s.Lhs {
		if x, ok := x.(*ast.AttrGetExpr); ok {
			x.Object = keep(tables, x.Object)
			if _, constant := x.Key.(*ast.StringExpr); !constant {
				x.Key = keep(tables, x.Key)
			}
		}
	}
	values := placed(&ast.LocalAssignStmt{Exprs: s.Rhs}, s)
	block := placed(&ast.DoBlockStmt{}, s)
	for i := range s.Lhs {
		values.Names = append(values.Names, hide(fmt.Sprint("value ", i)))
	}
	if len(tables.Names) > 0 {
		for _, x := range tables.Exprs {
			one(x)
		}
		block.Stmts = append(block.Stmts, tables)
	}
	block.Stmts = append(block.Stmts, values)
	for i := len(s.Lhs) - 1; i >= 0; i-- {
		value := placed(&ast.IdentExpr{Value: values.Names[i]}, s)
		block.Stmts = append(block.Stmts, placed(&ast.AssignStmt{Lhs: s.Lhs[i : i+1 : i+1], Rhs: []ast.Expr{value}}, s))
	}
	return block
}
