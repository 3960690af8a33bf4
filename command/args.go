package command

import (
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

// parseFloat reads a double as object.c: getDoubleFromObject does: no space
// around it, inf allowed, NaN not.
func parseFloat(arg []byte) (float64, error) {
	if len(arg) == 0 || arg[0] <= ' ' {
		return 0, errNotFloat
	}
	for _, c := range arg {
		if c == '_' { // a Go spelling
			return 0, errNotFloat
		}
	}
	v, err := strconv.ParseFloat(string(arg), 64)
	if math.IsNaN(v) || err != nil && !math.IsInf(v, 0) {
		return 0, errNotFloat
	}
	if err != nil { // strtod: ERANGE
		return 0, errNotFloat
	}
	return v, nil
}

// lower writes s in lower case into buf and returns it, or nil when s is longer
// than any command's name.
func lower(buf *[32]byte, s []byte) []byte {
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
