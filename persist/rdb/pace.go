package rdb

import (
	"sync/atomic"
	"time"
)

// Delay makes each key of a save last longer, for tests (debug.c: debugDelay). It may change while a save is under way:
// in Redis the child that saves keeps the delay of its beginning, and a test has to kill it.
type Delay struct {
	us      atomic.Int64 // of -n each nth key lasts one microsecond, where Redis draws a number
	changed chan struct{}
}

// NewDelay returns a delay of that many microseconds.
func NewDelay(us int) *Delay {
	d := &Delay{changed: make(chan struct{}, 1)}
	d.us.Store(int64(us))
	return d
}

// Set changes the delay, for the key at hand, too. Any goroutine may call it.
func (d *Delay) Set(us int) {
	if d.us.Swap(int64(us)) == int64(us) {
		return
	}
	select {
	case d.changed <- struct{}{}:
	default: // the save has not seen the change before this one
	}
}

// Pace is how fast a save may be.
type Pace struct {
	delay *Delay
	stop  <-chan struct{}
	keys  int64
}

// Pace is that of the file.
func (s *Saving) Pace() Pace { return Pace{delay: s.Delay, stop: s.Stop} }

// Wait comes after each key.
func (p *Pace) Wait() {
	p.keys++
	if p.delay == nil {
		return
	}
	for us := p.us(); us > 0; us = p.us() {
		select {
		case <-time.After(time.Duration(us) * time.Microsecond):
			return
		case <-p.stop:
			return
		case <-p.delay.changed:
		}
	}
}

// us returns how long the key at hand lasts, in microseconds.
func (p *Pace) us() int64 {
	us := p.delay.us.Load()
	if us < 0 && p.keys%-us == 0 {
		return 1
	}
	return us
}
