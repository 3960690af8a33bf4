package lualib

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/miniredisd/miniredisd/internal/double"
)

// ParseNumber reads a number as strtod of C does, which Lua 5.1 uses: decimal, hexadecimal, inf or
// nan, with spaces around.
func ParseNumber(s string) (float64, bool) {
	if end := strings.IndexByte(s, 0); end >= 0 { // a string of C ends at a zero byte
		s = s[:end]
	}
	s = strings.Trim(s, " \t\n\v\f\r")
	if n, ok := shortInt(s); ok {
		return float64(n), true
	}
	sign, digits := "", s
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		sign, digits = s[:1], s[1:]
	}
	if len(digits) == 0 || strings.IndexByte(digits, '_') >= 0 {
		return 0, false
	}
	if digits[0] == '0' && len(digits) > 2 && digits[1]|0x20 == 'x' {
		if !strings.ContainsAny(digits, "pP") {
			digits += "p0"
		}
	} else if c := digits[0]; c != '.' && !IsDigit(c) {
		switch strings.ToLower(digits) {
		case "inf", "infinity", "nan":
		default:
			return 0, false
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil && !math.IsInf(n, 0) {
		return 0, false
	}
	if sign == "-" {
		n = -n
	}
	return n, true
}

func shortInt(s string) (int64, bool) {
	if len(s) == 0 || len(s) > 15 {
		return 0, false
	}
	i := 0
	if s[0] == '-' {
		i = 1
	}
	if i == len(s) || s[i] == '0' && i == 1 {
		return 0, false
	}
	var n int64
	for ; i < len(s); i++ {
		if !IsDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	if s[0] == '-' {
		n = -n
	}
	return n, true
}

// ToNumber converts v to a number as arithmetic does.
func ToNumber(v lua.LValue) (float64, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return ParseNumber(string(v))
	}
	return 0, false
}

// ToText returns the text of a string or a number.
func ToText(v lua.LValue) (string, bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return FormatNumber(float64(v)), true
	}
	return "", false
}

// FormatNumber prints n as tostring and `..` do.
func FormatNumber(n float64) string {
	var b [32]byte
	return string(double.AppendG(b[:0], n, 14))
}

// AppendArg prints a number that is an argument of redis.call. Zero has no sign (script_lua.c:
// luaArgsToRedisArgv).
func AppendArg(b []byte, n float64) []byte {
	if whole, ok := double.Whole(n); ok {
		return strconv.AppendInt(b, whole, 10)
	}
	return double.AppendShortest(b, n)
}

// IsAlpha reports whether c is a letter or an underscore.
func IsAlpha(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// Truncate converts f as x86 converts a double to long long.
func Truncate(f float64) int64 {
	if math.IsNaN(f) || f >= 1<<63 || f < -1<<63 {
		return math.MinInt64
	}
	return int64(f)
}
