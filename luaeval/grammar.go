package luaeval

import (
	"fmt"
	"strconv"
	"strings"
)

// grammar checks a text before gopher-lua's parser reads it, as Lua's parser does (lparser.c). gopher-lua accepts some
// texts that Lua refuses, and has other words for errors.
type grammar struct {
	lexer
	levels   int
	loops    int  // around, in this function
	variadic bool // the function has `...`
}

// checkSyntax returns the text as gopher-lua can read it, or Lua's error.
func checkSyntax(src, chunk string) (text string, err error) {
	g := &grammar{lexer: lexer{src: src, chunk: chunk, line: 1}, variadic: true}
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case wrong:
			err = ended.error
		default:
			panic(ended)
		}
	}()
	g.advance()
	g.chunk()
	g.check(theEnd)
	return g.readable(), nil
}

// readable returns the text with plain numbers in place of those that gopher-lua cannot read.
func (g *grammar) readable() string {
	if len(g.numbers) == 0 {
		return g.src
	}
	var b strings.Builder
	from := 0
	for _, n := range g.numbers {
		b.WriteString(g.src[from:n.from])
		b.WriteString(strconv.FormatFloat(n.value, 'g', -1, 64))
		from = n.to
	}
	return b.String() + g.src[from:]
}

func (g *grammar) enter() {
	if g.levels++; g.levels > maxLevels {
		panic(wrong{fmt.Errorf("%s:%d: chunk has too many syntax levels", g.lexer.chunk, g.line)})
	}
}

func (g *grammar) test(kind string) bool {
	if g.kind != kind {
		return false
	}
	g.advance()
	return true
}

func (g *grammar) check(kind string) {
	if g.kind != kind {
		g.fail("'" + kind + "' expected")
	}
}

func (g *grammar) take(kind string) {
	g.check(kind)
	g.advance()
}

// closes takes a token that ends what another one has begun at a line.
func (g *grammar) closes(kind, begun string, line int) {
	if g.kind != kind && g.line != line {
		g.fail(fmt.Sprintf("'%s' expected (to close '%s' at line %d)", kind, begun, line))
	}
	g.take(kind)
}

func (g *grammar) chunk() {
	g.enter()
	for last := false; !last && !g.follows(); {
		last = g.statement()
		g.test(";")
	}
	g.levels--
}

// follows reports whether the token ends a block.
func (g *grammar) follows() bool {
	switch g.kind {
	case "else", "elseif", "end", "until", theEnd:
		return true
	}
	return false
}

// statement reads a statement, and reports whether it must be the last one of its block.
func (g *grammar) statement() (last bool) {
	kind, line := g.kind, g.line
	switch kind {
	case "if", "while", "do", "for", "repeat", "function", "local", "return", "break":
		g.advance()
	default:
		g.expressionStatement()
		return false
	}
	switch kind {
	case "if":
		g.ifStatement(line)
	case "while":
		g.expr(0)
		g.loop("while", line)
	case "do":
		g.chunk()
		g.closes("end", "do", line)
	case "for":
		g.forStatement(line)
	case "repeat":
		g.loops++
		g.chunk()
		g.loops--
		g.closes("until", "repeat", line)
		g.expr(0)
	case "function":
		g.take(aName)
		for g.test(".") {
			g.take(aName)
		}
		if g.test(":") {
			g.take(aName)
		}
		g.body(line)
	case "local":
		g.local()
	case "return":
		if !g.follows() && g.kind != ";" {
			g.list()
		}
	case "break":
		if g.loops == 0 {
			g.fail("no loop to break")
		}
	}
	return kind == "return" || kind == "break"
}

func (g *grammar) ifStatement(line int) {
	for again := true; again; again = g.test("elseif") {
		g.expr(0)
		g.take("then")
		g.chunk()
	}
	if g.test("else") {
		g.chunk()
	}
	g.closes("end", "if", line)
}

func (g *grammar) loop(begun string, line int) {
	g.take("do")
	g.loops++
	g.chunk()
	g.loops--
	g.closes("end", begun, line)
}

func (g *grammar) forStatement(line int) {
	g.take(aName)
	switch g.kind {
	case "=":
		g.advance()
		g.expr(0)
		g.take(",")
		g.expr(0)
		if g.test(",") {
			g.expr(0)
		}
	case ",", "in":
		for g.test(",") {
			g.take(aName)
		}
		g.take("in")
		g.list()
	default:
		g.fail("'=' or 'in' expected")
	}
	g.loop("for", line)
}

func (g *grammar) local() {
	if line := g.line; g.test("function") {
		g.take(aName)
		g.body(line)
		return
	}
	g.take(aName)
	for g.test(",") {
		g.take(aName)
	}
	if g.test("=") {
		g.list()
	}
}

// expressionStatement reads a call or an assignment.
func (g *grammar) expressionStatement() {
	kind := g.primary()
	if kind == isCall {
		return
	}
	for {
		if kind != isVariable {
			g.fail("syntax error")
		}
		if !g.test(",") {
			break
		}
		kind = g.primary()
	}
	g.take("=")
	g.list()
}

func (g *grammar) body(line int) {
	loops, variadic := g.loops, g.variadic
	g.loops, g.variadic = 0, false
	g.take("(")
	for g.kind != ")" {
		switch g.kind {
		case aName:
		case "...":
			g.variadic = true
		default:
			g.fail("<name> or '...' expected")
		}
		g.advance()
		if g.variadic || g.kind != "," {
			break
		}
		if g.advance(); g.kind == ")" {
			g.fail("<name> or '...' expected")
		}
	}
	g.take(")")
	g.chunk()
	g.closes("end", "function", line)
	g.loops, g.variadic = loops, variadic
}

func (g *grammar) list() {
	g.expr(0)
	for g.test(",") {
		g.expr(0)
	}
}
