package command

import (
	"bytes"
	"math"
	"strconv"

	"github.com/miniredisd/miniredisd/store"
)

// is compares an argument with a word in lower case, whatever case the client used.
func is(arg []byte, word string) bool {
	if len(arg) != len(word) {
		return false
	}
	for i := range arg {
		c := arg[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// parseInt reads a 64-bit number, or answers errNotInt.
func parseInt(arg []byte) (int64, error) {
	v, ok := store.ParseInt(arg)
	if !ok {
		return 0, errNotInt
	}
	return v, nil
}

// parseIndex reads a number that fits an int, for counts and positions.
func parseIndex(arg []byte) (int, error) {
	v, err := parseInt(arg)
	return int(v), err
}

// parseFloat reads a double as object.c: getDoubleFromObject does with strtod: no
// space around it, hexadecimal and infinities allowed, NaN not, and neither what
// is too large or too small for a double.
func parseFloat(arg []byte) (float64, error) {
	if v, ok := parseShort(arg); ok {
		return v, nil
	}
	v, err := strtod(arg)
	if err != nil || math.IsNaN(v) || v == 0 && !isZero(arg) {
		return 0, errNotFloat
	}
	return v, nil
}

// parseShort reads what most scores and increments are: a few digits.
func parseShort(arg []byte) (float64, bool) {
	if len(arg) == 0 || len(arg) > 15 {
		return 0, false
	}
	n := int64(0)
	for _, c := range arg {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return float64(n), true
}

// strtod is the C function of that name for a whole argument. Out of range, it
// returns an infinity and an error.
func strtod(arg []byte) (float64, error) {
	if bytes.IndexByte(arg, '_') >= 0 { // Go would allow it between digits
		return 0, errNotFloat
	}
	if digits := bytes.TrimLeft(arg, "+-"); len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' &&
		!bytes.ContainsAny(digits, "pP") {
		return strconv.ParseFloat(string(arg)+"p0", 64) // Go insists on an exponent
	}
	return strconv.ParseFloat(string(arg), 64)
}

// isZero tells a number that is written as zero from one that became zero because
// it is too small.
func isZero(arg []byte) bool {
	for _, c := range arg {
		if c|0x20 == 'e' {
			break
		}
		if '1' <= c && c <= '9' {
			return false
		}
	}
	return true
}

// longestName bounds a command's name. Ours are shorter; rename-command is often
// given a hash as the new one.
const longestName = 64

// lower writes s in lower case into buf and returns it, or nil when s is longer
// than any command's name.
func lower(buf *[longestName]byte, s []byte) []byte {
	if len(s) > len(buf) {
		return nil
	}
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	return buf[:len(s)]
}
