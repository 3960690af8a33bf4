package persist

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Clients have three quarters of the time, whatever a pass takes.
func TestASaveTakesAQuarterOfTheTime(t *testing.T) {
	for _, pass := range []int64{3_000, 100_000, 1_400_000} {
		p, now, saving := savePace{}, int64(0), int64(0)
		for range 1000 {
			now += pass
			took := p.allow(now)
			require.LessOrEqual(t, took, int64(paceMost))
			if took = max(took, 0); took > 0 {
				took += 7_000 // it looks at the clock only now and then
			}
			p.took(now, now+took)
			now += took
			saving += took
		}
		require.InDelta(t, 0.25, float64(saving)/float64(now), 0.01, "%d", pass)
	}
}

// A large collection is copied at once. The save pays for it with the time that it would have had later.
func TestASavePaysForALargeCollection(t *testing.T) {
	p := savePace{}
	p.took(0, 5_000_000)
	require.Negative(t, p.allow(19_000_000))
	p.took(19_000_000, 19_000_000)
	require.Positive(t, p.allow(21_000_000))
}
