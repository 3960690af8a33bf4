package luaeval

import (
	"fmt"
	"strings"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// lexer reads the tokens of a text as Lua does (llex.c), for the words of syntax errors.
type lexer struct {
	src   string
	chunk string
	i     int
	line  int // of the token
	last  int // the line of the token before

	kind string // of the token: a keyword, an operator, or one of those below
	text string // of the token, as errors show it
	next *lexer // the token after this one was read

	numbers []numeral // that gopher-lua's parser cannot read
}

// numeral is a number at a place of the text.
type numeral struct {
	from, to int
	value    float64
}

const (
	aName, aString, aNumber, theEnd = "<name>", "<string>", "<number>", "<eof>"

	keywords = " and break do else elseif end false for function if in local nil not or repeat return then true " +
		"until while "
)

// wrong is the panic of a syntax error.
type wrong struct{ error }

// fail raises an error at the current token (llex.c: luaX_syntaxerror).
func (x *lexer) fail(text string) { x.failNear(text, x.text) }

func (x *lexer) failNear(text, near string) {
	panic(wrong{fmt.Errorf("%s:%d: %s near '%s'", x.chunk, x.line, text, near)})
}

func (x *lexer) at(k int) byte {
	if x.i+k < len(x.src) {
		return x.src[x.i+k]
	}
	return 0
}

// advance reads the next token.
func (x *lexer) advance() {
	if x.next != nil {
		*x = *x.next
		return
	}
	x.last = x.line
	for x.blank() {
	}
	from := x.i
	if x.i == len(x.src) {
		x.kind, x.text = theEnd, theEnd
		return
	}
	switch c := x.at(0); {
	case lualib.IsAlpha(c):
		for lualib.IsAlpha(x.at(0)) || lualib.IsDigit(x.at(0)) {
			x.i++
		}
		x.kind, x.text = aName, x.src[from:x.i]
		if strings.Contains(keywords, " "+x.text+" ") {
			x.kind = x.text
		}
	case lualib.IsDigit(c) || c == '.' && lualib.IsDigit(x.at(1)):
		x.number()
	case c == '"' || c == '\'':
		x.quoted(c)
	case c == '[' && (x.at(1) == '[' || x.at(1) == '='):
		x.long("string")
		x.kind, x.text = aString, x.src[from:x.i]
	default:
		x.operator()
	}
}

// blank skips a space or a comment, and reports whether there was one.
func (x *lexer) blank() bool {
	switch c := x.at(0); {
	case x.i == len(x.src):
		return false
	case c == '\n' || c == '\r':
		x.newLine()
	case c == ' ' || c == '\t' || c == '\v' || c == '\f':
		x.i++
	case c == '-' && x.at(1) == '-':
		x.i += 2
		n := 1
		for x.at(n) == '=' {
			n++
		}
		if x.at(0) == '[' && x.at(n) == '[' {
			x.long("comment")
			return true
		}
		for x.i < len(x.src) && x.at(0) != '\n' && x.at(0) != '\r' {
			x.i++
		}
	default:
		return false
	}
	return true
}

func (x *lexer) newLine() {
	if next := x.at(1); (next == '\n' || next == '\r') && next != x.at(0) {
		x.i++
	}
	x.i++
	x.line++
}

// number reads a number (llex.c: read_numeral).
func (x *lexer) number() {
	from := x.i
	for lualib.IsDigit(x.at(0)) || x.at(0) == '.' {
		x.i++
	}
	if x.at(0)|0x20 == 'e' {
		x.i++
		if x.at(0) == '+' || x.at(0) == '-' {
			x.i++
		}
	}
	for lualib.IsAlpha(x.at(0)) || lualib.IsDigit(x.at(0)) {
		x.i++
	}
	x.kind, x.text = aNumber, x.src[from:x.i]
	n, ok := lualib.ParseNumber(x.text)
	if !ok {
		x.fail("malformed number")
	}
	if strings.ContainsAny(x.text, "pP") {
		x.numbers = append(x.numbers, numeral{from, x.i, n})
	}
}

// quoted reads a string in quotes. Errors show what it has read so far, without the escapes.
func (x *lexer) quoted(quote byte) {
	text := []byte{quote}
	for x.i++; x.at(0) != quote || x.i == len(x.src); {
		switch c := x.at(0); {
		case x.i == len(x.src):
			x.failNear("unfinished string", theEnd)
		case c == '\n' || c == '\r':
			x.failNear("unfinished string", string(text))
		case c == '\\':
			text = x.escape(text)
		default:
			text = append(text, c)
			x.i++
		}
	}
	x.i++
	x.kind, x.text = aString, string(append(text, quote))
}

func (x *lexer) escape(text []byte) []byte {
	x.i++
	c := x.at(0)
	switch {
	case x.i == len(x.src):
		return text
	case c == '\n' || c == '\r':
		x.newLine()
		return append(text, '\n')
	case lualib.IsDigit(c):
		n := 0
		for k := 0; k < 3 && lualib.IsDigit(x.at(0)); k++ {
			n = 10*n + int(x.at(0)-'0')
			x.i++
		}
		if n > 255 {
			x.failNear("escape sequence too large", string(text))
		}
		return append(text, byte(n))
	}
	x.i++
	if at := strings.IndexByte("abfnrtv", c); at >= 0 {
		c = "\a\b\f\n\r\t\v"[at]
	}
	return append(text, c)
}

// long reads a string or a comment in long brackets.
func (x *lexer) long(what string) {
	n := 1
	for x.at(n) == '=' {
		n++
	}
	if x.at(n) != '[' {
		x.failNear("invalid long string delimiter", x.src[x.i:x.i+n])
	}
	end := "]" + strings.Repeat("=", n-1) + "]"
	for x.i += n + 1; !strings.HasPrefix(x.src[x.i:], end); {
		switch c := x.at(0); {
		case x.i == len(x.src):
			x.failNear("unfinished long "+what, theEnd)
		case c == '\n' || c == '\r':
			x.newLine()
		default:
			x.i++
		}
	}
	x.i += len(end)
}

// operator reads an operator, or a character that is none.
func (x *lexer) operator() {
	n := 1
	for _, long := range []string{"...", "..", "==", "<=", ">=", "~="} {
		if strings.HasPrefix(x.src[x.i:], long) {
			n = len(long)
			break
		}
	}
	x.kind = x.src[x.i : x.i+n]
	x.text = x.kind
	if c := x.kind[0]; c < ' ' || c == 127 {
		x.text = fmt.Sprintf("char(%d)", c)
	}
	x.i += n
}
