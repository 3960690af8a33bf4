package proxy

import (
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
)

// slow is how much may go of a reply that rules make late or slow. The bytes that may not go yet wait in the pair,
// which reads nothing of the upstream meanwhile. So a slow client costs no memory.
type slow struct {
	timer  *reactor.Timer
	began  int64 // ns: the delay is over since then, and the time of the pieces counts; 0 before
	pieces int   // whose time has come
	may    int   // bytes of them that have not gone
	over   bool  // all may go
}

// passes reports whether a client gets the upstream's reply to a request that the action has struck.
func passes(a lab.Action) bool { return a == lab.DelayReply || waits(a) || a.OnLine() }

// lets returns how many of n bytes of a reply may go to the client now. It starts the time of the next ones.
func (c *pair) lets(d *due, n int) int {
	s := &d.slow
	switch {
	case n == 0, s.over, d.rule == nil, d.rule.Pace == lab.Pace{}:
		return n
	case d.here || passes(d.rule.Action) || d.rule.Action == lab.Cut && d.passed < int(d.rule.Bytes):
	default: // the client does not get them
		return n
	}
	if s.may == 0 && s.timer == nil {
		c.slowDown(d)
	}
	if s.over {
		return n
	}
	return min(n, s.may)
}

// goes notes that n bytes of a reply have gone. d may be nil.
func (d *due) goes(n int) {
	if d != nil {
		d.slow.may = max(0, d.slow.may-n)
	}
}

// slowDown starts the time until the reply, or the next piece of it, goes.
func (c *pair) slowDown(d *due) {
	s, pace := &d.slow, d.rule.Pace
	wait := pace.Start
	if s.began != 0 {
		wait = max(0, pace.After(s.pieces)-time.Duration(monotonic()-s.began)*time.Microsecond)
	}
	s.timer = c.p.loop.After(wait, func() time.Duration {
		s.timer = nil
		if s.began == 0 {
			s.began, s.over = monotonic(), pace.IsWhole()
		} else {
			s.pieces, s.may = s.pieces+1, pace.Piece()
		}
		c.replies.again()
		return 0
	})
}

// hurry lets all of a reply go.
func (c *pair) hurry(d *due) {
	if d.slow.timer != nil {
		c.p.loop.Cancel(d.slow.timer)
		d.slow.timer = nil
	}
	d.slow.over = true
}
