package proof

import (
	"cmp"
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
	b := &belief{actor: me, token: a.token, ends: a.deadline, index: r.index, taken: r.step(), recount: p.isLost(r),
		looked: l.seenAbsent[me.id()],
		lease:  holders.LeaseOf(r.Time, a.deadline)}
	if doubt == "" && r.Time < p.moves {
		doubt = saying(r, l, doubtsMoved)
	}
	b.unknown = b.recount || doubt != ""
	hash := l.mode != "" || a.value != ""
	b.shared = l.mode == "read" && !strings.HasSuffix(a.token, ":write")
	b.doubt, b.sole = doubt, p.sole[me.name]
	why := doubt
	if p.isLost(r) {
		why = saying(r, l, doubtsReply)
	}
	p.regrets(r, l, b)
	p.succeeds(r, l, b)
	b.order, _, _ = p.Ledger.Granted(p.master, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: a.token, Client: me.client, Name: me.name, Hash: hash, Shared: b.shared,
			Granted: r.step(), Event: int64(p.number), Lease: holders.LeaseOf(r.Time, a.deadline), Until: a.deadline,
			Sole: b.sole,
		},
		Doubt: why, Loose: a.scored,
	})
	p.doubted[b.order], p.deadlines[b.order] = doubt != "", a.deadline
	p.mayLast(r, l, b, a.deadline)
	l.forget(r.Time)
	l.beliefs = append(l.beliefs, b)
	l.took[me.id()], l.restarted = true, ""
	a.held = b
	l.parts = append(l.parts, a)
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
			p.Ledger.Regret(p.master, l.Key, b.order, holders.Doubt{Why: saying(r, l, doubtsVain), Step: r.step()})
		}
	}
	l.vain = nil
}

// isLost reports whether a client does not know the reply to a request: it never came, or so late that the key had
// changed by then.
func (p *prover) isLost(r *request) bool {
	if r.outer().Outcome != lab.ReplyLate {
		return r.lost()
	}
	for i := r.index + 1; i < len(p.history.Entries); i++ {
		switch e := &p.history.Entries[i]; {
		case e == r.outer() || e.By != "" && e.Client == r.Client:
		case e.Client == r.Client && len(e.Cmd) > 0:
			return false
		case slices.ContainsFunc(e.Changes, func(c lab.Change) bool { return slices.Contains(r.words, c.Key) }):
			return true
		}
	}
	return true
}

// adopt notes a part that was there before the log says who added it.
func (p *prover) adopt(r *request, l *lock, a part) {
	if l.seen { // the log lacks a change
		p.leavesUnread(r, l, doubtsValue)
	}
	b := &belief{token: a.token, ends: a.deadline, unknown: true, index: r.index}
	b.order, _, _ = p.Ledger.Granted(p.master, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: a.token, Hash: a.value != "", Event: int64(p.number),
			Granted: holders.Step{Time: r.Time, Command: "the key was there when the log began"},
			Lease:   holders.LeaseOf(r.Time, a.deadline), Until: a.deadline,
		},
		Doubt: saying(r, l, doubtsBegin),
	})
	l.beliefs = append(l.beliefs, b)
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
	case r.Event == lab.EventRestore:
		e.By = holders.Step{Time: r.Time, Command: onRestore}
	case l.restarted != "":
		e.By = holders.Step{Time: r.Time, Command: onDisk + l.restarted}
	}
	if how == holders.EndStolen || how == holders.EndExpired {
		p.manners[b.order] = p.mannerOf(r, l, b)
	}
	p.Ledger.Ended(p.master, l.Key, e)
}

// apart records that a request gave a lock another deadline than its holder asked for.
func (p *prover) apart(r *request, l *lock, b *belief) {
	if b != nil {
		b.cut = ""
		if r.Client != 0 {
			b.cut = who(r.actor(p.epoch)) + "'s " + r.verb() + " at " + Clock(r.Time)
		}
		p.Ledger.Apart(p.master, l.Key, b.order)
	}
}

// givesUp records that the authors of a request do not believe in the lock any more.
func (p *prover) givesUp(r *request, l *lock, found []author, but *belief) {
	for _, a := range found {
		if a.belief == but {
			continue
		}
		a.gone = a.gone || a.sure
		p.Ledger.GaveUp(p.master, l.Key, a.order, a.sure, holders.Doubt{Why: a.why, Step: r.step()})
	}
}

// extends records that an author has a new lease.
func (p *prover) extends(r *request, l *lock, a author, until int64) {
	if p.isLost(r) && a.sure {
		a.sure, a.why = false, saying(r, l, doubtsReply)
	}
	if a.sure {
		a.unknown, a.ends, a.lease = false, until, holders.LeaseOf(r.Time, until)
		p.deadlines[a.order] = until
	}
	p.Ledger.Extended(p.master, l.Key, holders.Renewal{
		Order: a.order, Time: r.Time, Until: until, Sure: a.sure, Doubted: a.doubt != "", Why: holders.Doubt{Why: a.why,
			Step: r.step()},
	})
	p.mayLast(r, l, a.belief, until)
}

// mayRenew records that the author of a request that deleted the lock may believe that it has renewed it.
func (p *prover) mayRenew(r *request, l *lock, a author) {
	if a.ends == 0 {
		return
	}
	p.Ledger.Extended(p.master, l.Key, holders.Renewal{Order: a.order, Time: r.Time, Until: r.Time + a.lease,
		Doubted: a.doubt != "", Why: holders.Doubt{Why: a.why, Step: r.step()}})
}

