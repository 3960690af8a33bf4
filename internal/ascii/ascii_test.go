package ascii

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyASCIIIsFolded(t *testing.T) {
	const kelvin, longS = "\u212a", "\u017f"
	require.True(t, EqualFold([]byte("KeepTTL"), "KEEPttl"))
	require.False(t, EqualFold(kelvin+"eepttl", "keepttl"))
	require.False(t, EqualFold(longS+"et", "set"))
	require.False(t, EqualFold("@", "`"), "bytes beside the letters")
	require.False(t, EqualFold("[", "{"))
	require.False(t, EqualFold("nx", "nxx"))
	require.Equal(t, "a"+kelvin+"z@[", ToLower("A"+kelvin+"Z@["))
	require.Equal(t, "xaz", string(AppendLower([]byte("x"), []byte("AZ"))))
}

func TestParseIntTakesOneSpellingOfEachNumber(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 10, math.MaxInt64, math.MinInt64} {
		got, ok := ParseInt(strconv.FormatInt(n, 10))
		require.True(t, ok)
		require.Equal(t, n, got)
	}
	for _, s := range []string{
		"", "-", "+1", "01", "-01", "00", "-0", " 1", "1 ", "1a", "0x1", "9223372036854775808", "-9223372036854775809",
		"18446744073709551617", "99999999999999999999", "-99999999999999999999",
	} {
		_, ok := ParseInt([]byte(s))
		require.False(t, ok, s)
	}
}

func TestQuotesEscapeWhatIsNotPrintableASCII(t *testing.T) {
	require.Equal(t, `"a\"\\\n\r\t\a\b\x00\x7f\xc3\xa4"`, string(AppendQuoted(nil, "a\"\\\n\r\t\a\b\x00\x7fä")))
	require.Equal(t, `x""`, string(AppendQuoted([]byte("x"), []byte(nil))))
}
