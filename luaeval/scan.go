package luaeval

import (
	"errors"
	"fmt"

	"github.com/miniredisd/miniredisd/luaeval/lualib"
)

// maxLevels is how deep blocks and expressions nest in Lua 5.1 (luaconf.h: LUAI_MAXCCALLS).
const maxLevels = 200

// maxTokens bounds a text. The parser takes some hundred bytes for each token.
const maxTokens = 4 << 20

// scanner reads the text of a script before the parser does. It finds nesting that Lua
// refuses: the parser would take much memory for it. It knows just enough of Lua to skip strings and
// comments.
type scanner struct {
	src     string
	i       int
	line    int
	tokens  int
	levels  int
	operand bool // the last token can be the left operand of an operator
	chain   int  // `..`, `^` and unary operators in a row: they nest to the right
}

// check refuses text that the parser should not see, with Lua's error.
func check(src, chunk string) error {
	s := scanner{src: src, line: 1}
	return s.scan(chunk)
}

func (s *scanner) scan(chunk string) error {
	src := s.src
	for s.i < len(src) {
		c := src[s.i]
		if c > ' ' {
			s.tokens++
		}
		switch {
		case c == '\n':
			s.line++
			s.i++
		case lualib.IsAlpha(c):
			s.word()
		case c == '"' || c == '\'':
			s.quoted(c)
		case c == '-' && s.at(1) == '-':
			s.comment()
		case c == '[' && (s.at(1) == '[' || s.at(1) == '='):
			if !s.long() {
				s.nest(1)
				s.i++
			}
		case c == '(' || c == '{' || c == '[':
			s.nest(1)
			s.i++
		case c == ')' || c == '}' || c == ']':
			s.nest(-1)
			s.i++
		case c == '.' && s.at(1) == '.':
			s.operand = false
			s.chain++
			s.i += 2
		case c == '-' && s.operand:
			s.operand, s.chain = false, 0
			s.i++
		case c == '^' || c == '-' || c == '#':
			s.operand = false
			s.chain++
			s.i++
		case c == ',' || c == ';' || c == '=' || c == '+' || c == '*' || c == '/' || c == '<' || c == '>':
			s.operand, s.chain = false, 0
			s.i++
		case lualib.IsDigit(c):
			s.operand = true
			for s.i < len(src) && lualib.IsDigit(src[s.i]) {
				s.i++
			}
		default:
			s.i++
		}
		if s.levels > maxLevels || s.chain > 10*maxLevels {
			return errors.New(fmt.Sprint(chunk, ":", s.line, ": chunk has too many syntax levels"))
		}
	}
	if s.tokens > maxTokens {
		return errors.New(fmt.Sprint(chunk, ":", s.line, ": chunk has more than ", maxTokens, " tokens"))
	}
	return nil
}

func (s *scanner) at(k int) byte {
	if s.i+k < len(s.src) {
		return s.src[s.i+k]
	}
	return 0
}

func (s *scanner) nest(n int) {
	s.levels = max(s.levels+n, 0)
	s.operand, s.chain = n < 0, 0
}

func (s *scanner) word() {
	from := s.i
	for s.i < len(s.src) && (lualib.IsAlpha(s.src[s.i]) || lualib.IsDigit(s.src[s.i])) {
		s.i++
	}
	s.operand = false
	switch s.src[from:s.i] {
	case "function":
		s.nest(1)
	case "do", "then", "repeat":
		s.nest(1)
	case "end", "until", "elseif":
		s.nest(-1)
	case "not":
		s.chain++
	case "and", "or", "return", "local", "if", "while", "for", "in", "else":
		s.chain = 0
	default:
		s.operand = true
	}
}

func (s *scanner) quoted(quote byte) {
	s.operand = true
	for s.i++; s.i < len(s.src) && s.src[s.i] != quote; s.i++ {
		if s.src[s.i] == '\\' {
			s.i++
		}
		if s.at(0) == '\n' {
			s.line++
		}
	}
	s.i++
}

func (s *scanner) comment() {
	s.i += 2
	if s.at(0) == '[' && s.long() {
		return
	}
	for s.i < len(s.src) && s.src[s.i] != '\n' {
		s.i++
	}
}

// long skips [[...]] or [==[...]==] and reports whether there was one.
func (s *scanner) long() bool {
	n := 1
	for s.at(n) == '=' {
		n++
	}
	if s.at(n) != '[' {
		return false
	}
	for k := s.i + n + 1; k+n < len(s.src); k++ {
		if s.src[k] == '\n' {
			s.line++
		}
		if s.src[k] != ']' || s.src[k+n] != ']' {
			continue
		}
		eq := 1
		for eq < n && s.src[k+eq] == '=' {
			eq++
		}
		if eq == n {
			s.i = k + n + 1
			return true
		}
	}
	s.i = len(s.src)
	return true
}