// mayLast handles an end that a client has computed from its own clock: if that clock is behind, the client believes in
// a longer lease.
func (p *prover) mayLast(r *request, l *lock, b *belief, until int64) {
	words := r.words
	if r.isScript() {
		words = r.outer().Cmd
	}
	own := func(n int64) bool { return slices.Contains(words, strconv.FormatInt(n, 10)) }
	if until == 0 || !own(until) && (until%1000 != 0 || !own(until/1000)) {
		return
	}
	p.ownClock(r, l, b)
}

// ownClock records that a client counts a lease by its own clock.
func (p *prover) ownClock(r *request, l *lock, b *belief) {
	p.Ledger.Extended(p.master, l.Key, holders.Renewal{
		Order: b.order, Time: r.Time, Doubted: b.doubt != "", Why: holders.Doubt{Why: saying(r, l, doubtsOwnClock),
			Step: r.step()},
	})
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
	for _, a := range mine { // it may count otherwise
		if a.recount = a.recount || entered && p.isLost(r); entered && a.recount {
			p.givesUp(r, l, []author{{a.belief, false, saying(r, l, doubtsReply)}}, nil)
		}
	}
	if q.deadline > 0 && q.deadline <= r.Time {
		return // the key is about to expire, and its holder means to renew it
	}
	if len(mine) == 0 && !entered {
		for _, b := range l.pending(r.Time) {
			if b.name == "" || r.Name == "" {
				mine = append(mine, author{b, false, saying(r, l, doubtsStranger)})
			}
		}
	}
	for _, a := range mine {
		over := a.ends > 0 && r.Time > a.ends
		switch kin := a.kin(r.actor(p.epoch)); {
		case q.down:
		case a.belief == q.held && p.takesAgain(r, a, kin):
			p.joins(r, l, q, saying(r, l, doubtsTwice))
		case a.belief == q.held && q.held.client == 0: // it was there when the log began
			a.actor = r.actor(p.epoch)
			p.extends(r, l, a, q.deadline)
		case a.belief == q.held && over && p.Ledger.HasEnded(p.master, l.Key, a.order): // another client has kept the key
			p.revive(r, l, a, q.deadline)
			q.held = l.beliefs[len(l.beliefs)-1]
			delete(p.renewed, q.held.order)
		case a.belief == q.held || !over:
			p.extends(r, l, a, q.deadline)
		default:
			p.revive(r, l, a, q.deadline)
		}
	}
	if _, is := whose(mine, q.held); !is {
		p.apart(r, l, q.held)
		p.intrudes(r, l, q, mine)
	}
}

// takesAgain reports whether a request may take a lock for another client, although it looks like a renewal: a script
// that takes locks ran over another connection, while the connection of the holder stays in use.
func (p *prover) takesAgain(r *request, a author, is kinship) bool {
	if !r.isScript() || !p.script(r).adds || holders.LooksRandom(a.token) || is != noNames && is != sameName {
		return false
	}
	return is == noNames || slices.ContainsFunc(p.history.Entries[r.index:], func(e lab.Entry) bool {
		return e.Client == a.client && len(e.Cmd) > 0
	})
}

// revive records that a client whose lease is over has renewed the lock of another one: it believes in it again.
func (p *prover) revive(r *request, l *lock, a author, until int64) {
	b := &belief{actor: a.actor, token: a.token, ends: until, index: r.index, taken: a.taken, doubt: a.doubt, sole: a.sole}
	var renews int64
	if a.sure {
		renews, a.gone = a.order, true
	}
	doubt := cmp.Or(a.why, a.doubt)
	if p.isLost(r) {
		doubt = saying(r, l, doubtsReply)
	}
	b.order, _, _ = p.Ledger.Granted(p.master, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: a.token, Client: a.client, Name: a.name, Granted: r.step(), Event: int64(p.number),
			Lease: holders.LeaseOf(r.Time, until), Until: until, Renews: renews, Sole: a.sole,
		},
		Doubt: doubt, Loose: true,
	})
	p.renewed[b.order] = a.order
	l.beliefs = append(l.beliefs, b)
}

// intrudes handles a script that shows the token of a holder and comes from another client: it believes in the lock,
// too.
func (p *prover) intrudes(r *request, l *lock, q *part, mine []author) {
	if len(mine) == 0 && r.isScript() && q.held != nil && r.around != nil && slices.Contains(r.around.Cmd, q.token) {
		p.joins(r, l, q, "")
	}
}

// joins records that a client believes in a lock that the key gives to another one.
func (p *prover) joins(r *request, l *lock, q *part, doubt string) {
	me := r.actor(p.epoch)
	b := &belief{actor: me, token: q.token, ends: q.deadline, index: r.index, taken: r.step(), shared: q.held.shared,
		unknown: doubt != "", doubt: doubt, sole: p.sole[me.name]}
	b.order, _, _ = p.Ledger.Granted(p.master, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: q.token, Client: me.client, Name: me.name, Granted: r.step(), Hash: q.value != "",
			Event: int64(p.number), Lease: holders.LeaseOf(r.Time, q.deadline), Until: q.deadline, Shared: b.shared,
			Sole: b.sole,
		},
		Doubt: doubt, Loose: true,
	})
	l.beliefs = append(l.beliefs, b)
}

// wasOver handles a lock whose lease was over before it began: its client has read OK.
func (p *prover) wasOver(r *request, l *lock) {
	me := r.actor(p.epoch)
	token := ""
	if len(r.Cmd) > 2 {
		token = r.Cmd[2]
	}
	l.seen, l.asked = true, true
	p.Ledger.Granted(p.master, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: token, Client: me.client, Name: me.name, Granted: r.step(), Event: int64(p.number),
		},
		Doubt: saying(r, l, doubtsClock), Loose: true,
	})
}
