package proof

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// heard reads a request that has not changed a lock.
func (p *prover) heard(r *request, l *lock) {
	me, name := r.actor(p.epoch), lower(r.Cmd)
	if p.follows { // a replica hides what is over, and deletes it when its master does
		l.parts = slices.DeleteFunc(l.parts, func(q part) bool { return q.deadline > 0 && q.deadline < r.Time })
	}
	p.mayLearn(r, l)
	p.showsOwn(r, l)
	p.looksElsewhere(r, l)
	switch {
	case p.isRedirected(r):
	case !r.ran() || r.Failed():
		switch {
		case !tries(r):
			p.gaveUpPerhaps(r, l, doubtsSent)
			p.leasesInVain(r, l)
		case r.ran() && !r.lost() && strings.HasPrefix(r.Reply, "BUSYKEY"):
			p.tried(r, l)
		}
	case p.renewsAlike(r, l), p.looks(r, l):
	case r.isScript(): // the script itself comes behind it
	case r.reads():
		l.seenAbsent[me.id()] = isNil(r.Entry) || r.Reply == "0"
		if !p.follows { // a replica shows an older state
			p.learns(r, l)
		}
		p.findsOwn(r, l)
		p.notices(r, l)
		p.mayTake(r, l)
	case name == "watch":
		p.watchesInVain(r, l)
	case tries(r) && r.Reply == "OK":
		p.wasOver(r, l)
	case tries(r):
		p.tried(r, l)
	case p.mayTake(r, l):
	case p.releases(r):
		found := p.ofTheirOwn(r, l)
		if r.runs() { // a script that left the token there has not tried to release it
			found = slices.DeleteFunc(found, func(a author) bool { return l.has(a.belief) })
		}
		p.givesUp(r, l, found, nil)
		for _, a := range found {
			if a.vain = a.sure && !r.runs(); a.vain {
				l.vain = append(l.vain, a.belief)
			}
		}
	case r.runs():
		l.seenAbsent[me.id()] = len(l.parts) == 0
		if answered(r.Entry) != yes || r.lost() {
			p.gaveUpPerhaps(r, l, doubtsScript)
		}
		p.tried(r, l)
	default:
		if !renews(name) { // any other reply may tell whether the lock is free
			l.seenAbsent[me.id()] = len(l.parts) == 0
		}
		p.notices(r, l)
	}
}

// notices handles a request of a client whose lock is gone: the reply may show that.
func (p *prover) notices(r *request, l *lock) {
	for _, a := range p.authors(r, l, false) {
		if l.has(a.belief) { // GT, LT, NX or XX refused it
			continue
		}
		p.Ledger.MayKnow(p.node, l.Key, a.order, holders.Doubt{Why: saying(r, l, doubtsFail), Step: r.step()})
	}
	p.leasesInVain(r, l)
}

// leasesInVain handles a client that gives a lock its lease behind the grant, when the lock is gone: it may not look at
// the reply, and believe in that lease.
func (p *prover) leasesInVain(r *request, l *lock) {
	lease := r.lease()
	if lease == 0 {
		return
	}
	last := p.near(r, l.Key, -1)
	if last == nil || p.behind[word{l.Key, last.way()}] == 0 {
		return
	}
	for _, b := range l.pending(r.Time) {
		if last.index == b.index && b.on == p.node && !b.revived && !l.has(b) {
			p.revive(r, l, author{b, false, saying(r, l, doubtsFail)}, r.Time+lease)
		}
	}
}

// watchesInVain handles a holder that begins a transaction with WATCH and changes nothing in it: it may have wanted to
// give the lock up, or the transaction has shown it that the lock is lost.
func (p *prover) watchesInVain(r *request, l *lock) {
	for i := r.index + 1; i < min(len(p.history.Entries), r.index+mostLooked); i++ {
		e := p.request(i)
		if e.Client == r.Client && e.By == exec && p.changes(e, l.Key) {
			return
		}
		if e.Client == r.Client && e.By == "" && !e.reads() {
			break
		}
	}
	for _, a := range p.authors(r, l, false) {
		p.Ledger.MayKnow(p.node, l.Key, a.order, holders.Doubt{Why: saying(r, l, doubtsWatch), Step: r.step()})
	}
}

