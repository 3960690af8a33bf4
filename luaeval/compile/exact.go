package compile

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// The length of a table with holes depends on how Lua keeps the table. The virtual machine keeps tables in another
// way. So an exact text calls functions of Text.Operators for what makes and changes tables: see lualib. Few texts
// are exact. A text is when it asks for lengths, and when it can also make a hole. It cannot if
// it only appends values, sets fields whose keys are no numbers, or fills a table from 1 on in a loop.

// holes is what a text does with tables.
type holes struct {
	asks bool // for the length of a table
	made bool // there may be a hole

	fills, removes bool            // a loop fills a table; elements are removed
	kept           map[string]bool // variables that must keep their first value, or a hole may be made
	assigned       map[string]bool // variables that do not keep it
}

// exact reports whether the text must be exact.
func (h *holes) exact() bool {
	made := h.made || h.fills && h.removes
	for name := range h.kept {
		made = made || h.assigned[name]
	}
	return h.asks && made
}

func (h *holes) keep(name string) {
	if h.kept == nil {
		h.kept = map[string]bool{}
	}
	h.kept[name] = true
}

func (h *holes) assign(name string) {
	if h.assigned == nil {
		h.assigned = map[string]bool{}
	}
	h.assigned[name] = true
}

// notice notes the use of a global, or of a field of one.
func (c *compiler) notice(name string) {
	h := &c.holes
	switch name {
	case "table", "setmetatable", "cmsgpack":
		h.asks, h.made = true, true
	case "table.concat", "table.getn", "table.sort", "table.foreachi", "unpack", "cmsgpack.pack":
		h.asks = true
	case "table.remove":
		h.asks, h.removes = true, true
	case "table.insert":
		h.asks, h.made = true, h.made || !c.onlyInserts()
	case "redis", "server":
		h.made = h.made || !c.onlyLoads()
	case "rawset", "redis.setresp", "server.setresp", "cmsgpack.unpack", "cmsgpack.unpack_one",
		"cmsgpack.unpack_limit":
		h.made = true
	}
}

// onlyInserts reports whether the function that is compiled is called, and makes no hole.
func (c *compiler) onlyInserts() bool {
	if len(c.spine) == 0 {
		return false
	}
	call, ok := c.spine[len(c.spine)-1].(*ast.FuncCallExpr)
	if !ok || len(call.Args) < 2 || isOpen(call.Args[len(call.Args)-1]) {
		return false
	}
	return len(call.Args) == 2 || len(call.Args) == 3 && isOne(call.Args[1]) && c.isValue(call.Args[2])
}

func isOne(x ast.Expr) bool {
	n := plainNumber(x)
	return n != nil && *n == 1
}

// isOpen reports whether an expression can have several values.
func isOpen(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.FuncCallExpr:
		return !x.AdjustRet
	case *ast.Comma3Expr:
		return !x.AdjustRet
	}
	return false
}

// noteWrite notes an assignment to an element. The value is nil when it is not known.
func (c *compiler) noteWrite(to *ast.AttrGetExpr, v ast.Expr) {
	h := &c.holes
	switch {
	case isAppend(to.Object, to.Key), c.isNoNumber(to.Key):
	case v == nil || !c.isValue(v):
		h.made = true
	case isOne(to.Key):
	case c.fillsLoop(to):
		h.fills = true
		h.keep(to.Object.(*ast.IdentExpr).Value)
		h.keep(to.Key.(*ast.IdentExpr).Value)
	default:
		h.made = true
	}
}

// fillsLoop reports whether an element of a variable from outside of a loop is set in each turn, from 1 on.
func (c *compiler) fillsLoop(to *ast.AttrGetExpr) bool {
	table, isName := to.Object.(*ast.IdentExpr)
	key, isKey := to.Key.(*ast.IdentExpr)
	b := c.f.block.outer
	if !isName || !isKey || b == nil || !b.fills {
		return false
	}
	i, isLocal := c.byName[key.Value]
	t, tLocal := c.byName[table.Value]
	return isLocal && tLocal && i == b.from && t < b.from
}

// isNoNumber reports whether a key is surely no number.
func (c *compiler) isNoNumber(key ast.Expr) bool {
	switch x := key.(type) {
	case *ast.StringExpr, *ast.StringConcatOpExpr, *ast.TrueExpr, *ast.FalseExpr:
		return true
	case *ast.AttrGetExpr:
		id, ok := x.Object.(*ast.IdentExpr)
		return ok && c.isWordName(id.Value)
	}
	return false
}

