package command

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// is reports whether an argument equals a word, in any case.
func is(arg []byte, word string) bool { return ascii.EqualFold(arg, word) }

// parseInt reads a 64-bit integer. The error is errNotInt.
func parseInt(arg []byte) (int64, error) {
	v, ok := ascii.ParseInt(arg)
	if !ok {
		return 0, errNotInt
	}
	return v, nil
}

// parseIndex reads an integer as an int, for counts and positions.
func parseIndex(arg []byte) (int, error) {
	v, err := parseInt(arg)
	return int(v), err
}

// parseFloat reads a double as strtod does in Redis (object.c: getDoubleFromObject). Hexadecimal numbers
// and infinities are allowed. Spaces, NaN, and numbers out of a double's range are errors.
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

// parseShort is the fast path of parseFloat: a few digits, as in most scores and increments.
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

// strtod is the C function for a whole argument. Out of range it returns an infinity and an error.
func strtod(arg []byte) (float64, error) {
	if bytes.IndexByte(arg, '_') >= 0 { // Go allows it between digits
		return 0, errNotFloat
	}
	if digits := bytes.TrimLeft(arg, "+-"); len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' &&
		!bytes.ContainsAny(digits, "pP") {
		return strconv.ParseFloat(string(arg)+"p0", 64) // Go requires an exponent
	}
	return strconv.ParseFloat(string(arg), 64)
}

// isZero reports whether a number is written as zero. Otherwise a value of 0 means that the number is
// too small for a double.
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

// parseRandomCount reads the number of random elements to return. If it is negative, an element may
// appear more than once.
func parseRandomCount(arg []byte) (int, error) {
	count, err := parseIndex(arg)
	if err == nil && count == math.MinInt64 {
		err = errCountRange
	}
	return count, err
}

// parseAtLeast reads an integer that is at least least. Every failure returns fault.
func parseAtLeast(arg []byte, least int, fault error) (int, error) {
	n, err := parseIndex(arg)
	if err != nil || n < least {
		return 0, fault
	}
	return n, nil
}

// parsePopCount reads "[COUNT count]". A bad count is reported before a surplus argument.
func parsePopCount(args [][]byte) (int, error) {
	if len(args) == 0 {
		return 1, nil
	}
	if len(args) < 2 || !is(args[0], "count") {
		return 0, errSyntax
	}
	count, err := parseAtLeast(args[1], 1, errPopCount)
	if err == nil && len(args) > 2 {
		err = errSyntax
	}
	return count, err
}

// clampRange turns the first and last position of a range into from:to within total. Negative positions
// count from the end. A last position before the start means the start (t_string.c: getrangeCommand).
// The range is empty if both positions are negative and first is after last.
func clampRange(first, last, total int64) (from, to int64) {
	if first < 0 && last < 0 && first > last {
		return 0, 0
	}
	from, last = fromEnd(first, total), min(fromEnd(last, total), total-1)
	if from > last {
		return 0, 0
	}
	return from, last + 1
}

// fromEnd resolves a position: a negative one counts from the end, down to 0.
func fromEnd(i, total int64) int64 {
	if i < 0 {
		return max(i+total, 0)
	}
	return i
}

// database reads the number of a database.
func (c *Call) database(arg []byte) (int, error) {
	n, err := parseIndex(arg)
	switch {
	case err != nil:
		return 0, err
	case n != int(int32(n)):
		return 0, errIntRange
	case n < 0 || n >= len(c.KS.DBs):
		return 0, errDBIndex
	}
	return n, nil
}

// parseSeconds reads a timeout in seconds and returns it in milliseconds, rounded up. 0 means no timeout
// (timeout.c: getTimeoutFromObjectOrReply).
func parseSeconds(c *Call, arg []byte) (ms int64, err error) {
	if n, ok := parseShort(arg); ok && n < 1e9 {
		return int64(n) * 1000, nil
	}
	v, err := parseLongDouble(arg)
	if err != nil {
		return 0, errTimeoutFloat
	}
	ms, accuracy := new(big.Float).Mul(v.big(), big.NewFloat(1000)).Int64()
	if accuracy == big.Below {
		if ms == math.MaxInt64 {
			return 0, errTimeoutRange
		}
		ms++
	}
	return checkTimeout(c, ms)
}

// ParseMillis is parseSeconds for a timeout in milliseconds.
func ParseMillis(c *Call, arg []byte) (ms int64, err error) {
	ms, ok := ascii.ParseInt(arg)
	if !ok {
		return 0, errTimeoutInt
	}
	return checkTimeout(c, ms)
}

// farAway is the longest timeout in milliseconds, a hundred years. In nanoseconds it fits an int64.
const farAway = int64(100 * 365 * 24 * time.Hour / time.Millisecond)

func checkTimeout(c *Call, ms int64) (int64, error) {
	switch {
	case ms < 0:
		return 0, errTimeoutNegative
	case ms > math.MaxInt64-c.Now: // as a time, not a duration
		return 0, errTimeoutRange
	}
	return min(ms, farAway), nil
}

// numKeys reads the number of keys of EVAL and its like.
func numKeys(args [][]byte) (int, error) {
	n, err := parseInt(args[2])
	switch {
	case err != nil:
		return 0, err
	case n > int64(len(args)-3):
		return 0, errManyKeys
	case n < 0:
		return 0, errNegativeKeys
	}
	return int(n), nil
}