// renews reports whether a command changes a deadline, or writes the value that the key has.
func renews(name string) bool {
	return strings.Contains(name, "expire") || name == "persist" || name == "getex" || name == "set" || name == "setex" ||
		name == "psetex" || name == "getset"
}

// has reports whether the key has a token of a belief.
func (l *lock) has(b *belief) bool {
	return slices.ContainsFunc(l.parts, func(q part) bool { return q.held == b })
}

// renewsAlike handles a renewal that has succeeded and changed nothing, because the clock stands still. It reports
// whether r is one.
func (p *prover) renewsAlike(r *request, l *lock) bool {
	if !renews(lower(r.Cmd)) || tries(r) || answered(r.Entry) != yes || len(l.parts) != 1 || r.has(3, "xx") && r.has(3,
		"get") {
		return false
	}
	q := &l.parts[0]
	if r.demands() && !slices.Contains(r.words, q.token) {
		return false
	}
	switch me := r.actor(p.epoch); {
	case q.held == nil:
	case l.seenAbsent[me.id()] && q.held.kin(me) != sameClient && !holders.LooksRandom(q.token): // it takes the lock
		p.joins(r, l, q, saying(r, l, doubtsWriter))
	case !p.writesOver(r, l, q):
		p.prolong(r, l, q, false, false)
	}
	return true
}

// learns notes that a client has read its own token.
func (p *prover) learns(r *request, l *lock) {
	for _, b := range l.beliefs {
		knows := l.has(b) && !p.isLost(r) && r.Reply == b.token && p.isUnique(l, b) && b.kin(r.actor(p.epoch)) != otherClient
		if !knows || !b.unknown && !p.replicated() { // a WAIT may have told it that it has no lock
			continue
		}
		p.mayCountRetry(r, l, b, b)
		if b.unknown {
			p.mayCountAnew(r, l, b, b)
		}
		if b.unknown && b.doubt == "" && p.usesLater(r, l, b) {
			b.unknown, b.actor = false, r.actor(p.epoch)
			p.Ledger.Learned(p.node, l.Key, b.order)
		}
	}
}

// findsOwn handles a client that reads the token that it has put into the lock although it was refused.
func (p *prover) findsOwn(r *request, l *lock) {
	for _, q := range l.parts {
		me := r.actor(p.epoch)
		own := p.uses[use{word{l.Key, q.token}, me.id()}] || q.was != nil && q.was.kin(me) != otherClient ||
			q.by != 0 && r.Name == "" && p.isSilent(r, q.by)
		if !own || q.held != nil || q.token != r.Reply || l.told.As == lab.Semaphore {
			continue
		}
		doubt, left := saying(r, l, doubtsFound), p.leftAt(l, q.name)
		switch {
		case p.follows && len(left) == 0: // its master has another holder, or none
		case q.was != nil && !q.was.looked && p.triedLast(r, l, q.token): // did its lost request take the lock?
			doubt = ""
		}
		l.drop([]part{q})
		p.grant(r, l, q, nil, doubt)
		now := l.beliefs[len(l.beliefs)-1]
		if q.was == nil && p.replicated() { // who wrote it, and for how long, may be lost with an old master
			p.Ledger.Extended(p.node, l.Key, holders.Renewal{Order: now.order, Time: r.Time,
				Why: holders.Doubt{Why: saying(r, l, doubtsFound), Step: r.step()}})
		}
		if q.was != nil {
			p.mayCountAnew(r, l, q.was, now)
			p.mayCountRetry(r, l, q.was, now)
		}
		if q.was != nil && q.was.on == p.node {
			now.endless = now.endless || q.was.endless
			p.mayEnd(p.request(q.was.index), l, now)
		}
		for _, o := range left {
			o.held = now
		}
		return
	}
}

