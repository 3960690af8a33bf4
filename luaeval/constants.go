package luaeval

import (
	"fmt"
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// gopher-lua's compiler looks for a constant among all constants of the function, one by one. The
// rewriter leaves it the first few, which instructions can name as operands. It replaces each other
// constant by an expression of one instruction, and marks that expression. After compilation
// useMarks turns the marked instruction into a load of the constant. The mark is the line number: a
// negative one is the number of a mark.

const (
	maxOperands = 256     // constants of a function that instructions can name
	maxWalked   = 1 << 21 // steps to find constants, in all functions
	maxMethods  = 10000   // names of methods in one function, which marks cannot replace
	maxConstant = 1<<18 - 1
)

// mark says what becomes of an instruction whose line is the number of the mark.
type mark struct {
	line int32
	load int32     // number of the constant to load, from 1 on; 0 for none
	of   *function // the function whose constants has it
	list int16     // block of a constructor to store, or noList
	loop loopEnd
}

const noList = -1

func (w *rewriter) mark(m mark) int {
	w.marks = append(w.marks, m)
	return -len(w.marks)
}

// marked returns the mark of x. If x has no mark yet, marked makes one.
func (w *rewriter) marked(x ast.PositionHolder) *mark {
	if x.Line() >= 0 {
		x.SetLine(w.mark(mark{line: int32(x.Line())}))
	}
	return &w.marks[-x.Line()-1]
}

// realLine returns the line in the text for a line in the tree, which may be a mark.
func (w *rewriter) realLine(line int) int {
	if line < 0 {
		return int(w.marks[-line-1].line)
	}
	return line
}

// settle returns the expression in place of x. It replaces a constant that the compiler should not
// look for.
func (w *rewriter) settle(x ast.Expr) ast.Expr {
	switch x := x.(type) {
	case *ast.StringExpr:
		return w.constant(lua.LString(x.Value), x)
	case *ast.NumberExpr:
		n, _ := lualib.ParseNumber(x.Value)
		return w.constant(lua.LNumber(n), x)
	}
	return x
}

func (w *rewriter) constant(v lua.LValue, x ast.Expr) ast.Expr {
	if w.room(v) {
		return x
	}
	return w.later(v, x)
}

// room reports whether the compiler may look for v among the constants of the function.
func (w *rewriter) room(v lua.LValue) bool {
	f := w.fn
	n := len(f.index) + len(f.methods)
	if w.walked > maxWalked || n >= maxOperands && (!f.index[v] || n >= 2*maxOperands) {
		return false
	}
	if f.index == nil {
		f.index = map[lua.LValue]bool{}
	}
	f.index[v] = true
	w.walked += n
	return true
}

// later leaves the constant v to useMarks. The compiler turns `not nil` into one instruction.
func (w *rewriter) later(v lua.LValue, x ast.Expr) ast.Expr {
	f := w.fn
	number, known := f.numbers[v]
	if !known {
		if f.numbers == nil {
			f.numbers = map[lua.LValue]int32{}
		}
		f.constants = append(f.constants, v)
		number = int32(len(f.constants))
		f.numbers[v] = number
	}
	if number > maxConstant && w.err == nil {
		w.err = &limitError{text: tooManyConstants}
	}
	load := placed(&ast.UnaryNotOpExpr{Expr: w.none}, x)
	load.SetLine(w.mark(mark{line: int32(x.Line()), load: number, of: f}))
	return load
}

// method counts a name of a method.
func (w *rewriter) method(name string, line int) {
	f := w.fn
	if f.methods == nil {
		f.methods = map[string]bool{}
	}
	f.methods[name] = true
	w.spend(len(f.index) + len(f.methods))
	if len(f.methods) > maxMethods {
		w.fail(line, fmt.Sprint(f, " has more than ", maxMethods, " names of methods"))
	}
}

// maxSpine is the length of a row of operations. In it, the compiler looks for literals to add up
// below each operation, which is quadratic.
const maxSpine = 32

// arithmetic adds up literals, as Lua does. Otherwise the compiler would do so, and make constants
// that nobody counts.
func (w *rewriter) arithmetic(x *ast.ArithmeticOpExpr) ast.Expr {
	w.spine++
	cut := w.spine > maxSpine
	if cut {
		w.spine = 0
	}
	spine := w.spine
	x.Lhs = w.raw(x.Lhs)
	w.spine = spine
	x.Rhs = w.raw(x.Rhs)
	if x.Operator == "%" || x.Operator == "^" {
		return w.call(x.Operator, x, w.settle(x.Lhs), w.settle(x.Rhs))
	}
	left, right := literal(x.Lhs), literal(x.Rhs)
	if left != nil && right != nil {
		switch sum := fold(x.Operator, *left, *right); {
		case sum != nil && *sum == 0 && math.Signbit(*sum):
			return x // the compiler takes it for the constant 0
		case sum != nil:
			return placed(&ast.NumberExpr{Value: string(lualib.AppendExact(nil, *sum))}, x)
		}
		x.Rhs = w.later(lua.LNumber(*right), x.Rhs)
	}
	x.Lhs, x.Rhs = w.settle(x.Lhs), w.settle(x.Rhs)
	if cut {
		w.labels(4)
		return placed(&ast.LogicalOpExpr{Operator: "or", Lhs: placed(&ast.FalseExpr{}, x), Rhs: x}, x)
	}
	return x
}

func literal(x ast.Expr) *float64 {
	if x, ok := x.(*ast.NumberExpr); ok {
		n, _ := lualib.ParseNumber(x.Value)
		return &n
	}
	return nil
}

// fold returns the result of an operation on two literals. It returns nil when only the running
// script can compute it.
func fold(operator string, a, b float64) *float64 {
	var r float64
	switch operator {
	case "+":
		r = a + b
	case "-":
		r = a - b
	case "*":
		r = a * b
	case "/":
		r = a / b
	default:
		return nil
	}
	if r != r || math.IsInf(r, 0) {
		return nil
	}
	return &r
}

func (w *rewriter) minus(x *ast.UnaryMinusOpExpr) ast.Expr {
	w.spine++
	x.Expr = w.raw(x.Expr)
	if n := literal(x.Expr); n != nil && *n != 0 {
		return placed(&ast.NumberExpr{Value: string(lualib.AppendExact(nil, -*n))}, x)
	}
	x.Expr = w.settle(x.Expr)
	return x
}
