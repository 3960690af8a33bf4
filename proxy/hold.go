package proxy

import (
	"fmt"
	"slices"
	"time"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/labreply"
	"github.com/miniredisd/miniredisd/reactor"
	"github.com/miniredisd/miniredisd/resp"
)

// wait is a LAB HOLD WAIT that has no reply yet.
type wait struct {
	c       *pair
	d       *due
	rule    string
	clients int
	timer   *reactor.Timer // nil for no timeout
}

// heldBy returns the pairs that a rule holds, oldest first.
func (l *labState) heldBy(rule string) (held []*pair) {
	for _, c := range l.held {
		if c.parked.rule.Name == rule {
			held = append(held, c)
		}
	}
	return held
}

func (c *pair) writeHeld(w *resp.Writer) {
	labreply.Held(w, c.id, c.name, c.parked.rule.Name, c.parked.words, c.parked.key)
}

func (l *labState) holdList(c *pair, d *due, _ [][]byte) []byte {
	l.answer(c, d, func(w *resp.Writer) {
		w.Array(len(l.held))
		for _, each := range l.held {
			each.writeHeld(w)
		}
	})
	return nil
}

// holdRule checks that a verb names a rule that holds, and reads the numbers behind it.
func (l *labState) holdRule(name string, args [][]byte, numbers ...string) (*lab.Rule, []int64, error) {
	r := l.plan.Find(string(args[0]))
	switch {
	case r == nil:
		return nil, nil, fmt.Errorf("there is no rule '%s'", lab.Printable(string(args[0])))
	case r.Action != lab.Hold:
		return nil, nil, fmt.Errorf("the rule '%s' does not hold: its ACTION is %s", r.Name, r.Action)
	}
	var all []int64
	for i, arg := range args[1:] {
		n, isNumber := ascii.ParseInt(arg)
		if !isNumber || n < 0 || n > lab.MaxMillis {
			return nil, nil, fmt.Errorf("%s expects a number from 0 to %d, not '%s'", numbers[i], int64(lab.MaxMillis),
				lab.Printable(string(arg)))
		}
		all = append(all, n)
	}
	return r, all, nil
}

func (l *labState) holdRelease(c *pair, d *due, args [][]byte) []byte {
	r, numbers, err := l.holdRule("hold release", args, "clients")
	if err != nil {
		l.fail(c, d, "hold release", "%v", err)
		return nil
	}
	most := len(l.held)
	if len(numbers) > 0 {
		most = int(min(numbers[0], int64(most)))
	}
	n := l.release(r.Name, most)
	l.answer(c, d, func(w *resp.Writer) { w.Int(int64(n)) })
	return nil
}

// release lets the first clients go on that a rule holds. It returns their number.
func (l *labState) release(rule string, most int) int {
	held := l.heldBy(rule)
	held = held[:min(most, len(held))]
	for _, c := range held {
		c.unpark()
	}
	return len(held)
}

func (l *labState) holdWait(c *pair, d *due, args [][]byte) []byte {
	r, numbers, err := l.holdRule("hold wait", args, "timeout-milliseconds", "clients")
	if err != nil {
		l.fail(c, d, "hold wait", "%v", err)
		return nil
	}
	w := &wait{c: c, d: d, rule: r.Name, clients: 1}
	if len(numbers) > 1 {
		w.clients = int(max(numbers[1], 1))
	}
	if numbers[0] > 0 {
		w.timer = l.p.loop.After(time.Duration(numbers[0])*time.Millisecond, func() time.Duration {
			l.endWait(w, l.inVain(r))
			return 0
		})
	}
	l.waits = append(l.waits, w)
	l.endWaits(r.Name)
	return nil
}

// inVain is the reply to a wait whose time is over. Rules never hold a connection that has sent LAB. If the rule met
// only such a client, the reply says so.
func (l *labState) inVain(r *lab.Rule) func(w *resp.Writer) {
	if r.Spared == 0 || r.Fired > 0 {
		return (*resp.Writer).NullArray
	}
	return func(w *resp.Writer) {
		w.Error(errorText("hold wait", fmt.Sprintf("the rule '%s' has met only client %d, which has sent LAB: "+
			"such a connection is never held; send LAB over a connection of its own", r.Name, r.Spared)))
	}
}

// endWaits ends the waits for a rule that holds enough clients.
func (l *labState) endWaits(rule string) {
	held := l.heldBy(rule)
	for _, w := range slices.Clone(l.waits) {
		if w.rule == rule && len(held) >= w.clients {
			l.endWait(w, held[w.clients-1].writeHeld)
		}
	}
}

func (l *labState) endWait(w *wait, reply func(*resp.Writer)) {
	l.forgetWaits(func(other *wait) bool { return other == w })
	l.answer(w.c, w.d, reply)
}

// forgetWaits removes waits and their timers.
func (l *labState) forgetWaits(which func(*wait) bool) {
	l.waits = slices.DeleteFunc(l.waits, func(w *wait) bool {
		if !which(w) {
			return false
		}
		if w.timer != nil {
			l.p.loop.Cancel(w.timer)
		}
		return true
	})
}
