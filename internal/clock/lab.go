package clock

import (
	"math"
	"time"
)

// Lab is a wall clock that tests control. Its time is a straight line over the monotonic time.
// Every command begins a new line:
//
//	unix ns │          ╱     RUN: at the rate, 1 or another
//	        │    ┌────╱      SET, ADVANCE: a jump
//	        │ ───┘           FREEZE: flat
//	        └───────────── monotonic ns
type Lab struct {
	Rate   float64 // its seconds in a real second, while it runs
	Frozen bool
	Held   bool // stands still, because something else moves it step by step

	at, from int64 // the line begins at the unix time at, when the monotonic time is from; both in ns
}

// LabEnd is the last time of a Lab, in unix ms. It is in the year 2160. So an int64 of
// nanoseconds has room for the longest timeout after it.
const LabEnd = 6_000_000_000_000

// NewLab returns a Lab that begins at the wall time of c and runs at rate 1.
func (c *Clock) NewLab() *Lab {
	mono := c.Sync()
	return &Lab{Rate: 1, at: c.wall(mono), from: mono}
}

// Now returns the unix time in ns at the monotonic time mono.
func (l *Lab) Now(mono int64) int64 {
	switch {
	case l.Frozen || l.Held:
		return l.at
	case l.Rate == 1:
		return min(l.at+mono-l.from, LabEnd*1e6)
	}
	passed := float64(mono-l.from) * l.Rate
	if passed >= float64(LabEnd*1e6-l.at) {
		return LabEnd * 1e6
	}
	return l.at + int64(passed)
}

// Set moves the clock to the unix time ns.
func (l *Lab) Set(mono, ns int64) { l.at, l.from = ns, mono }

// Freeze stops the clock at the next whole millisecond. Then leases and timeouts that begin now end
// on a whole millisecond, too.
func (l *Lab) Freeze(mono int64) {
	l.Set(mono, (l.Now(mono)+999_999)/1e6*1e6)
	l.Frozen = true
}

// Run lets the clock run on from its time.
func (l *Lab) Run(mono int64) {
	l.Set(mono, l.Now(mono))
	l.Frozen = false
}

// SetRate changes the speed. A frozen clock has the new speed when it runs again.
func (l *Lab) SetRate(mono int64, rate float64) {
	l.Set(mono, l.Now(mono))
	l.Rate = rate
}

// Until returns the real time from mono to the unix time ns, at most a day. It is negative if the
// clock is frozen before ns.
func (l *Lab) Until(mono, ns int64) time.Duration {
	left := ns - l.Now(mono)
	switch {
	case left <= 0:
		return 0
	case l.Frozen:
		return -1
	}
	return time.Duration(min(math.Ceil(float64(left)/l.Rate), float64(24*time.Hour)))
}
