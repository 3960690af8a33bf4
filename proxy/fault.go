package proxy

import (
	"bytes"
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// The faults of requests. Each request of a client has a number, and so has its reply:
//
//	gate: a rule fires for a request, or none does
//	    │    DROP-BEFORE RESET-BEFORE    the connection ends in the place of the reply
//	    │    ERROR                       the reply is made here
//	    │    HOLD DELAY-EXEC             the request and all behind it wait in the pair
//	    │    others                      the request goes to the upstream, and its reply is due
//	    v
//	deliver: at the reply with the number
//	         DROP-REPLY RESET-AFTER SILENT CUT ERROR-AFTER
//	         DELAY-REPLY BANDWIDTH JITTER SLICE: lets (slow.go)
//
// While no rule exists, the requests go past in their own bytes. While one does, each goes past as an array of strings,
// which is how clients write them anyway, and no request is sent before it is whole.

// due is a request whose reply is not just passed on.
type due struct {
	number int64
	rule   *lab.Rule // nil for LAB
	entry  lab.Entry // of the log, without the reply

	here   bool                      // the reply is made here: the upstream has not got the request
	ready  bool                      // and it is there
	reply  []byte                    // made here, or what has come so far of the upstream's
	passed int                       // how much of the upstream's reply the client got
	learn  func(reply []byte) []byte // makes the client's reply of the upstream's, nil if none does
	hears  func(reply []byte)        // is told the upstream's reply, nil if nobody asks for it
	ends   ending                    // for a connection that ends here: how
	cuts   bool

	slow slow
	past bool // the log has it by the turn, or LAB RESET has emptied the log since
}

// parked is the request that a pair does not send yet.
type parked struct {
	rule  *lab.Rule
	words []string
	key   string
	timer *reactor.Timer // of DELAY-EXEC
}

// longestReply is how much of a reply the log and LAB look at.
const longestReply = 4 << 20

// gateAll decides on the requests of a batch behind the first ones that have gone already. It returns the bytes for the
// upstream, and the requests that have to wait.
func (c *pair) gateAll(b *resp.Batch, gone int) (out, rest []byte) {
	for i := gone; i < b.Len(); i++ {
		if c.isStopped() || c.waitsForTurn() {
			rest = resp.AppendRequest(rest, b.Args(i)...)
		} else if sent, goes := c.gate(b.Args(i)); goes {
			out = append(out, sent...)
		} else {
			rest = resp.AppendRequest(rest, b.Args(i)...)
		}
	}
	return out, rest
}

// isStopped reports whether the requests of a client wait, or are never sent.
func (c *pair) isStopped() bool { return c.parked != nil || c.asking || c.last }

// waits reports whether the action lets a request wait before it is sent.
func waits(a lab.Action) bool { return a == lab.Hold || a == lab.DelayExec }

// isLast reports whether no request is executed after one that the action has struck.
func isLast(a lab.Action) bool {
	switch a {
	case lab.DropBefore, lab.ResetBefore, lab.DropReply, lab.ResetAfter, lab.Cut, lab.Silent:
		return true
	}
	return false
}

// gate decides on one request. It returns the bytes for the upstream. goes is false for a request that waits.
func (c *pair) gate(args [][]byte) (sent []byte, goes bool) {
	l := &c.up.lab
	decided := c.decided
	c.decided = nil
	if isLab(args) && !c.unpaired {
		c.asked++
		if sent = l.execute(c, args); sent != nil {
			c.names.asks(nil)
		}
		return sent, true
	}
	var r *lab.Rule
	key := ""
	switch {
	case decided != nil:
		r, key = decided.rule, decided.key
	case l.plan.OnRequests() && !c.unpaired:
		q := l.request(&c.session, args)
		if q == nil {
			break
		}
		if r = l.plan.Request(q); r != nil {
			key = keyOf(q)
		}
		if r != nil && waits(r.Action) {
			l.park(c, r, args, key)
			return nil, false
		}
	}
	if executes(r) && !c.unpaired && (!c.up.turn.takes(c) || c.granted && !l.prepares(c, args, r, key)) {
		c.decided = &parked{rule: r, key: key}
		return nil, false
	}
	c.passesBy(args)
	l.hears(args)
	if l.isWatching() && c.queues(args) {
		c.inside = append(c.inside, l.queue(c, args))
	}
	db := c.dbOf(args)
	hears := c.tracks(args, r)
	c.renamed()
	if c.granted {
		c.up.turn.sent(c, l.mayBlock(args))
	}
	if executes(r) {
		c.names.asks(args)
	}
	if r == nil {
		c.expects(hears)
		return resp.AppendRequest(nil, args...), true
	}
	d := &due{number: c.asked, rule: r, hears: hears, entry: l.entry(c, r.Name, args, key), past: c.under != nil}
	d.entry.DB = db
	c.due = append(c.due, d)
	c.last = isLast(r.Action)
	if r.Action == lab.Error && c.multi && ascii.EqualFold(args[0], "exec") {
		return c.discardsInstead(d), true
	}
	switch r.Action {
	case lab.DropBefore, lab.ResetBefore:
		d.here, d.ready, d.cuts, d.ends = true, true, true, endingOf(r)
	case lab.Error:
		w := c.writer()
		w.Error(r.Text)
		d.here, d.ready, d.reply = true, true, w.Buf
	default:
		return resp.AppendRequest(nil, args...), true
	}
	c.replies.later()
	d.entry.Outcome = lab.NotExecuted
	if r.Action == lab.Error {
		d.entry.Reply, d.entry.Kind = lab.Reply(d.reply), lab.Kind(d.reply)
	}
	l.log.Add(d.entry)
	return nil, true
}

func endingOf(r *lab.Rule) ending {
	if r.Action == lab.ResetBefore || r.Action == lab.ResetAfter {
		return reset
	}
	return drained
}

// keyOf returns the key that the log shows for a request.
func keyOf(q *lab.Request) string {
	for _, call := range q.Calls {
		if len(call.Keys) > 0 {
			return lab.Printable(string(call.Keys[0]))
		}
	}
	return ""
}

// deliver passes replies on. It returns the bytes for the client, and those that have to wait.
func (c *pair) deliver(in []byte) (out, rest []byte, err error) {
	for {
		if c.silent {
			return out, nil, nil
		}
		d := c.next()
		if d != nil && d.here && c.cutter.Inside() == 0 {
			if !d.ready {
				return out, in, nil
			}
			n := c.lets(d, len(d.reply)-d.passed)
			out = append(out, d.reply[d.passed:d.passed+n]...)
			d.goes(n)
			switch d.passed += n; {
			case n == 0 && len(d.reply) > 0:
				return out, in, nil
			case d.passed < len(d.reply):
				continue
			}
			if c.finished(d); d.cuts {
				c.leave(d.ends)
				return out, nil, nil
			}
			continue
		}
		if len(in) == 0 {
			return out, nil, nil
		}
		may := len(in)
		if d != nil {
			if may = c.lets(d, len(in)); may == 0 {
				return out, in, nil
			}
		}
		n, kind, err := c.cutter.Cut(in[:may])
		d.goes(n)
		if err != nil {
			return out, nil, err
		}
		piece := in[:n]
		in = in[n:]
		push := c.cutter.Inside() == '>' || kind == '>'
		switch {
		case push || d == nil || d.here:
			out = append(out, piece...)
			if kind != 0 && !push {
				c.answered++
			}
		default:
			out = c.passPart(d, out, piece)
			if kind != 0 {
				out = c.replied(d, out)
				if d.cuts {
					c.leave(d.ends)
					return out, nil, nil
				}
			}
		}
		if kind != 0 {
			c.proved()
		}
	}
}

// next returns what is due with the next reply, or nil. Inside a reply that is the reply's own.
func (c *pair) next() *due {
	if len(c.due) > 0 && c.due[0].number == c.answered+1 {
		return c.due[0]
	}
	return nil
}

// passPart takes a part of a reply that is due, and passes on what the client may get.
func (c *pair) passPart(d *due, out, piece []byte) []byte {
	if len(d.reply)+len(piece) <= longestReply {
		d.reply = append(d.reply, piece...)
	}
	switch {
	case d.learn != nil:
		return out
	case d.rule == nil:
		return append(out, piece...)
	}
	switch d.rule.Action {
	case lab.Cut:
		piece = piece[:min(len(piece), int(d.rule.Bytes)-d.passed)]
	default:
		if !passes(d.rule.Action) {
			return out
		}
	}
	d.passed += len(piece)
	return append(out, piece...)
}

// replied ends a reply that is due: it logs the request, and does what its rule says.
func (c *pair) replied(d *due, out []byte) []byte {
	if d.hears != nil {
		d.hears(d.reply)
	}
	if d.rule == nil {
		if c.finished(d); d.learn != nil {
			out = append(out, d.learn(d.reply)...)
		}
		return out
	}
	d.entry.Outcome = lab.OutcomeOf(d.rule, d.reply, true)
	d.entry.Reply, d.entry.Kind = lab.Reply(d.reply), lab.Kind(d.reply)
	if !d.past {
		c.up.lab.log.Add(d.entry)
	}
	if d.rule.Action == lab.ErrorAfter {
		w := c.writer()
		w.Error(d.rule.Text)
		d.here, d.ready, d.reply = true, true, w.Buf
		return out
	}
	c.finished(d)
	switch {
	case d.rule.Action == lab.Silent:
		c.silent = true
	case !passes(d.rule.Action):
		d.cuts, d.ends = true, endingOf(d.rule)
	}
	return out
}

func (c *pair) finished(d *due) {
	c.answered++
	c.due[0] = nil
	c.due = c.due[1:]
}

// leave ends the pair once the client has got what is written.
func (c *pair) leave(how ending) {
	c.requests.stop()
	c.replies.stop()
	c.replies.ends = how
}

// park lets a request wait: for LAB HOLD RELEASE, or for the time in the rule.
func (l *labState) park(c *pair, r *lab.Rule, args [][]byte, key string) {
	c.parked = &parked{rule: r, words: lab.Words(args), key: key}
	e := l.entry(c, r.Name, args, key)
	if e.Outcome = lab.Held; r.Action == lab.DelayExec {
		e.Outcome = lab.Delayed
		c.parked.timer = l.p.loop.After(time.Duration(r.Millis)*time.Millisecond, func() time.Duration {
			c.unpark()
			return 0
		})
	}
	l.log.Add(e)
	if r.Action == lab.Hold {
		l.held = append(l.held, c)
		l.endWaits(r.Name)
	}
}

// unpark lets the requests go on. No rule looks at the first one again.
func (c *pair) unpark() {
	c.decided = c.parked
	c.forgetParked()
	c.requests.later()
}

// forgetParked takes a pair out of what waits.
func (c *pair) forgetParked() {
	if c.parked == nil {
		return
	}
	if c.parked.timer != nil {
		c.p.loop.Cancel(c.parked.timer)
	}
	c.parked = nil
	c.up.lab.held = slices.DeleteFunc(c.up.lab.held, func(other *pair) bool { return other == c })
}

// entry begins an entry of the log.
func (l *labState) entry(c *pair, event string, args [][]byte, key string) lab.Entry {
	return lab.Entry{Time: l.ledger.now(), Mono: monotonic(), Client: c.id, Name: lab.Printable(c.name), Event: event,
		Cmd: lab.Words(args), Key: key, DB: c.dbOf(args)}
}

// isGated reports whether requests have to be decided on, one by one.
func (c *pair) isGated(b *resp.Batch) bool {
	return !c.unpaired && (!c.up.turn.free || c.up.lab.plan.OnRequests() || c.decided != nil || hasLab(b))
}

// hasLab reports whether a batch has LAB.
func hasLab(b *resp.Batch) bool {
	for i := range b.Len() {
		if isLab(b.Args(i)) {
			return true
		}
	}
	return false
}

// firstEnd returns where the first request of buf ends, 0 if nothing shows that.
func firstEnd(buf []byte) int {
	var first resp.Cutter
	if !bytes.HasPrefix(buf, []byte("*")) {
		return bytes.IndexByte(buf, '\n') + 1
	}
	n, kind, err := first.Cut(buf)
	if kind == 0 || err != nil {
		return 0
	}
	return n
}
