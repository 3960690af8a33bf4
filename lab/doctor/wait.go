package doctor

import (
	"slices"
	"strconv"
	"strings"
)

// WAIT and WAITAOF right behind a grant: the client asks whether replicas have its lock. Until the reply it does not
// believe in the lock. If too few replicas have it, a right client gives it up, and no log shows that.

const whyTooFew = "WAIT behind the grant did not tell of enough replicas: " +
	"its client must take the lock for not acquired, and the log does not show whether it does"

// asker is a connection to a node.
type asker struct {
	node   int
	client int64
}

// waits reports whether o is a WAIT or WAITAOF.
func (o op) waits() bool { return o.name == "wait" || o.name == "waitaof" }

// confirmed reports whether the client has the reply of o, and whether it says that enough servers have the writes.
// reply is the reply in RESP, or *[1 0] from the log.
func (o op) confirmed(reply []byte) bool {
	if o.lost || len(reply) == 0 || reply[0] == '-' {
		return false
	}
	digits := func(r rune) bool { return r < '0' || r > '9' }
	told := strings.FieldsFunc(strings.TrimPrefix(string(reply), "*2\r\n"), digits)
	asked := o.args[1:max(len(o.args)-1, 1)] // the last one is the timeout
	if len(told) != len(asked) {
		return false
	}
	for i := range asked {
		want, err := strconv.Atoi(asked[i])
		got, bad := strconv.Atoi(told[i])
		if err != nil || bad != nil || got < want {
			return false
		}
	}
	return true
}

// asked is a grant, and the newest request of its connection that is the grant or a WAIT behind it.
type asked struct {
	gave
	request int64 // 0 means unknown
	first   int64 // the first such WAIT, 0 for none
}

// asks notes what a request of a connection was granted.
func (l *Ledger) asks(from asker, a asked) {
	same := slices.DeleteFunc(slices.Clone(l.newest.m[from]), func(b asked) bool { return b.request != a.request })
	l.newest.put(from, append(same, a))
}

// isBefore reports whether no request stands between a and a WAIT. A WAIT that blocks is told twice.
func (a asked) isBefore(wait int64) bool {
	return a.request > 0 && (wait == a.request+1 || wait == a.request && a.first > 0)
}

// awaited handles a WAIT of a client. held means that it has no reply yet.
func (d *Doctor) awaited(o op, reply []byte, held bool) {
	l := d.ledger
	if l == nil || l.groups == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	from := asker{d.master, o.client}
	enough := !held && o.confirmed(reply)
	var open []asked
	for _, a := range l.newest.m[from] {
		t := l.find(d.master, a.key, a.order)
		if t == nil || t.GaveUp != 0 || t.Renewed > 0 || !a.isBefore(o.request) {
			continue
		}
		l.order++
		if t.Unconfirmed { // one reply too few, or none yet: the next one may tell of enough
			t.Doubts = slices.DeleteFunc(t.Doubts, func(x Doubt) bool { return x.Why == whyTooFew })
		}
		a.request = o.request
		if a.first == 0 {
			a.first = o.request
		}
		if enough || a.first == o.request {
			t.Awaited = l.order
		}
		if t.Unconfirmed = !enough; enough {
			continue
		}
		step := o.step()
		step.Node = l.name(d.master)
		t.Doubts = slices.Insert(t.Doubts, 0, Doubt{t.Order, whyTooFew, step})
		open = append(open, a)
	}
	l.newest.put(from, open)
}

// begins returns the order at which the holder begins to believe in a majority.
func (t *Term) begins(majority int) int64 {
	all := make([]int64, 0, len(t.Votes))
	for _, v := range t.Votes {
		all = append(all, max(v.Order, v.Awaited))
	}
	slices.Sort(all)
	return all[min(majority, len(all))-1]
}
