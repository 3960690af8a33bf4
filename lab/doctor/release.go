package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// remove handles a command that deletes keys.
func (d *Doctor) remove(o op, in *run) {
	for _, k := range o.keys() {
		if token, is := o.compared(k); is && !in.compared(k) {
			d.removeCompared(o, k, token, in)
			continue
		}
		h := d.holds.Get(k)
		mine := d.authors(o, k, in.carried(), in.compared(k))
		if h != nil && in != nil && h.in == in {
			mine = []author{{h, true, ""}}
		}
		if h == nil {
			if in == nil || !in.script {
				d.lateDelete(o, k)
			}
			d.releasesAgain(o, k, in.carried())
			d.inVain(o, k, mine, in)
			continue
		}
		if o.reply.kind == '_' || o.reply.kind == ':' && o.reply.n == 0 {
			d.inVain(o, k, mine, in)
			continue
		}
		compared := in.compared(k)
		if !compared {
			d.blindDelete(o, k, h)
		}
		if compared || d.owns(o, h) && d.isLock(k, h) {
			d.released(o, k, h)
		}
		d.free(o, k, h, mine, in)
	}
}

// sent handles a release that its client has sent, and that the server has not executed: its client may believe
// that it has given the lock up. why says why the server has not.
func (d *Doctor) sent(o op, why string) {
	switch keys, args := o.scriptArgs(); {
	case o.does.has(runs) && d.mayRelease(o):
		for _, key := range keys {
			k := holders.Key{DB: o.db, Name: key}
			found := d.authors(o, k, args, false)
			d.refusesRelease(o, k, found)
			d.gaveUp(o, k, unsure(found, why), nil)
		}
	case o.does.has(removes|uncounts) || o.does.has(renews) && o.until() > 0 && o.until() <= o.time:
		for _, k := range o.keys() {
			found := d.authors(o, k, o.args[1:], false)
			d.refusesRelease(o, k, found)
			d.gaveUp(o, k, unsure(found, why), nil)
		}
	}
}

// concernsReplica reports whether a command on a replica means something: one that takes writes may grant a lock, and
// any other refuses releases.
func (e *Event) concernsReplica(m *meaning) bool {
	return e.By != "" || e.Held || m.does.has(takes|runs) || len(e.Reply) > 0 && e.Reply[0] == '-'
}

// mayRelease reports whether a script that has not run may release locks. One that nobody will know may.
func (d *Doctor) mayRelease(o op) bool {
	s := d.scriptOf(o.script)
	releases, known := d.ledger.knows(o.script)
	switch {
	case o.deletes || s.releases() || releases:
		return true
	case o.whole || s.known || known:
		return false
	}
	unknown := strings.HasPrefix(o.reply.text, "NOSCRIPT") // a live server is about to get its text
	return d.ledger.isFinished() || o.reply.failed() && !unknown
}

// wasRefused reports whether the server has refused a command before it changed anything: a replica, or a master that
// takes no writes now.
func (o op) wasRefused() bool {
	if !o.reply.failed() || o.by != "" {
		return false
	}
	if !o.does.has(runs) {
		return true
	}
	switch code, _, _ := strings.Cut(o.reply.text, " "); code { // or a script that has an error of its own
	case "READONLY", "NOREPLICAS", "MASTERDOWN", "MISCONF", "OOM", "LOADING", "BUSY", "NOPERM", "NOAUTH",
		"NOSCRIPT", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "CROSSSLOT":
		return true
	}
	return false
}

// inVain records that the authors of a release that found nothing give up.
func (d *Doctor) inVain(o op, k holders.Key, mine []author, in *run) {
	d.gaveUp(o, k, mine, nil)
	for _, a := range mine {
		a.vain = a.sure && (in == nil || !in.script)
	}
}

// regrets handles a connection that takes a lock with another token although its last release found nothing: that
// release may have come from another worker on the connection.
func (d *Doctor) regrets(o op, k holders.Key, h *hold) {
	for _, g := range d.grants.Get(k) {
		runs := g.ends == 0 || g.ends > o.time
		if g.vain && runs && g.value != h.value && d.kinship(o, g) == holders.SameClient && d.ledger != nil {
			d.ledger.Holders.Regret(d.master, k, g.order, holders.Doubt{Why: whyVain, Step: o.step()})
		}
	}
}

