package command

import (
	"bytes"
	"math/big"
)

// INCRBYFLOAT and HINCRBYFLOAT count in the x87's 80-bit long double, which Go
// does not have: a big.Float of 64 bits of mantissa rounds every sum as it does.
// The exponent is wider here, so the ends of the range are checked; numbers below
// 2^-16382 keep bits a long double would lose, which 17 decimals never show.
const (
	longDoubleBits   = 64
	longDoubleMaxExp = 16384  // LDBL_MAX_EXP
	longDoubleMinExp = -16444 // of the smallest number that is not 0
	longDoubleText   = 5 * 1024
)

// parseLongDouble reads a number as util.c: string2ld, that is strtold without
// space around the number: hexadecimal and infinity are fine, NaN is not.
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
		return nil, errNotFloat // what strtold takes for no number, or is a sign too many
	case len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x':
		base = 0 // has Parse look for the prefix
	case bytes.ContainsAny(digits, "pP"): // Go's binary exponents of decimals
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

// appendLongDouble appends v with up to 17 decimals, none of them a trailing
// zero (util.c: ld2string, LD_STR_HUMAN).
func appendLongDouble(dst []byte, v *big.Float) []byte {
	from := len(dst)
	dst = v.Append(dst, 'f', 17)
	return append(dst[:from], trimDecimals(dst[from:])...)
}

// trimDecimals takes zeros off the end of a number with decimals, and the sign of 0.
func trimDecimals(text []byte) []byte {
	text = bytes.TrimSuffix(bytes.TrimRight(text, "0"), []byte("."))
	if string(text) == "-0" {
		return text[1:]
	}
	return text
}
