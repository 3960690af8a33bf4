package proof

import (
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// A time that is over deletes a lock: PEXPIRE key 0 releases it, or it was meant to renew it. What a worker does
// elsewhere tells which.

// meaning is what a client means that sets a time which is over.
type meaning int

const (
	unclear   meaning = iota
	toRenew           // it does so again later, or releases the lock in another way
	toRelease         // it renews the lock in another way
)

// meaningOf returns what the holder of a lock means by a request. The name of the holder is one worker's, or it is
// unclear.
func (p *prover) meaningOf(r *request, l *lock, b *belief) meaning {
	if !b.sole || b.kin(r.actor(p.epoch)) != sameClient || l.told.As == lab.Semaphore {
		return unclear
	}
	for next := p.near(r, l.Key, 1); next != nil; next = p.near(next, l.Key, 1) {
		alike := next.runs() == r.isScript() && next.way() == r.way()
		if tries(next) || p.taking[word{l.Key, next.way()}] {
			break
		}
		const soon = 10 // parts of a lease: a client that sends a release once more does so soon
		again := alike && !p.isLost(r) && b.lease > 0 && next.Time-r.Time > b.lease/soon
		if again || !alike && (p.releases(next) || lower(next.Cmd) == "rename") {
			return toRenew
		}
	}
	if p.renewers[use{word{l.Key, ""}, r.Name}] {
		return toRelease
	}
	return unclear
}

// foreseeRenewal notes the names of those who give a lock a longer lease, and do not take it by that.
func (p *prover) foreseeRenewal(r *request, c lab.Change) {
	k := holders.Key{DB: c.DB, Name: c.Key}
	longer := c.Before != nil && c.After != nil && c.Before.Deadline > 0 && c.Before.Deadline < c.After.Deadline
	if longer && c.Cause == lab.ByCommand && c.Before.Text == c.After.Text && !p.taking[word{k, r.way()}] {
		p.renewers[use{word{k, ""}, r.Name}] = true
	}
}
