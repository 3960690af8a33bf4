package luaeval

import (
	"fmt"
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// gopher-lua's compiler finds a constant by walking all constants of the function. The rewriter
// leaves it the first few, which instructions can name as operands. For each of the others the tree
// gets an expression of one instruction, which becomes the load of that constant once the function
// is compiled. What stands for what is known by the line: it is the number of a mark, below zero.

const (
	maxOperands = 256     // constants of a function that instructions can name
	maxWalked   = 1 << 21 // steps to find constants, in all functions
	maxMethods  = 10000   // names of methods in one function, which the compiler cannot do without
	maxConstant = 1<<18 - 1
)

// mark says what becomes of the instructions that have its line.
type mark struct {
	line int32
	load int32     // the constant to be loaded: its number in of, from 1
	of   *function // the function of that constant
	list int16     // the block of a constructor to be stored, or noList
	loop loopEnd
}

const noList = -1

func (w *rewriter) mark(m mark) int {
	w.marks = append(w.marks, m)
	return -len(w.marks)
}

// marked returns the mark of x, which it gets if it has none.
func (w *rewriter) marked(x ast.PositionHolder) *mark {
	if x.Line() >= 0 {
		x.SetLine(w.mark(mark{line: int32(x.Line())}))
	}
	return &w.marks[-x.Line()-1]
}

// realLine is the line in the text of one in the tree.
func (w *rewriter) realLine(line int) int {
	if line < 0 {
		return int(w.marks[-line-1].line)
	}
	return line
}

// settle takes the constant x, or what else it is, as it is or in another form.
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

// later leaves v to useMarks. The compiler turns `not nil` into one instruction.
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

// method counts the name of a method.
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

// maxSpine is how far the compiler may look for literals to add up below each of the operations in
// a row.
const maxSpine = 32

// arithmetic adds up literals, as Lua does, so that the compiler does not make constants of its
// own.
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
			return x // to the compiler the same constant as 0
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

// fold is the result of an operation on two literals, or nil when it has to be found when the
// script runs.
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
