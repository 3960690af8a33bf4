package compile

import (
	lua "github.com/yuin/gopher-lua"
)

// kind says where the value of an expression is (lparser.h: expkind).
type kind uint8

const (
	void     kind = iota // no value
	isNil                // a literal
	isTrue               // a literal
	isFalse              // a literal
	literal              // constant a
	number               // num
	local                // the variable in register a
	upvalue              // upvalue a
	global               // the field name of the environment
	indexed              // register a, index b: a register or a constant
	compared             // jump a is taken when the comparison is true
	open                 // instruction a, which has no target register yet
	fixed                // register a
	call                 // instruction a, a call
	varargs              // instruction a, which takes the arguments after the parameters
)

// exp is an expression that is being compiled (lparser.h: expdesc).
type exp struct {
	kind                kind
	a, b                int
	num                 float64
	whenTrue, whenFalse int    // jumps out of the expression when it is true or false
	as                  origin // of the value
	of                  origin // of the table, when the value is indexed
}

func value(k kind, a int) exp { return exp{kind: k, a: a, whenTrue: noJump, whenFalse: noJump} }

func (e *exp) become(k kind, a int) { e.kind, e.a = k, a }

func (e *exp) jumps() bool { return e.whenTrue != noJump || e.whenFalse != noJump }

func (e *exp) isNumber() bool { return e.kind == number && !e.jumps() }

// isOpen reports whether the expression can have several values.
func (e *exp) isOpen() bool { return e.kind == call || e.kind == varargs }

// takeValues makes a call or ... return n values, or all when n is -1.
func (c *compiler) takeValues(e *exp, n int) {
	switch e.kind {
	case call:
		c.setC(e.a, n+1)
	case varargs:
		c.setB(e.a, n+1)
		c.setA(e.a, c.f.free)
		c.reserve(1)
	}
}

// takeOne makes a call or ... return one value.
func (c *compiler) takeOne(e *exp) {
	switch e.kind {
	case call:
		e.become(fixed, fieldA(c.f.proto.Code[e.a]))
	case varargs: // The virtual machine empties all registers after the value, so it must be the last one.
		c.check(1)
		c.setB(e.a, 2)
		c.setA(e.a, c.f.free)
		e.become(open, c.emit(lua.OP_MOVE, 0, c.f.free, 0))
	}
}

// discharge makes the value of a variable, a field, a call or ... one that is in a register or can
// be put into any.
func (c *compiler) discharge(e *exp) {
	switch e.kind {
	case local:
		e.kind = fixed
	case upvalue:
		e.become(open, c.emit(lua.OP_GETUPVAL, 0, e.a, 0))
	case global:
		env, key := c.environment(e.as.name)
		e.become(open, c.emit(lua.OP_GETTABLE, 0, env, key))
	case indexed:
		c.freeRegister(e.b)
		c.freeRegister(e.a)
		e.become(open, c.emit(lua.OP_GETTABLE, 0, e.a, e.b))
		c.note(e.a, 1, e.of)
	case call, varargs:
		c.takeOne(e)
	}
}

// environment puts the environment into a register that is free afterwards. It returns the
// register, and name as an operand.
func (c *compiler) environment(name string) (reg, key int) {
	key = c.constant(lua.LString(name))
	reg = c.f.free
	c.check(1)
	c.emit(lua.OP_GETUPVAL, reg, c.upvalue(c.f, ^c.bind(Environment, c.text.Env)), 0)
	if key < constantBit {
		return reg, key | constantBit
	}
	c.f.free++
	c.check(1)
	c.f.free--
	c.emitLong(lua.OP_LOADK, reg+1, key)
	return reg, reg + 1
}

// into puts a value without jumps into a register.
func (c *compiler) into(e *exp, reg int) {
	c.discharge(e)
	switch e.kind {
	case isNil:
		c.nils(reg, 1)
	case isTrue:
		c.emit(lua.OP_LOADBOOL, reg, 1, 0)
	case isFalse:
		c.emit(lua.OP_LOADBOOL, reg, 0, 0)
	case literal:
		c.emitLong(lua.OP_LOADK, reg, e.a)
	case number:
		c.emitLong(lua.OP_LOADK, reg, c.constant(lua.LNumber(e.num)))
	case open:
		c.setA(e.a, reg)
	case fixed:
		if e.a != reg {
			c.move(reg, e.a)
		}
	default:
		return
	}
	e.become(fixed, reg)
}

// intoAny puts a value without jumps into some register.
func (c *compiler) intoAny(e *exp) {
	if e.kind != fixed {
		c.reserve(1)
		c.into(e, c.f.free-1)
	}
}

// toRegister puts the value into a register, whatever way leads to it.
func (c *compiler) toRegister(e *exp, reg int) {
	c.into(e, reg)
	if e.kind == compared {
		e.whenTrue = c.join(e.whenTrue, e.a)
	}
	if e.jumps() {
		isFalse, isTrue := noJump, noJump
		if c.needsValue(e.whenTrue) || c.needsValue(e.whenFalse) {
			over := noJump
			if e.kind != compared {
				over = c.jump()
			}
			isFalse = c.truth(reg, 0, 1)
			isTrue = c.truth(reg, 1, 0)
			c.patchToHere(over)
		}
		end := c.here()
		c.patchValues(e.whenFalse, end, reg, isFalse)
		c.patchValues(e.whenTrue, end, reg, isTrue)
		e.as = origin{}
	}
	*e = exp{kind: fixed, a: reg, whenTrue: noJump, whenFalse: noJump, as: e.as}
}

