package compile

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// function is a function that is being compiled (lparser.h: FuncState).
type function struct {
	outer     *function
	proto     *lua.FunctionProto
	block     *block
	constants map[lua.LValue]int
	captures  []capture
	captured  int // captures that are variables of the text
	active    int // registers of visible variables
	free      int // the first free register
	most      int // registers that were in use at a time
	spare     int // registers in use that Lua would not need
	declared  int // variables so far
	variadic  bool

	target  int // the last instruction that a jump may lead to
	pending int // jumps that lead to the next instruction
	moved   int // the last instruction if it moves registers, or -1
}

// capture is an upvalue of a function: a variable or an upvalue of the outer function.
type capture struct {
	id    int // index of compiler.vars, or ^index of Code.Bound
	local bool
	index int // register or upvalue of the outer function
}

// variable is a visible local variable.
type variable struct {
	name  string
	hides int // index of the variable with the same name that it hides, or -1
	in    *function
	block *block
	reg   int

	isValue bool // its first value is not nil

	counts  bool // a loop sets it, to numbers up to largest
	largest float64
}

// block is a block of the text (lparser.c: BlockCnt).
type block struct {
	outer    *block
	loop     bool
	fills    bool // its first variable counts from 1 on
	captured bool // a function captures one of its variables
	breaks   int  // jumps out of the loop
	from     int  // its first variable, as an index of compiler.vars
	active   int  // registers of the variables around
}

// open begins a function. Line 0 is for the text itself.
func (c *compiler) open(line int) {
	c.f = &function{
		outer: c.f, proto: &lua.FunctionProto{SourceName: c.text.Source, LineDefined: line},
		constants: map[lua.LValue]int{}, most: 2, target: -1, pending: noJump, moved: -1,
	}
	if c.code.Named && line > 0 {
		c.f.captures = []capture{{id: ^0}}
	}
	c.openBlock(false)
}

// close ends the function and returns its code.
func (c *compiler) close(line int) *lua.FunctionProto {
	f := c.f
	c.emit(lua.OP_RETURN, 0, 1, 0)
	for len(c.vars) > f.block.from {
		c.forget()
	}
	p := f.proto
	p.LastLineDefined = line
	p.NumUsedRegisters = uint8(f.most + 1) // a tail call does not copy the last register
	p.NumUpvalues = uint8(len(f.captures))
	p.Code, p.DbgSourcePositions = slices.Clone(p.Code), slices.Clone(p.DbgSourcePositions)
	p.Constants, p.DbgCalls = slices.Clone(p.Constants), slices.Clone(p.DbgCalls)
	if c.code.Named {
		p.DbgUpvalues = []string{Environment}
	}
	c.f = f.outer
	return p
}

// room checks that a statement may declare n more variables.
func (c *compiler) room(n int) {
	f := c.f
	c.limit(f, f.active+n, maxLocals, "local variables")
	if f.declared += n; f.declared > maxDeclared {
		c.failAnywhere("too many local variables")
	}
}

// declare makes variables visible. They are in the next registers in use.
func (c *compiler) declare(names ...string) {
	for _, name := range names {
		hides, ok := c.byName[name]
		if !ok {
			hides = -1
		}
		c.byName[name] = len(c.vars)
		c.vars = append(c.vars, variable{name: name, hides: hides, in: c.f, block: c.f.block, reg: c.f.active})
		c.f.active++
	}
}

// forget makes the last variable invisible.
func (c *compiler) forget() {
	v := c.vars[len(c.vars)-1]
	c.vars = c.vars[:len(c.vars)-1]
	if v.hides < 0 {
		delete(c.byName, v.name)
		return
	}
	c.byName[v.name] = v.hides
}

func (c *compiler) openBlock(loop bool) *block {
	b := &block{outer: c.f.block, loop: loop, breaks: noJump, from: len(c.vars), active: c.f.active}
	c.f.block = b
	return b
}

func (c *compiler) closeBlock() {
	f := c.f
	b := f.block
	for len(c.vars) > b.from {
		c.forget()
	}
	if b.captured {
		c.emit(lua.OP_CLOSE, b.active, 0, 0)
	}
	f.block, f.active, f.free = b.outer, b.active, b.active
	c.patchToHere(b.breaks)
}

// reserve takes n registers.
func (c *compiler) reserve(n int) {
	c.check(n)
	c.f.free += n
}

// check makes sure that n registers are free.
func (c *compiler) check(n int) {
	f := c.f
	if n += f.free; n <= f.most {
		return
	}
	if n-f.spare >= maxRegisters || n > maxRegisters+4 {
		c.fail(tooComplex)
	}
	f.most = n
}

func (c *compiler) freeRegister(reg int) {
	if reg < constantBit && reg >= c.f.active {
		c.f.free--
	}
}

// constant returns the index of a constant of the function.
func (c *compiler) constant(v lua.LValue) int {
	f := c.f
	if i, ok := f.constants[v]; ok {
		return i
	}
	i := len(f.proto.Constants)
	if i >= maxConstants {
		c.failAnywhere("constant table overflow")
	}
	f.constants[v] = i
	f.proto.Constants = append(f.proto.Constants, v)
	return i
}

// upvalue returns the index of an upvalue of f: see capture.id.
func (c *compiler) upvalue(f *function, id int) int {
	if f.outer == nil {
		return ^id
	}
	for i, u := range f.captures {
		if u.id == id {
			return i
		}
	}
	u := capture{id: id}
	if id >= 0 && c.vars[id].in == f.outer {
		u.local, u.index = true, c.vars[id].reg
		c.vars[id].block.captured = true
	} else {
		u.index = c.upvalue(f.outer, id)
	}
	if id >= 0 {
		f.captured++
		c.limit(f, f.captured, maxUpvalues, "upvalues")
	}
	f.captures = append(f.captures, u)
	return len(f.captures) - 1
}
