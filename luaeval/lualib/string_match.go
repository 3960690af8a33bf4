package lualib

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const patternSpecials = "^$*+?.([%-"

// start returns a matcher for a pattern without its leading ^. anchored reports whether there was
// one.
func (lib *Lib) start(src, pat string) (m *matcher, anchored bool) {
	if strings.HasPrefix(pat, "^") {
		return &matcher{lib: lib, src: src, pat: pat[1:]}, true
	}
	return &matcher{lib: lib, src: src, pat: pat}, false
}

// from matches at s, and raises an error of the matcher.
func (m *matcher) from(l *lua.LState, s int) int {
	m.level, m.depth = 0, 0
	end := m.match(s, 0)
	if m.err != nil {
		Raise(l, m.err.Error())
	}
	return end
}

// capture returns capture i of the match from s to end. Without captures, capture 0 is the whole
// match.
func (m *matcher) capture(l *lua.LState, i, s, end int) lua.LValue {
	if i >= m.level {
		if i > 0 {
			Raise(l, "invalid capture index")
		}
		return m.lib.piece(l, m.src, s, end)
	}
	c := m.caps[i]
	switch c.n {
	case capPosition:
		return lua.LNumber(c.from + 1)
	case capUnfinished:
		Raise(l, "unfinished capture")
	}
	return m.lib.piece(l, m.src, c.from, c.from+c.n)
}

// captures pushes all captures. Without captures it pushes the whole match if whole is set.
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

func (lib *Lib) strFind(l *lua.LState) int  { return lib.find(l, "find", true) }
func (lib *Lib) strMatch(l *lua.LState) int { return lib.find(l, "match", false) }

func (lib *Lib) find(l *lua.LState, function string, positions bool) int {
	src, pat := lib.CheckString(l, 1, function), lib.CheckString(l, 2, function)
	init := lib.optLong(l, 3, 1, function)
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
	m, anchored := lib.start(src, pat)
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

func (lib *Lib) strGmatch(l *lua.LState) int {
	src, pat := lib.CheckString(l, 1, "gmatch"), lib.CheckString(l, 2, "gmatch")
	at := 0
	// gmatch takes ^ for an ordinary character.
	m := &matcher{lib: lib, src: src, pat: pat}
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

func (lib *Lib) strGsub(l *lua.LState) int {
	src, pat := lib.CheckString(l, 1, "gsub"), lib.CheckString(l, 2, "gsub")
	repl := l.Get(3)
	switch repl.(type) {
	case lua.LString, lua.LNumber, *lua.LTable, *lua.LFunction:
	default:
		ArgError(l, 3, "gsub", "string/function/table expected")
	}
	most := lib.OptInt(l, 4, len(src)+1, "gsub")
	m, anchored := lib.start(src, pat)
	o := Output{lib: lib, l: l}
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
			if o.b = append(o.b, src[s]); len(o.b)-o.counted > Portion {
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
		o.Text(src[s:])
	}
	o.push()
	l.Push(lua.LNumber(n))
	return 2
}

// replace appends the replacement of the match from s to end.
func (o *Output) replace(m *matcher, repl lua.LValue, s, end int) {
	lib, l := o.lib, o.l
	var v lua.LValue
	switch r := repl.(type) {
	case *lua.LTable:
		v = l.GetTable(r, m.capture(l, 0, s, end))
	case *lua.LFunction:
		c := lib.enter(l)
		l.Push(r)
		l.Call(m.captures(l, s, end, true), 1)
		lib.Calls = c
		v = l.Get(-1)
		l.Pop(1)
	default:
		text, _ := ToText(repl)
		o.template(m, text, s, end)
		return
	}
	if !lua.LVAsBool(v) {
		o.Text(m.src[s:end])
		return
	}
	text, ok := ToText(v)
	if !ok {
		Raise(l, "invalid replacement value (a "+v.Type().String()+")")
	}
	o.Text(text)
}

func (o *Output) template(m *matcher, text string, s, end int) {
	for {
		at := strings.IndexByte(text, '%')
		if at < 0 {
			o.Text(text)
			return
		}
		o.Text(text[:at])
		if text = text[at+1:]; text == "" {
			o.Text("\x00")
			return
		}
		switch c := text[0]; {
		case !IsDigit(c):
			o.Text(text[:1])
		case c == '0':
			o.Text(m.src[s:end])
		default:
			part, _ := ToText(m.capture(o.l, int(c-'1'), s, end))
			o.Text(part)
		}
		text = text[1:]
	}
}
