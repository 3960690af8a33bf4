package luaeval

import (
	"math"

	"github.com/yuin/gopher-lua/ast"
)

// A script runs without a context when it soon ends by itself. The rewriter counts the steps that it
// may take: the nodes of the tree, those in a loop once for each turn. A node that may take long, or
// much memory, counts as many steps.

const (
	maxUnwatched = 1 << 16 // steps of a script without a context; they take about a millisecond
	slowStep     = 1 << 8  // of an operation that may read a long string or a long table
	wildStep     = 1 << 12 // of an assignment that may make an array of LargestHole elements
	elementsStep = 1 << 6  // elements that an assignment may add to an array in one step

	notCounted = math.MaxFloat64 // turns of a loop, or the largest value of a variable, when not known
)

// step counts n steps.
func (w *rewriter) step(n int) {
	if w.steps += n; w.steps > maxUnwatched {
		w.long = true
	}
}

// again counts the steps of a loop's body, which began at from, for the given number of turns.
func (w *rewriter) again(from int, turns float64) {
	if turns < maxUnwatched {
		w.step(int(turns) * (w.steps - from + 1))
	} else {
		w.long = true
	}
}

// turns returns how often a numeric for runs its body, and the largest value of its variable. An
// argument that is no literal is NaN. Then both results are notCounted. They are notCounted also when
// adding the step to a large number may change nothing: such a loop never ends.
func turns(init, limit, step float64) (n, largest float64) {
	n, largest = math.Floor((limit-init)/step)+1, max(math.Abs(init), math.Abs(limit))
	if n < maxUnwatched && largest < 1<<32 && math.Abs(step) > 1.0/maxUnwatched {
		return max(n, 0), largest
	}
	return notCounted, notCounted
}

// reach returns the largest number that an index may be. It is 0 for a name, and notCounted when
// it is not known.
func (w *rewriter) reach(key ast.Expr) float64 {
	switch x := key.(type) {
	case *ast.StringExpr:
		return 0
	case *ast.NumberExpr:
		if n := literal(x); n != nil {
			return math.Abs(*n)
		}
	case *ast.IdentExpr:
		if i, ok := w.byName[x.Value]; ok && w.vars[i].counts {
			return w.vars[i].largest
		}
	case *ast.ArithmeticOpExpr:
		if x.Operator == "+" || x.Operator == "-" {
			return w.reach(x.Lhs) + w.reach(x.Rhs)
		}
	}
	return notCounted
}

// readStep counts the read of an index.
func (w *rewriter) readStep(key ast.Expr) {
	if w.reach(key) >= notCounted {
		w.step(slowStep) // it may be a long string
	}
}

// writeStep counts an assignment to an index.
func (w *rewriter) writeStep(table, key ast.Expr) {
	switch reach := w.reach(key); {
	case reach < wildStep*elementsStep:
		w.step(int(reach) / elementsStep)
	case !isAppend(table, key):
		w.step(wildStep)
	}
}

// isAppend reports whether an index is the next one of its table, as in `t[#t + 1]`.
func isAppend(table, key ast.Expr) bool {
	sum, isSum := key.(*ast.ArithmeticOpExpr)
	name, isName := table.(*ast.IdentExpr)
	if !isSum || !isName || sum.Operator != "+" {
		return false
	}
	size, isSize := sum.Lhs.(*ast.UnaryLenOpExpr)
	one := literal(sum.Rhs)
	if !isSize || one == nil || *one != 1 {
		return false
	}
	of, ok := size.Expr.(*ast.IdentExpr)
	return ok && of.Value == name.Value
}

// compareStep counts a comparison. It takes long only when both sides may be long strings.
func (w *rewriter) compareStep(x *ast.RelationalOpExpr) {
	if !isLiteral(x.Lhs) && !isLiteral(x.Rhs) {
		w.step(slowStep)
	}
}

// ticks reports whether a generic for calls a known iterator, which counts its turns itself.
func (w *rewriter) ticks(exprs []ast.Expr) bool {
	call, isCall := exprs[0].(*ast.FuncCallExpr)
	if !isCall || len(exprs) > 1 {
		return false
	}
	name, isName := call.Func.(*ast.IdentExpr)
	return isName && !w.isLocal(name.Value) && (name.Value == "pairs" || name.Value == "ipairs")
}
