package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The machine's clock shows 1700000000000, and the server's is a minute ahead.
func TestTimesByAClientsClockAreFound(t *testing.T) {
	const (
		lock  = "clock-of-the-client lock:a 9701"
		queue = "clock-of-the-client queue 9701"
	)
	for _, c := range []struct {
		what, history string
		want          []string
	}{
		{"PXAT", "1700000060000 a1 SET lock:a 0123456789abcdef NX PXAT 1700000089995 = OK", []string{lock}},
		{"EXAT", "1700000060000 a1 SET lock:a 0123456789abcdef NX EXAT 1700000090 = OK", []string{lock}},
		{"over at once", "1700000060000 a1 SET lock:a 0123456789abcdef NX PXAT 1700000030000 = OK", []string{lock}},
		{"PEXPIREAT", "1700000060000 a1 SET lock:a 0123456789abcdef NX PX 3000 = OK\n" +
			"1700000060001 a1 PEXPIREAT lock:a 1700000089995 = 1", []string{lock}},
		{"GETEX", "1700000060000 a1 SET lock:a 0123456789abcdef NX PX 3000 = OK\n" +
			"1700000060001 a1 GETEX lock:a EXAT 1700000090 = 0123456789abcdef", []string{lock}},
		{"SET XX", "1700000060000 a1 SET lock:a 0123456789abcdef NX PX 3000 = OK\n" +
			"1700000060001 a1 SET lock:a 0123456789abcdef XX PXAT 1700000089995 = OK", []string{lock}},
		{"scores in ms", "1700000060000 a1 ZADD queue 1700000005000 job = 1", []string{queue}},
		{"scores in s", "1700000060000 a1 ZADD queue NX 1700000000.25 job = 1", []string{queue}},
		{"scores in ms, with a counter", "1700000060000 a1 > ZADD queue 6963200004096007 job = 1\n" +
			"1700000060000 a1 EVALSHA abc 1 queue = 1", []string{queue}},

		{"PX", "1700000060000 a1 SET lock:a 0123456789abcdef NX PX 30000 = OK", nil},
		{"of a cache", "1700000060000 a1 SET page:1 hello NX PXAT 1700000089995 = OK", nil},
		{"of a client that asks for the time", "1700000060000 a2 TIME = 1\n" +
			"1700000060000 a1 SET lock:a 0123456789abcdef NX PXAT 1700000089995 = OK", nil},
		{"in a script that asks for the time", "1700000060000 a1 > TIME = 1\n" +
			"1700000060000 a1 > SET lock:a 0123456789abcdef NX PXAT 1700000089995 = OK\n" +
			"1700000060000 a1 EVALSHA abc 1 lock:a 0123456789abcdef = 1", nil},
		{"of a test that has set the clock", "1700000060000 a1 SET lock:a 0123456789abcdef NX PXAT 1700000090000 = OK", nil},
		{"of a client that knows the time", "1700000060000 a1 SET lock:a 0123456789abcdef NX PXAT 1900000000000 = OK", nil},
		{"the clocks agree", "1700000000400 a1 SET lock:a 0123456789abcdef NX PXAT 1700000030000 = OK\n" +
			"1700000000400 a1 ZADD queue 1700000005000 job = 1", nil},
		{"a ranking", "1700000060000 a1 ZADD ranking GT CH 4711 alice 1700000005000 bob = 1", nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			d := New(nil, nil, 0)
			d.ClockMoved(1700000000000, 1700000060000, false)
			for _, line := range strings.Split(c.history, "\n") {
				playAs(t, d, line, Event{Real: 1700000000000})
			}
			require.Equal(t, append([]string{}, c.want...), found(d, 1700000060001))
		})
	}
}
