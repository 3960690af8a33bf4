package trials

import (
	"time"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// How many trials may run for each job, with those that wait, and how many in all. There may be more of them as long as
// the system has memory.
const (
	mostWaiting = 4
	mostThrifty = 16
	mostTrials  = 256
)

// most returns how many trials may run. A program that may have to be alone is alone.
func (d *driver) most() int {
	switch {
	case d.Jobs <= 1:
		return 1
	case hasMemory():
		return min(mostThrifty*d.Jobs, mostTrials)
	}
	return min(mostWaiting*d.Jobs, mostTrials)
}

// enter notes that a trial begins. It wants a processor.
func (d *driver) enter(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy[id] = true
}

// leave notes that a trial is over.
func (d *driver) leave(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, id)
}

// turn notes whether a trial wants a processor.
func (d *driver) turn(id int, wants bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was, runs := d.busy[id]
	if !runs || was == wants {
		return // it is no trial of the loop, or is over
	}
	d.busy[id] = wants
	select {
	case d.turns <- struct{}{}:
	default: // the loop will look in any case
	}
}

// working returns how many trials want a processor.
func (d *driver) working() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, wants := range d.busy {
		if wants {
			n++
		}
	}
	return n
}

// idle is how little of a processor a program wants while it waits: one part of so many.
const idle = 4

// note notes whether the program wants a processor, by what it has used of the machine in the time that passed. Where
// the system does not tell, a program waits if it takes much longer than usual. Behind the program the judge works. A
// baseline keeps its place: no trial can begin before its end.
func (t *trial) note(u use, passed, all time.Duration) {
	if t.Kind == explore.Baseline {
		return
	}
	wants := idle*u.wanted >= passed
	if !u.known {
		wants = all < 2*t.Usual
	}
	select {
	case <-t.program.over:
		wants = true
	default:
	}
	t.turn(t.ID, wants)
}
