package command

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// is compares an argument with a word, whatever case the client used.
func is(arg []byte, word string) bool { return ascii.EqualFold(arg, word) }

// parseInt reads a 64-bit number, or answers errNotInt.
func parseInt(arg []byte) (int64, error) {
	v, ok := ascii.ParseInt(arg)
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

// parseRandomCount reads how many elements to return by chance; a negative one
// allows the same to be returned again.
func parseRandomCount(arg []byte) (int, error) {
	count, err := parseIndex(arg)
	if err == nil && count == math.MinInt64 {
		err = errCountRange
	}
	return count, err
}

// parseAtLeast reads a number of which every fault has the same text.
func parseAtLeast(arg []byte, least int, fault error) (int, error) {
	n, err := parseIndex(arg)
	if err != nil || n < least {
		return 0, fault
	}
	return n, nil
}

// parsePopCount reads "[COUNT count]". A faulty count is reported before what follows it.
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

// clampRange turns first and last position, negative ones counted from the end,
// into from:to of something of size total. A last position before the beginning
// means the first element (getrangeCommand, bitcountCommand), unless first is
// negative too and behind it.
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

// fromEnd counts a negative position from the end, to the beginning at most.
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

// parseSeconds reads how long to wait, 0 for any time, in milliseconds: a fraction of one
// counts as one (timeout.c: getTimeoutFromObjectOrReply).
func parseSeconds(c *Call, arg []byte) (ms int64, err error) {
	if n, ok := parseShort(arg); ok && n < 1e9 {
		return int64(n) * 1000, nil
	}
	v, err := parseLongDouble(arg)
	if err != nil {
		return 0, errTimeoutFloat
	}
	ms, accuracy := v.Mul(v, big.NewFloat(1000)).Int64()
	if accuracy == big.Below {
		if ms == math.MaxInt64 {
			return 0, errTimeoutRange
		}
		ms++
	}
	return checkTimeout(c, ms)
}

// ParseMillis is parseSeconds for an argument in milliseconds.
func ParseMillis(c *Call, arg []byte) (ms int64, err error) {
	ms, ok := ascii.ParseInt(arg)
	if !ok {
		return 0, errTimeoutInt
	}
	return checkTimeout(c, ms)
}

// farAway is longer than anybody will wait, in milliseconds, and short enough to be counted
// in nanoseconds.
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
