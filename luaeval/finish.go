package luaeval

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

const (
	tooManyConstants = "constant table overflow"
	tooLong          = "control structure too long"
)

// limitError is the error of a text that is too large for the instruction format.
type limitError struct {
	line int // 0 when the error has no line
	text string
}

func (e *limitError) Error() string { return e.text }

// maxJump is how far an instruction can jump.
const maxJump = 1<<17 - 1

// loopEnd says whether an instruction begins a long loop or jumps back to its beginning.
type loopEnd uint8

const (
	noLoop loopEnd = iota
	loopStart
	loopBack
)

// finish does what the marks say to a compiled function and the functions in it. It also gives back
// the room for a thousand instructions that the compiler reserves for each function.
func (w *rewriter) finish(proto *lua.FunctionProto) error {
	proto.Code = slices.Clone(proto.Code)
	proto.DbgSourcePositions = slices.Clone(proto.DbgSourcePositions)
	if len(w.marks) > 0 {
		if err := w.useMarks(proto); err != nil {
			return err
		}
	}
	if len(proto.Code) > maxJump {
		if err := checkFor(proto.Code, proto.DbgSourcePositions); err != nil {
			return err
		}
	}
	for _, inner := range proto.FunctionPrototypes {
		if err := w.finish(inner); err != nil {
			return err
		}
	}
	return nil
}

// The fields of an instruction (gopher-lua: opcode.go).
func opcode(inst uint32) int { return int(inst >> 26) }

func jump(inst uint32) int { return int(inst&maxConstant) - maxJump }

const (
	fieldA = 0xff << 18
	fieldC = 0x1ff << 9
	shiftC = 9

	opLoadK = uint32(lua.OP_LOADK) << 26
	opNop   = uint32(lua.OP_NOP) << 26
)

func (w *rewriter) useMarks(proto *lua.FunctionProto) error {
	var starts, places []int
	for pc, line := range proto.DbgSourcePositions {
		if line >= 0 {
			continue
		}
		m := w.marks[-line-1]
		proto.DbgSourcePositions[pc] = int(m.line)
		inst := &proto.Code[pc]
		switch op := opcode(*inst); {
		case op == lua.OP_LOADBOOL && m.load > 0:
			if places == nil {
				places = addConstants(proto, m.of.constants)
			}
			i := places[m.load-1]
			if i >= maxConstant {
				return &limitError{text: tooManyConstants}
			}
			*inst = opLoadK | *inst&fieldA | uint32(i)
		case op == lua.OP_SETLIST && m.list == noList:
			*inst = opNop
		case op == lua.OP_SETLIST && m.list > maxLists:
			proto.Code[pc+1] = uint32(m.list)
		case op == lua.OP_SETLIST && m.list > 0:
			*inst = *inst&^fieldC | uint32(m.list)<<shiftC
		case op == lua.OP_LOADNIL && m.loop == loopStart:
			starts = append(starts, pc)
		case op == lua.OP_JMP && m.loop == loopBack:
			from := starts[len(starts)-1]
			starts = starts[:len(starts)-1]
			if pc+1-from > maxJump {
				return &limitError{int(m.line), tooLong}
			}
		}
	}
	return nil
}

// addConstants adds constants to those that the compiler has found, and returns the index of each.
// 0 and -0 are one constant, as in Lua.
func addConstants(proto *lua.FunctionProto, values []lua.LValue) (places []int) {
	known := make(map[lua.LValue]int, len(proto.Constants))
	for i, v := range proto.Constants {
		known[v] = i
	}
	places = make([]int, len(values))
	proto.Constants = slices.Grow(proto.Constants, len(values))
	for i, v := range values {
		at, ok := known[v]
		if !ok {
			at = len(proto.Constants)
			proto.Constants = append(proto.Constants, v)
		}
		places[i] = at
	}
	return places
}

// checkFor checks the jumps of for loops, because gopher-lua does not. Numeric loops nest like
// parentheses. A generic loop jumps as far back as it jumps forward, which gopher-lua does check.
func checkFor(code []uint32, lines []int) error {
	var starts []int
	for pc := 0; pc < len(code); pc++ {
		switch inst := code[pc]; opcode(inst) {
		case lua.OP_FORPREP:
			starts = append(starts, pc)
		case lua.OP_FORLOOP:
			from := starts[len(starts)-1]
			starts = starts[:len(starts)-1]
			if pc-from > maxJump {
				return &limitError{lines[pc], tooLong}
			}
		case lua.OP_TFORLOOP:
			if pc+1 < len(code) && jump(code[pc+1]) > 0 {
				return &limitError{lines[pc], tooLong}
			}
		case lua.OP_SETLIST:
			if inst&fieldC == 0 {
				pc++
			}
		}
	}
	return nil
}
