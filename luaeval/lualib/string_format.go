package lualib

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/internal/double"
	"github.com/miniredisd/miniredisd/luaeval/limits"
)

// verb is one conversion of string.format.
type verb struct {
	flags            string
	width, precision int
	has              bool // reports whether there is a precision
	kind             byte
}

func (lib *Lib) strFormat(l *lua.LState) int {
	format := lib.CheckString(l, 1, "format")
	o := lib.shortOutput(l)
	arg := 1
	for i := 0; i < len(format); i++ {
		if at := strings.IndexByte(format[i:], '%'); at < 0 {
			o.Text(format[i:])
			break
		} else if at > 0 {
			o.Text(format[i : i+at])
			i += at
		}
		i++
		if i < len(format) && format[i] == '%' {
			o.Text("%")
			continue
		}
		if arg++; o.plain(format[i:], l.Get(arg)) {
			continue
		}
		v, next := parseVerb(l, format, i)
		i = next
		if arg > l.GetTop() {
			ArgError(l, arg, "format", "no value")
		}
		if s, ok := l.Get(arg).(lua.LString); ok {
			o.expect(len(s))
		}
		o.b = lib.appendVerb(l, o.b, v, arg)
		o.expect(0)
	}
	o.push()
	o.keep()
	return 1
}

// plain appends v if format begins with %d and v is a whole number, or with %s and v is a string without
// zero bytes. Otherwise it returns false.
func (o *Output) plain(format string, v lua.LValue) bool {
	if format == "" {
		return false
	}
	switch v := v.(type) {
	case lua.LNumber:
		n := int64(v)
		if format[0] != 'd' || lua.LNumber(n) != v || n == math.MinInt64 {
			return false
		}
		o.b = strconv.AppendInt(o.b, n, 10)
		o.expect(0)
		return true
	case lua.LString:
		if format[0] != 's' || strings.IndexByte(string(v), 0) >= 0 {
			return false
		}
		o.lib.Tick(o.l, 1+len(v)/limits.BytesPerUnit)
		o.Text(string(v))
		return true
	}
	return false
}

// parseVerb reads the conversion at format[i:] and returns the position of its letter.
func parseVerb(l *lua.LState, format string, i int) (verb, int) {
	v := verb{precision: -1}
	from := i
	for i < len(format) && strings.IndexByte("-+ #0", format[i]) >= 0 {
		i++
	}
	v.flags = format[from:i]
	if len(v.flags) > 5 {
		Raise(l, "invalid format (repeated flags)")
	}
	number := func() int {
		n, digits := 0, 0
		for i < len(format) && IsDigit(format[i]) {
			if digits++; digits > 2 {
				Raise(l, "invalid format (width or precision too long)")
			}
			n = n*10 + int(format[i]-'0')
			i++
		}
		return n
	}
	v.width = number()
	if i < len(format) && format[i] == '.' {
		i++
		v.precision, v.has = number(), true
	}
	if i < len(format) {
		v.kind = format[i]
	}
	return v, i
}

func (v *verb) flag(c byte) bool { return strings.IndexByte(v.flags, c) >= 0 }

func (lib *Lib) appendVerb(l *lua.LState, b []byte, v verb, arg int) []byte {
	switch v.kind {
	case 'c':
		c := byte(0)
		if n := lib.CheckInt(l, arg, "format"); n == int(int32(n)) {
			c = byte(n)
		}
		if c == 0 { // ends the C string; only the blanks before it are kept
			return append(b, strings.TrimSuffix(string(v.pad(nil, "", "\x00", false)), "\x00")...)
		}
		return v.pad(b, "", string([]byte{c}), false)
	case 'd', 'i':
		return v.integer(b, Truncate(lib.checkNumber(l, arg, "format")))
	case 'u', 'o', 'x', 'X':
		return v.unsigned(b, lib.checkNumber(l, arg, "format"))
	case 'e', 'E', 'f', 'g', 'G':
		return v.float(b, lib.checkNumber(l, arg, "format"))
	case 'q':
		return appendQuoted(b, lib.CheckString(l, arg, "format"))
	case 's':
		CheckAny(l, arg, "format")
		s := lib.CheckString(l, arg, "format")
		// C prints a short string up to its first zero byte. Lua does not give a long string to C.
		if end := strings.IndexByte(s, 0); end >= 0 && (v.has || len(s) < 100) {
			s = s[:end]
		}
		if v.has && v.precision < len(s) {
			s = s[:v.precision]
		}
		return v.pad(b, "", s, false)
	}
	kind := ""
	if v.kind != 0 {
		kind = string([]byte{v.kind})
	}
	Raise(l, "invalid option '%"+kind+"' to 'format'")
	return b
}

