package clock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestALabClockGoesAsItIsTold(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, test := range []struct {
		what  string
		tell  func(l *Lab)
		at    map[int64]int64 // unix ns by monotonic ns
		until map[int64]time.Duration
	}{
		{
			"runs as the monotonic time does", func(*Lab) {},
			map[int64]int64{0: 1000, 5: 1005, 10 * ms: 1000 + 10*ms},
			map[int64]time.Duration{0: 0, 999: 0, 1000: 0, 1001: 1, 1000 + 3*ms: 3 * time.Millisecond},
		},
		{
			"frozen, stands at the next millisecond", func(l *Lab) { l.Freeze(0) },
			map[int64]int64{0: ms, 10 * ms: ms},
			map[int64]time.Duration{ms: 0, ms + 1: -1},
		},
		{
			"goes on where it stood", func(l *Lab) { l.Freeze(0); l.Run(7 * ms) },
			map[int64]int64{7 * ms: ms, 8 * ms: 2 * ms}, nil,
		},
		{
			"goes at a rate", func(l *Lab) { l.SetRate(0, 1000) },
			map[int64]int64{0: 1000, 3: 4000},
			map[int64]time.Duration{1001: 1, 2000: 1, 2001: 2},
		},
		{
			"goes slowly", func(l *Lab) { l.SetRate(0, 0.001) },
			map[int64]int64{0: 1000, 999: 1000, 1000: 1001},
			map[int64]time.Duration{1001: 1000},
		},
		{
			"takes a rate for later", func(l *Lab) { l.Freeze(0); l.SetRate(1, 2); l.Run(10) },
			map[int64]int64{10: ms, 11: ms + 2}, nil,
		},
		{
			"jumps back and goes on", func(l *Lab) { l.Set(500, 3) },
			map[int64]int64{500: 3, 501: 4}, nil,
		},
		{
			"is held while it is moved", func(l *Lab) { l.Set(0, 5); l.Held = true },
			map[int64]int64{0: 5, 100: 5}, nil,
		},
		{
			"ends before the numbers do", func(l *Lab) { l.SetRate(0, 1e6) },
			map[int64]int64{1 << 62: LabEnd * 1e6},
			map[int64]time.Duration{1 << 62: 4_611_686_018_428},
		},
		{
			"sleeps no longer than a day", func(l *Lab) { l.SetRate(0, 1e-6) },
			nil, map[int64]time.Duration{1 << 62: 24 * time.Hour},
		},
	} {
		l := &Lab{Rate: 1, at: 1000}
		test.tell(l)
		for mono, want := range test.at {
			require.Equal(t, want, l.Now(mono), "%s: at %d", test.what, mono)
		}
		for ns, want := range test.until {
			require.InDelta(t, want, l.Until(0, ns), 1e4, "%s: until %d", test.what, ns)
			if want <= 1000 {
				require.Equal(t, want, l.Until(0, ns), "%s: until %d", test.what, ns)
			}
		}
	}
}

func TestTimeoutsAreCountedInTheTimeOfTheLab(t *testing.T) {
	c := New()
	require.Equal(t, int64(7), c.Timeline(7))
	c.Lab = c.NewLab()
	c.Lab.Freeze(c.Mono())
	require.Equal(t, c.Lab.Now(0), c.Timeline(c.Mono()))
	require.Equal(t, c.Timeline(0)/1e6, c.At(c.Mono()).Wall/1e6)
	require.Equal(t, c.Timeline(0)/1e3, c.At(c.Mono()).Wall/1e3)
}
