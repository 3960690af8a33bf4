package luaeval

import (
	"reflect"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/compile"
	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// The error of a failed operation names the variable at fault, as in `attempt to call local 'f' (a
// nil value)`. The virtual machine does not give the name, but the compiler has noted it with the
// instruction: see compile.NameOf.

// code is a function and its current instruction.
type code struct {
	l  *lua.LState
	at *lua.Debug
	fn *lua.LFunction
	pc int
}

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
	return code{l, at, fn, pc}, pc >= 0 && pc < len(fn.Proto.Code)
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
	words := strings.Fields(said[at:])
	if len(words) < 5 {
		return said
	}
	c, isLua := codeAt(l, level)
	reg, operand := -1, 0
	switch {
	case isLua && said != text:
		reg, operand = c.operand(words[2])
	case !isLua && (words[2] == "concatenate" || words[2] == "perform" || words[2] == "index" || words[2] == "get"):
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
	if what, name := c.name(operand); name != "" {
		return said[:at] + action + " " + what + " '" + name + "' (a " + kind + " value)"
	}
	return said[:at] + action + " a " + kind + " value"
}

// fields returns the fields of the current instruction.
func (c code) fields() (op, a, b, x int) {
	inst := c.fn.Proto.Code[c.pc]
	return int(inst >> 26), int(inst >> 18 & 0xff), int(inst & 0x1ff), int(inst >> 9 & 0x1ff)
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

// operand returns the register and the number of the operand at fault. The register is -1 when it is
// not known.
func (c code) operand(action string) (reg, number int) {
	op, a, b, x := c.fields()
	switch {
	case action == "index" && op == lua.OP_GETTABLE:
		return b, 1
	case action == "index" && op == lua.OP_SETTABLE:
		return a, 1
	case action == "call" && (op == lua.OP_CALL || op == lua.OP_TAILCALL || op == lua.OP_TFORLOOP):
		return a, 0
	case action == "get" && op == lua.OP_LEN, action == "perform" && op == lua.OP_UNM:
		return b, 1
	case action == "perform" && op >= lua.OP_ADD && op <= lua.OP_POW:
		number = 1
		if c.isNumber(b) {
			b, number = x, 2
		}
		if b&constantBit == 0 {
			return b, number
		}
	}
	return -1, 0
}

// name returns the variable that an operand comes from, in Lua's words.
func (c code) name(operand int) (what, name string) {
	return compile.NameOf(c.fn.Proto, c.pc, operand)
}

// ofOperator returns the error of a function that stands for an operator. The arguments of the
// function are the operands.
func (c code) ofOperator(level int, action, text string) string {
	op, _, b, _ := c.fields()
	if op >= lua.OP_ADD && op <= lua.OP_UNM { // a metamethod was called
		kind := strings.Fields(text)
		_, number := c.operand(action)
		if what, name := c.name(number); name != "" {
			return "attempt to perform arithmetic on " + what + " '" + name + "' (a " + kind[len(kind)-2] + " value)"
		}
		return text
	}
	callee, ok := c.l.GetStack(level)
	if !ok || op != lua.OP_CALL && op != lua.OP_TAILCALL || b < 2 {
		return text
	}
	operand := func(i int) lua.LValue {
		_, v := c.l.GetLocal(callee, i)
		return v
	}
	i := c.firstUnfit(action, b-1, operand)
	if i == 0 {
		return text
	}
	kind := " a " + operand(i).Type().String() + " value"
	before, found := strings.CutSuffix(text, kind)
	if what, name := c.name(i); found && name != "" {
		return before + " " + what + " '" + name + "' (" + kind[1:] + ")"
	}
	return text
}

// firstUnfit returns the first of n operands, from the right, that an operator cannot use, or 0.
func (c code) firstUnfit(action string, n int, operand func(i int) lua.LValue) int {
	switch action {
	case "index", "get":
		return 1
	case "perform":
		if _, ok := lualib.ToNumber(operand(1)); ok {
			return 2
		}
		return 1
	}
	fits := func(i int) bool {
		_, ok := lualib.ToText(operand(i))
		return ok
	}
	joined := false // the operand to the right is the result of the operations before
	for i := n - 1; i > 0; i-- {
		right := joined || fits(i+1)
		switch {
		case fits(i) && right:
		case c.l.GetMetaField(operand(i), "__concat") != lua.LNil:
		case !joined && c.l.GetMetaField(operand(i+1), "__concat") != lua.LNil:
		case fits(i):
			return i + 1
		default:
			return i
		}
		joined = true
	}
	return 0
}
