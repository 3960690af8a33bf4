package doctor

import (
	"fmt"
	"strconv"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Times that a client reads from its own clock and sends: the end of a lease, the score of a delayed job. They are
// wrong if that clock and the server's differ. The server cannot see a client's clock. It differs for certain if
//
//   - a lease has ended when it begins,
//   - or a test has moved the server's clock, and the client, which has not asked for the TIME, sends one that fits the
//     clock of the machine.

// skewed is how many ms the clocks have to differ.
const skewed = 1000

// longest is the longest lease, and the longest delay of a job, that a time is taken for; in ms.
const longest = 24 * 3600 * 1000

// clockReason is why a time by a client's clock is wrong.
type clockReason int

const (
	otherTime clockReason = iota // the clocks differ
	overAtOnce
	scores
)

// clockAdvice is advice for ClientsClock.
func clockAdvice(r clockReason) (why, fix string) {
	switch r {
	case overAtOnce:
		return "the end of the lease is a time by the client's clock, and by the server's clock it was over: " +
				"the reply is OK, and there is no lock",
			"give a lease as a number of milliseconds: SET key token NX PX milliseconds, PEXPIRE key milliseconds"
	case scores:
		return "the scores are times by the clients' clocks, and a test has moved the server's clock: " +
				"what is due by the one is not due by the other",
			"let a script read the TIME of the server; or leave the server's clock alone in tests of this client"
	}
	return "the end of the lease is a time by the client's clock, and the server's clock shows another time: " +
			"the lease is not as long as the client believes",
		"give a lease as a number of milliseconds: SET key token NX PX milliseconds, PEXPIRE key milliseconds"
}

// absolute reports whether o gives the end of a lease as a time.
func (o op) absolute() bool {
	_, pxat := o.option("pxat")
	_, exat := o.option("exat")
	return pxat || exat || o.unit == "pxat" || o.unit == "exat"
}

// judgeTime looks at the end of a lease that a command has given as a time.
func (d *Doctor) judgeTime(o op, k holders.Key, until int64, token string) {
	if until == 0 || !o.absolute() || !d.isLock(k, &hold{value: token, until: until}) {
		return
	}
	switch left := until - o.real; {
	case until <= o.time:
		why, fix := clockAdvice(overAtOnce)
		d.because(why, fix, ClientsClock, k, o, o.step(), o.clocks(until))
	case o.skew() && left > 0 && left <= longest && !d.askedTime(o) && !o.knows(until):
		d.report(ClientsClock, k, o, o.step(), o.clocks(until))
	}
}

// knows reports whether a time is whole seconds away by the server's clock: a test that has set the clock gives such a
// lease. A time in seconds may always be.
func (o op) knows(at int64) bool {
	_, exat := o.option("exat")
	return (at-o.time)%1000 == 0 && !exat && o.unit != "exat"
}

// skew reports whether the server's clock shows another time than the machine's.
func (o op) skew() bool { return o.real != 0 && max(o.time-o.real, o.real-o.time) >= skewed }

// clocks compares a time that o has sent with the clocks.
func (o op) clocks(at int64) holders.Step {
	text := fmt.Sprintf("that is %+d ms by the server's clock", at-o.time)
	if o.real != 0 {
		text += fmt.Sprintf(", and %+d ms by the machine's", at-o.real)
	}
	return holders.Step{Time: o.time, Command: text}
}

// judgeScores looks for scores of a sorted set that are times by a client's clock, in seconds, in milliseconds, or in
// milliseconds with 12 bits for a counter.
func (d *Doctor) judgeScores(o op) {
	if o.name != "zadd" || !o.skew() || d.askedTime(o) {
		return
	}
	for _, word := range o.args[2:] {
		score, err := strconv.ParseFloat(word, 64)
		if err != nil {
			continue // an option
		}
		for _, ms := range []float64{score * 1000, score, score / 4096} {
			left := ms - float64(o.real)
			if left > -skewed && left <= longest && max(ms-float64(o.time), float64(o.time)-ms) >= skewed {
				why, fix := clockAdvice(scores)
				d.because(why, fix, ClientsClock, o.key(), o, o.step(), o.clocks(int64(ms)))
			}
		}
		return
	}
}

// asksTime notes that a client asks for the server's time.
func (d *Doctor) asksTime(o op) {
	c := d.client(o.client)
	c.asked, c.name = true, o.owner
}

// askedTime reports whether the client of o has asked for the server's time, perhaps over another connection.
func (d *Doctor) askedTime(o op) bool {
	for id, c := range d.clients.All() {
		if c.asked && (id == o.client || c.name != "" && c.name == o.owner) {
			return true
		}
	}
	return false
}
