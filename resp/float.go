package resp

import (
	"math"
	"strconv"
)

// AppendFloat appends the shortest decimal that reads back as f, in the layout of Redis 7.2. Integers
// below 2^52 and short numbers have no exponent. Others look like "1e+21" and "1e-7". The rest are
// "inf", "-inf" and "nan".
//
// Redis finds the digits by Grisu2. For about one number in a thousand its result has one digit more
// than the shortest. Here the result is always the shortest.
func AppendFloat(dst []byte, f float64) []byte {
	const exact = 1 << 52
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case f == 0 && math.Signbit(f):
		return append(dst, "-0"...)
	case f > -exact && f < exact && f == math.Trunc(f):
		return strconv.AppendInt(dst, int64(f), 10)
	}
	if f < 0 {
		dst = append(dst, '-')
		f = -f
	}
	var room [32]byte
	digits, exp := decimal(room[:0], f)
	return appendDecimal(dst, digits, exp)
}

// decimal returns the shortest digits d1d2d3... and an exponent, so that f = d1.d2d3... * 10^exp.
func decimal(room []byte, f float64) (digits []byte, exp int) {
	text := strconv.AppendFloat(room, f, 'e', -1, 64)
	e := len(text) - 1
	for text[e] != 'e' {
		e--
	}
	for _, c := range text[e+2:] {
		exp = exp*10 + int(c-'0')
	}
	if text[e+1] == '-' {
		exp = -exp
	}
	if e == 1 {
		return text[:1], exp
	}
	text[1] = text[0]
	return text[1:e], exp
}

// appendDecimal chooses one of three layouts by the rules of Redis's fpconv_dtoa.c.
func appendDecimal(dst, digits []byte, exp int) []byte {
	scale := exp - len(digits) + 1 // f = digits as an integer * 10^scale
	abs := max(exp, -exp)
	switch {
	case scale >= 0 && abs < len(digits)+7:
		dst = append(dst, digits...)
		return appendZeros(dst, scale)
	case scale < 0 && (scale > -7 || abs < 4):
		if exp < 0 {
			dst = appendZeros(append(dst, '0', '.'), -exp-1)
			return append(dst, digits...)
		}
		dst = append(append(dst, digits[:exp+1]...), '.')
		return append(dst, digits[exp+1:]...)
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	if exp < 0 {
		dst = append(dst, 'e', '-')
	} else {
		dst = append(dst, 'e', '+')
	}
	return strconv.AppendInt(dst, int64(abs), 10)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}
