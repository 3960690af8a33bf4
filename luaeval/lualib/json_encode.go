package lualib

import (
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/internal/double"
)

// jsonWriter writes JSON.
type jsonWriter struct {
	Output
	s        *JSONSettings
	slots    int  // of Lua's stack that cjson would have in use
	measured bool // it fits into a string, for all that is known
}

func (j *jsonLib) encode(l *lua.LState) int {
	if l.GetTop() != 1 {
		ArgError(l, 1, "encode", "expected 1 argument")
	}
	w := jsonWriter{Output: j.lib.shortOutput(l), s: j.s, slots: 1}
	w.value(l.Get(1), 0)
	w.push()
	w.keep()
	return 1
}

func (w *jsonWriter) fail(kind, reason string) {
	Raise(w.l, "Cannot serialise "+kind+": "+reason)
}

func (w *jsonWriter) value(v lua.LValue, depth int) {
	w.expect(32) // the longest number
	switch v := v.(type) {
	case lua.LString:
		w.quote(string(v))
	case lua.LNumber:
		w.number(float64(v))
	case lua.LBool:
		w.b = strconv.AppendBool(w.b, bool(v))
	case *lua.LNilType:
		w.b = append(w.b, "null"...)
	case *lua.LTable:
		if depth++; depth > w.s.encodeDepth || w.slots+3 > maxUnpack {
			Raise(w.l, "Cannot serialise, excessive nesting ("+strconv.Itoa(depth)+")")
		}
		if len(w.b) > longJSON && !w.measured {
			w.measured = true
			w.refuseEndless(w.l.Get(1))
		}
		w.table(v, depth)
	default:
		if v == lua.LValue(w.lib.Null) {
			w.b = append(w.b, "null"...)
			return
		}
		w.fail(v.Type().String(), "type not supported")
	}
}

func (w *jsonWriter) number(f float64) {
	switch {
	case f-f == 0:
		w.b = double.AppendG(w.b, f, w.s.precision)
	case w.s.encodeInvalid == asError:
		w.fail("number", "must not be NaN or Inf")
	case w.s.encodeInvalid == asNull:
		w.b = append(w.b, "null"...)
	case math.IsNaN(f):
		w.b = append(w.b, "nan"...)
	default:
		w.b = double.AppendG(w.b, f, w.s.precision)
	}
}

func (w *jsonWriter) table(t *lua.LTable, depth int) {
	if n := w.arrayLength(t); n > 0 {
		w.slots++
		w.b = append(w.b, '[')
		for i := 1; i <= n; i++ {
			if i > 1 {
				w.b = append(w.b, ',')
			}
			w.value(t.RawGet(lua.LNumber(i)), depth)
		}
		w.b = append(w.b, ']')
		w.slots--
		return
	}
	w.slots += 2
	w.b = append(w.b, '{')
	first := true
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if !first {
			w.b = append(w.b, ',')
		}
		first = false
		switch k := k.(type) {
		case lua.LString:
			w.quote(string(k))
		case lua.LNumber:
			w.b = append(w.b, '"')
			w.number(float64(k))
			w.b = append(w.b, '"')
		default:
			w.fail(k.Type().String(), "table key must be a number or string")
		}
		w.b = append(w.b, ':')
		w.value(v, depth)
	}
	w.b = append(w.b, '}')
	w.slots -= 2
}

// arrayLength returns the largest index of a table whose keys are all positive integers, and 0 for
// any other table. Settings allow a few elements to become a long array of nulls: arrayLength
// charges the nulls, so that 2^31 of them cannot be made.
func (w *jsonWriter) arrayLength(t *lua.LTable) int {
	largest, items := 0, 0
	w.lib.Tick(w.l, NextWork)
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		w.lib.Tick(w.l, 1)
		n, ok := k.(lua.LNumber)
		if !ok || n < 1 || float64(n) != float64(ToInt(float64(n))) {
			return 0
		}
		largest = max(largest, ToInt(float64(n)))
		items++
	}
	if w.s.sparseRatio > 0 && largest > items*w.s.sparseRatio && largest > w.s.sparseSafe {
		if w.s.sparseConvert == off {
			w.fail("table", "excessively sparse array")
		}
		return 0
	}
	if largest-items > 1<<16 {
		const hole = len("null,")
		w.lib.Charge(w.l, hole*min(largest-items, math.MaxInt/hole))
	}
	return largest
}

// quote appends s as a JSON string, a portion at a time: one byte may become six.
func (w *jsonWriter) quote(s string) {
	w.b = append(w.b, '"')
	for len(s) > Portion {
		w.escape(s[:Portion])
		s = s[Portion:]
	}
	w.escape(s)
	w.b = append(w.b, '"')
}

func (w *jsonWriter) escape(s string) {
	w.expect(len(s))
	plain := 0 // where the bytes begin that are not written yet
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '/' || c == '\\' || c == 127 {
			w.b = appendEscape(append(w.b, s[plain:i]...), c)
			plain = i + 1
		}
	}
	w.b = append(w.b, s[plain:]...)
}

func appendEscape(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\', '/':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
