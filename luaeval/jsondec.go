package luaeval

import (
	"strconv"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// jsonReader reads JSON token by token. The names of tokens stand in cjson's error texts.
type jsonReader struct {
	e     *Engine
	l     *lua.LState
	set   *jsonSettings
	s     string
	i     int
	depth int
	slots int // of Lua's stack, as many as the original has in use

	kind  string // of the token
	value lua.LValue
	at    int // where it starts
}

func (j *jsonLib) decode(l *lua.LState) int {
	if l.GetTop() != 1 {
		argError(l, 1, "decode", "expected 1 argument")
	}
	r := jsonReader{e: j.e, l: l, set: j.s, slots: 1, s: checkString(l, 1, "decode")}
	if len(r.s) >= 2 && (r.s[0] == 0 || r.s[1] == 0) {
		raise(l, "JSON parser does not support UTF-16 or UTF-32")
	}
	j.e.charge(l, 4*len(r.s))
	r.next()
	v := r.element()
	r.next()
	if r.kind != "T_END" {
		r.unexpected("the end")
	}
	l.Push(v)
	return 1
}

func (r *jsonReader) unexpected(want string) {
	raise(r.l, "Expected "+want+" but found "+r.kind+" at character "+strconv.Itoa(r.at+1))
}

// element makes the value that starts with the token read last.
func (r *jsonReader) element() lua.LValue {
	switch r.kind {
	case "T_STRING", "T_NUMBER", "T_BOOLEAN", "T_NULL":
		return r.value
	case "T_OBJ_BEGIN":
		return r.object()
	case "T_ARR_BEGIN":
		return r.array()
	}
	r.unexpected("value")
	return lua.LNil
}

// descend enters an array or object, which needs so many slots.
func (r *jsonReader) descend(slots int) {
	if r.depth++; r.depth > r.set.decodeDepth || r.slots+slots > maxUnpack {
		raise(r.l, "Found too many nested data structures ("+strconv.Itoa(r.depth)+") at character "+strconv.Itoa(r.i))
	}
}

func (r *jsonReader) object() lua.LValue {
	r.descend(3)
	r.slots += 2 // the table and a key
	t := r.l.CreateTable(0, 0)
	for r.next(); ; r.next() {
		if r.kind == "T_OBJ_END" && t.Metatable == lua.LNil && r.empty(t) {
			break
		}
		if r.kind != "T_STRING" {
			r.unexpected("object key string")
		}
		key := r.value
		if r.next(); r.kind != "T_COLON" {
			r.unexpected("colon")
		}
		r.next()
		t.RawSet(key, r.element())
		if r.next(); r.kind == "T_OBJ_END" {
			break
		}
		if r.kind != "T_COMMA" {
			r.unexpected("comma or object end")
		}
	}
	r.depth, r.slots = r.depth-1, r.slots-2
	return t
}

// empty says that the object has just begun: only then may it end without a key.
func (r *jsonReader) empty(t *lua.LTable) bool {
	k, _ := t.Next(lua.LNil)
	return k == lua.LNil
}

func (r *jsonReader) array() lua.LValue {
	r.descend(2)
	r.slots++
	t := r.l.CreateTable(0, 0)
	r.next()
	for n := 1; ; n++ {
		if r.kind == "T_ARR_END" && n == 1 {
			break
		}
		t.RawSetInt(n, r.element())
		if r.next(); r.kind == "T_ARR_END" {
			break
		}
		if r.kind != "T_COMMA" {
			r.unexpected("comma or array end")
		}
		r.next()
	}
	r.depth, r.slots = r.depth-1, r.slots-1
	return t
}

func (r *jsonReader) next() {
	for r.i < len(r.s) && (r.s[r.i] == ' ' || r.s[r.i] == '\t' || r.s[r.i] == '\n' || r.s[r.i] == '\r') {
		r.i++
	}
	r.at = r.i
	if r.i == len(r.s) || r.s[r.i] == 0 { // there a string ends in C
		r.kind = "T_END"
		return
	}
	r.i++
	switch c := r.s[r.at]; c {
	case '{':
		r.kind = "T_OBJ_BEGIN"
	case '}':
		r.kind = "T_OBJ_END"
	case '[':
		r.kind = "T_ARR_BEGIN"
	case ']':
		r.kind = "T_ARR_END"
	case ',':
		r.kind = "T_COMMA"
	case ':':
		r.kind = "T_COLON"
	case '"':
		r.text()
	default:
		r.i = r.at
		r.word()
	}
}

// word is a number, true, false or null.
func (r *jsonReader) word() {
	for lit, v := range map[string]lua.LValue{"true": lua.LTrue, "false": lua.LFalse, "null": r.e.null} {
		if len(r.s)-r.i >= len(lit) && r.s[r.i:r.i+len(lit)] == lit {
			r.i += len(lit)
			r.kind, r.value = "T_BOOLEAN", v
			if lit == "null" {
				r.kind = "T_NULL"
			}
			return
		}
	}
	if r.set.decodeInvalid == off && isInvalidNumber(r.s[r.i:]) {
		r.kind = "invalid token"
		if c := r.s[r.i]; c == '-' || isDigit(c) {
			r.kind = "invalid number"
		}
		return
	}
	end := r.i
	for end < len(r.s) && (isAlpha(r.s[end]) || isDigit(r.s[end]) || r.s[end] == '-' || r.s[end] == '+' || r.s[end] == '.') {
		end++
	}
	// As strtod, which takes the longest front that is a number; but no number of JSON begins with a point.
	for k := end; k > r.i && r.s[r.i] != '.'; k-- {
		if n, ok := parseNumber(r.s[r.i:k]); ok {
			r.i = k
			r.kind, r.value = "T_NUMBER", lua.LNumber(n)
			return
		}
		if end-k > 32 {
			break
		}
	}
	r.kind = "invalid token"
	if c := r.s[r.i]; c == '-' || c == '+' || isDigit(c) {
		r.kind = "invalid number"
	}
}

// isInvalidNumber says whether s begins with something strtod takes for a number, and JSON does not (lua_cjson.c:
// json_is_invalid_number).
func isInvalidNumber(s string) bool {
	if s[0] == '+' {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if len(s) >= 2 && s[0] == '0' {
		return s[1]|0x20 == 'x' || isDigit(s[1])
	}
	return len(s) >= 3 && (strings.EqualFold(s[:3], "inf") || strings.EqualFold(s[:3], "nan"))
}

func (r *jsonReader) text() {
	var b []byte
	from := r.i
	for r.i < len(r.s) && r.s[r.i] != '"' {
		if r.s[r.i] != '\\' {
			r.i++
			continue
		}
		b = append(b, r.s[from:r.i]...)
		var ok bool
		if b, ok = r.escape(b); !ok {
			return
		}
		from = r.i
	}
	if r.i >= len(r.s) {
		r.at = len(r.s)
		r.kind = "unexpected end of string"
		return
	}
	r.kind = "T_STRING"
	r.value = lua.LString(append(b, r.s[from:r.i]...))
	r.i++
}

// escape reads one escape at r.i, which is at the backslash.
func (r *jsonReader) escape(b []byte) ([]byte, bool) {
	c := byte(0)
	if r.i+1 < len(r.s) {
		c = r.s[r.i+1]
	}
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return r.unicode(b)
	default:
		r.kind, r.at = "invalid escape code", r.i
		return b, false
	}
	r.i += 2
	return append(b, c), true
}

func (r *jsonReader) unicode(b []byte) ([]byte, bool) {
	code, ok := r.hex4(r.i)
	low, pair := rune(0), false
	if ok && code&0xfc00 == 0xd800 {
		low, pair = r.hex4(r.i + 6)
		ok = pair && low&0xfc00 == 0xdc00
		code = 0x10000 + (code&0x3ff)<<10 + low&0x3ff
	} else if ok && code&0xfc00 == 0xdc00 {
		ok = false
	}
	if !ok {
		r.kind, r.at = "invalid unicode escape code", r.i
		return b, false
	}
	r.i += 6
	if pair {
		r.i += 6
	}
	return utf8.AppendRune(b, code), true
}

func (r *jsonReader) hex4(i int) (rune, bool) {
	if i+6 > len(r.s) || r.s[i] != '\\' || r.s[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(r.s[i+2:i+6], 16, 32)
	return rune(n), err == nil
}