// triedLast reports whether the request of a client with a lock before r has shown a token.
func (p *prover) triedLast(r *request, l *lock, token string) bool {
	last := p.near(r, l.Key, -1)
	return last != nil && slices.ContainsFunc(last.words, func(w string) bool { return strings.Contains(w, token) })
}

// mayCountAnew handles a client that learns that it has a lock which it has brought from another key: it may have
// written that key again, and count the lease from then on.
func (p *prover) mayCountAnew(r *request, l *lock, old, now *belief) {
	if old.on == p.node && old.lease > 0 && p.request(old.index).brings() {
		p.Ledger.Extended(p.node, l.Key, holders.Renewal{Order: now.order, Time: r.Time, Until: r.Time + old.lease,
			Why: holders.Doubt{Why: saying(r, l, doubtsReply), Step: r.step()}})
	}
}

// mayCountRetry handles a client that learns that it has a lock, and that has had no reply since it took it: it may
// count its lease from that request, the first one of a further try.
func (p *prover) mayCountRetry(r *request, l *lock, old, now *belief) {
	for i := r.index - 1; i > max(old.index, r.index-mostLooked) && old.on == p.node && old.lease > 0; i-- {
		e := p.request(i)
		own := e.Client == r.Client || e.Name != "" && e.Name == r.Name
		unanswered := e.lost() || e.Outcome == lab.NotExecuted
		if own && unanswered && (e.By == "" || e.By == exec) && slices.Contains(e.Cmd, l.Name) {
			p.Ledger.Extended(p.node, l.Key, holders.Renewal{Order: now.order, Time: r.Time, Until: e.Time + old.lease,
				Why: holders.Doubt{Why: saying(e, l, doubtsTry), Step: e.step()}})
			return
		}
	}
}

// showsOwn handles a client that has had no reply when it took a lock, and now asks for its own member of it.
func (p *prover) showsOwn(r *request, l *lock) {
	for _, b := range l.beliefs {
		asks := b.unknown && l.has(b) && slices.Contains(r.words, b.token) && b.kin(r.actor(p.epoch)) != otherClient
		if asks && r.By == "" && !tries(r) && answered(r.Entry) == yes {
			p.mayCountRetry(r, l, b, b)
		}
	}
}

// usesLater reports whether a client that has read its token means to use it: it does not try for the lock next.
func (p *prover) usesLater(r *request, l *lock, b *belief) bool {
	for i := r.index + 1; i < min(len(p.history.Entries), r.index+mostLooked); i++ {
		e := p.request(i)
		if e.Client == r.Client && len(e.Cmd) > 0 && e.By == "" && slices.Contains(e.Cmd, l.Name) {
			if shown := slices.Contains(e.words, b.token); shown || tries(e) {
				return shown && !tries(e) && !p.taking[word{l.Key, e.way()}]
			}
		}
	}
	return !b.looked // else it reads the key before each try
}

// tried notes a client that tried for a lock in vain.
func (p *prover) tried(r *request, l *lock) {
	me := r.actor(p.epoch)
	l.competes[me.id()] = true
	p.Ledger.Vain(p.node, r.Client, r.Request)
	p.triesAgain(r, l)
	for _, b := range l.beliefs {
		if !b.gone && b.kin(me) == sameClient && !slices.Contains(r.words, b.token) {
			b.before++
		}
	}
}

