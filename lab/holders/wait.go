package holders

import (
	"slices"
	"strconv"
	"strings"
)

// WAIT and WAITAOF right behind a grant: the client asks whether replicas have its lock. Until the reply it does not
// believe in the lock. If too few replicas have it, a right client gives it up, and no log shows that.

const whyTooFew = "WAIT behind the grant did not tell of enough replicas: " +
	"its client must take the lock for not acquired, and the log does not show whether it does"

// Enough reports whether the reply to a WAIT or WAITAOF tells of as many servers as its client asked for. cmd is the
// command. The reply has numbers for people, such as 1 or [1 0].
func Enough(cmd []string, reply string) bool {
	told := strings.FieldsFunc(reply, func(c rune) bool { return c < '0' || c > '9' })
	asked := cmd[1:max(len(cmd)-1, 1)] // the last one is the timeout
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

// asker is a connection to a node.
type asker struct {
	node   int
	client int64
}

const whyChain = "the client tried for two locks before its WAIT: " +
	"whether it believed in the first one before the reply, the log does not show"

const whyLate = "the reply to WAIT behind the grant was late: from when on its client believes in the lock, " +
	"the log does not show"

// asked is a grant, and the newest request of its connection that tries for a lock or is a WAIT behind it.
type asked struct {
	key     Key
	order   int64 // of the grant
	request int64 // 0 means unknown
	first   int64 // the first such WAIT, 0 for none
	chained bool  // the next request tried for a lock, too: they may be a pipeline with one WAIT at its end
}

// asks notes what a request of a connection was granted.
func (l *Ledger) asks(from asker, a asked) {
	var all []asked
	for _, b := range l.newest.Get(from) {
		next := b.request > 0 && b.first == 0 && a.request == b.request+1
		if next || b.request == a.request {
			b.request, b.chained = a.request, b.chained || next
			all = append(all, b)
		}
	}
	l.newest.Put(from, append(all[max(0, len(all)-mostAsked):], a))
}

// goesOn notes a further request of a connection by which it takes a lock.
func (l *Ledger) goesOn(from asker, order, request int64) {
	if l.groups == nil {
		return
	}
	for i, a := range l.newest.Get(from) {
		if a.order == order {
			l.newest.Get(from)[i].request = request
		}
	}
}

// Vain notes a request that was refused a lock. It may stand in a pipeline behind other grants.
func (l *Ledger) Vain(node int, client, request int64) {
	from := asker{node, client}
	if l.groups == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, b := range l.newest.Get(from) {
		if b.request > 0 && b.first == 0 && request == b.request+1 {
			l.newest.Get(from)[i].request, l.newest.Get(from)[i].chained = request, true
		}
	}
}

// isBefore reports whether no request stands between a and a WAIT. A WAIT that blocks is told twice.
func (a asked) isBefore(wait int64) bool {
	return a.request > 0 && (wait == a.request+1 || wait == a.request && a.first > 0)
}

// Wait is a WAIT or WAITAOF of a client, and what its reply says.
type Wait struct {
	Client, Request int64
	Enough          bool // the client has a reply that tells of enough replicas
	Late            bool // the client gets the reply later, and nothing shows when
	Step            Step
}

// Awaited records a WAIT on a node.
func (l *Ledger) Awaited(node int, w Wait) {
	if l.groups == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	from := asker{node, w.Client}
	var open []asked
	for _, a := range l.newest.Get(from) {
		t := l.find(node, a.key, a.order)
		if t == nil || t.GaveUp != 0 || t.Renewed > 0 || !a.isBefore(w.Request) {
			continue
		}
		l.opens(node, openLease{a.key, a.order}) // it may be over although the key has not ended
		l.endLeases(node, node)
		if l.order++; l.replied(t, &a, w) {
			continue
		}
		open = append(open, a)
	}
	l.newest.Put(from, open)
}

// replied notes the reply to a WAIT behind a grant, and reports whether it is enough.
func (l *Ledger) replied(t *Holding, a *asked, w Wait) bool {
	enough := w.Enough
	again := a.first > 0 && a.first != w.Request // the first reply told of too few
	why := whyTooFew
	if enough && w.Late {
		why, enough = whyLate, false
	}
	if a.first == 0 {
		a.first = w.Request
	}
	if enough || !again {
		t.Awaited = l.order
	}
	if !again && !a.chained {
		t.Asked = l.order
	}
	a.request = w.Request
	if t.Unconfirmed = !enough; enough && again {
		return true
	}
	t.Doubts = slices.DeleteFunc(t.Doubts, func(x Doubt) bool {
		return slices.Contains([]string{whyTooFew, whyLate, whyChain}, x.Why)
	})
	step := w.Step
	step.Node = t.Node
	switch {
	case !enough:
		t.Doubts = slices.Insert(t.Doubts, 0, Doubt{t.Order, why, step})
	case a.chained:
		t.Doubts = slices.Insert(t.Doubts, 0, Doubt{t.Order, whyChain, step})
	}
	return enough
}

// renewed notes that a holder certainly believes in its lock, whatever WAIT has told it.
func (l *Ledger) renewed(t *Holding) {
	if t.Unconfirmed {
		l.order++
		t.Awaited, t.Unconfirmed = l.order, false
	}
}

// begins returns the order at which the holder certainly believes in a majority, and the order at which it may believe
// in it already.
func (t *Term) begins(majority int) (certainly, perhaps int64) {
	return t.nth(majority, func(v Vote) int64 { return v.Awaited }), t.nth(majority, func(v Vote) int64 { return v.Asked })
}

// nth returns the order at which the holder has so many votes. after is what it waits for behind a vote.
func (t *Term) nth(majority int, after func(Vote) int64) int64 {
	all := make([]int64, 0, len(t.Votes))
	for _, v := range t.Votes {
		all = append(all, max(v.Order, after(v)))
	}
	slices.Sort(all)
	return all[min(majority, len(all))-1]
}
