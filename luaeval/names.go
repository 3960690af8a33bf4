package luaeval

import (
	"reflect"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// The error of a failed operation names the variable at fault, as in `attempt to call local 'f' (a
// nil value)`. gopher-lua does not give the name, but the failed instruction does. An operand is a
// local variable, or an earlier instruction has put it into its register (ldebug.c: getobjname).

// code is a function and its current instruction.
type code struct {
	l  *lua.LState
	at *lua.Debug
	fn *lua.LFunction
	pc int
}

// longestNamed is the most instructions that are searched for a name.
const longestNamed = 1 << 14

// codeAt returns the Lua code at a level of the stack.
func codeAt(l *lua.LState, level int) (c code, ok bool) {
	at, ok := l.GetStack(level)
	if !ok {
		return c, false
	}
	v, err := l.GetInfo("f", at, lua.LNil)
	fn, isFunction := v.(*lua.LFunction)
	if err != nil || !isFunction || fn.IsG {
		return c, false
	}
	pc := int(frameField(at, "Pc")) - 1
	return code{l, at, fn, pc}, pc >= 0 && pc < min(len(fn.Proto.Code), longestNamed)
}

// frameField reads a field of a call that gopher-lua does not export.
func frameField(at *lua.Debug, name string) int64 {
	return reflect.ValueOf(at).Elem().FieldByName("frame").Elem().FieldByName(name).Int()
}

// named adds the name of the variable at fault to an error that was raised at a level of the stack.
func (e *Engine) named(l *lua.LState, level int, text string) string {
	if len(text) > lualib.LongestError || !strings.Contains(text, "attempt to ") &&
		!strings.Contains(text, "cannot perform ") && !strings.HasSuffix(text, " undefined") {
		return text
	}
	said := e.lib.SayAsLua(text)
	at := strings.LastIndex(said, "attempt to ")
	if at < 0 {
		return text
	}
	e.limits.LookSoon() // the search takes long in a long function
	words := strings.Fields(said[at:])
	if len(words) < 5 {
		return said
	}
	c, isLua := codeAt(l, level)
	reg := -1
	switch {
	case isLua && said != text:
		reg = c.operand(words[2])
	case !isLua && (words[2] == "concatenate" || words[2] == "perform"):
		if c, isLua = codeAt(l, level+1); isLua {
			return said[:at] + c.ofOperator(level, words[2], said[at:])
		}
	}
	if !isLua || reg < 0 {
		return said
	}
	kind := c.value(reg).Type().String()
	action, _, _ := strings.Cut(said[at:], " a "+words[len(words)-2]+" value")
	if words[2] == "index" && kind != words[len(words)-2] { // the value at fault is further along the path
		return said
	}
	if what, name := c.name(reg, c.pc); name != "" {
		return said[:at] + action + " " + what + " '" + name + "' (a " + kind + " value)"
	}
	return said[:at] + action + " a " + kind + " value"
}

// fields returns the fields of the current instruction.
func (c code) fields() (op, a, b, x int) {
	return fieldsOf(c.fn.Proto.Code[c.pc])
}

func fieldsOf(inst uint32) (op, a, b, c int) {
	return opcode(inst), int(inst >> 18 & 0xff), int(inst & 0x1ff), int(inst >> 9 & 0x1ff)
}

// constantBit marks an operand that is a constant, not a register.
const constantBit = 1 << 8

func (c code) value(reg int) lua.LValue {
	_, v := c.l.GetLocal(c.at, reg+1)
	return v
}

func (c code) isNumber(operand int) bool {
	if operand&constantBit != 0 {
		_, ok := lualib.ToNumber(c.fn.Proto.Constants[operand&^constantBit])
		return ok
	}
	_, ok := lualib.ToNumber(c.value(operand))
	return ok
}

// operand returns the register of the operand at fault, or -1.
func (c code) operand(action string) int {
	op, a, b, x := c.fields()
	switch {
	case action == "index" && (op == lua.OP_GETTABLE || op == lua.OP_GETTABLEKS || op == lua.OP_SELF):
		return b
	case action == "index" && (op == lua.OP_SETTABLE || op == lua.OP_SETTABLEKS):
		return a
	case action == "call" && (op == lua.OP_CALL || op == lua.OP_TAILCALL || op == lua.OP_TFORLOOP):
		return a
	case action == "get" && op == lua.OP_LEN, action == "perform" && op == lua.OP_UNM:
		return b
	case action == "perform" && op >= lua.OP_ADD && op <= lua.OP_POW:
		if c.isNumber(b) {
			b = x
		}
		if b&constantBit == 0 {
			return b
		}
	}
	return -1
}

// ofOperator returns the error of a function that stands for an operator. The arguments of the
// function are the operands.
func (c code) ofOperator(level int, action, text string) string {
	op, a, b, _ := c.fields()
	if op >= lua.OP_ADD && op <= lua.OP_UNM { // a metamethod was called
		kind := strings.Fields(text)
		if what, name := c.nameOf(c.operand(action)); name != "" {
			return "attempt to perform arithmetic on " + what + " '" + name + "' (a " + kind[len(kind)-2] + " value)"
		}
		return text
	}
	callee, ok := c.l.GetStack(level)
	if !ok || op != lua.OP_CALL && op != lua.OP_TAILCALL || b < 3 {
		return text
	}
	operand := func(i int) lua.LValue {
		_, v := c.l.GetLocal(callee, i)
		return v
	}
	fits := func(i int) bool {
		if action == "perform" {
			_, ok := lualib.ToNumber(operand(i))
			return ok
		}
		_, ok := lualib.ToText(operand(i))
		return ok
	}
	i := b - 2
	if fits(i) && !fits(i+1) {
		i++
	}
	for i > 1 && fits(i) {
		i--
	}
	kind := " a " + operand(i).Type().String() + " value"
	before, found := strings.CutSuffix(text, kind)
	if what, name := c.name(a+i, c.pc); found && name != "" {
		return before + " " + what + " '" + name + "' (" + kind[1:] + ")"
	}
	return text
}

func (c code) nameOf(reg int) (what, name string) {
	if reg < 0 {
		return "", ""
	}
	return c.name(reg, c.pc)
}

// name returns the origin of a register's value.
func (c code) name(reg, pc int) (what, name string) {
	p := c.fn.Proto
	switch name, known := local(p, reg, pc); {
	case !known:
		return "", ""
	case name != "":
		if strings.HasPrefix(name, "\x00") || strings.HasPrefix(name, "(") {
			return "", ""
		}
		return "local", name
	}
	from := c.setter(reg, pc)
	if from < 0 {
		return "", ""
	}
	op, a, b, x := fieldsOf(p.Code[from])
	switch op {
	case lua.OP_MOVE, lua.OP_MOVEN:
		if b < a {
			return c.name(b, from)
		}
	case lua.OP_GETUPVAL:
		return upvalue(p.DbgUpvalues[b])
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
		what, name = "field", "?"
		if x&constantBit != 0 {
			if text, ok := p.Constants[x&^constantBit].(lua.LString); ok {
				name = string(text)
			}
		}
		if table := c.upvalueIn(b, from); table == hide(environment) {
			what = "global"
		}
		if op == lua.OP_SELF {
			what = "method"
		}
		return what, name
	}
	return "", ""
}

// local returns the name of the local variable in a register. known is false when several variables
// have used the register one after another: gopher-lua does not record where they end.
func local(p *lua.FunctionProto, reg, pc int) (name string, known bool) {
	registers := 0
	for _, v := range p.DbgLocals {
		if v.EndPc > 0 {
			registers++
		}
	}
	if reg >= registers {
		return "", true
	}
	if registers < len(p.DbgLocals) {
		return "", false
	}
	if v := p.DbgLocals[reg]; v.StartPc <= pc && pc <= v.EndPc {
		return v.Name, true
	}
	return "", true
}

// upvalueIn returns the hidden name of the upvalue in a register.
func (c code) upvalueIn(reg, pc int) string {
	if from := c.setter(reg, pc); from >= 0 {
		if op, _, b, _ := fieldsOf(c.fn.Proto.Code[from]); op == lua.OP_GETUPVAL {
			return c.fn.Proto.DbgUpvalues[b]
		}
	}
	return ""
}

// upvalue returns the name of an upvalue, or of the global that the upvalue stands for.
func upvalue(name string) (what, of string) {
	global, isHidden := strings.CutPrefix(name, "\x00")
	if !isHidden {
		return "upvalue", name
	}
	if _, member, ok := strings.Cut(global, "."); ok && member != "" {
		return "field", member
	}
	return "global", global
}

// setter returns the last instruction before pc that has set a register, or -1 (ldebug.c:
// symbexec).
func (c code) setter(reg, pc int) int {
	last := -1
	for i := 0; i < pc; i++ {
		inst := c.fn.Proto.Code[i]
		op, a, b, x := fieldsOf(inst)
		switch op {
		case lua.OP_JMP:
			if to := i + 1 + jump(inst); jump(inst) > 0 && to <= pc {
				i = to - 1
			}
		case lua.OP_LOADNIL:
			if a <= reg && reg <= b {
				last = i
			}
		case lua.OP_CALL, lua.OP_TAILCALL:
			if reg >= a {
				last = i
			}
		case lua.OP_TFORLOOP:
			if reg >= a+2 {
				last = i
			}
		case lua.OP_VARARG:
			if reg >= a {
				last = i
			}
		case lua.OP_SELF:
			if reg == a || reg == a+1 {
				last = i
			}
		case lua.OP_FORLOOP, lua.OP_FORPREP:
			if reg >= a && reg <= a+3 {
				last = i
			}
		case lua.OP_SETLIST:
			if x == 0 {
				i++ // the number of the block follows
			}
		case lua.OP_SETGLOBAL, lua.OP_SETUPVAL, lua.OP_SETTABLE, lua.OP_SETTABLEKS,
			lua.OP_EQ, lua.OP_LT, lua.OP_LE, lua.OP_TEST, lua.OP_RETURN, lua.OP_CLOSE, lua.OP_NOP:
		default:
			if reg == a {
				last = i
			}
		}
	}
	return last
}