// released judges a lock that its owner released.
func (d *Doctor) released(o op, k holders.Key, h *hold) {
	if h.until == 0 && !h.hash && !h.forced {
		d.withoutTTL(k, h, o.step())
	}
	d.locks.Put(holders.Class(k.Name), true)
}

// free ends the present hold of a lock that o has deleted.
func (d *Doctor) free(o op, k holders.Key, h *hold, mine []author, in *run) {
	if in != nil {
		in.freed = append(in.freed, freed{k, h})
	}
	how := holders.EndStolen
	if h.gone { // its holder has left the hash before the key goes
		how = holders.EndReleased
	} else if a, is := whose(mine, h); is {
		how = holders.EndUnclear
		if h.marred != "" && a.sure {
			for i := range mine {
				mine[i].sure, mine[i].why = false, h.marred
			}
		} else if a.sure {
			how = holders.EndReleased
		}
	}
	d.gaveUp(o, k, mine, h)
	h.thief = how == holders.EndStolen && d.competes(o, k)
	h.ended = o.step()
	if how == holders.EndStolen && in != nil && slices.Contains(in.args, h.value) {
		h.ended.Command = withSameToken + h.ended.Command
	}
	if how == holders.EndReleased && d.isOld() {
		d.strays(o, k, h, toOld)
	}
	d.releasesTwin(o, k, h, in)
	if how == holders.EndReleased && !o.does.has(renews|sets) {
		d.givenBack(o, k, h)
	}
	d.drop(k, h, how, o.time)
}

// blindDelete judges a DEL that does not compare the token itself.
func (d *Doctor) blindDelete(o op, k holders.Key, h *hold) {
	if !d.isLock(k, h) || h.shared || h.forced {
		return
	}
	var seen reading
	was := false
	if c := d.clients.Get(o.client); c != nil {
		seen, was = c.unread(k)
	}
	if was && seen.guarded && o.by == Exec {
		return
	}
	if was && o.by != "" && o.by != Exec {
		was = false // nothing shows that the script got the result of GET
	}
	if was {
		d.report(GetDel, k, o, h.taken, seen.step, o.step())
	}
	if d.owns(o, h) || was && seen.value == h.value {
		return
	}
	steps := []holders.Step{h.taken, o.step()}
	if late := d.past.Get(k); late != nil {
		steps = slices.Concat(d.leaseOf(k, late, o.client), steps)
	}
	d.notOwner(o, k, steps...)
	d.lateDelete(o, k)
}

// notOwner reports a client that has changed the lock of another one.
func (d *Doctor) notOwner(o op, k holders.Key, steps ...holders.Step) {
	why, fix := advice(NotOwner)
	if past, back := d.former(o, k, nil); past != nil || back != nil {
		why, fix = formerHolder()
	}
	d.because(why, fix, NotOwner, k, o, steps...)
}

// formerHolder returns the advice for NotOwner if the client held the lock before.
func formerHolder() (why, fix string) {
	_, fix = advice(NotOwner)
	return "a connection changed the lock of another client without comparing the token: it held the lock before, " +
		"and that hold was over: two clients may now believe that they hold it", fix
}

// leaseOf returns the steps of the last lease of a client that ended.
func (d *Doctor) leaseOf(k holders.Key, past []ended, client int64) []holders.Step {
	for _, e := range slices.Backward(past) {
		if e.client == client && d.isLock(k, e.hold) {
			return e.steps()
		}
	}
	return nil
}

func (e ended) steps() []holders.Step {
	return []holders.Step{e.taken, {Time: e.at, Command: fmt.Sprintf("the lease of %d ms ended", e.lease)}}
}

// lateDelete judges a DEL of a lock that its client no longer holds.
func (d *Doctor) lateDelete(o op, k holders.Key) {
	past := d.past.Get(k)
	if steps := d.leaseOf(k, past, o.client); steps != nil {
		d.report(LateUnlock, k, o, append(steps, o.step())...)
		d.forgive(k, o.client)
	}
}

// lateScript judges a script that releases locks and did not find this one.
func (d *Doctor) lateScript(o op, k holders.Key, args []string) {
	if h := d.holds.Get(k); h != nil && slices.Contains(args, h.value) {
		return
	}
	for _, e := range slices.Backward(d.past.Get(k)) {
		if slices.Contains(args, e.value) && (holders.IsToken(e.value) || d.isLock(k, e.hold)) {
			d.report(LateUnlock, k, o, append(e.steps(), o.step())...)
			d.forgive(k, e.client)
			return
		}
	}
}
