package lualib

import (
	"strconv"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/luaeval/limits"
)

// jsonReader reads JSON token by token. The names of the tokens appear in cjson's error texts.
type jsonReader struct {
	lib   *Lib
	l     *lua.LState
	set   *JSONSettings
	s     string
	i     int
	depth int
	slots int          // of Lua's stack that cjson would have in use
	held  []lua.LValue // values of open arrays and objects that are in no table yet
	keys  []string     // of the objects' values in held

	kind  string     // of the current token
	str   string     // the value of a T_STRING
	value lua.LValue // of the other tokens that are values
	at    int        // position of the current token
}

func (j *jsonLib) decode(l *lua.LState) int {
	if l.GetTop() != 1 {
		ArgError(l, 1, "decode", "expected 1 argument")
	}
	r := jsonReader{lib: j.lib, l: l, set: j.s, slots: 1, s: j.lib.CheckString(l, 1, "decode"), held: j.held, keys: j.keys}
	j.held, j.keys = nil, nil // after an error nothing keeps the values
	if len(r.s) >= 2 && (r.s[0] == 0 || r.s[1] == 0) {
		Raise(l, "JSON parser does not support UTF-16 or UTF-32")
	}
	r.next()
	v := r.element()
	r.next()
	if r.kind != "T_END" {
		r.unexpected("the end")
	}
	l.Push(v)
	if cap(r.held) <= mostHeld {
		clear(r.held[:cap(r.held)])
		clear(r.keys[:cap(r.keys)])
		j.held, j.keys = r.held, r.keys
	}
	return 1
}

func (r *jsonReader) unexpected(want string) {
	Raise(r.l, "Expected "+want+" but found "+r.kind+" at character "+strconv.Itoa(r.at+1))
}

// element returns the value that begins with the current token.
func (r *jsonReader) element() lua.LValue {
	r.lib.Charge(r.l, ElementBytes)
	switch r.kind {
	case "T_STRING":
		return lua.LString(r.str)
	case "T_NUMBER", "T_BOOLEAN", "T_NULL":
		return r.value
	case "T_OBJ_BEGIN":
		return r.object()
	case "T_ARR_BEGIN":
		return r.array()
	}
	r.unexpected("value")
	return lua.LNil
}

// descend enters an array or an object, which needs the given number of slots.
func (r *jsonReader) descend(slots int) {
	if r.depth++; r.depth > r.set.decodeDepth || r.slots+slots > maxUnpack {
		Raise(r.l, "Found too many nested data structures ("+strconv.Itoa(r.depth)+") at character "+strconv.Itoa(r.i))
	}
}

func (r *jsonReader) object() lua.LValue {
	r.descend(3)
	r.slots += 2 // the table and a key
	t, from := (*lua.LTable)(nil), len(r.keys)
	for r.next(); ; r.next() {
		if r.kind == "T_OBJ_END" && t == nil && len(r.keys) == from {
			break
		}
		if r.kind != "T_STRING" {
			r.unexpected("object key string")
		}
		key := r.str
		if r.next(); r.kind != "T_COLON" {
			r.unexpected("colon")
		}
		r.next()
		v := r.element()
		r.held, r.keys = append(r.held, v), append(r.keys, key)
		if len(r.keys)-from == mostHeld {
			t = r.fields(t, from)
		}
		if r.next(); r.kind == "T_OBJ_END" {
			break
		}
		if r.kind != "T_COMMA" {
			r.unexpected("comma or object end")
		}
	}
	r.depth, r.slots = r.depth-1, r.slots-2
	return r.fields(t, from)
}

// mostHeld is how many elements are held before they go into a table. A table made with the right
// size costs a fraction of one that grows.
const mostHeld = 64

// fields moves the keys, from the given index on, and their values into t. It makes t when t is nil.
func (r *jsonReader) fields(t *lua.LTable, from int) *lua.LTable {
	keys := r.keys[from:]
	if t == nil {
		t = r.lib.NewTable(r.l, 0, len(keys))
	} else {
		r.lib.Charge(r.l, fieldBytes*len(keys))
	}
	values := len(r.held) - len(keys)
	for i, key := range keys {
		t.RawSetString(key, r.held[values+i])
	}
	r.keys, r.held = r.keys[:from], r.held[:values]
	return t
}

