package compile

import (
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

func (c *compiler) while(s *ast.WhileStmt) {
	c.long = true
	start := c.here()
	out := c.condition(s.Condition)
	c.openBlock(true)
	c.block(s.Stmts)
	c.patch(c.jump(), start)
	c.closeBlock()
	c.patchToHere(out)
}

// repeat compiles a repeat loop. Its condition sees the variables of the body.
func (c *compiler) repeat(s *ast.RepeatStmt) {
	c.long = true
	start := c.here()
	c.openBlock(true)
	body := c.openBlock(false)
	c.stmts(s.Stmts)
	again := c.condition(s.Condition)
	if !body.captured {
		c.closeBlock()
		c.patch(again, start)
	} else {
		c.breaks()
		c.patchToHere(again)
		c.closeBlock()
		c.patch(c.jump(), start)
	}
	c.closeBlock()
}

func (c *compiler) breaks() {
	b, captured := c.f.block, false
	for b != nil && !b.loop {
		captured = captured || b.captured
		b = b.outer
	}
	if b == nil {
		c.fail("no loop to break")
		return
	}
	if captured {
		c.emit(lua.OP_CLOSE, b.active, 0, 0)
	}
	b.breaks = c.join(b.breaks, c.jump())
}

// numberFor compiles a numeric for. Values that may be strings are converted by one call.
func (c *compiler) numberFor(s *ast.NumberForStmt) {
	line, base := c.line, c.f.free
	c.openBlock(true)
	c.room(4)
	known := isNumeral(s.Init) && isNumeral(s.Limit) && (s.Step == nil || isNumeral(s.Step))
	if !known {
		c.reserve(1)
		c.emit(lua.OP_GETUPVAL, base, c.operatorUpvalue("for"), 0)
	}
	bounds := [3]float64{2: 1}
	for i, x := range [3]ast.Expr{s.Init, s.Limit, s.Step} {
		e := value(number, 0)
		e.num = 1
		if x != nil {
			e = c.expr(x)
		}
		bounds[i] = math.NaN()
		if e.isNumber() {
			bounds[i] = e.num
		}
		c.toNext(&e)
	}
	if !known {
		c.emit(lua.OP_CALL, base, 4, 4)
		c.f.free = base + 3
	}
	n, largest := turns(bounds[0], bounds[1], bounds[2])
	c.declare("(for index)", "(for limit)", "(for step)")
	from := c.steps
	start := c.emitLong(lua.OP_FORPREP, base, noJump+maxJump)
	fills := isOne(s.Init) && (s.Step == nil || isOne(s.Step))
	c.forBody(start, loopBody{largest, fills, true, s.Stmts}, s.Name)
	again := c.emitLong(lua.OP_FORLOOP, base, noJump+maxJump)
	c.atLine(line)
	c.patch(again, start+1)
	c.again(from, n)
	c.closeBlock()
}

func isNumeral(x ast.Expr) bool {
	if minus, ok := x.(*ast.UnaryMinusOpExpr); ok {
		x = minus.Expr
	}
	switch x.(type) {
	case *ast.NumberExpr, *ast.UnaryLenOpExpr:
		return true
	}
	return false
}

// genericFor compiles a for over an iterator.
func (c *compiler) genericFor(s *ast.GenericForStmt) {
	line, base := c.line, c.f.free
	c.openBlock(true)
	c.room(3 + len(s.Names))
	c.long = c.long || !c.ticks(s.Exprs)
	if len(s.Exprs) > 0 {
		c.iterator, _ = s.Exprs[0].(*ast.FuncCallExpr)
	}
	last := c.exprs(s.Exprs)
	c.adjust(3, len(s.Exprs), &last)
	c.f.free = base + 3
	c.check(3) // a call of the iterator takes that many
	c.declare("(for generator)", "(for state)", "(for control)")
	start := c.jump()
	name := ""
	if c.ticks(s.Exprs) {
		name = s.Exprs[0].(*ast.FuncCallExpr).Func.(*ast.IdentExpr).Value
	}
	c.forBody(start, loopBody{notCounted, name == "ipairs", name != "", s.Stmts}, s.Names...)
	c.emit(lua.OP_TFORLOOP, base, 0, len(s.Names))
	c.atLine(line)
	c.patch(c.jump(), start+1)
	c.closeBlock()
}

// loopBody is the body of a for.
type loopBody struct {
	largest float64 // value of the last variable
	fills   bool    // the first variable is 1, 2, 3 and so on
	values  bool    // the first two variables are never nil
	stmts   []ast.Stmt
}

func (c *compiler) forBody(start int, body loopBody, names ...string) {
	c.openBlock(false).fills = body.fills
	c.declare(names...)
	c.reserve(len(names))
	for i := range names[:min(len(names), 2)] {
		c.vars[len(c.vars)-len(names)+i].isValue = body.values
	}
	if body.largest < notCounted {
		last := &c.vars[len(c.vars)-1]
		last.counts, last.largest = true, body.largest
	}
	c.block(body.stmts)
	c.closeBlock()
	c.patchToHere(start)
}
