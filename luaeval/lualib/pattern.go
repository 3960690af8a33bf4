package lualib

import (
	"errors"
)

const (
	maxCaptures   = 32
	maxPatDepth   = 200 // depth of the matcher's recursion (luaconf.h: LUAI_MAXCCALLS)
	stepsPerLook  = 4096
	bytesPerStep  = 16 // bytes of a set or of a repeated capture that count as one step
	capUnfinished = -1
	capPosition   = -2
)

// matcher matches one Lua pattern (lstrlib.c: match). It counts steps, because backtracking takes
// exponential time for some patterns.
type matcher struct {
	lib      *Lib
	src, pat string
	level    int
	depth    int
	steps    int
	err      error
	caps     [maxCaptures]struct{ from, n int }
}

func (m *matcher) fail(text string) int {
	if m.err == nil {
		m.err = errors.New(text)
	}
	return -1
}

// stepped counts a step, and the bytes that the step looks at. It reports whether matching may go
// on.
func (m *matcher) stepped(bytes int) bool {
	if m.steps += 1 + bytes/bytesPerStep; m.steps >= stepsPerLook && m.err == nil {
		m.err = m.lib.Limits.Step(m.steps)
		m.steps = 0
	}
	return m.err == nil
}

// match matches pat[p:] at src[s:] and returns the end of the match, or -1.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxPatDepth {
		return m.fail("pattern too complex")
	}
	end := m.items(s, p)
	m.depth--
	return end
}

// items follows the pattern while there is only one way to match. It calls match for each of
// several ways.
func (m *matcher) items(s, p int) int {
	for m.stepped(0) {
		if p == len(m.pat) {
			return s
		}
		behind := byte(0)
		if p+1 < len(m.pat) {
			behind = m.pat[p+1]
		}
		switch c := m.pat[p]; {
		case c == '(' && behind == ')':
			return m.open(s, p+2, capPosition)
		case c == '(':
			return m.open(s, p+1, capUnfinished)
		case c == ')':
			return m.close(s, p+1)
		case c == '$' && p+1 == len(m.pat):
			if s < len(m.src) {
				return -1
			}
			return s
		case c == '%' && behind == 'b':
			s, p = m.balance(s, p+2), p+4
		case c == '%' && behind == 'f':
			s, p = m.frontier(s, p+2)
		case c == '%' && IsDigit(behind):
			s, p = m.back(s, behind), p+2
		default:
			var ended bool
			if s, p, ended = m.item(s, p); ended {
				return s
			}
		}
		if s < 0 {
			return -1
		}
	}
	return -1
}

// frontier is %f[set]: the place between a character outside the set and one inside.
func (m *matcher) frontier(s, p int) (at, rest int) {
	if p >= len(m.pat) || m.pat[p] != '[' {
		return m.fail("missing '[' after '%f' in pattern"), p
	}
	end := m.classEnd(p)
	if end < 0 || m.set(m.byteAt(s-1), p, end-1) || !m.set(m.byteAt(s), p, end-1) {
		return -1, p
	}
	return s, end
}

// item matches a character or a class as often as its suffix says. It returns where to go on. ended
// is true when the rest of the pattern was tried too: then at is the end of the match.
func (m *matcher) item(s, p int) (at, rest int, ended bool) {
	end := m.classEnd(p)
	if end < 0 || end-p > bytesPerStep && !m.stepped(end-p) {
		return -1, p, true
	}
	suffix := byte(0)
	if end < len(m.pat) {
		suffix = m.pat[end]
	}
	switch suffix {
	case '?':
		if m.single(s, p, end) {
			if r := m.match(s+1, end+1); r >= 0 || m.err != nil {
				return r, p, true
			}
		}
		return s, end + 1, false
	case '*':
		return m.most(s, p, end, 0), p, true
	case '+':
		return m.most(s, p, end, 1), p, true
	case '-':
		return m.least(s, p, end), p, true
	}
	if !m.single(s, p, end) {
		return -1, p, true
	}
	return s + 1, end, false
}

func (m *matcher) byteAt(i int) byte {
	if i < 0 || i >= len(m.src) {
		return 0
	}
	return m.src[i]
}

func (m *matcher) most(s, p, end, least int) int {
	n := 0
	for m.single(s+n, p, end) {
		if n++; !m.stepped(end - p) {
			return -1
		}
	}
	for ; n >= least; n-- {
		if r := m.match(s+n, end+1); r >= 0 || m.err != nil {
			return r
		}
	}
	return -1
}

