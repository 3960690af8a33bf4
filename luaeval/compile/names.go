package compile

import (
	"cmp"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Kind is the kind of a variable that an error names.
type Kind uint8

// The kinds of variables (ldebug.c: getobjname).
const (
	Nameless Kind = iota
	Local
	Upvalue
	Global
	Field
	Method
)

// String returns Lua's word for k.
func (k Kind) String() string {
	return [...]string{"", "local", "upvalue", "global", "field", "method"}[k]
}

// origin is the variable that a value comes from.
type origin struct {
	kind Kind
	name string
}

// A note in DbgCalls names an operand of an instruction. Its Pc holds the place of the instruction in
// the low bits, and the number of the operand. Its Name is the kind and the name of the variable.
// Operand 0 is what is called: so the virtual machine finds the name of a called function.
const (
	shiftOperand = 20
	maskPlace    = 1<<shiftOperand - 1
)

// note keeps the name of an operand of the instruction at pc.
func (c *compiler) note(pc, operand int, of origin) {
	if of.kind == Nameless || pc > maskPlace {
		return
	}
	name, known := c.notes[of]
	if !known {
		name = of.kind.String() + "." + of.name
		c.notes[of] = name
	}
	p := c.f.proto
	p.DbgCalls = append(p.DbgCalls, lua.DbgCall{Name: name, Pc: operand<<shiftOperand | pc})
}

// NameOf returns the kind and the name of the variable that an operand of the instruction at pc comes
// from, or "". Operand 0 is what is called. The operands of an operator begin at 1, and so does what
// is indexed.
func NameOf(p *lua.FunctionProto, pc, operand int) (kind, name string) {
	i, _ := slices.BinarySearchFunc(p.DbgCalls, pc, func(n lua.DbgCall, pc int) int {
		return cmp.Compare(n.Pc&maskPlace, pc)
	})
	for ; i < len(p.DbgCalls) && p.DbgCalls[i].Pc&maskPlace == pc; i++ {
		if p.DbgCalls[i].Pc>>shiftOperand == operand {
			kind, name, _ = strings.Cut(p.DbgCalls[i].Name, ".")
			return kind, name
		}
	}
	return "", ""
}
