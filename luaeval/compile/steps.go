package compile

import (
	"math"

	"github.com/yuin/gopher-lua/ast"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// A script runs without a context when it soon ends by itself. The compiler counts the steps that it
// may take: the instructions, those in a loop once for each turn. A node that may take long, or
// much memory, counts as many steps.

const (
	maxUnwatched = 1 << 16 // steps of a script without a context; they take about a millisecond
	slowStep     = 1 << 8  // of an operation that may read a long string or a long table
	wildStep     = 1 << 12 // of an assignment that may make an array of LargestHole elements
	elementsStep = 1 << 6  // elements that an assignment may add to an array in one step

	notCounted = math.MaxFloat64 // turns of a loop, or the largest value of a variable, when not known
)

// step counts n steps.
func (c *compiler) step(n int) {
	if c.steps += n; c.steps > maxUnwatched {
		c.long = true
	}
}

// again counts the steps of a loop's body, which began at from, for the given number of turns.
func (c *compiler) again(from int, turns float64) {
	if turns < maxUnwatched {
		c.step(int(turns) * (c.steps - from + 1))
	} else {
		c.long = true
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
func (c *compiler) reach(key ast.Expr) float64 {
	switch x := key.(type) {
	case *ast.StringExpr:
		return 0
	case *ast.NumberExpr:
		if n := plainNumber(x); n != nil {
			return math.Abs(*n)
		}
	case *ast.IdentExpr:
		if i, ok := c.byName[x.Value]; ok && c.vars[i].counts {
			return c.vars[i].largest
		}
	case *ast.ArithmeticOpExpr:
		if x.Operator == "+" || x.Operator == "-" {
			return c.reach(x.Lhs) + c.reach(x.Rhs)
		}
	}
	return notCounted
}

// readStep counts the read of an index.
func (c *compiler) readStep(key ast.Expr) {
	if c.reach(key) >= notCounted {
		c.step(slowStep) // it may be a long string
	}
}

// writeStep counts an assignment to an index.
func (c *compiler) writeStep(table, key ast.Expr) {
	switch reach := c.reach(key); {
	case reach < wildStep*elementsStep:
		c.step(int(reach) / elementsStep)
	case !isAppend(table, key):
		c.step(wildStep)
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
	one := plainNumber(sum.Rhs)
	if !isSize || one == nil || *one != 1 {
		return false
	}
	of, ok := size.Expr.(*ast.IdentExpr)
	return ok && of.Value == name.Value
}

// compareStep counts a comparison. It takes long only when both sides may be long strings.
func (c *compiler) compareStep(x *ast.RelationalOpExpr) {
	if !isLiteral(x.Lhs) && !isLiteral(x.Rhs) {
		c.step(slowStep)
	}
}

// ticks reports whether a generic for calls a known iterator, which counts its turns itself.
func (c *compiler) ticks(exprs []ast.Expr) bool {
	call, isCall := exprs[0].(*ast.FuncCallExpr)
	if !isCall || len(exprs) > 1 {
		return false
	}
	name, isName := call.Func.(*ast.IdentExpr)
	return isName && !c.isLocal(name.Value) && (name.Value == "pairs" || name.Value == "ipairs")
}

// plainNumber returns the value of a number literal, or nil.
func plainNumber(x ast.Expr) *float64 {
	if x, ok := x.(*ast.NumberExpr); ok {
		n, _ := lualib.ParseNumber(x.Value)
		return &n
	}
	return nil
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
