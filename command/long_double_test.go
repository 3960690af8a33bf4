package command

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

// Every sum here was made by INCRBYFLOAT of redis-server 7.0.15.
func TestLongDoubleSumsAreThoseOfRedis(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"0.1", "0.2", "0.3"},
		{"10.50", "0.1", "10.6"},
		{"3.0e3", "200", "3200"},
		{"1e20", "0", "100000000000000000000"},
		{"1e20", "1", "100000000000000000000"},
		{"1e18", "1", "1000000000000000001"},
		{"5e-17", "0", "0.00000000000000005"},
		{"5e-18", "0", "0"},
		{"-5e-18", "0", "0"},
		{"0.1", "-0.1", "0"},
		{"0x10", "0x1p3", "24"},
		{"+5", ".5", "5.5"},
		{"5.", "0", "5"},
		{"1e400", "-1e400", "0"},
		{"1e-4940", "0", "0"},
		{"1.1234567890123456789", "0", "1.12345678901234568"},
		{"1189731495357231765e4914", "1189731495357231765e4914", string(errNaN)},
		{"inf", "1", string(errNaN)},
		{"1", "-INFINITY", string(errNaN)},
		{"1", "nan", string(errNotFloat)},
		{"1e4933", "0", string(errNotFloat)},
		{"1e-5000", "0", string(errNotFloat)},
		{"1p3", "0", string(errNotFloat)},
		{"1e", "0", string(errNotFloat)},
		{"1_0", "0", string(errNotFloat)},
		{" 1", "0", string(errNotFloat)},
		{"1 ", "0", string(errNotFloat)},
		{"--1", "0", string(errNotFloat)},
		{".", "0", string(errNotFloat)},
		{"0x", "0", string(errNotFloat)},
		{"", "0", string(errNotFloat)},
	} {
		require.Equal(t, c.want, longDoubleSum(c.a, c.b), "%q + %q", c.a, c.b)
	}
}

func longDoubleSum(a, b string) string {
	v, err := parseLongDouble([]byte(a))
	if err != nil {
		return err.Error()
	}
	delta, err := parseLongDouble([]byte(b))
	if err != nil {
		return err.Error()
	}
	sum, err := addLongDouble(v, delta)
	if err != nil {
		return err.Error()
	}
	return string(appendLongDouble(nil, sum))
}

// sumByBigFloat is longDoubleSum with a big.Float of 64 bits, which rounds in the same way. It returns
// what longDoubleSum returns if one of the numbers is wrong.
func sumByBigFloat(a, b string) string {
	v, errA := parseLongDouble([]byte(a))
	delta, errB := parseLongDouble([]byte(b))
	if errA != nil || errB != nil || v.inf || delta.inf {
		return longDoubleSum(a, b)
	}
	x, _, errA := big.ParseFloat(a, 0, longDoubleBits, big.ToNearestEven)
	y, _, errB := big.ParseFloat(b, 0, longDoubleBits, big.ToNearestEven)
	if errA != nil || errB != nil { // a base of Go: 0b1, 0o7
		return longDoubleSum(a, b)
	}
	if x.Add(x, y).MantExp(nil) > longDoubleMaxExp {
		return string(errNaN)
	}
	return string(trimDecimals(x.Append(nil, 'f', 17)))
}

func TestLongDoubleSumsAreThoseOfAWideFloat(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func() string {
		digits := strconv.FormatUint(rnd.Uint64()>>rnd.IntN(64), 10)
		at := rnd.IntN(len(digits) + 1)
		text := digits[:at] + strings.Repeat("0", rnd.IntN(3)) + "." + strings.Repeat("0", rnd.IntN(6)) + digits[at:]
		switch rnd.IntN(6) {
		case 0:
			text += fmt.Sprintf("e%d", rnd.IntN(60)-30)
		case 1: // a sum that lies between two numbers, or near
			text = fmt.Sprintf("0x%x.%dp%d", rnd.Uint64(), rnd.IntN(10)*8, rnd.IntN(260)-130)
		case 2:
			text = fmt.Sprintf("0x%dp%d", rnd.IntN(9), rnd.IntN(140)-70)
		case 3:
			text = digits
		}
		return []string{"", "-", "+"}[rnd.IntN(3)] + text
	}
	for range amount.Count(33333, 200_000) {
		a, b := number(), number()
		require.Equal(t, sumByBigFloat(a, b), longDoubleSum(a, b), "%q + %q", a, b)
	}
}

func FuzzLongDoubleSums(f *testing.F) {
	f.Add("0.1", "-0.2")
	f.Add("0x1p64", "-0x1.8p-1")
	f.Add("1e19", "5e-18")
	f.Fuzz(func(t *testing.T, a, b string) {
		require.Equal(t, sumByBigFloat(a, b), longDoubleSum(a, b))
	})
}

func BenchmarkIncrByFloat(b *testing.B) {
	old, delta := []byte("12345.5"), []byte("0.5")
	var room [64]byte
	for range b.N {
		v, _ := parseLongDouble(old)
		d, _ := parseLongDouble(delta)
		sum, _ := addLongDouble(v, d)
		appendLongDouble(room[:0], sum)
	}
}

func TestLongDoublesAreComparedAsNumbers(t *testing.T) {
	order := []string{"-inf", "-1e4000", "-2.5", "-2", "-1e-4000", "0", "1e-4000", "0.1", "2", "2.5", "1e4000", "inf"}
	for i, a := range order {
		for j, b := range order {
			x, err := parseLongDouble([]byte(a))
			require.NoError(t, err)
			y, err := parseLongDouble([]byte(b))
			require.NoError(t, err)
			require.Equal(t, i < j, x.less(y), "%s and %s", a, b)
		}
	}
	zero := longDouble{}
	require.False(t, zero.less(zero.negated()))
	require.False(t, zero.negated().less(zero))
}
