package proof

import (
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// grant records that a client has taken a lock. to is another client than that of the request, to which it was given.
func (p *prover) grant(r *request, l *lock, a part, to *actor, doubt string) {
	me := r.actor(p.epoch)
	if to != nil {
		me = *to
	}
	b := &belief{actor: me, token: a.token, ends: a.deadline, taken: r.step(), recount: p.isLost(r), index: r.index,
		on: p.node, looked: l.seenAbsent[me.id()], lease: holders.LeaseOf(r.Time, a.deadline), endless: a.deadline == 0}
	if doubt == "" && r.Time < p.movedTo {
		doubt = saying(r, l, doubtsMoved)
	}
	b.unknown = b.recount || doubt != ""
	hash := l.mode != "" || a.value != ""
	b.shared = l.shares(a.token)
	b.doubt, b.sole = doubt, p.sole[me.name]
	why := doubt
	switch late := r.outer().Outcome == lab.ReplyLate; {
	case p.isLost(r):
		why = saying(r, l, doubtsReply)
	case late && why == "":
		why = saying(r, l, doubtsLate)
		defer func() { p.late = append(p.late, lateGrant{l.Key, b.order, r.outer()}) }()
	}
	p.regrets(r, l, b)
	p.succeeds(r, l, b)
	b.order, _, _ = p.Ledger.Granted(p.node, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: a.token, Client: me.client, Name: me.name, Hash: hash, Shared: b.shared,
			Granted: r.step(), Event: int64(p.number), Lease: holders.LeaseOf(r.Time, a.deadline), Until: a.deadline,
			Sole: b.sole, Readonly: p.follows,
		},
		Doubt: why, Request: r.Request, Loose: a.scored,
	})
	p.doubted[b.order], p.deadlines[b.order] = doubt != "", a.deadline
	p.mayLast(r, l, b, a.deadline)
	p.mayBeLess(r, l, b, a.deadline)
	p.mayEnd(r, l, b)
	l.forget(r.Time)
	l.beliefs = append(l.beliefs, b)
	l.took[me.id()], l.restarted = true, ""
	a.held = b
	l.parts = append(l.parts, a)
}

// shares reports whether others may hold a lock together with the client of a token: both read.
func (l *lock) shares(token string) bool {
	return l.mode == "read" && !strings.HasSuffix(token, ":write")
}

// succeeds ends the beliefs of a client that takes the lock again: it believes in the new one from now on.
func (p *prover) succeeds(r *request, l *lock, now *belief) {
	for _, b := range l.pending(r.Time) {
		over := b.ends > 0 && b.ends < r.Time
		switch {
		case b.kin(now.actor) != sameClient:
		case over && b.sole:
			b.gone = true
		case b.sole && l.told.As != lab.Semaphore && p.masters == 1:
			p.givesUp(r, l, []author{{b, true, ""}}, nil)
		}
	}
}

// mostBeliefs is how many beliefs of a lock are kept that their clients have not given up.
const mostBeliefs = 64

// forget drops the oldest belief whose lease is over, if there are too many. Its client may renew it no more.
func (l *lock) forget(now int64) {
	over := func(b *belief) bool { return b.gone || b.ends > 0 && b.ends < now }
	if len(l.beliefs) >= mostBeliefs {
		if i := slices.IndexFunc(l.beliefs, over); i >= 0 {
			l.beliefs = slices.Delete(l.beliefs, i, i+1)
		}
	}
}

// regrets handles a connection that takes a lock with another token although its last release found nothing: that
// release may have come from another worker on the connection.
func (p *prover) regrets(r *request, l *lock, now *belief) {
	for _, b := range l.vain {
		if b.vain && (b.ends == 0 || b.ends > r.Time) && b.token != now.token && b.kin(now.actor) == sameClient {
			p.Ledger.Regret(p.node, l.Key, b.order, holders.Doubt{Why: saying(r, l, doubtsVain), Step: r.step()})
		}
	}
	l.vain = nil
}

// adopt notes a part that was there before the log says who added it.
func (p *prover) adopt(r *request, l *lock, a part) {
	if l.seen { // the log lacks a change
		p.leavesUnread(r, l, doubtsValue)
	}
	b := &belief{token: a.token, ends: a.deadline, unknown: true, index: r.index, on: p.node}
	b.order, _, _ = p.Ledger.Granted(p.node, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: a.token, Hash: a.value != "", Event: int64(p.number),
			Granted: holders.Step{Time: r.Time, Command: "the key was there when the log began"},
			Lease:   holders.LeaseOf(r.Time, a.deadline), Until: a.deadline,
		},
		Doubt: saying(r, l, doubtsBegin),
	})
	l.beliefs = append(l.beliefs, b)
	l.known[a.token] = true
	a.held = b
	l.parts = append(l.parts, a)
}

