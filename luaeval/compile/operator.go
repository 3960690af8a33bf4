package compile

import (
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// arithmetic compiles a sum, a difference, a product, a quotient, a remainder or a power. Its left
// side is e (lcode.c: luaK_infix, codearith).
func (c *compiler) arithmetic(x *ast.ArithmeticOpExpr, e *exp) {
	if !e.isNumber() {
		c.toOperand(e)
	}
	right := c.expr(x.Rhs)
	if e.isNumber() && right.isNumber() {
		if n, ok := fold(x.Operator, e.num, right.num); ok {
			e.num = n
			return
		}
	}
	b := c.toOperand(&right)
	a := c.toOperand(e)
	if a > b {
		c.freeValue(e)
		c.freeValue(&right)
	} else {
		c.freeValue(&right)
		c.freeValue(e)
	}
	left := e.as
	e.as = origin{}
	var op int
	switch x.Operator {
	case "+":
		op = lua.OP_ADD
	case "-":
		op = lua.OP_SUB
	case "*":
		op = lua.OP_MUL
	case "/":
		op = lua.OP_DIV
	default:
		c.operator(x.Operator, e, []int{a, b}, left, right.as)
		return
	}
	e.become(open, c.emit(op, 0, a, b))
	c.note(e.a, 1, left)
	c.note(e.a, 2, right.as)
}

// operator calls the function for an operator. The operands may be in the first free registers.
func (c *compiler) operator(name string, e *exp, operands []int, names ...origin) {
	f := c.f
	free := f.free
	base, pc := c.callOperator(name, 2, operands)
	for i, name := range names {
		c.note(pc, i+1, name)
	}
	f.free = free
	if base == free {
		c.reserve(1)
		e.become(fixed, base)
		return
	}
	e.become(open, c.emit(lua.OP_MOVE, 0, base, 0))
}

// operand puts an operand into a register.
func (c *compiler) operand(reg, from int) {
	if from&constantBit != 0 {
		c.emitLong(lua.OP_LOADK, reg, from&^constantBit)
		return
	}
	c.move(reg, from)
}

func (c *compiler) operatorUpvalue(name string) int {
	return c.upvalue(c.f, ^c.bind(name, c.text.Operators[name]))
}

// fold computes an operation on two literals. It reports whether the result is a number.
func fold(operator string, a, b float64) (r float64, ok bool) {
	switch operator {
	case "+":
		r = a + b
	case "-":
		r = a - b
	case "*":
		r = a * b
	case "/":
		r = a / b
	case "%":
		r = lualib.Modulo(a, b)
	case "^":
		r = lualib.Power(a, b)
	}
	byZero := b == 0 && (operator == "/" || operator == "%")
	return r, !byZero && !math.IsNaN(r)
}

// compare compiles a comparison. Its left side is e.
func (c *compiler) compare(x *ast.RelationalOpExpr, e *exp) {
	c.compareStep(x)
	c.toOperand(e)
	right := c.expr(x.Rhs)
	left, b := c.operandOf(e), c.toOperand(&right)
	c.freeValue(&right)
	c.freeValue(e)
	op, is := lua.OP_EQ, 1
	switch x.Operator {
	case "~=":
		is = 0
	case "<", ">":
		op = lua.OP_LT
	case "<=", ">=":
		op = lua.OP_LE
	}
	if x.Operator[0] == '>' {
		left, b = b, left
	}
	e.become(compared, c.test(op, is, left, b))
	e.as = origin{}
}

// operandOf returns what toOperand has made of e.
func (c *compiler) operandOf(e *exp) int {
	if e.kind == literal && e.a < constantBit {
		return e.a | constantBit
	}
	return e.a
}

// logical compiles `and` and `or`. The left side is e.
func (c *compiler) logical(x *ast.LogicalOpExpr, e *exp) {
	if x.Operator == "and" {
		c.goIfTrue(e)
	} else {
		c.goIfFalse(e)
	}
	right := c.expr(x.Rhs)
	c.discharge(&right)
	if x.Operator == "and" {
		right.whenFalse = c.join(e.whenFalse, right.whenFalse)
	} else {
		right.whenTrue = c.join(e.whenTrue, right.whenTrue)
	}
	if right.jumps() {
		right.as = origin{}
	}
	*e = right
}

func (c *compiler) not(x *ast.UnaryNotOpExpr) exp {
	e := c.expr(x.Expr)
	c.discharge(&e)
	switch e.kind {
	case isNil, isFalse:
		e.kind = isTrue
	case isTrue, literal, number:
		e.kind = isFalse
	case compared:
		c.f.proto.Code[c.control(e.a)] ^= 1 << shiftA
	default:
		c.intoAny(&e)
		c.freeValue(&e)
		e.become(open, c.emit(lua.OP_NOT, 0, e.a, 0))
	}
	e.whenTrue, e.whenFalse = e.whenFalse, e.whenTrue
	for _, list := range [2]int{e.whenTrue, e.whenFalse} {
		for ; list != noJump; list = c.next(list) {
			c.patchTest(list, noRegister)
		}
	}
	e.as = origin{}
	return e
}

func (c *compiler) minus(x *ast.UnaryMinusOpExpr) exp {
	e := c.expr(x.Expr)
	if e.isNumber() {
		e.num = -e.num
		return e
	}
	return c.unary(lua.OP_UNM, &e)
}

func (c *compiler) length(x *ast.UnaryLenOpExpr) exp {
	var e exp
	if id, ok := x.Expr.(*ast.IdentExpr); ok && c.isWordName(id.Value) {
		e = c.word(id)
	} else {
		c.step(slowStep)
		c.holes.asks = c.holes.asks || !isString(x.Expr)
		e = c.expr(x.Expr)
		if c.mode.exact {
			of := e.as
			reg := c.toAny(&e)
			c.freeValue(&e)
			r := value(void, 0)
			c.operator("#", &r, []int{reg}, of)
			return r
		}
	}
	return c.unary(lua.OP_LEN, &e)
}

func (c *compiler) unary(op int, e *exp) exp {
	of := e.as
	reg := c.toAny(e)
	c.freeValue(e)
	r := value(open, c.emit(op, 0, reg, 0))
	c.note(r.a, 1, of)
	return r
}

// concat compiles `a .. b .. c` as one call.
func (c *compiler) concat(x *ast.StringConcatOpExpr) exp {
	f, level := c.f, c.level
	base := f.free
	f.spare++
	c.reserve(1)
	c.emit(lua.OP_GETUPVAL, base, c.operatorUpvalue(".."), 0)
	var names []origin
	var rest ast.Expr = x
	for rest != nil {
		operand := rest
		rest = nil
		if chain, ok := operand.(*ast.StringConcatOpExpr); ok {
			operand, rest = chain.Lhs, chain.Rhs
		}
		e := c.expr(operand)
		if e.isNumber() {
			if e.num == 0 {
				c.constant(lua.LNumber(e.num)) // Lua has one constant for 0 and -0, the first of them
			}
			e.become(literal, c.constant(lua.LString(lualib.FormatNumber(e.num))))
		}
		names = append(names, e.as)
		c.toNext(&e)
		c.enter()
	}
	c.level = level
	pc := c.emit(lua.OP_CALL, base, len(names)+1, 2)
	for i, name := range names {
		c.note(pc, i+1, name)
	}
	f.spare--
	f.free = base + 1
	return value(fixed, base)
}
