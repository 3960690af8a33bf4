package double

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

var negativeZero = math.Copysign(0, -1)

func TestWholeNumbersHaveAllDigits(t *testing.T) {
	for text, f := range map[string]float64{
		"3": 3, "0": 0, "-0": negativeZero, "-17": -17, "100000000": 1e8, "1000000000000000": 1e15,
		"4503599627370495": 1<<52 - 1, "4503599627370496": 1 << 52, "9007199254740992": 1 << 53,
		"72057594037927936": 1 << 56, "100000000000000000": 1e17, "1700000000000000000": 1.7e18,
		"4611686018427387904": 1 << 62, "-4611686018427387904": -1 << 62,
		// Beyond half of the range of an int64, Redis takes the shortest form.
		"4611686018427389000": 1<<62 + 1024, "9.2e+18": 9.2e18, "9223372036854776000": 1 << 63, "1e+21": 1e21,
		"inf": math.Inf(1), "-inf": math.Inf(-1), "nan": math.NaN(),
	} {
		require.Equal(t, text, string(Append(nil, f)))
	}
	require.Equal(t, "nan", string(Append(nil, math.Copysign(math.NaN(), -1))))
}

func TestShortestFormHasRedisLayout(t *testing.T) {
	for text, f := range map[string]float64{
		"3": 3, "0": 0, "-0": negativeZero, "-2.5": -2.5, "0.1": 0.1, "1.1": 1.1, "10000000": 1e7, "1e+8": 1e8,
		"1e+15": 1e15, "1.7e+18": 1.7e18, "1234567890000000": 1234567890000000,
		"123456789012345680": 123456789012345680, "99999999999999990000000": 1e23, "1.23456789e+19": 1.23456789e19,
		"0.0001": 0.0001, "1.2345e-4": 0.00012345, "0.0012345": 0.0012345, "0.000001": 0.000001, "1e-7": 1e-7,
		"1.5e-7": 1.5e-7, "1.7976931348623157e+308": math.MaxFloat64, "5e-324": 5e-324, "-1e-300": -1e-300,
		"2.2250738585072014e-308": 0x1p-1022, "2.225073858507201e-308": 0x1p-1022 - 0x1p-1074,
		"inf": math.Inf(1), "-inf": math.Inf(-1), "3.141592653589793": math.Pi,
		"-nan": math.Copysign(math.NaN(), -1),
	} {
		require.Equal(t, text, string(AppendShortest(nil, f)))
	}
}

// For these numbers Grisu2 does not find the fewest digits.
func TestDigitsAreThoseOfRedisEvenIfFewerWouldDo(t *testing.T) {
	for text, f := range map[string]float64{
		"0.9912300000000001": 0.99123, "1.4862899999999999": 1.48629, "1.9824600000000001": 1.98246,
		"2.8086700000000002": 2.80867, "2.9725799999999998": 2.97258, "4.4610900000000004": 4.46109,
	} {
		require.Equal(t, text, string(AppendShortest(nil, f)))
	}
}

func TestGHasThatManyDigits(t *testing.T) {
	for text, f := range map[string]float64{
		"0.10000000000000001": 0.1, "0.30000000000000004": 0.1 + tenth(2), "3": 3, "-0": negativeZero, "1e+17": 1e17,
		"10000000000000000": 1e16, "1.7e+18": 1.7e18, "inf": math.Inf(1), "-inf": math.Inf(-1), "-2.5": -2.5,
		"9.9999999999999995e-08": 1e-7, "4.9406564584124654e-324": 5e-324, "72057594037927936": 1 << 56,
	} {
		require.Equal(t, text, string(AppendG(nil, f, 17)))
	}
	require.Equal(t, "0.1", string(AppendG(nil, 0.1, 14)))
	require.Equal(t, "1e+14", string(AppendG(nil, 1e14, 14)))
	require.Equal(t, "1e+02", string(AppendG(nil, 123, 1)))
}

// tenth is a tenth of n. The compiler adds up constants exactly, and programs do not.
func tenth(n float64) float64 { return n / 10 }

func TestTableHasRoundedPowersOfTen(t *testing.T) {
	for i, power := range tenPowers {
		k := int64(8*i - 348)
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(k, -k)), nil)
		exact := new(big.Float).SetPrec(2000).SetInt(ten)
		if k < 0 {
			exact.Quo(new(big.Float).SetPrec(2000).SetInt64(1), exact)
		}
		rounded := new(big.Float).SetPrec(64).SetMode(big.ToNearestEven).Set(exact)
		want := new(big.Float).SetPrec(64).SetUint64(power)
		want.SetMantExp(want, int(k)*217706>>16-63)
		require.Zero(t, rounded.Cmp(want), "10^%d", k)
	}
}

func FuzzNumbersReadBackTheSame(f *testing.F) {
	for _, v := range []float64{0.1, 1e21, -1e-7, 1 << 53, 123456.789, 5e-324, 1 << 62, 0.99123} {
		f.Add(math.Float64bits(v))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		v := math.Float64frombits(bits)
		for _, text := range []string{
			string(Append([]byte("x"), v))[1:],
			string(AppendShortest([]byte("x"), v))[1:],
			string(AppendG([]byte("x"), v, 17))[1:],
		} {
			if math.IsNaN(v) {
				require.Contains(t, text, "nan")
				continue
			}
			back, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			require.Equal(t, bits, math.Float64bits(back), text)
			require.LessOrEqual(t, len(text), 26)
		}
	})
}