// ends records that a key does not have the token of a belief any more.
func (p *prover) ends(r *request, l *lock, b *belief, how holders.End) {
	e := holders.Ending{Order: b.order, How: how, Time: r.Time}
	switch who := r.actor(p.epoch).id(); {
	case r.Client != 0:
		e.By = r.step()
		e.Thief = how == holders.EndStolen && (l.competes[who] || l.took[who])
	case r.Event == lab.EventStranger:
		e.By = holders.Step{Time: r.Time, Command: onPast}
	case r.Event == lab.EventRestore:
		e.By = holders.Step{Time: r.Time, Command: onRestore}
	case l.restarted != "":
		e.By = holders.Step{Time: r.Time, Command: onDisk + l.restarted}
	}
	if how == holders.EndStolen || how == holders.EndExpired {
		p.manners[b.order] = p.mannerOf(r, l, b)
	}
	p.Ledger.Ended(p.node, l.Key, e)
}

// apart records that a request gave a lock another deadline than its holder asked for.
func (p *prover) apart(r *request, l *lock, b *belief) {
	if b != nil {
		b.cut = ""
		if r.Client != 0 {
			l.moved = true
			b.cut = who(r.actor(p.epoch)) + "'s " + r.verb() + " at " + Clock(r.Time)
		}
		p.Ledger.Apart(p.node, l.Key, b.order)
	}
}

// givesUp records that the authors of a request do not believe in the lock any more.
func (p *prover) givesUp(r *request, l *lock, found []author, but *belief) {
	for _, a := range found {
		if a.belief == but {
			continue
		}
		a.gone = a.gone || a.sure
		p.Ledger.GaveUp(p.node, l.Key, a.order, a.sure, holders.Doubt{Why: a.why, Step: r.step()})
	}
}

// extends records that an author has a new lease.
func (p *prover) extends(r *request, l *lock, a author, until int64) {
	unknown := p.isLost(r)
	if unknown && a.sure && !p.together(r, a.belief) { // else a client that knows of the grant knows of the lease
		a.sure, a.why = false, saying(r, l, doubtsReply)
	}
	if a.sure {
		a.unknown, a.ends, a.lease = unknown, until, holders.LeaseOf(r.Time, until)
		p.deadlines[a.order] = until
	}
	takes := p.together(r, a.belief) || a.endless && a.kin(r.actor(p.epoch)) == sameClient
	if w := p.waitBehind(r); w != nil && !w.confirms() && a.sure && !takes {
		a.sure, a.why = false, saying(w, l, doubtsWait)
	}
	late := r.outer().Outcome == lab.ReplyLate && p.together(r, a.belief) // it does not know of the grant so far
	renewal := holders.Renewal{Order: a.order, Time: r.Time, Until: until, Sure: a.sure,
		Doubted: a.doubt != "" || unknown || late, Why: holders.Doubt{Why: a.why, Step: r.step()}}
	s := p.script(r)
	again := p.replicated() && r.isScript() && (s.adds || s.frees) // a further try for the lock, or half of a release
	if again || takes {
		renewal.Take = r.Request
	}
	a.endless = false
	p.Ledger.Extended(p.node, l.Key, renewal)
	p.mayLast(r, l, a.belief, until)
	p.mayBeLess(r, l, a.belief, until)
}

// mayRenew records that the author of a request may believe that it has renewed the lock, although the key has not its
// token. a is not sure.
func (p *prover) mayRenew(r *request, l *lock, a author) {
	until := r.Time + a.lease
	if a.on == p.node && p.request(a.index).brings() { // the lease began before that, and was longer
		until = 0
	}
	switch {
	case a.ends == 0:
		return
	case r.Time > a.ends:
		p.revive(r, l, a, until)
		return
	}
	p.Ledger.Extended(p.node, l.Key, holders.Renewal{Order: a.order, Time: r.Time, Until: until,
		Doubted: a.doubt != "", Why: holders.Doubt{Why: a.why, Step: r.step()}})
}

// renewsNothing handles the renewal of a key that is there and has nobody's token, such as bits of which none is set.
func (p *prover) renewsNothing(r *request, l *lock, c lab.Change) {
	if len(l.parts) > 0 || c.Before == nil || r.Client == 0 || !renews(lower(r.Cmd)) {
		return
	}
	for _, a := range p.authors(r, l, false) {
		a.sure, a.why = false, saying(r, l, doubtsWriter)
		p.mayRenew(r, l, a)
	}
}

// mayLast handles an end that a client has computed from its own clock: if that clock is behind, the client believes in
// a longer lease.
func (p *prover) mayLast(r *request, l *lock, b *belief, until int64) {
	words := r.words
	if r.isScript() {
		words = r.outer().Cmd
	}
	own := func(n int64) bool { return slices.Contains(words, strconv.FormatInt(n, 10)) }
	if at := timeAmong(r.Time, r.words); until == 0 && at > 0 {
		p.Ledger.Extended(p.node, l.Key, holders.Renewal{Order: b.order, Time: r.Time, Until: max(at, r.Time+1),
			Doubted: b.doubt != "", Why: holders.Doubt{Why: saying(r, l, doubtsOwnClock), Step: r.step()}})
	}
	if until == 0 || !own(until) && (until%1000 != 0 || !own(until/1000)) {
		return
	}
	p.ownClock(r, l, b, until)
}