func (m *matcher) least(s, p, end int) int {
	for {
		if r := m.match(s, end+1); r >= 0 || m.err != nil {
			return r
		}
		if !m.single(s, p, end) {
			return -1
		}
		s++
	}
}

func (m *matcher) open(s, p, kind int) int {
	if m.level >= maxCaptures {
		return m.fail("too many captures")
	}
	m.caps[m.level].from, m.caps[m.level].n = s, kind
	m.level++
	r := m.match(s, p)
	if r < 0 {
		m.level--
	}
	return r
}

func (m *matcher) close(s, p int) int {
	i := m.level - 1
	for i >= 0 && m.caps[i].n != capUnfinished {
		i--
	}
	if i < 0 {
		return m.fail("invalid pattern capture")
	}
	m.caps[i].n = s - m.caps[i].from
	r := m.match(s, p)
	if r < 0 {
		m.caps[i].n = capUnfinished
	}
	return r
}

func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		return m.fail("unbalanced pattern")
	}
	if s >= len(m.src) || m.src[s] != m.pat[p] {
		return -1
	}
	open, shut, depth := m.pat[p], m.pat[p+1], 1
	for i := s + 1; i < len(m.src); i++ {
		if !m.stepped(0) {
			return -1
		}
		switch m.src[i] {
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		case open:
			depth++
		}
	}
	return -1
}

func (m *matcher) back(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= m.level || m.caps[i].n == capUnfinished {
		return m.fail("invalid capture index")
	}
	if m.caps[i].n < 0 {
		return -1
	}
	text := m.src[m.caps[i].from : m.caps[i].from+m.caps[i].n]
	if !m.stepped(len(text)) || len(m.src)-s < len(text) || m.src[s:s+len(text)] != text {
		return -1
	}
	return s + len(text)
}

// classEnd returns the position after the character class at p.
func (m *matcher) classEnd(p int) int {
	c := m.pat[p]
	p++
	switch c {
	case '%':
		if p >= len(m.pat) {
			return m.fail("malformed pattern (ends with '%')")
		}
		return p + 1
	case '[':
		if p < len(m.pat) && m.pat[p] == '^' {
			p++
		}
		for first := true; first || p >= len(m.pat) || m.pat[p] != ']'; first = false {
			if p >= len(m.pat) {
				return m.fail("malformed pattern (missing ']')")
			}
			if m.pat[p] == '%' && p+1 < len(m.pat) {
				p++
			}
			p++
		}
		return p + 1
	}
	return p
}

func (m *matcher) single(s, p, end int) bool {
	if s >= len(m.src) {
		return false
	}
	c := m.src[s]
	switch m.pat[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pat[p+1])
	case '[':
		return m.set(c, p, end-1)
	}
	return m.pat[p] == c
}

// set reports whether c is in the set pat[p:last], where p is the position of '[' and last that of
// ']'.
func (m *matcher) set(c byte, p, last int) bool {
	found := true
	p++
	if m.pat[p] == '^' {
		found = false
		p++
	}
	for ; p < last; p++ {
		switch {
		case m.pat[p] == '%':
			p++
			if inClass(c, m.pat[p]) {
				return found
			}
		case p+2 < last && m.pat[p+1] == '-':
			if m.pat[p] <= c && c <= m.pat[p+2] {
				return found
			}
			p += 2
		case m.pat[p] == c:
			return found
		}
	}
	return !found
}

func inClass(c, class byte) bool {
	var in bool
	switch class | 0x20 {
	case 'a':
		in = isLetter(c)
	case 'c':
		in = c < 32 || c == 127
	case 'd':
		in = IsDigit(c)
	case 'l':
		in = c >= 'a' && c <= 'z'
	case 'p':
		in = c > 32 && c < 127 && !isLetter(c) && !IsDigit(c)
	case 's':
		in = c == ' ' || c >= 9 && c <= 13
	case 'u':
		in = c >= 'A' && c <= 'Z'
	case 'w':
		in = isLetter(c) || IsDigit(c)
	case 'x':
		in = IsDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	if !isLetter(class) {
		return class == c
	}
	if class >= 'A' && class <= 'Z' {
		return !in
	}
	return in
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
