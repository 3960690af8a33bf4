package doctor

import "github.com/miniredisd/miniredisd/lab/holders"

// notGranted tells the ledger that the lock was not granted to o.
func (d *Doctor) notGranted(o op, k holders.Key, token string, h *hold) {
	if o.other {
		h = nil
		if !holders.SoundsLikeLock(k.Name) && !d.locks.Get(holders.Class(k.Name)) && !holders.LooksRandom(token) {
			return
		}
	}
	order := int64(0)
	if h != nil {
		order = h.order
	}
	if m := d.ledger.Holders.Refused(d.master, k, token, order, h == nil, o.step()); m != nil {
		d.add(withoutQuorum(m))
	}
}

func withoutQuorum(m *holders.NoMajority) *Finding {
	f := &Finding{
		Pattern: NoQuorum, Key: m.Key.Name, DB: m.Key.DB, Count: 1, Steps: m.Steps,
		Client: m.Culprit.Client, Name: m.Culprit.Name, Time: m.Culprit.Time,
	}
	f.Why, f.Fix = noQuorum(m.Why)
	return f
}

// noQuorum returns the advice for NoQuorum.
func noQuorum(r holders.Reason) (why, fix string) {
	switch r {
	case holders.OtherType:
		return "the key of the lock has a value of another type on so many masters that no majority can grant the lock",
			"use another name for the lock, or delete the other value: TYPE key shows it"
	case holders.ClockBack:
		return "so many masters keep a lock whose lease is over for its holder that no majority can grant it: " +
				"their clocks went back",
			"let no clock of a master jump (slew, do not step)"
	case holders.LeftVote:
		return "an attempt got less than a majority and did not give its vote back: the vote made a master refuse " +
				"another client until the lease ended",
			"after an attempt without a majority release the lock on all masters, also on those that did not answer"
	default:
		return "the lease of one vote was over before the vote came that would have completed a majority",
			"use a lease that is much longer than an attempt, or a shorter timeout for each master"
	}
}
