package doctor

import "slices"

// The doctors of several masters look for the reason why an attempt to take a lock got no majority. An attempt is the
// token that it sends to the masters. That another client holds the lock is no mistake, so the doctor looks for four
// reasons that are:
//
//   - other: so many masters refuse that no majority is left, and the key there has a value of another type;
//   - clock: they refuse for a holder whose lease is over by its own clock;
//   - left: such an attempt got some votes, nobody gave one back until its lease ended, and meanwhile it made a
//     master refuse another token;
//   - lease: the lease of a vote was over before the vote that would have completed a majority.
//
// A fifth reason is a master that does not answer. It sees no request, so its doctor cannot report one.

// attempt is a lock and the token with which a client tries to take it.
type attempt struct {
	lockKey
	token string
}

// refusal is the last answer of a master that refused an attempt.
type refusal struct {
	step Step // its Command is "" if the master did not refuse, or granted the lock later
	why  reason
}

// reason says why an attempt got no majority.
type reason uint8

const (
	held reason = iota // by another holder, which is no mistake
	otherType
	clockBack
	leftVote
	shortLease
)

// blocking is how many masters must refuse so that no majority is left.
func (l *Ledger) blocking() int { return l.masters - l.masters/2 }

// notGranted tells the ledger that the lock was not granted to o.
func (d *Doctor) notGranted(o op, k lockKey, token string, h *hold) {
	if o.other {
		h = nil
		if !soundsLikeLock(k.name) && !d.locks.Get(class(k.name)) && !looksRandom(token) {
			return
		}
	}
	if f := d.ledger.refused(d.master, k, token, h, o); f != nil {
		d.add(f)
	}
}

// refused records that a master refused a token: because of the holder h, or because the key has a value of another
// type (nil). It returns a finding if that is the reason why no majority is left.
func (l *Ledger) refused(master int, k lockKey, token string, h *hold, o op) *Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.masters < 2 || !isToken(token) {
		return nil
	}
	l.passed(master, o.time)
	r := refusal{step: o.step(), why: otherType}
	group := l.group(master)
	r.step.Master = group + 1
	if h != nil {
		r.why = held
		if t := l.find(master, k, h.order); t != nil {
			if t.RanOut != 0 {
				r.why = clockBack
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
	if r.why == held || before == l.blocking() || countOf(all, r.why) != l.blocking() {
		return nil
	}
	var steps []Step
	for _, a := range all {
		if a.step.Command != "" && a.why == r.why {
			steps = append(steps, a.step)
		}
	}
	return withoutQuorum(r.why, k, r.step, steps)
}

// countOf returns how many masters refuse for a reason.
func countOf(all []refusal, why reason) (n int) {
	for _, r := range all {
		if r.step.Command != "" && r.why == why {
			n++
		}
	}
	return n
}

// accepted forgets that a master refused the token that it grants the lock to now.
func (l *Ledger) accepted(master int, k lockKey, token string) {
	if all := l.refusals.Get(attempt{k, token}); all != nil {
		all[master] = refusal{}
	}
}

// leftBehind returns a finding if t, which has expired, was a vote of an attempt without a majority, and if it stood
// in the way of another token.
func (l *Ledger) leftBehind(master int, k lockKey, t *Holding) *Finding {
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
	return withoutQuorum(leftVote, k, granted, append(steps, t.refused, end))
}

// tooLate returns a finding if the newest vote of an attempt would complete its majority, but the lease of an earlier
// vote is over.
func (l *Ledger) tooLate(k lockKey, order int64) *Finding {
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
			steps = append(steps, v.step())
		}
		return withoutQuorum(shortLease, k, steps[majority-1], steps)
	}
	return nil
}

func withoutQuorum(r reason, k lockKey, culprit Step, steps []Step) *Finding {
	f := &Finding{
		Pattern: NoQuorum, Key: k.name, DB: k.db, Count: 1, Steps: steps,
		Client: culprit.Client, Name: culprit.Name, Time: culprit.Time,
	}
	f.Why, f.Fix = noQuorum(r)
	return f
}

// noQuorum returns the advice for NoQuorum.
func noQuorum(r reason) (why, fix string) {
	switch r {
	case otherType:
		return "the key of the lock has a value of another type on so many masters that no majority can grant the lock",
			"use another name for the lock, or delete the other value: TYPE key shows it"
	case clockBack:
		return "so many masters keep a lock whose lease is over for its holder that no majority can grant it: " +
				"their clocks went back",
			"let no clock of a master jump (slew, do not step)"
	case leftVote:
		return "an attempt got less than a majority and did not give its vote back: the vote made a master refuse " +
				"another client until the lease ended",
			"after an attempt without a majority release the lock on all masters, also on those that did not answer"
	default:
		return "the lease of one vote was over before the vote came that would have completed a majority",
			"use a lease that is much longer than an attempt, or a shorter timeout for each master"
	}
}
