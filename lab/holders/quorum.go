package holders

import "slices"

// Why did an attempt to take a lock on several masters get no majority? An attempt is the token that it sends to the
// masters. That another client holds the lock is no mistake. Four other reasons are:
//
//   - other: so many masters refuse that no majority is left, and the key there has a value of another type;
//   - clock: they refuse for a holder whose lease is over by its own clock;
//   - left: such an attempt got some votes, nobody gave one back until its lease ended, and meanwhile it made a
//     master refuse another token;
//   - lease: the lease of a vote was over before the vote that would have completed a majority.
//
// A fifth reason is a master that does not answer. It sees no request, so its log cannot show one.

// attempt is a lock and the token with which a client tries to take it.
type attempt struct {
	Key
	token string
}

// refusal is the last answer of a master that refused an attempt.
type refusal struct {
	step Step // its Command is "" if the master did not refuse, or granted the lock later
	why  Reason
}

// Reason says why an attempt got no majority.
type Reason uint8

// The reasons.
const (
	Held       Reason = iota // by another holder, which is no mistake
	OtherType                // the key has a value of another type
	ClockBack                // the lease of the other holder is over by its own clock
	LeftVote                 // an attempt without a majority left its vote behind
	ShortLease               // a lease was over before the majority was complete
)

// NoMajority is an attempt to take a lock that no majority of the masters can grant.
type NoMajority struct {
	Key     Key
	Why     Reason
	Culprit Step   // the request that shows it
	Steps   []Step // what led to it, in order
}

// blocking is how many masters must refuse so that no majority is left.
func (l *Ledger) blocking() int { return l.masters - l.masters/2 }

// Refused records that a master refused a token: because of the grant with this order, or because the key has a value
// of another type. It returns one if that is the reason why no majority is left.
func (l *Ledger) Refused(master int, k Key, token string, order int64, other bool, step Step) *NoMajority {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.masters < 2 || !IsToken(token) {
		return nil
	}
	l.passed(master, step.Time)
	r := refusal{step: step, why: OtherType}
	group := l.group(master)
	r.step.Master = group + 1
	if !other {
		r.why = Held
		if t := l.find(master, k, order); t != nil {
			if t.RanOut != 0 {
				r.why = ClockBack
			}
			if t.refused.Command == "" {
				t.refused = r.step
			}
		}
	}
	all := l.refusals.Get(attempt{k, token})
	if all == nil {
		all = make([]refusal, l.masters)
		l.refusals.Put(attempt{k, token}, all)
	}
	before := countOf(all, r.why)
	all[group] = r
	if r.why == Held || before == l.blocking() || countOf(all, r.why) != l.blocking() {
		return nil
	}
	var steps []Step
	for _, a := range all {
		if a.step.Command != "" && a.why == r.why {
			steps = append(steps, a.step)
		}
	}
	return &NoMajority{k, r.why, r.step, steps}
}

// countOf returns how many masters refuse for a reason.
func countOf(all []refusal, why Reason) (n int) {
	for _, r := range all {
		if r.step.Command != "" && r.why == why {
			n++
		}
	}
	return n
}

// accepted forgets that a master refused the token that it grants the lock to now.
func (l *Ledger) accepted(master int, k Key, token string) {
	if all := l.refusals.Get(attempt{k, token}); all != nil {
		all[master] = refusal{}
	}
}

// leftBehind returns one if t, which has expired, was a vote of an attempt without a majority, and if it stood
// in the way of another token.
func (l *Ledger) leftBehind(master int, k Key, t *Holding) *NoMajority {
	all := l.refusals.Get(attempt{k, t.Token})
	if all == nil || t.refused.Command == "" || t.GaveUp != 0 || t.MayGiveUp != 0 || t.Renewed > 0 {
		return nil
	}
	granted := t.Granted
	granted.Master = master + 1
	steps := []Step{granted}
	for _, r := range all {
		if r.step.Command != "" {
			steps = append(steps, r.step)
		}
	}
	if len(steps)-1 < l.blocking() {
		return nil
	}
	end := Step{Master: master + 1, Time: t.Ended, Command: "the lease ended"}
	return &NoMajority{k, LeftVote, granted, append(steps, t.refused, end)}
}

// tooLate returns one if the newest vote of an attempt would complete its majority, but the lease of an earlier
// vote is over.
func (l *Ledger) tooLate(k Key, order int64) *NoMajority {
	var votes []Vote
	for master, table := range l.keys.Get(k) {
		for _, h := range table {
			h.Holder = h.holder(true)
			votes = append(votes, Vote{h, master})
		}
	}
	majority := l.masters/2 + 1
	for _, t := range termsOf(k, votes, majority) {
		if len(t.Votes) != majority || t.Votes[majority-1].Order != order {
			continue
		}
		over := slices.ContainsFunc(t.Votes, func(v Vote) bool { return v.RanOut != 0 && v.Renewed == 0 })
		back := slices.ContainsFunc(t.Votes, func(v Vote) bool { return v.GaveUp != 0 || v.MayGiveUp != 0 })
		if !over || back {
			return nil
		}
		var steps []Step
		for _, v := range t.Votes {
			steps = append(steps, v.Step())
		}
		return &NoMajority{k, ShortLease, steps[majority-1], steps}
	}
	return nil
}
