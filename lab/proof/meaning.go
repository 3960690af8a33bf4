package proof

import (
	"slices"

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
	for i := r.index + 1; i < min(len(p.history.Entries), r.index+mostLooked); i++ {
		next := p.request(i)
		if next.Client != r.Client && next.Name != r.Name {
			continue
		}
		if next.takes(l.Key) || tries(next) || p.taking[word{l.Key, next.way()}] {
			break
		}
		if next.By == "" && slices.Contains(next.Cmd, l.Name) && p.showsRenewal(r, next, b) {
			return toRenew
		}
	}
	if p.renewers[use{word{l.Key, ""}, r.Name}] {
		return toRelease
	}
	return unclear
}

// showsRenewal reports whether a later request of a client shows that an earlier one, which set a time that was over,
// was no release.
func (p *prover) showsRenewal(r, later *request, b *belief) bool {
	if later.runs() == r.isScript() && later.way() == r.way() { // renewals come at intervals
		const most = 20 // parts of an interval that two of them differ by
		first, second := r.Time-b.taken.Time, later.Time-r.Time
		return !p.isLost(r) && first > 0 && max(first-second, second-first) <= first/most
	}
	return p.releases(later) || lower(later.Cmd) == "rename"
}

// takes reports whether a request makes a key.
func (r *request) takes(k holders.Key) bool {
	return slices.ContainsFunc(r.Changes, func(c lab.Change) bool {
		return c.DB == k.DB && c.Key == k.Name && c.Before == nil
	})
}

// foreseeRenewal notes the names of those who give a lock a longer lease, and do not take it by that.
func (p *prover) foreseeRenewal(r *request, c lab.Change) {
	k := holders.Key{DB: c.DB, Name: c.Key}
	longer := c.Before != nil && c.After != nil && c.Before.Deadline > 0 && c.Before.Deadline < c.After.Deadline
	if longer && c.Cause == lab.ByCommand && c.Before.Text == c.After.Text && !p.taking[word{k, r.way()}] {
		p.renewers[use{word{k, ""}, r.Name}] = true
	}
}
