package luaeval

import (
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/miniredisd/miniredisd/luaeval/compile"
)

const chunkName = "user_script"

// compile makes s.fn of code. The globals of the script are upvalues of that function.
func (e *Engine) compile(s *Script, code string) error {
	fn, c, err := e.compileChunk(code, &e.scriptScope)
	if err != nil {
		return errors.New("ERR Error compiling script (new function): " + err.Error())
	}
	s.fn = fn
	s.long, s.global, s.exact = c.Long, c.Named, c.Exact
	for i, b := range c.Bound {
		switch b.Name {
		case "KEYS":
			s.keys = fn.Upvalues[i]
			s.keyTable = e.ownTable(s.keys, c.Escapes["KEYS"])
		case "ARGV":
			s.argv = fn.Upvalues[i]
			s.argTable = e.ownTable(s.argv, c.Escapes["ARGV"])
		}
	}
	return nil
}

// ownTable gives a script that only reads its keys or arguments a table to keep for them.
func (e *Engine) ownTable(up *lua.Upvalue, escapes bool) *lua.LTable {
	if escapes {
		up.SetValue(lua.LNil)
		return nil
	}
	t := e.l.CreateTable(4, 0)
	up.SetValue(t)
	return t
}

// compileChunk returns the function whose body is code.
func (e *Engine) compileChunk(code string, s *scope) (*lua.LFunction, *compile.Code, error) {
	if !strings.Contains(code, "\x00") { // else the parser refuses it
		readable, err := checkSyntax(code, s.chunk)
		if err != nil {
			return nil, nil, err
		}
		code = readable
	}
	if err := check(code, s.chunk); err != nil {
		return nil, nil, err
	}
	tree, err := parse.Parse(strings.NewReader(code), s.chunk)
	if err != nil {
		return nil, nil, syntaxError(err, code, s.chunk)
	}
	c, err := compile.Compile(tree, &compile.Text{
		Chunk: s.chunk, Source: s.source, Known: s.known, Member: e.member, Unused: e.unused, Words: s.words,
		Operators: e.operators, Env: s.env, Library: s.library, Named: s.loaded,
	})
	if err != nil {
		return nil, nil, err
	}
	fn := e.l.NewFunctionFromProto(c.Proto)
	fn.Env = s.env
	for i, b := range c.Bound {
		v := b.Value
		if v == nil {
			v = lua.LNil
		}
		fn.Upvalues[i] = &lua.Upvalue{}
		fn.Upvalues[i].SetValue(e.atFirst(s, b.Name, v))
	}
	return fn, c, nil
}

// member returns a field of a library that scripts see, or nil.
func (e *Engine) member(library lua.LValue, name string) lua.LValue {
	shown, ok := library.(*lua.LTable)
	if !ok {
		return nil
	}
	if v := e.lib.Shown(shown).RawGetString(name); v != lua.LNil {
		return v
	}
	return nil
}

// syntaxError says an error of the parser in Lua's words, as far as possible.
func syntaxError(err error, code, chunk string) error {
	var bad *parse.Error
	if !errors.As(err, &bad) {
		return errors.New(chunk + ": " + err.Error())
	}
	line, text, near := bad.Pos.Line, bad.Message, bad.Token
	if line == parse.EOF {
		line, near = strings.Count(code, "\n")+1, "<eof>"
	}
	switch {
	case strings.HasPrefix(text, "unterminated"):
		text = strings.Replace(text, "unterminated", "unfinished", 1)
	case text == "parse error": // an expression statement that is no call
		text = "'=' expected"
	case strings.HasPrefix(text, "syntax error"):
		text = "unexpected symbol"
	}
	return fmt.Errorf("%s:%d: %s near '%s'", chunk, line, text, near)
}
