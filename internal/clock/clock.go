// Package clock has the time of a server.
//
//	real      Wall = monotonic time + an offset    Sync corrects the offset, once in a pass
//	in a lab  Wall = what Lab makes of the time    SET, ADVANCE, FREEZE and a rate move it
//
// Monotonic time is for durations, and wall time for TTLs. A timeout counts in monotonic time, and in a
// lab in wall time (Clock.Timeline). The loop owns a Clock: of its methods only Mono and Stand may be called
// by other goroutines.
package clock

import (
	"sync/atomic"
	"time"
)

// Clock reads the two clocks. Wall time is unix time: TTLs are counted in it. Monotonic time is for
// durations. Reading the wall clock costs twice as much, so wall time is monotonic time plus an offset,
// which Sync corrects once in a pass.
//
// In a lab, Lab says what the wall time is. Monotonic time is real, except that it stands still while
// somebody has stopped the server at a point.
type Clock struct {
	Lab *Lab // nil outside of a lab

	base   time.Time
	offset int64        // unix ns minus monotonic ns
	stood  atomic.Int64 // ns that do not count, because the server was stopped at a point
}

// New returns a clock whose monotonic time starts at 0.
func New() *Clock {
	now := time.Now()
	return &Clock{base: now, offset: now.UnixNano()}
}

// Mono is the nanoseconds since the clock was made, without those in which the server was stopped.
func (c *Clock) Mono() int64 { return int64(time.Since(c.base)) - c.stood.Load() }

// Stand takes back ns nanoseconds, in which the server was stopped at a point (package glass). Any
// goroutine may call it.
func (c *Clock) Stand(ns int64) { c.stood.Add(ns) }

// Moment is one point in time by both clocks: ns since the clock was made, and unix ns.
type Moment struct{ Mono, Wall int64 }

// At returns the moment at a monotonic time.
func (c *Clock) At(mono int64) Moment { return Moment{mono, c.wall(mono)} }

func (c *Clock) wall(mono int64) int64 {
	if c.Lab != nil {
		return c.Lab.Now(mono)
	}
	return c.Real(mono)
}

// Real is the unix time in ns, also in a lab.
func (c *Clock) Real(mono int64) int64 { return mono + c.offset }

// Timeline turns a monotonic time into the time by which timeouts are counted, in ns. That is the
// same, but in a lab it is the lab's wall time: then a test of a timeout need not wait.
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

// Sync follows the system's wall clock if that was set (server.c: updateCachedTime). It returns the monotonic
// time.
func (c *Clock) Sync() int64 {
	now := time.Now()
	mono := int64(now.Sub(c.base)) - c.stood.Load()
	c.offset = now.UnixNano() - mono
	return mono
}
