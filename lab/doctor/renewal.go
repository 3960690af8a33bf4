package doctor

import (
	"fmt"
	"slices"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Mistakes with renewals: they come too late or too seldom, go on after the release, or end the lock.

// renewalAdvice is advice for the patterns of this file.
func renewalAdvice(p Pattern) (why, fix string) {
	switch p {
	case RenewalReleases:
		return "a command that changes the TTL had a time that is not in the future: it deletes the lock, " +
				"and its reply looks like success, so a holder that meant to renew goes on without a lock",
			"send a lease above 0, and a time in the future; release with a script that compares and deletes"
	case NoSlack:
		return "the renewals come at intervals of more than half of the lease: " +
				"if one of them is late or lost, the lock is gone before the next one",
			"renew after a third of the lease, or make the lease three times the interval"
	case LateRenewal:
		return "a renewal came after the lease had ended: since then nothing protected the work, " +
				"and another client may have held the lock",
			"renew after a third of the lease; stop the work when a renewal fails, and protect the data by a fencing token"
	}
	return "a renewal came after its holder had released the lock: a watchdog that nobody stops " +
			"may keep the lock of the next holder",
		"stop the watchdog before the release and wait for its last reply; renew with a script that compares the token"
}

// renewed notes that a script renews a lock.
func (in *run) renewed() {
	if in != nil {
		in.renews = true
	}
}

// judgeRelease judges a command that deletes a lock by a TTL. own means that it may come from the holder.
func (d *Doctor) judgeRelease(o op, k holders.Key, h *hold, own bool) {
	if h != nil && own && d.isLock(k, h) {
		d.report(RenewalReleases, k, o, h.taken, o.step())
	}
}

// A renewal at half of the lease leaves time for a second try. A timer that wakes a little late is no mistake.
const (
	slack   = 60  // % of a lease that may pass before a renewal
	delayed = 300 // ms that may pass after half of the lease: the machine of a test is busy
)

// judgeSlack looks for renewals that leave no time for a second try. It tells h of the renewal o, which comes from its
// holder if that is among the authors.
func (d *Doctor) judgeSlack(o op, k holders.Key, h *hold, found []author, until int64) {
	if _, own := whose(found, h); !own || h.lease == 0 || until == h.until {
		return
	}
	gap, before := o.time-h.since, h.last
	if before.Command == "" {
		before = h.taken
	}
	h.since, h.gap, h.last = o.time, gap, o.step()
	if gap*100 <= h.lease*slack || gap-h.lease/2 < delayed {
		h.thin = 0
		return
	}
	if h.thin++; h.thin > 1 && d.isLock(k, h) {
		d.report(NoSlack, k, o, before, h.last, holders.Step{Time: o.time, Command: h.times()})
	}
}

// times compares the lease with the interval between renewals.
func (h *hold) times() string {
	return fmt.Sprintf("the lease of %d ms is %.3g times the interval of %d ms between renewals",
		h.lease, float64(h.lease)/float64(h.gap), h.gap)
}

// givenBack remembers a hold that its holder has released.
func (d *Doctor) givenBack(o op, k holders.Key, h *hold) {
	back := append(d.back.Get(k), ended{hold: h.alone(), at: o.time, release: h.ended})
	d.back.Put(k, back[max(0, len(back)-maxEnded):])
}

// alone returns a copy without what is large.
func (h *hold) alone() *hold {
	c := *h
	c.waiters, c.in = nil, nil
	return &c
}

// former returns the last hold that the sender of o had and that is over: its lease ended, or it was released. words
// are those that may be its token. Without words the connection shows it, or the name of the client.
func (d *Doctor) former(o op, k holders.Key, words []string) (past, back *ended) {
	find := func(all []ended) *ended {
		for i := range slices.Backward(all) {
			e := &all[i]
			who := d.kinship(o, e.hold)
			if words == nil && (who == holders.SameClient || who == holders.SameName) {
				return e
			}
			if slices.Contains(words, e.value) && (who != holders.OtherClient || holders.LooksRandom(e.value)) {
				return e
			}
		}
		return nil
	}
	past, back = find(d.past.Get(k)), find(d.back.Get(k))
	switch {
	case past == nil || back == nil:
	case past.order > back.order || past.taken.Time > back.taken.Time:
		back = nil
	default:
		past = nil
	}
	return past, back
}

// renewsNothing judges a renewal that has not found the hold of its sender. words are those that may be its token, and
// nil if it carries none.
func (d *Doctor) renewsNothing(o op, k holders.Key, words []string) {
	if h := d.holds.Get(k); h != nil && (slices.Contains(words, h.value) || words == nil && d.owns(o, h)) {
		return // GT, LT, NX or XX refused it
	}
	past, back := d.former(o, k, words)
	switch {
	case past != nil && d.isLock(k, past.hold):
		d.report(LateRenewal, k, o, append(past.steps(), o.step(), past.late(o))...)
	case back != nil && d.isLock(k, back.hold):
		back.renews++
		// One that compares the token may have crossed the release on its way.
		if words == nil || back.renews > 1 || o.time-back.at >= patience {
			d.report(RenewalAfter, k, o, back.taken, back.release, o.step())
		}
	}
}

// late says how late a renewal came.
func (e ended) late(o op) holders.Step {
	text := fmt.Sprintf("the renewal came %d ms too late", o.time-e.until)
	if e.gap > 0 {
		text += "; " + e.times()
	}
	return holders.Step{Time: o.time, Command: text}
}
