package miniredistest

import (
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// Clock is the clock of one server or of several. It drives TTLs, TIME, scripts, blocking commands,
// CLIENT PAUSE, and the delays of rules and crashes.
type Clock struct{ of []*Server }

// Clock returns the clock of s.
func (s *Server) Clock() Clock { return Clock{[]*Server{s}} }

// Clock returns the clocks of all masters. They move together: for AssertOneHolder, time passes. If
// only one master's clock moves, that clock jumps.
func (m Masters) Clock() Clock { return Clock{m} }

// begin sets the clocks as the options ask for. Then the history begins with the test.
func (m Masters) begin(o options) {
	m[0].t.Helper()
	if o.frozen {
		m.Clock().Freeze()
	}
	if !o.at.IsZero() {
		m.Clock().Set(o.at)
	}
	if o.frozen || !o.at.IsZero() {
		for _, s := range m {
			s.ResetLog()
		}
	}
}

// Now returns the time of the clock, in whole milliseconds. With several servers it is the first
// one's.
func (c Clock) Now() time.Time {
	s := c.of[0]
	s.t.Helper()
	return time.UnixMilli(field(s.lab("CLOCK"), "unix-ms").Int)
}

// Freeze stops the clock. Advance and Set still work.
func (c Clock) Freeze() { c.each("FREEZE") }

// Run lets the clock run again.
func (c Clock) Run() { c.each("RUN") }

// Set moves the clock to t. Forwards it does the same as Advance. Backwards nothing happens, and
// leases last longer: so does a machine whose clock is corrected.
func (c Clock) Set(t time.Time) { c.each("SET", strconv.FormatInt(t.UnixMilli(), 10)) }

// Rate lets the clock run factor times as fast as real time.
func (c Clock) Rate(factor float64) {
	c.each("RATE", strconv.FormatFloat(factor, 'f', -1, 64))
}

// Advance moves the clock on by d, whole milliseconds, and returns the number of keys that expired.
// The clock may run or stand still. Everything that is due happens in order and at its time: keys
// expire, and blocked clients time out and go on. When Advance returns, the server has written all
// replies to their sockets.
func (c Clock) Advance(d time.Duration) (expired int) {
	t := c.of[0].t
	t.Helper()
	if d < 0 || d%time.Millisecond != 0 {
		t.Fatalf("Clock().Advance(%v): d must be whole milliseconds, and not negative; Set can go back", d)
	}
	for _, v := range c.each("ADVANCE", millis(d)) {
		expired += int(v.Int)
	}
	return expired
}

// each sends LAB CLOCK to all servers of c, by one LAB ALL if they are all that there are. That reaches Sentinels, too.
func (c Clock) each(args ...string) []resp.Value {
	first := c.of[0]
	first.t.Helper()
	verb := append([]string{"CLOCK"}, args...)
	if len(first.in.servers) > 1 && len(c.of) == len(first.in.nodes) {
		replies := first.lab(append([]string{"ALL"}, verb...)...).Elems
		for i, v := range replies {
			if v.Kind == '-' {
				first.t.Fatalf("%sLAB %s: %s", first.in.names[i], strings.Join(verb, " "), v.Str)
			}
		}
		return replies
	}
	replies := make([]resp.Value, len(c.of))
	for i, s := range c.of {
		s.t.Helper()
		replies[i] = s.lab(verb...)
	}
	return replies
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