// pad appends sign and text, filled to the width. zeros reports whether the flag 0 counts.
func (v *verb) pad(b []byte, sign, text string, zeros bool) []byte {
	fill := v.width - len(sign) - len(text)
	switch {
	case fill <= 0:
		return append(append(b, sign...), text...)
	case v.flag('-'):
		b = append(append(b, sign...), text...)
		return append(b, strings.Repeat(" ", fill)...)
	case zeros && v.flag('0'):
		b = append(append(b, sign...), strings.Repeat("0", fill)...)
		return append(b, text...)
	}
	b = append(b, strings.Repeat(" ", fill)...)
	return append(append(b, sign...), text...)
}

func (v *verb) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case v.flag('+'):
		return "+"
	case v.flag(' '):
		return " "
	}
	return ""
}

// digits fills a number with zeros up to the precision. A zero with precision 0 is empty.
func (v *verb) digits(text string) string {
	if v.has && v.precision == 0 && text == "0" {
		return ""
	}
	if fill := v.precision - len(text); fill > 0 {
		return strings.Repeat("0", fill) + text
	}
	return text
}

func (v *verb) integer(b []byte, n int64) []byte {
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	return v.pad(b, v.sign(n < 0), v.digits(strconv.FormatUint(u, 10)), !v.has)
}

func (v *verb) unsigned(b []byte, f float64) []byte {
	n := uint64(Truncate(f))
	if f >= 1<<63 { // x86 converts what is too large to 0
		n = uint64(Truncate(f-1<<63)) ^ 1<<63
	}
	base, prefix := 10, ""
	switch v.kind {
	case 'o':
		base, prefix = 8, "0"
	case 'x':
		base, prefix = 16, "0x"
	case 'X':
		base, prefix = 16, "0X"
	}
	text := v.digits(strconv.FormatUint(n, base))
	if v.kind == 'X' {
		text = strings.ToUpper(text)
	}
	if !v.flag('#') || n == 0 || v.kind == 'o' && strings.HasPrefix(text, "0") || v.kind == 'u' {
		prefix = ""
	}
	return v.pad(b, prefix, text, !v.has)
}

func (v *verb) float(b []byte, f float64) []byte {
	precision := v.precision
	if !v.has {
		precision = 6
	}
	var text string
	finite := f-f == 0
	switch {
	case !finite || v.kind|0x20 == 'g':
		text = formatG(f, precision, v.flag('#') && finite)
	default:
		text = strconv.FormatFloat(f, v.kind|0x20, precision, 64)
		if v.flag('#') && precision == 0 && v.kind == 'f' {
			text += "."
		}
	}
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	if v.kind == 'E' || v.kind == 'G' {
		text = strings.ToUpper(text)
	}
	return v.pad(b, v.sign(negative), text, finite)
}

func formatG(f float64, precision int, keepZeros bool) string {
	if !keepZeros {
		return string(double.AppendG(nil, f, precision))
	}
	precision = max(precision, 1)
	text := strconv.FormatFloat(f, 'e', precision-1, 64)
	exp, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if exp >= -4 && exp < precision {
		text = strconv.FormatFloat(f, 'f', precision-1-exp, 64)
		if !strings.Contains(text, ".") {
			text += "."
		}
	}
	return text
}

// appendQuoted is %q: it appends s as a literal that Lua can read back.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			b = append(b, '\\', c)
		case '\r':
			b = append(b, `\r`...)
		case 0:
			b = append(b, `\000`...)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
