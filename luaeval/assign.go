package luaeval

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// assign walks an assignment. Lua has all values before it assigns the first; gopher-lua's compiler
// puts each value into its local variable at once, so that `a, b = b, a` makes both the same. With
// variables of its own for the values it does as Lua does.
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

// open lets a call or ... be several values, of which an assignment takes the first. When one is
// cut to one, gopher-lua's compiler calls it in the place of the function's last parameter, if that
// is assigned to: `x = x .. "y"` would see the function as x. And ... goes straight to the
// variable, which empties all registers behind.
func open(x ast.Expr) {
	switch x := x.(type) {
	case *ast.FuncCallExpr:
		x.AdjustRet = false
	case *ast.Comma3Expr:
		x.AdjustRet = false
	}
}

// hasAnd reports whether an expression is made by `and`. When its left side is no, gopher-lua's
// compiler forgets to put that into the variable assigned to.
func hasAnd(x ast.Expr) bool {
	op, ok := x.(*ast.LogicalOpExpr)
	return ok && (op.Operator == "and" || hasAnd(op.Lhs) || hasAnd(op.Rhs))
}

// inTurn is a block that has the values first, and assigns from the right to the left.
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
