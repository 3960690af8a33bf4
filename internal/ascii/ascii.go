// Package ascii reads and writes text as Redis does where Go's standard library differs.
// All functions are pure.
//
//   - Case: Redis folds the letters of ASCII only (strcasecmp in the C locale). Go's
//     strings.EqualFold and strings.ToLower fold Unicode: there the Kelvin sign is a k.
//   - Integers: Redis accepts one spelling of each number (util.c: string2ll).
//     strconv.ParseInt also accepts +1 and 007.
//   - Quotes: Redis escapes each byte that is not printable ASCII (sds.c: sdscatrepr).
//     strconv.Quote keeps printable Unicode.
package ascii

import "math"

// Lower is c in lower case if c is a letter of ASCII, else c.
func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// ToLower is s with its letters of ASCII in lower case. It returns s itself if s has no
// upper case.
func ToLower(s string) string {
	for i := range len(s) {
		if Lower(s[i]) != s[i] {
			return string(AppendLower(nil, s))
		}
	}
	return s
}

// AppendLower appends s with its letters of ASCII in lower case.
func AppendLower[S ~string | ~[]byte](dst []byte, s S) []byte {
	for i := range len(s) {
		dst = append(dst, Lower(s[i]))
	}
	return dst
}

// EqualFold reports whether a and b are equal apart from the case of ASCII letters.
func EqualFold[A, B ~string | ~[]byte](a A, b B) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && Lower(a[i]) != Lower(b[i]) {
			return false
		}
	}
	return true
}

// ParseInt reads a decimal integer of 64 bits: no plus, no leading zero, no space.
func ParseInt[S ~string | ~[]byte](s S) (n int64, ok bool) {
	digits, negative := s, false
	if len(digits) > 0 && digits[0] == '-' {
		digits, negative = digits[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	if digits[0] == '0' {
		return 0, len(s) == 1
	}
	var v uint64 // 19 digits fit
	for i := range len(digits) {
		d := digits[i] - '0'
		if d > 9 {
			return 0, false
		}
		v = v*10 + uint64(d)
	}
	if negative {
		return int64(-v), v <= 1<<63
	}
	return int64(v), v <= math.MaxInt64
}

// AppendQuoted appends s in double quotes, with escapes for quotes, backslashes and bytes that
// are not printable ASCII.
func AppendQuoted[S ~string | ~[]byte](dst []byte, s S) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '"':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\a':
			dst = append(dst, `\a`...)
		case '\b':
			dst = append(dst, `\b`...)
		default:
			if c >= ' ' && c <= '~' {
				dst = append(dst, c)
			} else {
				dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
			}
		}
	}
	return append(dst, '"')
}
