package luaeval

import (
	"bytes"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// fromReply converts the reply at b[i:] to a Lua value, and returns the position after it. The
// reply is well formed: it is the server's own.
func (e *Engine) fromReply(l *lua.LState, b []byte, i int) (lua.LValue, int) {
	line, next := replyLine(b, i)
	switch b[i] {
	case ':':
		return e.integer(line), next
	case '$':
		n := length(line)
		if n < 0 {
			return lua.LFalse, next
		}
		if i == 0 {
			if arg := e.argument(b[next : next+n]); arg != nil {
				return arg, next + n + 2
			}
		}
		return e.bulk(b, next, n), next + n + 2
	case '+':
		return e.tagged("ok", lua.LString(line)), next
	case '-':
		t := e.tagged("err", lua.LString(line))
		t.RawSetString(counted, lua.LTrue)
		return t, next
	case '*', '>':
		return e.arrayFrom(l, b, length(line), next)
	case '%', '~':
		return e.mapFrom(l, b, b[i], length(line), next)
	case '_':
		return lua.LNil, next
	case '#':
		return lua.LBool(line[0] == 't'), next
	case ',':
		n, _ := lualib.ParseNumber(string(line))
		return e.tagged("double", lua.LNumber(n)), next
	case '(':
		return e.tagged("big_number", lua.LString(line)), next
	case '=':
		n := length(line)
		text := b[next : next+n]
		t := e.l.CreateTable(0, 2)
		t.RawSetString("format", lua.LString(text[:3]))
		t.RawSetString("string", lua.LString(text[4:]))
		return e.tagged("verbatim_string", t), next + n + 2
	case '|':
		for range 2 * length(line) {
			_, next = e.fromReply(l, b, next)
		}
		return e.fromReply(l, b, next)
	}
	return lua.LNil, len(b)
}

func replyLine(b []byte, i int) (line []byte, next int) {
	n := bytes.IndexByte(b[i:], '\r')
	return b[i+1 : i+n], i + n + 2
}

func length(line []byte) int {
	n := 0
	for _, c := range line {
		if c == '-' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// integer converts a number.
func (e *Engine) integer(line []byte) lua.LValue {
	if len(line) <= 3 && line[0] != '-' {
		return e.lib.Integer(length(line))
	}
	n, _ := strconv.ParseInt(string(line), 10, 64)
	return lua.LNumber(n)
}

// argument returns the argument of the script that equals the reply, or nil. A script that releases a
// lock compares the value with its argument, and mostly they are equal. So nothing is allocated.
func (e *Engine) argument(b []byte) lua.LValue {
	if s := e.run.script; s != nil && s.argTable != nil {
		for i := range min(s.argTable.Len(), mayEqual) {
			v := s.argTable.RawGetInt(i + 1)
			if arg, ok := v.(lua.LString); ok && string(arg) == string(b) {
				return v
			}
		}
	}
	return nil
}

// mayEqual is how many arguments are compared.
const mayEqual = 4

// copied is a part of the reply as a string. Small elements of an array are parts of one such string:
// that is one allocation less for each.
type copied struct {
	text string
	from int // where it begins in the reply
}

// mostCopied bounds what one element keeps in memory, in bytes.
const mostCopied = 1 << 10

// bulk converts the string of n bytes at b[from:].
func (e *Engine) bulk(b []byte, from, n int) lua.LValue {
	if n >= largeString {
		return e.large.of(b[from : from+n])
	}
	if n > mostCopied/2 {
		return lua.LString(b[from : from+n])
	}
	c := &e.copied
	if from+n > c.from+len(c.text) {
		*c = copied{string(b[from:min(from+mostCopied, len(b))]), from}
	}
	return lua.LString(c.text[from-c.from:][:n])
}

func (e *Engine) tagged(field string, v lua.LValue) *lua.LTable {
	t := e.l.CreateTable(0, 1)
	t.RawSetString(field, v)
	return t
}

func (e *Engine) arrayFrom(l *lua.LState, b []byte, n, next int) (lua.LValue, int) {
	if n < 0 {
		return lua.LFalse, next
	}
	t := e.lib.NewTable(l, n, 0)
	for k := range n {
		e.lib.Charge(l, lualib.ElementBytes)
		var v lua.LValue
		v, next = e.fromReply(l, b, next)
		e.lib.SetInt(t, k+1, v)
	}
	return t, next
}

// mapFrom converts a map to {map={...}} and a set to {set={element=true}}.
func (e *Engine) mapFrom(l *lua.LState, b []byte, kind byte, n, next int) (lua.LValue, int) {
	t := e.lib.NewTable(l, 0, n)
	field := "set"
	if kind == '%' {
		field = "map"
	}
	for range n {
		e.lib.Tick(l, 1)
		var k, v lua.LValue = nil, lua.LTrue
		k, next = e.fromReply(l, b, next)
		if kind == '%' {
			v, next = e.fromReply(l, b, next)
		}
		if k != lua.LNil {
			t.RawSet(k, v)
		}
	}
	return e.tagged(field, t), next
}
