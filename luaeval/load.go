package luaeval

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// load and loadstring make a function of a text while a script runs. The text goes through
// compileChunk like a script: it is rewritten, so nothing in it escapes the bounds of the script
// around it. A script that names one of the two runs with a context, see rewriter.ident.

// A compiled text takes about so many bytes: measured. They are charged before the text is parsed.
const (
	loadedBytes        = 48 << 10 // of a short one
	loadedBytesPerByte = 64
)

const binaryStart = "\x1b" // lua.h: LUA_SIGNATURE

// loadString is loadstring(text [, name]).
func (e *Engine) loadString(l *lua.LState) int {
	text := e.lib.CheckString(l, 1, "loadstring")
	name := text
	if l.Get(2) != lua.LNil {
		name = e.lib.CheckString(l, 2, "loadstring")
	}
	return e.loadText(l, text, name)
}

// load is load(reader [, name]): the reader returns the text piece by piece, and nil or "" at its
// end.
func (e *Engine) loadPieces(l *lua.LState) int {
	reader, ok := l.Get(1).(*lua.LFunction)
	if !ok {
		lualib.TypeError(l, 1, "load", "function")
	}
	name := "=(load)"
	if l.Get(2) != lua.LNil {
		name = e.lib.CheckString(l, 2, "load")
	}
	text := e.lib.NewOutput(l)
	for {
		p, err := e.protected(l, reader, 0)
		if err != nil {
			return notLoaded(l, e.caught(err))
		}
		v := p.Get(1)
		p.SetTop(0)
		piece, ok := lualib.ToText(v)
		switch {
		case v == lua.LNil || ok && piece == "":
			return e.loadText(l, text.String(), name)
		case !ok:
			return notLoaded(l, lua.LString(e.where(l, 1)+" reader function must return a string"))
		}
		text.Text(piece)
	}
}

// loadText returns the function that text is the body of, or nil and what is wrong with it.
func (e *Engine) loadText(l *lua.LState, text, name string) int {
	e.lib.Charge(l, loadedBytes)
	e.lib.Charge(l, loadedBytesPerByte*len(text))
	around := &e.scriptScope
	if e.run.script == nil {
		around = &e.libraryScope
	}
	s := scope{
		chunk: chunkTitle(name, longTitle), source: chunkTitle(name, shortTitle),
		known: around.known, env: around.env, loaded: true,
	}
	if strings.HasPrefix(text, binaryStart) {
		return notLoaded(l, lua.LString(s.chunk+":1: unexpected symbol near 'char(27)'"))
	}
	fn, err := e.compileLoaded(text, &s)
	if err != nil {
		return notLoaded(l, lua.LString(err.Error()))
	}
	l.Push(fn)
	return 1
}

func (e *Engine) compileLoaded(text string, s *scope) (*lua.LFunction, error) {
	defer e.make()()
	fn, _, err := e.compileChunk(text, s)
	return fn, err
}

func notLoaded(l *lua.LState, problem lua.LValue) int {
	l.Push(lua.LNil)
	l.Push(problem)
	return 2
}

// A text has a longer title in the errors of the compiler (llex.c: MAXSRC) than in those of the
// running code (luaconf.h: LUA_IDSIZE).
const (
	longTitle  = 80
	shortTitle = 60
)

// chunkTitle is how errors call a text, in fewer than size bytes (lobject.c: luaO_chunkid). A name
// begins with = or @; without one, the name is the text itself, of which errors show the first
// line.
func chunkTitle(name string, size int) string {
	if end := strings.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	switch {
	case strings.HasPrefix(name, "="):
		return name[1:min(len(name), size)]
	case strings.HasPrefix(name, "@"):
		name = name[1:]
		if most := size - len(` '...' `) - 1; len(name) > most {
			return "..." + name[len(name)-most:]
		}
		return name
	}
	line := name
	if end := strings.IndexAny(name, "\r\n"); end >= 0 {
		line = name[:end]
	}
	line = line[:min(len(line), size-len(` [string "..."] `)-1)]
	if len(line) < len(name) {
		line += "..."
	}
	return titleStart + line + titleEnd
}

const titleStart, titleEnd = `[string "`, `"]`

// sourceOf is how an error reply names the source of code. Redis shows the whole text that
// loadstring was given: here it is as much of that as the title has.
func sourceOf(title string) string {
	text, ok := strings.CutPrefix(title, titleStart)
	switch {
	case ok:
		return strings.TrimSuffix(text, titleEnd)
	case title == "(load)":
		return "=" + title
	}
	return "@" + title
}
