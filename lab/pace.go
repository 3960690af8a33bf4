package lab

import (
	"math"
	"time"
)

// Pace says when the bytes of a reply go. The zero Pace is that of a reply that no rule slows down.
//
//	executed ── Start ──> │── After(0) ──> a piece │
//	                      │── After(1) ────────────────> a piece │
//	                      │── ...
//
// BANDWIDTH and SLICE count from the end of the reply before, so that replies share the line. The delays count from the
// execution.
type Pace struct {
	Start time.Duration // what DELAY-REPLY and JITTER ask for together
	rate  int64         // bytes in a second, 0 for no limit
	slice int64         // bytes of a piece, 0 for any number
}

// between is how much time is between two pieces of SLICE at least: a client that reads sees the first one alone.
const between = time.Millisecond

// add makes the rule of a line part of the pace. Of two limits the lower one counts.
func (p *Pace) add(r *Rule) {
	switch r.Action {
	case Bandwidth:
		p.rate = least(p.rate, r.Bytes)
	case Slice:
		p.slice = least(p.slice, r.Bytes)
	case Jitter:
		p.Start += time.Duration(r.dice.Int64N(r.Millis+1)) * time.Millisecond
	}
}

// least returns the lower one of two limits, 0 being none.
func least(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// IsWhole reports whether a reply goes at once when its time has come.
func (p Pace) IsWhole() bool { return p.rate == 0 && p.slice == 0 }

// Piece returns how many bytes go at once. A slow line without SLICE moves about a hundred times a second.
func (p Pace) Piece() int {
	switch {
	case p.slice > 0:
		return int(p.slice)
	case p.rate > 0:
		return int(max(1, p.rate/100))
	}
	return math.MaxInt
}

// After returns when the piece with a number, from 0, goes at the earliest.
func (p Pace) After(number int) time.Duration {
	every, n := time.Duration(0), time.Duration(number)
	if p.rate > 0 {
		every = time.Duration(int64(p.Piece()) * int64(time.Second) / p.rate)
		n++ // a slow line takes time for the first one, too
	}
	if p.slice > 0 {
		every = max(every, between)
	}
	return n * every
}
