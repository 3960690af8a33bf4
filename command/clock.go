package command

import "time"

// Clock tells the two times of architecture: wall time, which TTLs are counted
// in, and monotonic time for durations. Reading the monotonic one is half the
// price, so the wall time is that plus an offset taken anew by Sync, once a pass.
//
// In a lab the wall time is what Lab says; the monotonic time is always real.
type Clock struct {
	Lab *LabClock // nil outside of a lab

	base   time.Time
	offset int64 // unix ns minus monotonic ns
}

// NewClock starts the monotonic time at 0.
func NewClock() *Clock {
	now := time.Now()
	return &Clock{base: now, offset: now.UnixNano()}
}

// Mono is the nanoseconds since the clock was made.
func (c *Clock) Mono() int64 { return int64(time.Since(c.base)) }

// Wall turns a monotonic time into unix milliseconds.
func (c *Clock) Wall(mono int64) int64 { return c.wall(mono) / 1e6 }

// WallMicros turns a monotonic time into unix microseconds.
func (c *Clock) WallMicros(mono int64) int64 { return c.wall(mono) / 1e3 }

func (c *Clock) wall(mono int64) int64 {
	if c.Lab != nil {
		return c.Lab.Now(mono)
	}
	return c.Real(mono)
}

// Real is the unix time in nanoseconds outside of the lab.
func (c *Clock) Real(mono int64) int64 { return mono + c.offset }

// Timeline turns a monotonic time into that which timeouts are counted in, in
// nanoseconds: the same, but in a lab its wall time, so that a test of a timeout
// need not wait for it.
func (c *Clock) Timeline(mono int64) int64 {
	if c.Lab != nil {
		return c.Lab.Now(mono)
	}
	return mono
}

// OnTimeline turns a unix time in milliseconds into a time by Timeline. It reports whether that
// time ever comes: the clock ends at LabEnd.
func (c *Clock) OnTimeline(ms int64) (at int64, ok bool) {
	switch {
	case ms < 0 || ms > LabEnd:
		return 0, false
	case c.Lab != nil:
		return ms * 1e6, true
	}
	return ms*1e6 - c.offset, true
}

// Until is the real time between the monotonic time mono and the time at by Timeline; negative if
// that time never comes.
func (c *Clock) Until(mono, at int64) time.Duration {
	if c.Lab != nil {
		return c.Lab.Until(mono, at)
	}
	return time.Duration(max(at-mono, 0))
}

// Sync follows the system's wall clock where it was set, and returns the
// monotonic time.
func (c *Clock) Sync() int64 {
	now := time.Now()
	mono := int64(now.Sub(c.base))
	c.offset = now.UnixNano() - mono
	return mono
}
