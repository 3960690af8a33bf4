package lab

import (
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labreply"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/server"
)

// LAB HOLD replaces sleeps in tests. A rule parks a client before its request is executed. The test
// waits until that has happened, does what has to happen meanwhile, and releases the client:
//
//	test                          server                    client
//	LAB FAULT ADD slow ... HOLD ───>
//	LAB HOLD WAIT slow 5000 ───────> (the test waits)
//	                               parked <──────────────── EVALSHA unlock
//	<───────── the parked request
//	LAB CLOCK ADVANCE 30000 ───────> the lock expires
//	LAB HOLD RELEASE slow ─────────> executed ─────────────> (integer) 0

func holdRows() []command.Row {
	return []command.Row{
		wordsRow("hold", "(WAIT name:string timeout-milliseconds:integer [clients:integer]) | "+
			"(RELEASE name:string [clients:integer]) | LIST",
			-2, "O(N) where N is the number of parked clients",
			"Waits until a rule holds clients, releases them, or lists them.",
			labWord{"WAIT", 2, 3, command.AllowBusy, (*State).holdWait},
			labWord{"RELEASE", 1, 2, command.AllowBusy, (*State).holdRelease},
			labWord{"LIST", 0, 0, command.AllowBusy, (*State).holdList}),
	}
}

func (l *State) holdList(c *command.Call, _ [][]byte) error {
	c.Array(len(l.parked))
	for _, held := range l.parked {
		writeParked(held, c.Writer)
	}
	return nil
}

// holdRule finds the rule that a verb names.
func (l *State) holdRule(verb string, arg []byte) (*lab.Rule, error) {
	r := l.plan.Find(string(arg))
	switch {
	case r == nil:
		return nil, labError(verb, "there is no rule '%s'", printable(arg))
	case r.Action != lab.Hold:
		return nil, labError(verb, "the rule '%s' does not hold: its ACTION is %s", r.Name, r.Action)
	}
	return r, nil
}

// labNumber reads a number from args[at]. The default is least.
func labNumber(verb, what string, args [][]byte, at int, least int64) (int64, error) {
	if at >= len(args) {
		return least, nil
	}
	n, ok := ascii.ParseInt(args[at])
	if !ok || n < least || n > lab.MaxMillis {
		return 0, labError(verb, "%s expects a number from %d to %d, not '%s'",
			what, least, int64(lab.MaxMillis), printable(args[at]))
	}
	return n, nil
}

// barrier is one LAB HOLD WAIT that waits.
type barrier struct {
	rule    string
	clients int
	c       *server.Client
	request int64 // the number of c's request

	timer    *reactor.Timer // nil for no timeout
	deadline int64          // of timer, in monotonic ns
}

// waits reports whether b's client still waits: CLIENT UNBLOCK may have ended that.
func (b *barrier) waits() bool {
	return !b.c.Closed && b.c.Sess.Hold == command.Blocked && b.c.Sess.Commands == b.request
}

func (l *State) holdWait(c *command.Call, args [][]byte) error {
	const verb = "hold wait"
	r, err := l.holdRule(verb, args[0])
	if err != nil {
		return err
	}
	ms, err := labNumber(verb, "timeout-milliseconds", args, 1, 0)
	if err != nil {
		return err
	}
	n, err := labNumber(verb, "clients", args, 2, 1)
	if err != nil {
		return err
	}
	if held := l.parkedBy(r.Name); int64(len(held)) >= n {
		writeParked(held[n-1], c.Writer)
		return nil
	}
	c.Await((*resp.Writer).NullArray)
	b := &barrier{rule: r.Name, clients: int(n), c: l.Running, request: c.Sess.Commands}
	l.barriers = append(slices.DeleteFunc(l.barriers, (*barrier).over), b)
	if ms > 0 { // in real time: the lab's clock may stand still
		b.deadline = l.Ex.Clock.Mono() + ms*int64(time.Millisecond)
		b.timer = l.Loop.At(b.deadline, func() time.Duration {
			l.endInVain(b)
			return 0
		})
	}
	return nil
}