// triesAgain handles a client that tries for a lock that it has lost: it has seen that, or another worker uses its
// connection.
func (p *prover) triesAgain(r *request, l *lock) {
	for _, b := range l.pending(r.Time) {
		kin := b.kin(r.actor(p.epoch))
		shows := slices.Contains(r.words, b.token) &&
			(p.isUnique(l, b) || b.name == "" && r.Name == "" && p.isSilent(r, b.client))
		again := kin == sameClient || kin == sameName || kin == noNames && (shows || p.mayBeOne(r, b) ||
			b.on == p.node && b.epoch != p.epoch)
		over := b.ends > 0 && r.Time > b.ends
		switch {
		case again && !over && l.has(b) && p.abandons(r, l, b, kin):
			p.givesUp(r, l, []author{{b, true, ""}}, nil)
			l.leave(b)
		case again && !over && l.has(b) && kin == sameClient && p.masters == 1 && p.leavesPerhaps(r, l, b):
			p.Ledger.MayKnow(p.node, l.Key, b.order, holders.Doubt{Why: saying(r, l, doubtsOther), Step: r.step()})
		case !again || over || l.has(b):
		case p.masters == 1: // a worker of its own knows that, unless it enters once more
			sure := b.sole && kin == sameClient && !slices.Contains(r.words, b.token) && l.told.As != lab.Semaphore
			p.givesUp(r, l, []author{{b, sure, saying(r, l, doubtsAgain)}}, nil)
		case b.told: // it believes in the lock as long as it knows of a majority
			p.Ledger.MayKnow(p.node, l.Key, b.order, holders.Doubt{Why: saying(r, l, doubtsAgain), Step: r.step()})
		}
	}
}

// abandons reports whether a worker that tries for a lock does not know, or has forgotten, that the key has its token.
func (p *prover) abandons(r *request, l *lock, b *belief, is kinship) bool {
	if !b.sole || is != sameClient || p.masters > 1 || l.told.As == lab.Semaphore || !p.taking[word{l.Key, r.way()}] {
		return false
	}
	return !slices.Contains(r.words, b.token) || b.unknown && !r.lost() && r.Reply != b.token
}

// leavesPerhaps reports whether a client that takes the lock in the way of all, with another token than the one that it
// has in the key, never shows that one again.
func (p *prover) leavesPerhaps(r *request, l *lock, b *belief) bool {
	if l.told.As == lab.Semaphore || slices.Contains(r.words, b.token) || !p.taking[word{l.Key, r.way()}] {
		return false
	}
	for i := r.index + 1; i < min(len(p.history.Entries), r.index+mostLooked); i++ {
		e := &p.history.Entries[i]
		if e.Client == r.Client && e.By == "" && slices.Contains(e.Cmd, b.token) {
			return false
		}
	}
	return true
}

// leave leaves the token of a belief in the key, and nobody believes in it.
func (l *lock) leave(b *belief) {
	for i := range l.parts {
		if l.parts[i].held == b {
			l.parts[i].held, l.parts[i].was = nil, b
		}
	}
}

// mayLearn notes the clients that have shown their tokens at a master that does not have them any more.
func (p *prover) mayLearn(r *request, l *lock) {
	for _, b := range l.beliefs {
		b.told = b.told || slices.Contains(r.words, b.token) && !l.has(b)
	}
}

// releases reports whether a request tries to give a lock up.
func (p *prover) releases(r *request) bool {
	switch lower(r.Cmd) {
	case "del", "unlink", "getdel", "delex", "delifeq", "hdel", "srem", "zrem", "lrem", "hgetdel":
		return true
	case "setbit":
		return r.Cmd[len(r.Cmd)-1] == "0"
	}
	return r.runs() && p.script(r).releases()
}

// gaveUpPerhaps records that a client may believe that it has given a lock up.
func (p *prover) gaveUpPerhaps(r *request, l *lock, why doubt) {
	if r.runs() && !p.releases(r) && p.script(r).keeps() && !p.taking[word{l.Key, r.way()}] {
		return
	}
	found := p.ofTheirOwn(r, l)
	for i := range found {
		found[i].sure, found[i].why, found[i].recount = false, saying(r, l, why), true
	}
	p.givesUp(r, l, found, nil)
}
