package luaeval

import (
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxJSONDepth = 1000 // lua_cjson.c: DEFAULT_ENCODE_MAX_DEPTH, DEFAULT_DECODE_MAX_DEPTH
	sparseRatio  = 2    // an array may be this much longer than it has elements ...
	sparseSafe   = 10   // ... or this long in any case
)

// jsonLib is encode, decode and null of cjson. The functions that change its settings are left out: the settings would outlive
// the script.
func (e *Engine) jsonLib() *lua.LTable {
	t := e.functions(map[string]lua.LGFunction{"encode": e.jsonEncode, "decode": e.jsonDecode})
	e.null = e.l.NewUserData()
	t.RawSetString("null", e.null)
	t.RawSetString("_NAME", lua.LString("cjson"))
	t.RawSetString("_VERSION", lua.LString("2.1.0"))
	return t
}

// jsonWriter appends JSON to b.
type jsonWriter struct {
	e *Engine
	l *lua.LState
	b []byte
	// counted of len(b) against the budget
	counted int
}

func (e *Engine) jsonEncode(l *lua.LState) int {
	if l.GetTop() != 1 {
		argError(l, 1, "encode", "expected 1 argument")
	}
	w := jsonWriter{e: e, l: l}
	w.value(l.Get(1), 0)
	l.Push(lua.LString(w.b))
	return 1
}

func (w *jsonWriter) fail(kind, reason string) {
	raise(w.l, "Cannot serialise "+kind+": "+reason)
}

func (w *jsonWriter) value(v lua.LValue, depth int) {
	if len(w.b)-w.counted > 1<<16 {
		w.e.charge(w.l, len(w.b)-w.counted)
		w.e.tooLong(w.l, len(w.b))
		w.counted = len(w.b)
	}
	switch v := v.(type) {
	case lua.LString:
		w.text(string(v))
	case lua.LNumber:
		if f := float64(v); f-f != 0 {
			w.fail("number", "must not be NaN or Inf")
		}
		w.b = appendG(w.b, float64(v), 14)
	case lua.LBool:
		w.b = strconv.AppendBool(w.b, bool(v))
	case *lua.LNilType:
		w.b = append(w.b, "null"...)
	case *lua.LTable:
		if depth++; depth > maxJSONDepth {
			raise(w.l, "Cannot serialise, excessive nesting ("+strconv.Itoa(depth)+")")
		}
		w.table(v, depth)
	default:
		if v == lua.LValue(w.e.null) {
			w.b = append(w.b, "null"...)
			return
		}
		w.fail(v.Type().String(), "type not supported")
	}
}

func (w *jsonWriter) table(t *lua.LTable, depth int) {
	if n := w.arrayLength(t); n > 0 {
		w.b = append(w.b, '[')
		for i := 1; i <= n; i++ {
			if i > 1 {
				w.b = append(w.b, ',')
			}
			w.value(t.RawGet(lua.LNumber(i)), depth)
		}
		w.b = append(w.b, ']')
		return
	}
	w.b = append(w.b, '{')
	first := true
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if !first {
			w.b = append(w.b, ',')
		}
		first = false
		switch k := k.(type) {
		case lua.LString:
			w.text(string(k))
		case lua.LNumber:
			w.b = append(appendG(append(w.b, '"'), float64(k), 14), '"')
		default:
			w.fail(k.Type().String(), "table key must be a number or string")
		}
		w.b = append(w.b, ':')
		w.value(v, depth)
	}
	w.b = append(w.b, '}')
}

// arrayLength is the largest index of a table whose keys are all positive integers, and 0 for any other.
func (w *jsonWriter) arrayLength(t *lua.LTable) int {
	largest, items := 0, 0
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		n, ok := k.(lua.LNumber)
		if !ok || n < 1 || float64(n) != float64(toInt(float64(n))) {
			return 0
		}
		largest = max(largest, toInt(float64(n)))
		items++
	}
	if largest > items*sparseRatio && largest > sparseSafe {
		w.fail("table", "excessively sparse array")
	}
	return largest
}

func (w *jsonWriter) text(s string) {
	const hex = "0123456789abcdef"
	b := append(w.b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '/':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < 32 || c == 127:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	w.b = append(b, '"')
}
