// Package double writes float64 numbers as Redis writes a C double. Redis has three forms, and each
// command uses the same one everywhere:
//
//	Append          ZSCORE, RESP3 doubles        1e15 is 1000000000000000    (util.c: d2string)
//	AppendShortest  fractions, DEBUG DIGEST      1e15 is 1e+15               (fpconv_dtoa.c)
//	AppendG         Lua, ZSCAN of a large set    0.1 is 0.10000000000000001  (printf's %g)
//
// Append and AppendShortest find digits that read back as the same number. AppendG has a given number of
// digits.
package double

import (
	"bytes"
	"math"
	"strconv"
)

// Whole returns f as an integer, if Redis writes it as one. These are the whole numbers in half of the
// range of an int64, and -0 among them (util.c: double2ll).
func Whole(f float64) (n int64, ok bool) {
	const limit = 1 << 62
	if !(f >= -limit && f <= limit) {
		return 0, false
	}
	n = int64(f)
	return n, float64(n) == f
}

// Append appends a whole number with all of its digits, and any other as AppendShortest does. NaN has no
// sign.
func Append(dst []byte, f float64) []byte {
	n, whole := Whole(f)
	switch {
	case whole && (n != 0 || !math.Signbit(f)):
		return strconv.AppendInt(dst, n, 10)
	case math.IsNaN(f):
		return append(dst, "nan"...)
	}
	return AppendShortest(dst, f)
}

// AppendShortest appends few digits that read back as f. Large and small numbers have an exponent, as in
// "1e+21" and "1e-7". Others are "-0", "inf", "-inf", "nan" and "-nan".
func AppendShortest(dst []byte, f float64) []byte {
	if math.Signbit(f) {
		dst = append(dst, '-')
		f = -f
	}
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case f == 0:
		return append(dst, '0')
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	}
	var room [maxDigits]byte
	digits, scale := grisu(room[:0], f)
	return layOut(dst, digits, scale)
}

// layOut appends digits * 10^scale in one of three layouts (fpconv_dtoa.c: emit_digits).
func layOut(dst, digits []byte, scale int) []byte {
	exp := scale + len(digits) - 1 // of the first digit
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

// AppendG is %.<precision>g of C without flags.
func AppendG(dst []byte, f float64, precision int) []byte {
	switch {
	case math.IsNaN(f):
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case f == math.Trunc(f) && math.Abs(f) < 1e14 && precision >= 14 && !(f == 0 && math.Signbit(f)):
		return strconv.AppendInt(dst, int64(f), 10)
	}
	precision = max(precision, 1)
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', precision-1, 64)
	e := bytes.LastIndexByte(dst[from:], 'e') + from
	exp, _ := strconv.Atoi(string(dst[e+1:]))
	if exp >= -4 && exp < precision {
		dst = strconv.AppendFloat(dst[:from], f, 'f', precision-1-exp, 64)
		return trimZeros(dst, from)
	}
	var tail [8]byte
	kept := append(tail[:0], dst[e:]...)
	return append(trimZeros(dst[:e], from), kept...)
}

// trimZeros removes the zeros at the end of the fraction that dst has from a place on.
func trimZeros(dst []byte, from int) []byte {
	if bytes.IndexByte(dst[from:], '.') < 0 {
		return dst
	}
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	if dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	return dst
}
