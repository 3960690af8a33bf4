package compile

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// expr compiles an expression. It does not recurse into the left side, which may be very deep.
func (c *compiler) expr(x ast.Expr) exp {
	c.enter()
	base := len(c.spine)
	for left := c.leftOf(x); left != nil; left = c.leftOf(x) {
		c.spine = append(c.spine, x)
		x = left
	}
	var e exp
	if id := c.readWord(x, base); id != nil {
		e = c.word(id)
	} else {
		e = c.leaf(x)
	}
	for len(c.spine) > base {
		last := len(c.spine) - 1
		x = c.spine[last]
		c.spine = c.spine[:last]
		c.rest(x, &e)
	}
	c.level--
	return e
}

// leftOf returns the left side of x, or nil when x is to be compiled as a whole.
func (c *compiler) leftOf(x ast.Expr) ast.Expr {
	switch x := x.(type) {
	case *ast.ArithmeticOpExpr:
		return x.Lhs
	case *ast.RelationalOpExpr:
		return x.Lhs
	case *ast.LogicalOpExpr:
		return x.Lhs
	case *ast.FuncCallExpr:
		if x.Func == nil {
			return x.Receiver
		}
		return x.Func
	case *ast.AttrGetExpr:
		if _, known := c.member(x); !known {
			return x.Object
		}
	}
	return nil
}

// readWord returns x if it is a word of which an element is read.
func (c *compiler) readWord(x ast.Expr, base int) *ast.IdentExpr {
	id, ok := x.(*ast.IdentExpr)
	if !ok || len(c.spine) == base || !c.isWordName(id.Value) {
		return nil
	}
	if _, isIndex := c.spine[len(c.spine)-1].(*ast.AttrGetExpr); !isIndex {
		return nil
	}
	return id
}

// leaf compiles an expression without a left side.
func (c *compiler) leaf(x ast.Expr) exp {
	if line := x.Line(); line > 0 {
		c.line = line
	}
	switch x := x.(type) {
	case *ast.NilExpr:
		return value(isNil, 0)
	case *ast.TrueExpr:
		return value(isTrue, 0)
	case *ast.FalseExpr:
		return value(isFalse, 0)
	case *ast.NumberExpr:
		e := value(number, 0)
		e.num = c.number(x)
		return e
	case *ast.StringExpr:
		return value(literal, c.constant(lua.LString(x.Value)))
	case *ast.Comma3Expr:
		return c.arguments(x)
	case *ast.IdentExpr:
		return c.ident(x.Value)
	case *ast.AttrGetExpr:
		i, _ := c.member(x)
		c.line = max(c.line, x.Key.Line())
		return c.boundUpvalue(i, origin{Field, x.Key.(*ast.StringExpr).Value})
	case *ast.StringConcatOpExpr:
		return c.concat(x)
	case *ast.UnaryMinusOpExpr:
		return c.minus(x)
	case *ast.UnaryNotOpExpr:
		return c.not(x)
	case *ast.UnaryLenOpExpr:
		return c.length(x)
	case *ast.TableExpr:
		return c.table(x)
	case *ast.FunctionExpr:
		return c.function(x, x.Line(), false)
	}
	c.fail("unexpected symbol")
	return exp{}
}

// rest compiles what comes after the left side of x.
func (c *compiler) rest(x ast.Expr, e *exp) {
	switch x := x.(type) {
	case *ast.ArithmeticOpExpr:
		c.arithmetic(x, e)
	case *ast.RelationalOpExpr:
		c.compare(x, e)
	case *ast.LogicalOpExpr:
		c.logical(x, e)
	case *ast.AttrGetExpr:
		c.readStep(x.Key)
		c.toAny(e)
		key := c.expr(x.Key)
		c.toValue(&key)
		c.index(e, &key)
	case *ast.FuncCallExpr:
		c.callOf(x, e)
	}
}

// number returns the value of a literal.
func (c *compiler) number(x *ast.NumberExpr) float64 {
	n, ok := lualib.ParseNumber(x.Value)
	if !ok {
		digits := strings.TrimSuffix(x.Value, "\xff") // gopher-lua's scanner writes the end of the text so
		c.fail("malformed number near '" + digits + "'")
	}
	return n
}

// arguments compiles `...`.
func (c *compiler) arguments(x *ast.Comma3Expr) exp {
	f := c.f
	if f.outer != nil && !f.variadic {
		c.fail("cannot use '...' outside a vararg function near '...'")
	}
	f.proto.IsVarArg = f.proto.IsVarArg&^lua.VarArgNeedsArg | lua.VarArgIsVarArg
	e := value(varargs, c.emit(lua.OP_VARARG, 0, 1, 0))
	if x.AdjustRet {
		c.takeOne(&e)
	}
	return e
}

// exprs compiles a list. All values but the last are in registers in a row.
func (c *compiler) exprs(list []ast.Expr) (last exp) {
	if len(list) == 0 {
		return value(void, 0)
	}
	for _, x := range list[:len(list)-1] {
		e := c.expr(x)
		c.toNext(&e)
	}
	return c.expr(list[len(list)-1])
}

