package miniredistest

import (
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/resp"
)

// Clock is the time of one server or of several: that of TTLs, TIME, scripts, blocking
// commands, CLIENT PAUSE, and of rules and crashes that last.
type Clock struct{ of []*Server }

// Clock is the clock of s.
func (s *Server) Clock() Clock { return Clock{[]*Server{s}} }

// Clock moves the clocks of all masters together: then it is the time that passes, and not
// clocks that jump (AssertOneHolder tells them apart).
func (m Masters) Clock() Clock { return Clock{m} }

// Now is the time, of the first server where there are several.
func (c Clock) Now() time.Time {
	s := c.of[0]
	s.t.Helper()
	return time.UnixMilli(field(s.lab("CLOCK"), "unix-ms").Int)
}

// Freeze stops the clock.
func (c Clock) Freeze() { c.each("FREEZE") }

// Run lets it go on.
func (c Clock) Run() { c.each("RUN") }

// Set puts it to t. Forwards, everything happens that Advance would have happen; backwards,
// as when a machine's clock is put right, nothing does and leases become longer.
func (c Clock) Set(t time.Time) { c.each("SET", strconv.FormatInt(t.UnixMilli(), 10)) }

// Rate has it run so many times as fast as real time.
func (c Clock) Rate(factor float64) {
	c.each("RATE", strconv.FormatFloat(factor, 'f', -1, 64))
}

// Advance moves the clock on, whether it runs or stands still, and returns how many keys have
// expired by that. Everything due on the way happens in its order and at its time: keys
// expire, blocked clients time out and go on. All of that is on its way to the clients when
// Advance returns.
func (c Clock) Advance(d time.Duration) (expired int) {
	t := c.of[0].t
	t.Helper()
	if d < 0 || d%time.Millisecond != 0 {
		t.Fatalf("Clock().Advance(%v): wants whole milliseconds, and forwards; Set can go back", d)
	}
	for _, v := range c.each("ADVANCE", millis(d)) {
		expired += int(v.Int)
	}
	return expired
}

// each has all the servers do it, by one LAB ALL if they are all there is.
func (c Clock) each(args ...string) []resp.Value {
	first := c.of[0]
	first.t.Helper()
	verb := append([]string{"CLOCK"}, args...)
	if len(c.of) > 1 && len(c.of) == len(first.in.masters) {
		replies := first.lab(append([]string{"ALL"}, verb...)...).Elems
		for i, v := range replies {
			if v.Kind == '-' {
				first.t.Fatalf("%sLAB %s: %s", c.of[i].name, strings.Join(verb, " "), v.Str)
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
