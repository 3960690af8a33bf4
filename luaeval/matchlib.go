package luaeval

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const patternSpecials = "^$*+?.([%-"

// start prepares a matcher; anchored tells of a ^, which it removes.
func (e *Engine) start(src, pat string) (m *matcher, anchored bool) {
	if strings.HasPrefix(pat, "^") {
		return &matcher{e: e, src: src, pat: pat[1:]}, true
	}
	return &matcher{e: e, src: src, pat: pat}, false
}

// from matches at s and raises the matcher's errors.
func (m *matcher) from(l *lua.LState, s int) int {
	m.level, m.depth = 0, 0
	end := m.match(s, 0)
	if m.err != nil {
		raise(l, m.err.Error())
	}
	return end
}

// capture is capture i of a match from s to end; the whole match when there are no captures.
func (m *matcher) capture(l *lua.LState, i, s, end int) lua.LValue {
	if i >= m.level {
		if i > 0 {
			raise(l, "invalid capture index")
		}
		return m.e.piece(l, m.src, s, end)
	}
	c := m.caps[i]
	switch c.n {
	case capPosition:
		return lua.LNumber(c.from + 1)
	case capUnfinished:
		raise(l, "unfinished capture")
	}
	return m.e.piece(l, m.src, c.from, c.from+c.n)
}

// captures pushes all, or the whole match if there are none and whole is set.
func (m *matcher) captures(l *lua.LState, s, end int, whole bool) int {
	n := m.level
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		l.Push(m.capture(l, i, s, end))
	}
	return n
}

func (e *Engine) strFind(l *lua.LState) int  { return e.find(l, "find", true) }
func (e *Engine) strMatch(l *lua.LState) int { return e.find(l, "match", false) }

func (e *Engine) find(l *lua.LState, function string, positions bool) int {
	src, pat := e.checkString(l, 1, function), e.checkString(l, 2, function)
	init := e.optInt(l, 3, 1, function)
	if init < 0 {
		init += len(src) + 1
	}
	init = min(max(init-1, 0), len(src))
	if positions && (lua.LVAsBool(l.Get(4)) || !strings.ContainsAny(pat, patternSpecials)) {
		at := strings.Index(src[init:], pat)
		if at < 0 {
			l.Push(lua.LNil)
			return 1
		}
		l.Push(lua.LNumber(init + at + 1))
		l.Push(lua.LNumber(init + at + len(pat)))
		return 2
	}
	m, anchored := e.start(src, pat)
	for s := init; s <= len(src); s++ {
		end := m.from(l, s)
		if end >= 0 && positions {
			l.Push(lua.LNumber(s + 1))
			l.Push(lua.LNumber(end))
			return 2 + m.captures(l, s, end, false)
		}
		if end >= 0 {
			return m.captures(l, s, end, true)
		}
		if anchored {
			break
		}
	}
	l.Push(lua.LNil)
	return 1
}

func (e *Engine) strGmatch(l *lua.LState) int {
	src, pat := e.checkString(l, 1, "gmatch"), e.checkString(l, 2, "gmatch")
	at := 0
	// In gmatch a ^ is an ordinary character.
	m := &matcher{e: e, src: src, pat: pat}
	l.Push(l.NewFunction(func(l *lua.LState) int {
		for ; at <= len(src); at++ {
			s := at
			end := m.from(l, s)
			if end < 0 {
				continue
			}
			at = end
			if end == s {
				at++
			}
			return m.captures(l, s, end, true)
		}
		return 0
	}))
	return 1
}

func (e *Engine) strGsub(l *lua.LState) int {
	src, pat := e.checkString(l, 1, "gsub"), e.checkString(l, 2, "gsub")
	repl := l.Get(3)
	switch repl.(type) {
	case lua.LString, lua.LNumber, *lua.LTable, *lua.LFunction:
	default:
		argError(l, 3, "gsub", "string/function/table expected")
	}
	most := e.optInt(l, 4, len(src)+1, "gsub")
	m, anchored := e.start(src, pat)
	o := output{e: e, l: l}
	s, n := 0, 0
	for n < most {
		end := m.from(l, s)
		if end >= 0 {
			n++
			o.replace(m, repl, s, end)
		}
		switch {
		case end > s:
			s = end
		case s < len(src):
			if o.b = append(o.b, src[s]); len(o.b)-o.counted > portion {
				o.expect(0)
			}
			s++
		default:
			s++
		}
		if s > len(src) || anchored {
			break
		}
	}
	if s < len(src) {
		o.text(src[s:])
	}
	o.push()
	l.Push(lua.LNumber(n))
	return 2
}

// replace appends what stands for the match from s to end.
func (o *output) replace(m *matcher, repl lua.LValue, s, end int) {
	e, l := o.e, o.l
	var v lua.LValue
	switch r := repl.(type) {
	case *lua.LTable:
		v = l.GetTable(r, m.capture(l, 0, s, end))
	case *lua.LFunction:
		c := e.enter(l)
		l.Push(r)
		l.Call(m.captures(l, s, end, true), 1)
		e.run.calls = c
		v = l.Get(-1)
		l.Pop(1)
	default:
		text, _ := toText(repl)
		o.template(m, text, s, end)
		return
	}
	if !lua.LVAsBool(v) {
		o.text(m.src[s:end])
		return
	}
	text, ok := toText(v)
	if !ok {
		raise(l, "invalid replacement value (a "+v.Type().String()+")")
	}
	o.text(text)
}

func (o *output) template(m *matcher, text string, s, end int) {
	for {
		at := strings.IndexByte(text, '%')
		if at < 0 {
			o.text(text)
			return
		}
		o.text(text[:at])
		if text = text[at+1:]; text == "" {
			o.text("\x00")
			return
		}
		switch c := text[0]; {
		case !isDigit(c):
			o.text(text[:1])
		case c == '0':
			o.text(m.src[s:end])
		default:
			part, _ := toText(m.capture(o.l, int(c-'1'), s, end))
			o.text(part)
		}
		text = text[1:]
	}
}