// endOverdue ends the waits whose time is over. It is for slow scripts: no timer runs meanwhile, but a
// test must not hang because of the script.
func (l *State) endOverdue() {
	now := l.Ex.Clock.Mono()
	overdue := func(b *barrier) bool { return b.timer != nil && b.deadline <= now }
	for {
		at := slices.IndexFunc(l.barriers, overdue)
		if at < 0 {
			return
		}
		l.endInVain(l.barriers[at])
	}
}

// endInVain ends a wait whose time is over. A test that takes connections from a pool may send LAB
// over one of them. Rules never hold that connection later. If the rule met only such a client, the
// reply says so.
func (l *State) endInVain(b *barrier) {
	reply := (*resp.Writer).NullArray
	if r := l.plan.Find(b.rule); r != nil && r.Spared != 0 && r.Fired == 0 {
		err := labError("hold wait", "the rule '%s' has met only client %d, which has sent LAB: "+
			"such a connection is never held; send LAB over a connection of its own", r.Name, r.Spared)
		reply = func(w *resp.Writer) { w.Error(err.Error()) }
	}
	l.endBarrier(b, reply)
}

// over reports whether b waits no more.
func (b *barrier) over() bool { return !b.waits() }

// endBarrier ends the wait of b's client with a reply.
func (l *State) endBarrier(b *barrier, reply func(*resp.Writer)) {
	l.barriers = slices.DeleteFunc(l.barriers, func(other *barrier) bool { return other == b })
	if b.timer != nil {
		l.Loop.Cancel(b.timer)
	}
	if b.waits() {
		l.Ex.Answer(&b.c.Sess, reply)
	}
}

// endBarriers ends every wait for a rule that was removed.
func (l *State) endBarriers(rule string) {
	for _, b := range slices.Clone(l.barriers) {
		if b.rule == rule {
			l.endBarrier(b, (*resp.Writer).NullArray)
		}
	}
}

// holdRelease releases parked clients. Its reply is written together with theirs: after their requests
// were executed, or from within a slow script among them. If a released script never ends, the caller
// still gets its reply and can send SCRIPT KILL.
func (l *State) holdRelease(c *command.Call, args [][]byte) error {
	const verb = "hold release"
	r, err := l.holdRule(verb, args[0])
	if err != nil {
		return err
	}
	n := int64(len(l.parkedBy(r.Name)))
	if len(args) > 1 {
		most, err := labNumber(verb, "clients", args, 1, 1)
		if err != nil {
			return err
		}
		n = min(n, most)
	}
	l.unpark(r.Name, int(n))
	c.Int(n)
	return nil
}

// park puts the request of c back: until LAB HOLD RELEASE, or for the time in the rule.
func (l *State) park(c *server.Client, args [][]byte) {
	f := Of(c).Fault
	f.Decided, f.parked, f.words = true, true, lab.Words(args)
	c.Unread()
	c.Sess.Hold = command.Stopped
	if f.Rule.Action == lab.DelayExec {
		l.noteRule(c, f.words, lab.Delayed)
		f.timer = l.After(time.Duration(f.Rule.Millis)*time.Millisecond, func() {
			f.timer, f.parked = nil, false
			l.Release(c)
		})
		return
	}
	l.noteRule(c, f.words, lab.Held)
	l.parked = append(l.parked, c)
	held := l.parkedBy(f.Rule.Name)
	for _, b := range slices.Clone(l.barriers) {
		if b.rule == f.Rule.Name && len(held) >= b.clients {
			l.endBarrier(b, func(w *resp.Writer) { writeParked(held[b.clients-1], w) })
		}
	}
}

// parkedBy returns the clients that a rule holds, oldest first.
func (l *State) parkedBy(rule string) (held []*server.Client) {
	for _, c := range l.parked {
		if Of(c).Fault.Rule.Name == rule && !c.Closed {
			held = append(held, c)
		}
	}
	return held
}

// unpark releases the first n clients that a rule holds.
func (l *State) unpark(rule string, n int) {
	for _, c := range l.parkedBy(rule)[:n] {
		l.parked = slices.DeleteFunc(l.parked, func(p *server.Client) bool { return p == c })
		Of(c).Fault.parked = false
		l.Release(c)
	}
}

// writeParked writes a parked client as a reply.
func writeParked(c *server.Client, w *resp.Writer) {
	f := Of(c).Fault
	labreply.Held(w, c.Sess.ID, c.Sess.Name, f.Rule.Name, f.words, f.key)
}
