package luaeval

import (
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

const chunkName = "user_script"

// compile makes s.fn of code. It compiles this tree and runs it once, which returns the script:
//
//	local <everything bound> = ...
//	return function() <the rewritten script> end
//
// The globals of the script are upvalues of that function.
func (e *Engine) compile(s *Script, code string) error {
	fn, w, err := e.compileChunk(code, &e.scriptScope)
	if err != nil {
		return errors.New("ERR Error compiling script (new function): " + err.Error())
	}
	s.fn = fn
	s.long, s.global = w.long, w.usesG
	for i, name := range fn.Proto.DbgUpvalues {
		switch name {
		case hide("KEYS"):
			s.keys = fn.Upvalues[i]
			s.keyTable = e.ownTable(s.keys, w.usesG || w.escapes["KEYS"])
		case hide("ARGV"):
			s.argv = fn.Upvalues[i]
			s.argTable = e.ownTable(s.argv, w.usesG || w.escapes["ARGV"])
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

func (e *Engine) compileChunk(code string, s *scope) (*lua.LFunction, *rewriter, error) {
	if at, err := check(code, s.chunk); err != nil {
		var earlier *parse.Error // Lua stops at the first error
		_, bad := parse.Parse(strings.NewReader(code[:at]), s.chunk)
		if errors.As(bad, &earlier) && earlier.Pos.Line != parse.EOF {
			err = syntaxError(bad, code[:at], s.chunk)
		}
		return nil, nil, err
	}
	chunk, err := parse.Parse(strings.NewReader(code), s.chunk)
	if err != nil {
		return nil, nil, syntaxError(err, code, s.chunk)
	}
	w := newRewriter(e, s)
	w.inBlock(chunk)
	if w.err != nil {
		return nil, nil, w.err
	}
	names := &ast.LocalAssignStmt{Names: w.names, Exprs: []ast.Expr{&ast.Comma3Expr{}}}
	inner := &ast.FunctionExpr{ParList: &ast.ParList{HasVargs: w.vararg}, Stmts: chunk}
	back := &ast.ReturnStmt{Exprs: []ast.Expr{inner}}
	last := strings.Count(code, "\n") + 1
	for _, n := range []ast.PositionHolder{names, inner, back} {
		n.SetLine(1)
		n.SetLastLine(last)
	}
	tree := []ast.Stmt{back}
	if len(w.names) > 0 {
		tree = []ast.Stmt{names, back}
	}
	proto, err := lua.Compile(tree, s.source)
	if late := (*lua.CompileError)(nil); errors.As(err, &late) {
		late.Line = w.realLine(late.Line)
	}
	if err == nil {
		err = w.finish(proto)
	}
	if err != nil {
		return nil, nil, syntaxError(err, code, s.chunk)
	}
	e.l.Push(e.l.NewFunctionFromProto(proto))
	for _, v := range w.first {
		e.l.Push(v)
	}
	e.l.Call(len(w.first), 1)
	fn := e.l.Get(-1).(*lua.LFunction)
	e.l.SetTop(0)
	return fn, w, nil
}

// syntaxError says an error of the parser or the compiler in Lua's words, as far as possible.
func syntaxError(err error, code, chunk string) error {
	var line int
	text, near := "", ""
	var bad *parse.Error
	var late *lua.CompileError
	var limit *limitError
	switch {
	case errors.As(err, &bad):
		line, text, near = bad.Pos.Line, bad.Message, bad.Token
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
		text += fmt.Sprintf(" near '%s'", near)
	case errors.As(err, &late):
		line, text = late.Line, late.Message
		switch {
		case strings.HasPrefix(text, "cannot use '...'"):
			text += " near '...'"
		case strings.HasPrefix(text, "register overflow"), text == "too many local variables":
			text = "function or expression too complex"
		case strings.HasPrefix(text, "too long to jump"):
			text = tooLong
		case text == "too many constants":
			text = tooManyConstants
		}
	case errors.As(err, &limit) && limit.line == 0:
		return limit
	case errors.As(err, &limit):
		line, text = limit.line, limit.text
	default:
		return errors.New(chunk + ": " + err.Error())
	}
	return fmt.Errorf("%s:%d: %s", chunk, line, text)
}