// timeAmong returns the last unix ms, within a day of now, of which some words tell; 0 if they tell of none. A lock
// without a lease may have it in its value.
func timeAmong(now int64, words []string) (last int64) {
	const day = 24 * 60 * 60 * 1000
	for _, w := range words {
		for _, digits := range strings.FieldsFunc(w, func(c rune) bool { return c < '0' || c > '9' }) {
			if at := scoredTime(digits); now-day < at && at < now+day {
				last = max(last, at)
			}
		}
	}
	return last
}

// prolong applies a change that keeps a token.
func (p *prover) prolong(r *request, l *lock, q *part, entered, field bool) {
	mine := p.authors(r, l, false)
	if lower(r.Cmd) == "getex" && !r.isScript() { // its reply shows whose lock it is
		for i := range mine {
			if mine[i].token != r.Reply {
				mine[i].sure, mine[i].why = false, saying(r, l, doubtsShown)
				p.givesUp(r, l, mine[i:i+1], nil)
			}
		}
	}
	if field {
		for i := range mine {
			mine[i].sure, mine[i].why = false, saying(r, l, doubtsField)
		}
	}
	for i := range mine { // its reply may tell that it is refused
		if p.refused(r, l, *q) {
			mine[i].sure, mine[i].why = false, saying(r, l, doubtsWriter)
		}
	}
	p.entersAnew(r, l, q, mine, entered)
	for _, a := range mine { // it may count otherwise
		if a.recount = a.recount || entered && p.isLost(r); entered && a.recount {
			p.givesUp(r, l, []author{{a.belief, false, saying(r, l, doubtsReply)}}, nil)
		}
	}
	if q.deadline > 0 && q.deadline <= r.Time { // the key is about to expire, and its holder means to renew it
		p.apart(r, l, q.held)
		for _, a := range mine {
			p.mayRenew(r, l, author{a.belief, false, saying(r, l, doubtsPast)})
		}
		return
	}
	if q.deadline == r.Time+1 { // nobody works with such a lease: it frees the key
		for i := range mine {
			mine[i].sure, mine[i].why = false, saying(r, l, doubtsBrief)
		}
		p.givesUp(r, l, mine, nil)
		if _, is := whose(mine, q.held); !is {
			p.apart(r, l, q.held)
		}
		return
	}
	if len(mine) == 0 && !entered {
		mine = p.mayHaveSent(r, l)
	}
	p.renewsEach(r, l, q, mine, entered)
	a, is := whose(mine, q.held)
	if !is {
		p.apart(r, l, q.held)
	}
	if !is || !a.sure {
		p.intrudes(r, l, q, mine, entered)
	}
}

// mayHaveSent returns those that a renewal without an author may come from: connections without a name, and a client
// that had no reply when it took the lock, and renews it all the same.
func (p *prover) mayHaveSent(r *request, l *lock) (found []author) {
	all := l.pending(r.Time)
	for _, b := range all {
		if b.name == "" || r.Name == "" {
			found = append(found, author{b, false, saying(r, l, doubtsStranger)})
		}
	}
	for _, b := range l.beliefs {
		if !slices.Contains(all, b) && !b.revived && b.kin(r.actor(p.epoch)) == sameClient {
			found = append(found, author{b, false, saying(r, l, doubtsReply)})
		}
	}
	return found
}

// renewsEach gives the authors of a renewal their new lease.
func (p *prover) renewsEach(r *request, l *lock, q *part, mine []author, entered bool) {
	newest, is := whose(mine, q.held)
	for _, a := range mine {
		over := a.ends > 0 && r.Time > a.ends
		again := is && newest.sure && a.sure && over && a.belief != q.held && a.token == newest.token
		if a.revived || again {
			continue // its newer belief is among the authors
		}
		way := word{l.Key, r.way()}
		switch kin := a.kin(r.actor(p.epoch)); {
		case q.down:
		case entered && over && p.taking[way] && !p.told[said{way, r.outer().Reply}]: // it tries for the lock in vain
		case a.belief == q.held && p.takesAgain(r, a, kin):
			p.joins(r, l, q, saying(r, l, doubtsTwice))
		case a.belief == q.held && q.held.client == 0: // it was there when the log began
			a.actor = r.actor(p.epoch)
			p.extends(r, l, a, q.deadline)
		case a.belief == q.held && !p.Ledger.HasEnded(p.node, l.Key, a.order), a.belief != q.held && !over:
			p.extends(r, l, a, q.deadline)
		case a.belief == q.held:
			q.held = p.revive(r, l, a, q.deadline)
			delete(p.renewed, q.held.order)
		default:
			p.revive(r, l, a, q.deadline)
		}
	}
}

// isLess compares two counts.
func isLess(a, b string) bool {
	n, err := strconv.ParseInt(a, 10, 64)
	m, bad := strconv.ParseInt(b, 10, 64)
	return err == nil && bad == nil && n < m
}