func (c *compiler) truth(reg, value, skip int) int {
	c.here()
	return c.emit(lua.OP_LOADBOOL, reg, value, skip)
}

// toNext puts the value into the first free register.
func (c *compiler) toNext(e *exp) {
	if e.kind == varargs && !e.jumps() {
		c.takeValues(e, 1)
		e.become(fixed, c.f.free-1)
		return
	}
	c.discharge(e)
	c.freeValue(e)
	c.reserve(1)
	c.toRegister(e, c.f.free-1)
}

// toAny puts the value into some register and returns it.
func (c *compiler) toAny(e *exp) int {
	c.discharge(e)
	if e.kind == fixed {
		if !e.jumps() {
			return e.a
		}
		if e.a >= c.f.active {
			c.toRegister(e, e.a)
			return e.a
		}
	}
	c.toNext(e)
	return e.a
}

// toValue computes the value, but keeps a literal.
func (c *compiler) toValue(e *exp) {
	if e.jumps() {
		c.toAny(e)
		return
	}
	c.discharge(e)
}

// toOperand returns the value as an operand: a register or a constant.
func (c *compiler) toOperand(e *exp) int {
	c.toValue(e)
	switch e.kind {
	case isNil, isTrue, isFalse, number:
		if len(c.f.proto.Constants) < constantBit {
			e.become(literal, c.constant(constantOf(e)))
			return e.a | constantBit
		}
	case literal:
		if e.a < constantBit {
			return e.a | constantBit
		}
	}
	return c.toAny(e)
}

func constantOf(e *exp) lua.LValue {
	switch e.kind {
	case isTrue:
		return lua.LTrue
	case isFalse:
		return lua.LFalse
	case number:
		return lua.LNumber(e.num)
	}
	return lua.LNil
}

// freeValue frees the register of a value.
func (c *compiler) freeValue(e *exp) {
	if e.kind == fixed {
		c.freeRegister(e.a)
	}
}

// index makes e an element of what it is, which is in a register.
func (c *compiler) index(e, key *exp) {
	name := "?"
	if key.kind == literal && !key.jumps() {
		if text, ok := c.f.proto.Constants[key.a].(lua.LString); ok {
			name = string(text)
		}
	}
	e.b = c.toOperand(key)
	e.kind, e.of, e.as = indexed, e.as, origin{Field, name}
}

// store assigns a value to a variable or a field.
func (c *compiler) store(to, e *exp) {
	switch to.kind {
	case local:
		c.freeValue(e)
		c.toRegister(e, to.a)
		return
	case upvalue:
		c.emit(lua.OP_SETUPVAL, c.toAny(e), to.a, 0)
	case global:
		from := c.toOperand(e)
		env, key := c.environment(to.as.name)
		c.emit(lua.OP_SETTABLE, env, key, from)
	case indexed:
		from := c.toOperand(e)
		c.setField(to.a, to.b, from, to.of)
	}
	c.freeValue(e)
}

// jumpIf adds a jump that is taken when the value is as said.
func (c *compiler) jumpIf(e *exp, is int) int {
	if e.kind == open {
		if inst := c.f.proto.Code[e.a]; opcode(inst) == lua.OP_NOT && e.a == c.pc()-1 {
			c.dropLast()
			return c.test(lua.OP_TEST, fieldB(inst), 0, 1-is)
		}
	}
	c.intoAny(e)
	c.freeValue(e)
	return c.test(lua.OP_TESTSET, noRegister, e.a, is)
}

// test adds an instruction that decides, and the jump after it.
func (c *compiler) test(op, a, b, x int) int {
	c.emit(op, a, b, x)
	return c.jump()
}

// goIfTrue lets the code go on when e is true. e.whenFalse is the list of jumps when it is not.
func (c *compiler) goIfTrue(e *exp) {
	c.discharge(e)
	to := noJump
	switch e.kind {
	case isTrue, literal, number:
	case compared:
		c.f.proto.Code[c.control(e.a)] ^= 1 << shiftA
		to = e.a
	default:
		to = c.jumpIf(e, 0)
	}
	e.whenFalse = c.join(e.whenFalse, to)
	c.patchToHere(e.whenTrue)
	e.whenTrue = noJump
}

// goIfFalse lets the code go on when e is false.
func (c *compiler) goIfFalse(e *exp) {
	c.discharge(e)
	to := noJump
	switch e.kind {
	case isNil, isFalse:
	case compared:
		to = e.a
	default:
		to = c.jumpIf(e, 1)
	}
	e.whenTrue = c.join(e.whenTrue, to)
	c.patchToHere(e.whenFalse)
	e.whenFalse = noJump
}
