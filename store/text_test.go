package store

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATextHoldsAStringOfAnyLength(t *testing.T) {
	var v text
	require.Empty(t, v.bytes())
	require.Zero(t, v.mem())
	for _, n := range []int{0, 1, 126, 127, 128, 129, 5000, 4500, 100_000, 97_000, 1 << 14, 3, 1 << 21} {
		want := bytes.Repeat([]byte{byte(n)}, n)
		v.set(want)
		require.True(t, bytes.Equal(want, v.bytes()), "%d bytes", n)
		require.GreaterOrEqual(t, v.mem(), n+1)
	}
}

func TestATextIsOverwrittenInItsBlockIfItNeedsAboutAsMuch(t *testing.T) {
	var v text
	value := make([]byte, 4000)
	v.set(value)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		v.set(value[:3500])
		v.set(value[:4000])
	}))
	require.Equal(t, allocSize(4003), v.mem())
	v.set(value[:1])
	require.Equal(t, 8, v.mem())
}
