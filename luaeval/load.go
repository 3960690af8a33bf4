package luaeval

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// load and loadstring make a function of a text while a script runs. compileChunk compiles the text
// like a script, so the bounds of the running script hold inside it. A script that names one of the
// two runs with a context.

// Bytes that a compiled text takes, measured. They are charged before the text is parsed.
const (
	loadedBytes        = 48 << 10 // of a short text
	loadedBytesPerByte = 64
)

// binaryStart begins every binary chunk (lua.h: LUA_SIGNATURE).
const binaryStart = "\x1b"

// loadString is loadstring(text [, name]).
func (e *Engine) loadString(l *lua.LState) int {
	text := e.lib.CheckString(l, 1, "loadstring")
	name := text
	if l.Get(2) != lua.LNil {
		name = e.lib.CheckString(l, 2, "loadstring")
	}
	return e.loadText(l, text, name)
}

// loadPieces is load(reader [, name]). The reader returns the text piece by piece, then nil or "".
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

// loadText returns the function whose body is text, or nil and an error message.
func (e *Engine) loadText(l *lua.LState, text, name string) int {
	e.lib.Charge(l, loadedBytes)
	e.lib.Charge(l, loadedBytesPerByte*len(text))
	s := scope{
		chunk: chunkTitle(name, longTitle), source: chunkTitle(name, shortTitle),
		env: e.threadEnvironment(l), loaded: true,
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

// The compiler's errors have a longer title of a text (llex.c: MAXSRC) than those of running code
// (luaconf.h: LUA_IDSIZE).
const (
	longTitle  = 80
	shortTitle = 60
)

// chunkTitle returns the title of a text in errors, in fewer than size bytes (lobject.c:
// luaO_chunkid). A name that begins with = or @ is the title. Any other name is shown by its first
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

// sourceOf returns the source in an error reply. Redis shows the whole text given to loadstring.
// Here the source has as much of the text as the title.
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