// callOf compiles a call of e or of a method of e.
func (c *compiler) callOf(x *ast.FuncCallExpr, e *exp) {
	c.long = c.long || c.text.Library && !c.returnsSoon(x.Func)
	line := c.line
	if x.Func == nil {
		c.method(e, x.Method)
	} else {
		c.toNext(e)
	}
	base, called := e.a, e.as
	var last exp
	if id := c.wordOf(x); id != nil && len(x.Args) > 0 {
		last = c.word(id)
		if len(x.Args) > 1 {
			c.toNext(&last)
			last = c.exprs(x.Args[1:])
		}
	} else {
		last = c.exprs(x.Args)
	}
	n := -1
	switch {
	case last.isOpen():
		c.takeValues(&last, -1)
	default:
		if last.kind != void {
			c.toNext(&last)
		}
		n = c.f.free - (base + 1)
	}
	*e = value(call, c.emit(lua.OP_CALL, base, n+1, 2))
	c.atLine(line)
	c.note(e.a, 0, called)
	c.f.free = base + 1
	if x.AdjustRet {
		c.takeOne(e)
	}
}

// wordOf returns the word that is the first argument of unpack, pairs or ipairs, or nil.
func (c *compiler) wordOf(x *ast.FuncCallExpr) *ast.IdentExpr {
	called, ok := x.Func.(*ast.IdentExpr)
	if !ok || len(x.Args) == 0 || c.isLocal(called.Value) {
		return nil
	}
	id, ok := x.Args[0].(*ast.IdentExpr)
	if !ok || !c.isWordName(id.Value) {
		return nil
	}
	switch called.Value {
	case "unpack":
		return id
	case "pairs", "ipairs":
		if x == c.iterator {
			return id
		}
	}
	return nil
}

// method puts a method of e and e itself into registers in a row.
func (c *compiler) method(e *exp, name string) {
	of := e.as
	reg := c.toAny(e)
	c.freeValue(e)
	base := c.f.free
	c.reserve(2)
	c.move(base+1, reg)
	key := c.constant(lua.LString(name))
	if key < constantBit {
		key |= constantBit
	} else {
		c.emitLong(lua.OP_LOADK, base, key)
		key = base
	}
	c.note(c.emit(lua.OP_GETTABLE, base, base+1, key), 1, of)
	e.become(fixed, base)
	e.as = origin{Method, name}
}

// table compiles a constructor (lparser.c: constructor).
func (c *compiler) table(x *ast.TableExpr) exp {
	at := c.emit(lua.OP_NEWTABLE, 0, 0, 0)
	e := value(open, at)
	c.toNext(&e)
	c.noteFields(x)
	if c.mode.exact {
		c.shape(e.a, x)
	}
	base, waiting, items, keys := e.a, 0, 0, 0
	for i, field := range x.Fields {
		if waiting == listSize {
			c.storeList(base, items, waiting)
			waiting = 0
		}
		if field.Key != nil {
			c.field(base, x, field)
			keys++
			continue
		}
		if c.mode.exact && i == len(x.Fields)-1 && isOpen(field.Value) {
			if waiting > 0 {
				c.storeList(base, items, waiting)
			}
			c.openList(base, items, field.Value)
			waiting = 0
			break
		}
		v := c.expr(field.Value)
		if v.isOpen() && i == len(x.Fields)-1 {
			c.takeValues(&v, -1)
			c.storeList(base, items+1, -1)
			waiting = 0
			break
		}
		c.toNext(&v)
		waiting++
		items++
	}
	if waiting > 0 {
		c.storeList(base, items, waiting)
	}
	c.setB(at, min(items, maskB))
	c.setC(at, min(keys, maskB))
	return e
}

// field compiles a field with a key.
func (c *compiler) field(base int, x *ast.TableExpr, field *ast.Field) {
	free := c.f.free
	c.writeStep(x, field.Key)
	key := c.expr(field.Key)
	k := c.toOperand(&key)
	v := c.expr(field.Value)
	c.setField(base, k, c.toOperand(&v), origin{})
	c.f.free = free
}

// storeList stores the last n of items values in a table; -1 is for all that there are.
func (c *compiler) storeList(base, items, n int) {
	if block := (items-1)/listSize + 1; block <= maxLists {
		c.emit(lua.OP_SETLIST, base, max(n, 0), block)
	} else {
		c.emit(lua.OP_SETLIST, base, max(n, 0), 0)
		c.add(uint32(block))
	}
	c.f.free = base + 1
}

// function compiles a function and makes a closure of it.
func (c *compiler) function(x *ast.FunctionExpr, line int, self bool) exp {
	steps, level := c.steps, c.level
	c.long, c.steps = false, 0
	c.open(line)
	f := c.f
	var names []string
	if self {
		names = append(names, "self")
	}
	names = append(names, x.ParList.Names...)
	f.proto.NumParameters = uint8(len(names))
	if x.ParList.HasVargs {
		f.variadic = true
		f.proto.IsVarArg = lua.VarArgHasArg | lua.VarArgNeedsArg | lua.VarArgIsVarArg
		names = append(names, "arg")
	}
	c.room(len(names))
	c.declare(names...)
	c.reserve(len(names))
	c.stmts(x.Stmts)
	c.line = max(c.line, x.LastLine())
	proto := c.close(x.LastLine())
	c.noteBrief(proto)
	c.long, c.steps, c.level = true, steps, level
	return c.closure(proto, f.captures)
}

func (c *compiler) closure(proto *lua.FunctionProto, captures []capture) exp {
	p := c.f.proto
	if len(p.FunctionPrototypes) >= maxConstants {
		c.failAnywhere("constant table overflow")
	}
	p.FunctionPrototypes = append(p.FunctionPrototypes, proto)
	e := value(open, c.emitLong(lua.OP_CLOSURE, 0, len(p.FunctionPrototypes)-1))
	for _, u := range captures {
		op := lua.OP_GETUPVAL
		if u.local {
			op = lua.OP_MOVE
		}
		c.emit(op, 0, u.index, 0)
	}
	return e
}
