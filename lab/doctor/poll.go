package doctor

import (
	"fmt"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// attempts are those of many waiters of one lock that try for it again and again. Each of them may pause.
// A waiter that is woken by a release tries once or twice, and then waits for the next one. So only attempts that found
// the same hold again show that a waiter polls.
type attempts struct {
	first, last op
	n           int           // attempts
	again       map[int64]int // by connection: attempts that found the hold of an earlier one
	of          *hold
	tried       map[int64]bool // connections that have found this hold
}

const (
	manyWaiters = 10   // fewer waiters are no crowd
	mostWaiters = 256  // connections
	manyLast    = 1e9  // ns of attempts: a lock that passes quickly from hand to hand is no crowd
	manyGap     = 20e6 // ns between two attempts of anybody: 50 attempts a second
	manyPause   = 1e9  // ns without an attempt end a crowd
)

// passed returns the ns that have passed: by the clock that no test moves, or by the server's, whichever says more.
func (o op) passed(mono, time int64) int64 { return max(o.mono-mono, (o.time-time)*1e6) }

// polled counts an attempt to take a lock that another client holds.
func (d *Doctor) polled(o op, k holders.Key, h *hold) {
	c := d.polls.Get(k)
	if c == nil || o.passed(c.last.mono, c.last.time) > manyPause || len(c.tried) >= mostWaiters {
		c = &attempts{first: o, again: map[int64]int{}}
		d.polls.Put(k, c)
	}
	if c.of != h {
		c.of, c.tried = h, map[int64]bool{}
	}
	if c.tried[o.client] {
		c.again[o.client]++
	}
	c.n, c.last, c.tried[o.client] = c.n+1, o, true
	took := o.passed(c.first.mono, c.first.time)
	if took < manyLast {
		return
	}
	d.polls.Delete(k)
	waiters := 0
	for _, n := range c.again {
		if n > 1 {
			waiters++
		}
	}
	if waiters >= manyWaiters && took < int64(c.n)*manyGap && d.isLock(k, h) {
		why, fix := manyAdvice()
		all := fmt.Sprintf("%d connections tried %d times in %d ms", waiters, c.n, took/1e6)
		d.because(why, fix, Polling, k, o, h.taken, c.first.step(), o.step(), holders.Step{Time: o.time, Command: all})
	}
}

// manyAdvice returns the advice for Polling by many waiters.
func manyAdvice() (why, fix string) {
	return "many waiters try for one lock again and again: each of them may pause, but together they make more than " +
			"50 requests a second, and chance decides who gets the lock",
		"let the release wake one waiter: LPUSH and BLPOP, or a message to which the waiters subscribe; " +
			"or make the pause of a waiter longer with each attempt"
}