// elements appends the values of held, from the given index on, to the n elements of t. It makes t
// when t is nil.
func (r *jsonReader) elements(t *lua.LTable, n, from int) *lua.LTable {
	values := r.held[from:]
	if t == nil {
		t = r.lib.NewTable(r.l, len(values), 0)
	} else {
		r.lib.Charge(r.l, ElementBytes*len(values))
	}
	for i, v := range values {
		r.lib.SetInt(t, n+i+1, v)
	}
	r.held = r.held[:from]
	return t
}

func (r *jsonReader) array() lua.LValue {
	r.descend(2)
	r.slots++
	t, n, from := (*lua.LTable)(nil), 0, len(r.held)
	r.next()
	for {
		if r.kind == "T_ARR_END" && t == nil && len(r.held) == from {
			break
		}
		v := r.element()
		if r.held = append(r.held, v); len(r.held)-from == mostHeld {
			t = r.elements(t, n, from)
			n += mostHeld
		}
		if r.next(); r.kind == "T_ARR_END" {
			break
		}
		if r.kind != "T_COMMA" {
			r.unexpected("comma or array end")
		}
		r.next()
	}
	r.depth, r.slots = r.depth-1, r.slots-1
	return r.elements(t, n, from)
}

func (r *jsonReader) next() {
	for r.i < len(r.s) && (r.s[r.i] == ' ' || r.s[r.i] == '\t' || r.s[r.i] == '\n' || r.s[r.i] == '\r') {
		r.i++
	}
	r.at = r.i
	if r.i == len(r.s) || r.s[r.i] == 0 { // a string of C ends at a zero byte
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

// word reads a number, true, false or null.
func (r *jsonReader) word() {
	switch rest := r.s[r.i:]; {
	case strings.HasPrefix(rest, "true"):
		r.kind, r.value, r.i = "T_BOOLEAN", lua.LTrue, r.i+4
		return
	case strings.HasPrefix(rest, "false"):
		r.kind, r.value, r.i = "T_BOOLEAN", lua.LFalse, r.i+5
		return
	case strings.HasPrefix(rest, "null"):
		r.kind, r.value, r.i = "T_NULL", r.lib.Null, r.i+4
		return
	}
	if r.set.decodeInvalid == off && isInvalidNumber(r.s[r.i:]) {
		r.kind = "invalid token"
		if c := r.s[r.i]; c == '-' || IsDigit(c) {
			r.kind = "invalid number"
		}
		return
	}
	end := r.i
	for end < len(r.s) && (IsAlpha(r.s[end]) || IsDigit(r.s[end]) || strings.IndexByte("-+.", r.s[end]) >= 0) {
		end++
	}
	// Like strtod, take the longest prefix that is a number. A number of JSON never begins with a
	// point.
	for k := end; k > r.i && r.s[r.i] != '.'; k-- {
		r.lib.Tick(r.l, 1+(k-r.i)/limits.BytesPerUnit)
		if n, ok := ParseNumber(r.s[r.i:k]); ok {
			r.i = k
			r.kind, r.value = "T_NUMBER", lua.LNumber(n)
			return
		}
		if end-k > 32 {
			break
		}
	}
	r.kind = "invalid token"
	if c := r.s[r.i]; c == '-' || c == '+' || IsDigit(c) {
		r.kind = "invalid number"
	}
}

// isInvalidNumber reports whether s begins with a number that strtod accepts and JSON does not
// (lua_cjson.c: json_is_invalid_number).
func isInvalidNumber(s string) bool {
	if s[0] == '+' {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if len(s) >= 2 && s[0] == '0' {
		return s[1]|0x20 == 'x' || IsDigit(s[1])
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
	if b == nil {
		r.str = string(r.lib.piece(r.l, r.s, from, r.i))
	} else {
		r.lib.Charge(r.l, len(b)+r.i-from)
		r.str = string(append(b, r.s[from:r.i]...))
	}
	r.i++
}

// escape reads the escape whose backslash is at r.i.
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
