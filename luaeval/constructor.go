package luaeval

import (
	"github.com/yuin/gopher-lua/ast"
)

// listSize is how many values of a constructor one instruction stores (lopcodes.h:
// LFIELDS_PER_FLUSH). maxLists is how many such blocks an instruction can number.
const (
	listSize = 50
	maxLists = 511
)

// constructor marks the fields of a table after which gopher-lua's compiler stores a block wrongly:
//
// - It stores a full block again behind a field with a key. - It takes a call behind a full block
// for a part of that block. - It takes a call behind a key for several values. - It forgets the
// numbers of blocks above 511.
func (w *rewriter) constructor(x *ast.TableExpr) ast.Expr {
	const size = listSize
	n := 0
	for i, f := range x.Fields {
		last := i == len(x.Fields)-1
		if f.Key != nil {
			one(f.Value)
		}
		block := (n-1)/size + 1
		switch {
		case f.Key != nil && n > 0 && n%size == 0:
			w.marked(f.Key).list = noList
		case f.Key != nil && last && block > maxLists:
			w.marked(f.Key).list = int16(block)
		case f.Key != nil:
		case last && isOpen(f.Value):
			w.openEnd(x, n)
		default:
			n++
			if block = (n-1)/size + 1; block > maxLists && (n%size == 0 || last) {
				w.marked(f.Value).list = int16(block)
			}
		}
	}
	if n <= maxLists*size {
		return x
	}
	w.labels(4)
	// The word behind the last instruction is the number of its block, not an instruction. The
	// compiler must not drop it.
	return placed(&ast.LogicalOpExpr{Operator: "or", Lhs: placed(&ast.FalseExpr{}, x), Rhs: x}, x)
}

// openEnd handles a call or ... as the last field, behind n values.
func (w *rewriter) openEnd(x *ast.TableExpr, n int) {
	const size = listSize
	last := x.Fields[len(x.Fields)-1]
	if n == maxLists*size { // The compiler leaves no room for the number of block 512: take a full one less.
		from := len(x.Fields)
		for count := 0; count <= size; from-- {
			if x.Fields[from-1].Key == nil {
				count++
			}
		}
		if len(x.Fields)-from == size+1 {
			args := make([]ast.Expr, 0, size+1)
			for _, f := range x.Fields[from:] {
				args = append(args, f.Value)
			}
			x.Fields = append(x.Fields[:from:from], &ast.Field{Value: w.pass(last.Value, args)})
			w.marked(x.Fields[from].Value).list = maxLists
			return
		}
		w.fail(w.realLine(x.Line()), "constructor too long")
		return
	}
	if block := n/size + 1; n > 0 && (n%size == 0 || block > maxLists) {
		w.marked(last.Value).list = int16(block)
	}
}

// pass returns a call that returns its arguments. The last argument may be several values.
func (w *rewriter) pass(at ast.Expr, args []ast.Expr) ast.Expr {
	return placed(&ast.FuncCallExpr{Func: w.bind("pass", w.e.hidden["pass"], at), Args: args}, at)
}

func isOpen(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.FuncCallExpr:
		return !x.AdjustRet
	case *ast.Comma3Expr:
		return !x.AdjustRet
	}
	return false
}
