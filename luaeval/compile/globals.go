package compile

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

const (
	maxBound  = 60 // globals that are upvalues; all others are fields of the environment
	maxNeeded = 16 // further upvalues, for words, operators and the environment
)

func (c *compiler) isLocal(name string) bool {
	_, ok := c.byName[name]
	return ok
}

// onlyLoads reports whether the code runs when a library is loaded, not later.
func (c *compiler) onlyLoads() bool { return c.text.Library && c.f.outer == nil }

// bind makes v an upvalue of the text. It returns the index, or -1 when there are too many.
func (c *compiler) bind(name string, v lua.LValue) int { return c.bindAs(name, name, v) }

// bindAs is bind for a value that is not the only one with its name.
func (c *compiler) bindAs(key, name string, v lua.LValue) int {
	c.notice(name)
	if i, ok := c.bound[key]; ok {
		return i
	}
	_, isOperator := c.text.Operators[name]
	most := maxBound
	if v == nil || isOperator || name == Environment {
		most += maxNeeded
	}
	if len(c.code.Bound) >= most {
		return -1
	}
	c.bound[key] = len(c.code.Bound)
	c.code.Bound = append(c.code.Bound, Bound{name, v})
	return len(c.code.Bound) - 1
}

// ident compiles a name.
func (c *compiler) ident(name string) exp {
	if i, ok := c.byName[name]; ok {
		if c.vars[i].in == c.f {
			e := value(local, c.vars[i].reg)
			e.as = origin{Local, name}
			if name[0] == '(' {
				e.as = origin{}
			}
			return e
		}
		e := value(upvalue, c.upvalue(c.f, i))
		e.as = origin{Upvalue, name}
		return e
	}
	if c.code.Named {
		return c.globalField(name)
	}
	switch name {
	case "_G", "getfenv", "setfenv", "load", "loadstring":
		panic(reaches{})
	case "setmetatable", "newproxy":
		c.meta = true
	}
	if slices.Contains(c.text.Words, name) {
		c.code.Escapes[name] = true
		return c.boundValue(name, nil)
	}
	if v, ok := c.text.Known[name]; ok && !c.onlyLoads() {
		return c.boundValue(name, v)
	}
	return c.globalField(name)
}

// boundValue is a global, or a field of one, that is an upvalue if there is room.
func (c *compiler) boundValue(name string, v lua.LValue) exp {
	i := c.bind(name, v)
	if i < 0 {
		return c.globalField(name)
	}
	return c.boundUpvalue(i, origin{Global, name})
}

func (c *compiler) boundUpvalue(i int, as origin) exp {
	e := value(upvalue, c.upvalue(c.f, ^i))
	e.as = as
	return e
}

// globalField is a global that is a field of the environment.
func (c *compiler) globalField(name string) exp {
	c.notice(name)
	e := value(global, 0)
	e.as = origin{Global, name}
	return e
}

// isWordName reports whether a name stands for a word here.
func (c *compiler) isWordName(name string) bool {
	return !c.code.Named && slices.Contains(c.text.Words, name) && !c.isLocal(name)
}

// word is a word in a place where the text can only read it.
func (c *compiler) word(id *ast.IdentExpr) exp {
	c.line = max(c.line, id.Line())
	return c.boundValue(id.Value, nil)
}

// member returns the upvalue of `table.field` if it never changes.
func (c *compiler) member(x *ast.AttrGetExpr) (upvalue int, known bool) {
	table, isName := x.Object.(*ast.IdentExpr)
	key, isField := x.Key.(*ast.StringExpr)
	if !isName || !isField || c.code.Named || c.isLocal(table.Value) || c.onlyLoads() || table.Value == "_G" {
		return 0, false
	}
	library, ok := c.text.Known[table.Value]
	if !ok {
		return 0, false
	}
	name := table.Value + "." + key.Value
	v, key2 := c.text.Member(library, key.Value), name
	if unused := c.text.Unused[name]; unused != nil && ast.Expr(x) == c.unused {
		v, key2 = unused, name+" as a statement"
	}
	if v == nil {
		return 0, false
	}
	i := c.bindAs(key2, name, v)
	return i, i >= 0
}