// isValue reports whether an expression is surely not nil. Variables of loops are not, while they keep their value.
func (c *compiler) isValue(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.NilExpr, *ast.Comma3Expr, *ast.AttrGetExpr:
		return false
	case *ast.IdentExpr:
		i, ok := c.byName[x.Value]
		if ok && c.vars[i].isValue {
			c.holes.keep(x.Value)
			return true
		}
		return false
	case *ast.LogicalOpExpr:
		return c.isValue(x.Rhs) && (x.Operator == "or" || c.isValue(x.Lhs))
	case *ast.FuncCallExpr:
		return c.returnsValue(x.Func)
	}
	return true
}

// returnsValue reports whether a function never returns nil.
func (c *compiler) returnsValue(called ast.Expr) bool {
	switch x := called.(type) {
	case *ast.IdentExpr:
		return !c.isLocal(x.Value) && (x.Value == "tostring" || x.Value == "type")
	case *ast.AttrGetExpr:
		library, isName := x.Object.(*ast.IdentExpr)
		member, isField := x.Key.(*ast.StringExpr)
		if !isName || !isField || c.isLocal(library.Value) {
			return false
		}
		switch library.Value + "." + member.Value {
		case "redis.call", "redis.pcall", "redis.sha1hex", "cjson.decode", "cjson.encode", "cmsgpack.pack", "struct.pack",
			"string.format", "string.gsub", "string.lower", "string.rep", "string.reverse", "string.sub", "string.upper",
			"string.char", "string.len", "table.concat":
			return true
		}
		return library.Value == "math" || library.Value == "bit"
	}
	return false
}

// noteFields notes the holes that a constructor can make.
func (c *compiler) noteFields(x *ast.TableExpr) {
	last := len(x.Fields) - 1
	for i, field := range x.Fields {
		switch {
		case field.Key != nil:
			c.holes.made = c.holes.made || !c.isNoNumber(field.Key)
		case i < last && !c.isValue(field.Value), i == last && isOpen(field.Value) && !c.isValue(field.Value):
			c.holes.made = true
		}
	}
}

// shape gives the new table in register base its first shape.
func (c *compiler) shape(base int, x *ast.TableExpr) {
	items, fields := 0, 0
	for i, field := range x.Fields {
		switch {
		case field.Key != nil:
			fields++
		case i < len(x.Fields)-1 || !isOpen(field.Value):
			items++
		}
	}
	if len(x.Fields) == 0 {
		return
	}
	free := c.f.free
	operands := []int{base}
	for _, n := range [2]int{rounded(items), rounded(fields)} {
		e := value(literal, c.size(n))
		operands = append(operands, c.toOperand(&e))
	}
	c.callOperator("{}", 1, operands)
	c.f.free = free
}

// size returns a constant for a size: one more, because Lua has one constant for 0 and -0, the first of them.
func (c *compiler) size(n int) int { return c.constant(lua.LNumber(n + 1)) }

// openList stores all values of the last expression of a constructor, after n elements, by a call.
func (c *compiler) openList(base, n int, x ast.Expr) {
	f := c.f
	f.spare += 3
	c.reserve(3)
	c.emit(lua.OP_GETUPVAL, base+1, c.operatorUpvalue("{...}"), 0)
	c.move(base+2, base)
	c.emitLong(lua.OP_LOADK, base+3, c.size(n))
	e := c.expr(x)
	c.takeValues(&e, -1)
	c.emit(lua.OP_CALL, base+1, 0, 1)
	f.spare -= 3
	f.free = base + 1
}

// rounded is how an instruction of Lua holds a size (lobject.c: luaO_int2fb).
func rounded(n int) int {
	shift := 0
	for ; n >= 16; shift++ {
		n = (n + 1) >> 1
	}
	return n << shift
}

// callOperator calls the function for an operator. It returns the register of the function, and the place of the
// call.
func (c *compiler) callOperator(name string, results int, operands []int) (base, pc int) {
	f := c.f
	for _, reg := range operands {
		if reg < constantBit && reg >= f.free {
			f.free = reg + 1
		}
	}
	n := len(operands)
	f.spare += n + 1
	base = f.free
	c.reserve(n + 1)
	c.emit(lua.OP_GETUPVAL, base, c.operatorUpvalue(name), 0)
	for i, from := range operands {
		c.operand(base+1+i, from)
	}
	pc = c.emit(lua.OP_CALL, base, n+1, results)
	f.spare -= n + 1
	return base, pc
}

// setField assigns to a field by an instruction, or in an exact text by a call.
func (c *compiler) setField(table, key, from int, of origin) {
	if c.mode.exact {
		free := c.f.free
		c.callOperator("[]=", 1, []int{table, key, from})
		c.f.free = free
	} else {
		c.emit(lua.OP_SETTABLE, table, key, from)
	}
	c.note(c.pc()-1, 1, of)
}

// isString reports whether an operand of # is a string, whatever the text does.
func isString(x ast.Expr) bool {
	switch x.(type) {
	case *ast.StringExpr, *ast.StringConcatOpExpr:
		return true
	}
	return plainNumber(x) != nil
}
