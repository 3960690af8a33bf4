package proof

import (
	"strconv"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// A semaphore may be a counter: INCR takes a permit, if the reply is not above the number of holders, and DECR gives it
// back. The counter has no tokens, so each permit is a part of its own.

// isCount reports whether a change is that of a semaphore that counts.
func (l *lock) isCount(c lab.Change) bool {
	if l.told.As != lab.Semaphore {
		return false
	}
	return c.Before != nil && c.Before.Type == "string" || c.After != nil && c.After.Type == "string"
}

// countsPermits applies a change of a semaphore that counts.
func (p *prover) countsPermits(r *request, l *lock, c lab.Change) {
	l.asked = true
	switch {
	case c.Cause != lab.ByCommand || r.Client == 0:
		if c.After == nil {
			p.vanish(r, l, c, append([]part{}, l.parts...))
		}
	case c.After == nil:
		p.remove(r, l, append([]part{}, l.parts...), c)
	case isCounter(c, r):
		was := int64(0)
		if c.Before != nil {
			was, _ = strconv.ParseInt(c.Before.Text, 10, 64)
		}
		n, _ := strconv.ParseInt(c.After.Text, 10, 64)
		switch {
		case n > was && n <= int64(l.told.Holders):
			p.triesAgain(r, l)
			p.grant(r, l, part{name: strconv.Itoa(r.index), token: strconv.Itoa(r.index), deadline: c.After.Deadline}, nil, "")
		case n < was:
			p.givesBack(r, l)
		}
	case c.Before != nil && c.Before.Text == c.After.Text:
		for i := range l.parts {
			l.parts[i].deadline = c.After.Deadline
			p.prolong(r, l, &l.parts[i], false, false)
		}
	default:
		p.leavesUnread(r, l, doubtsWriter)
	}
}

// givesBack ends the permit of a client that counts down. One that has none takes a vain try back.
func (p *prover) givesBack(r *request, l *lock) {
	me := r.actor(p.epoch)
	for i := range l.parts {
		b := l.parts[i].held
		switch kin := b.kin(me); {
		case b.gone || kin != sameClient && kin != sameName:
			continue
		case p.isLost(r):
			p.givesUp(r, l, []author{{b, false, saying(r, l, doubtsReply)}}, nil)
		default:
			p.ends(r, l, b, holders.EndReleased)
			b.gone = true
			l.drop(l.parts[i : i+1 : i+1])
		}
		return
	}
	for _, b := range l.pending(r.Time) { // its permit was lost with the counter
		if kin := b.kin(me); kin == sameClient || kin == sameName {
			p.givesUp(r, l, []author{{b, true, ""}}, nil)
			return
		}
	}
}
