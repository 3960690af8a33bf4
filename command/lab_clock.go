package command

import (
	"math"
	"time"
)

// LabClock is a wall time that is told how to go. It is a straight line over the
// monotonic time, which begins anew whenever it is told something:
//
//	unix ns │          ╱     RUN: at the rate, 1 or another
//	        │    ┌────╱      SET, ADVANCE: from there on
//	        │ ───┘           FREEZE: flat
//	        └───────────── monotonic ns
type LabClock struct {
	Rate   float64 // of the time to real time, while it runs
	Frozen bool
	Held   bool // stands still for as long as it is moved by steps

	at, from int64 // it was at, when the monotonic time was from
}

// LabEnd is the last unix time in ms of a lab, in the year 2160. It leaves room in an
// int64 of nanoseconds for the longest timeout.
const LabEnd = 6_000_000_000_000

// NewLab returns a time that begins as the wall time is, and runs.
func (c *Clock) NewLab() *LabClock {
	mono := c.Sync()
	return &LabClock{Rate: 1, at: c.wall(mono), from: mono}
}

// Now is the unix time in nanoseconds at a monotonic time.
func (l *LabClock) Now(mono int64) int64 {
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

// Set has it go on from the unix time ns.
func (l *LabClock) Set(mono, ns int64) { l.at, l.from = ns, mono }

// Freeze stops it, at the next whole millisecond: a lease that begins now, and a
// timeout, end on a whole one.
func (l *LabClock) Freeze(mono int64) {
	l.Set(mono, (l.Now(mono)+999_999)/1e6*1e6)
	l.Frozen = true
}

// Run has it go on where it stands.
func (l *LabClock) Run(mono int64) {
	l.Set(mono, l.Now(mono))
	l.Frozen = false
}

// SetRate has it run at another rate, now or once it runs.
func (l *LabClock) SetRate(mono int64, rate float64) {
	l.Set(mono, l.Now(mono))
	l.Rate = rate
}

// Until is how much real time passes between mono and the unix time ns, at least;
// negative if that never comes.
func (l *LabClock) Until(mono, ns int64) time.Duration {
	left := ns - l.Now(mono)
	switch {
	case left <= 0:
		return 0
	case l.Frozen:
		return -1
	}
	return time.Duration(min(math.Ceil(float64(left)/l.Rate), float64(24*time.Hour)))
}
