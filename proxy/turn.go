package proxy

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// With --order exact, one request at a time is under way to an upstream:
//
//	gate: a whole request ── takes ──> the pairs that wait, oldest first
//	    │ the turn is there
//	    ├── sent ──> upstream
//	    │<── took: its reply has come ── over ──> the next pair
//
// So the requests are executed in the order in which they have the turn. A request that waits must not keep the turn:
// one that may block leaves it soon, and any other one later. A client that takes no replies does not get the turn.

// turn says whose request goes to an upstream next.
type turn struct {
	u     *upstream
	loop  *reactor.Loop
	free  bool // --order free: nobody needs the turn
	now   *underway
	count int     // requests that were sent
	queue []claim // oldest first
}

// claim waits for the turn: a pair, or a job of the proxy itself.
type claim struct {
	c   *pair
	job func(u *underway) // ends the turn when it is done
}

// underway is a request that has the turn, or that has left it and has no reply yet.
type underway struct {
	*touch       // nil if the log needs nothing of the request
	c      *pair // nil for a job of the proxy
	cutter resp.Cutter
	size   int // bytes that have come since the request was sent
	timer  *reactor.Timer
	blocks bool
	left   bool // the turn is somebody else's
	others int  // requests that had been sent when it left

	answered  bool // the keys are looked at again
	isLate    bool // others were executed before the reply came
	forgotten bool // LAB RESET has emptied the log since
}

// How long a request keeps the turn without a reply.
const (
	patience      = time.Second
	shortPatience = 10 * time.Millisecond // of a request that may block
)

// takes reports whether a pair may send its next request. If not, the pair looks at the request again when it may.
func (t *turn) takes(c *pair) bool {
	switch {
	case t.free || c.granted:
		return true
	case !c.isSettled():
		c.stalled = true
		return false
	case t.now != nil || len(t.queue) > 0:
		c.queued = true
		t.queue = append(t.queue, claim{c: c})
		return false
	}
	t.grant(c)
	return true
}

func (t *turn) grant(c *pair) {
	c.queued, c.granted = false, true
	t.now = &underway{c: c}
}

// does does a job of the proxy when its turn has come.
func (t *turn) does(job func(u *underway)) {
	t.queue = append(t.queue, claim{job: job})
	if t.now == nil {
		t.next()
	}
}

// sent starts to wait for the reply to the request of the pair that has the turn. It has none if nothing shows which
// reply is whose.
func (t *turn) sent(c *pair, blocks bool) {
	u := t.now
	c.granted, c.under, u.blocks = false, u, blocks
	t.count++
	if c.unpaired {
		t.over(u)
		return
	}
	limit := patience
	if blocks {
		limit = shortPatience
	}
	u.timer = t.loop.After(limit, func() time.Duration {
		t.leave(u)
		return 0
	})
}

// leave lets others go on while a request has no reply.
func (t *turn) leave(u *underway) {
	u.left, u.others = true, t.count
	t.u.lab.left = append(t.u.lab.left, u)
	if u.c.dying {
		u.c.end(u.c.ending)
		return
	}
	t.next()
}

// over ends the wait for a reply.
func (t *turn) over(u *underway) {
	if u.timer != nil {
		t.loop.Cancel(u.timer)
	}
	if l := &t.u.lab; u.left {
		l.left = slices.DeleteFunc(l.left, func(other *underway) bool { return other == u })
	}
	if c := u.c; c != nil {
		c.under = nil
		c.requests.later()
		if len(c.kept) > 0 {
			c.waiting, c.kept = append(c.waiting, c.kept...), nil
			c.replies.later()
		}
	}
	if t.now == u {
		t.next()
	}
	if u.c != nil && u.c.dying {
		u.c.end(u.c.ending)
	}
}

// next gives the turn to the pair that has waited longest.
func (t *turn) next() {
	t.now = nil
	if len(t.queue) > 0 {
		first := t.queue[0]
		t.queue = slices.Delete(t.queue, 0, 1)
		if first.c == nil {
			t.now = &underway{}
			first.job(t.now)
			return
		}
		t.grant(first.c)
		first.c.requests.later()
	}
}

// forget is for a pair that has ended.
func (t *turn) forget(c *pair) {
	t.queue = slices.DeleteFunc(t.queue, func(other claim) bool { return other.c == c })
	u := c.under
	c.under = nil
	switch {
	case u != nil && u.answered: // its look comes
	case u != nil:
		t.u.lab.ends(u)
	case t.now != nil && t.now.c == c:
		t.next()
	}
}

// took looks at bytes that have come from the upstream, and reports whether the reply is whole. Bytes that nobody can
// read end the wait as well.
func (u *underway) took(buf []byte) (whole bool) {
	u.size += len(buf)
	for len(buf) > 0 {
		n, kind, err := u.cutter.Cut(buf)
		if push := u.cutter.Inside() == '>' || kind == '>'; u.touch != nil && !push {
			u.reply = append(u.reply, buf[:n]...)
		}
		if err != nil || kind != 0 && kind != '>' {
			return true
		}
		buf = buf[n:]
	}
	return false
}

// isExecuted reports whether a reply has begun: the upstream writes none before it has executed the request.
func (u *underway) isExecuted() bool { return u.cutter.Inside() != 0 && u.cutter.Inside() != '>' }

// isSettled reports whether the client has got, or gets, all replies so far.
func (c *pair) isSettled() bool {
	return c.under == nil && len(c.waiting) == 0 && !c.replies.full && c.cutter.Inside() == 0
}

// settle lets the requests go on that have waited for the client to take its replies. A large reply, or one that the
// client does not take yet, is the end of a turn as soon as it has begun.
func (c *pair) settle() {
	u, slow := c.under, c.replies.full || len(c.waiting) > 0
	if u != nil && u.touch == nil && u.isExecuted() && (u.size > chunk || slow) {
		c.up.turn.over(u)
	}
	if c.stalled && c.isSettled() {
		c.stalled = false
		c.requests.later()
	}
}

// waitsForTurn reports whether the requests of a client wait for others, and for nothing else.
func (c *pair) waitsForTurn() bool { return !c.inLarge && (c.queued || c.stalled || c.under != nil) }

// dies lets a client that is gone wait for the reply to its request: the next one must not be executed before it. It
// reports whether there is such a reply.
func (c *pair) dies(how ending) bool {
	if c.under == nil || c.under.left || c.replies.over || c.dying {
		return false
	}
	c.dying, c.ending = true, how
	c.p.loop.Unwatch(c.client, reactor.Readable|reactor.Writable|reactor.HangUp)
	c.replies.release()
	c.replies.sent, c.replies.done, c.replies.full, c.waiting = 0, 0, false, nil
	c.replies.rewatch()
	return true
}

// executes reports whether a request is sent that a rule has struck; nil is no rule.
func executes(r *lab.Rule) bool {
	return r == nil || r.Action != lab.DropBefore && r.Action != lab.ResetBefore && r.Action != lab.Error
}

// mayBlock reports whether a command may wait for others before it replies.
func (l *labState) mayBlock(args [][]byte) bool {
	if cmd := l.table.find(args); cmd != nil && cmd.blocks {
		return true
	}
	return slices.ContainsFunc([]string{
		"blmove", "blmpop", "blpop", "brpop", "brpoplpush", "bzmpop", "bzpopmax", "bzpopmin", "wait", "waitaof", "xread",
		"xreadgroup",
	}, func(name string) bool { return ascii.EqualFold(args[0], name) })
}
