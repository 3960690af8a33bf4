package command

import (
	"testing"

	"github.com/stretchr/testify/require"
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
	if err := addLongDouble(v, delta); err != nil {
		return err.Error()
	}
	return string(appendLongDouble(nil, v))
}
