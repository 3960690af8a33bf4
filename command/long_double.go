package command

import (
	"bytes"
	"math/big"
)

// INCRBYFLOAT and HINCRBYFLOAT of Redis count in the 80-bit long double of x87 processors, which Go does
// not have. A big.Float with 64 bits of mantissa rounds every sum in the same way. Its exponent is
// wider, so the code checks the ends of the range. Below 2^-16382 a big.Float keeps bits that a long
// double loses. They do not show in 17 decimals.
const (
	longDoubleBits   = 64
	longDoubleMaxExp = 16384  // LDBL_MAX_EXP
	longDoubleMinExp = -16444 // exponent of the smallest number above 0
	longDoubleText   = 5 * 1024
)

// parseLongDouble reads a number as strtold does in Redis (util.c: string2ld). Hexadecimal numbers and
// infinities are allowed. Spaces and NaN are errors.
func parseLongDouble(arg []byte) (*big.Float, error) {
	if len(arg) == 0 || len(arg) >= longDoubleText || bytes.IndexByte(arg, '_') >= 0 {
		return nil, errNotFloat
	}
	base, digits := 10, arg
	negative := arg[0] == '-'
	if negative || arg[0] == '+' {
		digits = arg[1:]
	}
	switch {
	case is(digits, "inf") || is(digits, "infinity"):
		return new(big.Float).SetInf(negative), nil
	case len(digits) == 0 || digits[0] != '.' && (digits[0] < '0' || digits[0] > '9'):
		return nil, errNotFloat // not a number, or a second sign
	case len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x':
		base = 0 // big.ParseFloat reads the prefix
	case bytes.ContainsAny(digits, "pP"): // Go allows binary exponents of decimal numbers
		return nil, errNotFloat
	}
	v, _, err := big.ParseFloat(string(arg), base, longDoubleBits, big.ToNearestEven)
	if err != nil || tooLarge(v) || v.Sign() != 0 && v.MantExp(nil) < longDoubleMinExp {
		return nil, errNotFloat
	}
	return v, nil
}

func tooLarge(v *big.Float) bool { return v.IsInf() || v.MantExp(nil) > longDoubleMaxExp }

// addLongDouble adds delta to v.
func addLongDouble(v, delta *big.Float) error {
	if v.IsInf() || delta.IsInf() || tooLarge(v.SetPrec(longDoubleBits).Add(v, delta)) {
		return errNaN
	}
	return nil
}

// appendLongDouble appends v with up to 17 decimals and without trailing zeros
// (util.c: ld2string, LD_STR_HUMAN).
func appendLongDouble(dst []byte, v *big.Float) []byte {
	from := len(dst)
	dst = v.Append(dst, 'f', 17)
	return append(dst[:from], trimDecimals(dst[from:])...)
}

// trimDecimals removes trailing zeros from a number with decimals, and the sign of -0.
func trimDecimals(text []byte) []byte {
	text = bytes.TrimSuffix(bytes.TrimRight(text, "0"), []byte("."))
	if string(text) == "-0" {
		return text[1:]
	}
	return text
}
