package compile

import lua "github.com/yuin/gopher-lua"

// An instruction has an opcode, and either the fields A, B and C or A and one long field
// (gopher-lua: opcode.go).
const (
	shiftOp, shiftA, shiftC = 26, 18, 9

	maskA, maskB, maskC, maskX = 0xff << shiftA, 0x1ff, 0x1ff << shiftC, 1<<18 - 1

	constantBit = 1 << 8 // in B or C: the field is the index of a constant
	noRegister  = 1<<8 - 1
	noJump      = -1 // the end of a list of jumps
)

func opcode(inst uint32) int { return int(inst >> shiftOp) }
func fieldA(inst uint32) int { return int(inst >> shiftA & 0xff) }
func fieldB(inst uint32) int { return int(inst & maskB) }
func fieldC(inst uint32) int { return int(inst >> shiftC & 0x1ff) }

func (c *compiler) setA(pc, a int) {
	p := &c.f.proto.Code[pc]
	*p = *p&^uint32(maskA) | uint32(a)<<shiftA
}

func (c *compiler) setB(pc, b int) {
	p := &c.f.proto.Code[pc]
	*p = *p&^uint32(maskB) | uint32(b)
}

func (c *compiler) setC(pc, x int) {
	p := &c.f.proto.Code[pc]
	*p = *p&^uint32(maskC) | uint32(x)<<shiftC
}

// emit adds an instruction and returns its place.
func (c *compiler) emit(op, a, b, x int) int {
	return c.add(uint32(op)<<shiftOp | uint32(a)<<shiftA | uint32(x)<<shiftC | uint32(b))
}

// emitLong adds an instruction with one long field.
func (c *compiler) emitLong(op, a, x int) int {
	return c.add(uint32(op)<<shiftOp | uint32(a)<<shiftA | uint32(x))
}

func (c *compiler) add(inst uint32) int {
	f := c.f
	if f.pending != noJump {
		list := f.pending
		f.pending = noJump
		c.patchValues(list, c.pc(), noRegister, c.pc())
	}
	f.moved = -1
	f.proto.Code = append(f.proto.Code, inst)
	f.proto.DbgSourcePositions = append(f.proto.DbgSourcePositions, c.line)
	c.step(1)
	return len(f.proto.Code) - 1
}

// pc is the place of the next instruction.
func (c *compiler) pc() int { return len(c.f.proto.Code) }

// atLine gives the last instruction another line.
func (c *compiler) atLine(line int) { c.f.proto.DbgSourcePositions[c.pc()-1] = line }

// dropLast removes the last instruction.
func (c *compiler) dropLast() {
	p := c.f.proto
	p.Code, p.DbgSourcePositions = p.Code[:len(p.Code)-1], p.DbgSourcePositions[:len(p.DbgSourcePositions)-1]
}

// move copies a register. Moves in a row become one instruction and its operands.
func (c *compiler) move(to, from int) {
	f := c.f
	last := f.moved
	pc := c.emit(lua.OP_MOVE, to, from, 0)
	if last < 0 || f.target == pc {
		f.moved = pc
		return
	}
	f.moved = last
	first := f.proto.Code[last]
	n := 0
	if opcode(first) == lua.OP_MOVEN {
		n = fieldC(first)
	}
	if n == maskB {
		f.moved = pc
		return
	}
	f.proto.Code[last] = first&(maskA|maskB) | uint32(lua.OP_MOVEN)<<shiftOp | uint32(n+1)<<shiftC
}

// nils sets n registers to nil.
func (c *compiler) nils(from, n int) {
	f := c.f
	if pc := c.pc(); pc > f.target && pc > 0 && f.pending == noJump {
		last := f.proto.Code[pc-1]
		if opcode(last) == lua.OP_LOADNIL && fieldA(last) <= from && from <= fieldB(last)+1 && !c.isWord(pc-1) {
			c.setB(pc-1, max(fieldB(last), from+n-1))
			return
		}
	}
	c.emit(lua.OP_LOADNIL, from, from+n-1, 0)
}

// isWord reports whether the word at pc is the number of a block after OP_SETLIST.
func (c *compiler) isWord(pc int) bool {
	return pc > 0 && opcode(c.f.proto.Code[pc-1]) == lua.OP_SETLIST && fieldC(c.f.proto.Code[pc-1]) == 0
}

// jump adds a jump whose target is not known yet. It takes along the jumps that would lead to it.
func (c *compiler) jump() int {
	pending := c.f.pending
	c.f.pending = noJump
	return c.join(pending, c.emitLong(lua.OP_JMP, 0, noJump+maxJump))
}

// here marks the next instruction as a target of jumps.
func (c *compiler) here() int {
	c.f.target = c.pc()
	return c.f.target
}

// next returns the jump that follows in a list.
func (c *compiler) next(pc int) int {
	distance := int(c.f.proto.Code[pc]&maskX) - maxJump
	if distance == noJump {
		return noJump
	}
	return pc + 1 + distance
}

func (c *compiler) setJump(pc, to int) {
	distance := to - (pc + 1)
	if distance > maxJump || -distance > maxJump {
		c.fail("control structure too long")
	}
	p := &c.f.proto.Code[pc]
	*p = *p&^uint32(maskX) | uint32(distance+maxJump)
}

// join returns a list of the jumps of both lists. It walks the second one.
func (c *compiler) join(list, short int) int {
	switch {
	case list == noJump:
		return short
	case short == noJump:
		return list
	}
	last := short
	for n := c.next(last); n != noJump; n = c.next(last) {
		last = n
	}
	c.setJump(last, list)
	return short
}

// control returns the instruction that decides about a jump.
func (c *compiler) control(pc int) int {
	if pc > 0 && !c.isWord(pc-1) {
		switch opcode(c.f.proto.Code[pc-1]) {
		case lua.OP_EQ, lua.OP_LT, lua.OP_LE, lua.OP_TEST, lua.OP_TESTSET, lua.OP_TFORLOOP:
			return pc - 1
		}
	}
	return pc
}

// needsValue reports whether a list has jumps that do not bring the value of a register.
func (c *compiler) needsValue(list int) bool {
	for ; list != noJump; list = c.next(list) {
		if opcode(c.f.proto.Code[c.control(list)]) != lua.OP_TESTSET {
			return true
		}
	}
	return false
}

// patchTest makes the test of a jump bring its value into reg. It reports whether the test has a
// value.
func (c *compiler) patchTest(jump, reg int) bool {
	at := c.control(jump)
	inst := c.f.proto.Code[at]
	if opcode(inst) != lua.OP_TESTSET {
		return false
	}
	if reg != noRegister && reg != fieldB(inst) {
		c.setA(at, reg)
	} else {
		c.f.proto.Code[at] = uint32(lua.OP_TEST)<<shiftOp | uint32(fieldB(inst))<<shiftA | inst&maskC
	}
	return true
}

// patchValues makes the jumps of a list lead to withValue if they bring a value into reg, else to
// without.
func (c *compiler) patchValues(list, withValue, reg, without int) {
	for list != noJump {
		next := c.next(list)
		if c.patchTest(list, reg) {
			c.setJump(list, withValue)
		} else {
			c.setJump(list, without)
		}
		list = next
	}
}

func (c *compiler) patch(list, to int) {
	if to == c.pc() {
		c.patchToHere(list)
		return
	}
	c.patchValues(list, to, noRegister, to)
}

func (c *compiler) patchToHere(list int) {
	c.here()
	c.f.pending = c.join(c.f.pending, list)
}
