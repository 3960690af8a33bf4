package proof

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// remove applies the removal of parts by a client.
func (p *prover) remove(r *request, l *lock, removed []part, c lab.Change) {
	if len(removed) == 0 {
		return
	}
	l.drop(removed)
	mine := p.authors(r, l, false)
	clears := strings.HasPrefix(lower(r.Cmd), "flush") || lower(r.Cmd) == "swapdb"
	past := c.After == nil && r.isPast() && !r.isConstant()
	var present []*belief
	for _, q := range removed {
		if q.held == nil || slices.Contains(present, q.held) {
			continue
		}
		present = append(present, q.held)
		a, is := whose(mine, q.held)
		if q.held.marred != "" {
			a.sure, a.why = false, q.held.marred
		}
		p.leaves(r, l, q, is)
		means := unclear
		if is && past {
			means = p.meaningOf(r, l, q.held)
		}
		switch {
		case is && lower(r.Cmd) == "zremrangebyscore" && p.clockOf(r, l) == nil: // another worker's may be over by its clock
			a.sure, a.why = false, saying(r, l, doubtsAuthor)
			p.ends(r, l, q.held, holders.EndExpired)
			p.givesUp(r, l, []author{a}, nil)
		case means == toRenew:
			p.ends(r, l, q.held, holders.EndOverwritten)
			a.sure, a.why = false, saying(r, l, doubtsPast)
			p.mayRenew(r, l, a)
		case means == toRelease:
			p.ends(r, l, q.held, holders.EndReleased)
			q.held.gone = true
		case past && lower(r.Cmd) == "set" && is: // it means to renew
			p.ends(r, l, q.held, holders.EndOverwritten)
		case is && (past || clears):
			a.sure, a.why = false, saying(r, l, doubtsPast)
			if clears {
				a.why = saying(r, l, doubtsAll)
			}
			p.ends(r, l, q.held, holders.EndUnclear)
			if past {
				p.mayRenew(r, l, a)
			}
			p.givesUp(r, l, []author{a}, nil)
		case is && a.sure:
			p.ends(r, l, q.held, holders.EndReleased)
			q.held.gone = true
		case is:
			p.ends(r, l, q.held, holders.EndUnclear)
			p.givesUp(r, l, []author{a}, nil)
		case clears:
			p.ends(r, l, q.held, holders.EndLost)
		case c.Before.Type == "zset" && q.deadline > 0 && q.deadline <= r.Time: // its score says that it is over
			p.ends(r, l, q.held, holders.EndExpired)
		default:
			p.ends(r, l, q.held, holders.EndStolen)
		}
	}
	others := slices.DeleteFunc(mine, func(a author) bool { return slices.Contains(present, a.belief) })
	for i := range others {
		if past {
			others[i].sure, others[i].why = false, saying(r, l, doubtsPast)
			p.mayRenew(r, l, others[i])
		}
	}
	if name := lower(r.Cmd); name != "zremrangebyscore" && (!past || name != "set") {
		p.givesUp(r, l, others, nil)
	}
}

// replace applies a string that a client has replaced by another one.
func (p *prover) replace(r *request, l *lock, old, now part) {
	mine := p.authors(r, l, true)
	a, is := whose(mine, old.held)
	brief := now.deadline > 0 && now.deadline <= r.Time+1 // a lease that nobody takes: it frees the key
	if !is && old.held != nil && !r.has(3, "xx") {        // it may have written this token before
		again := p.byClient(r, l, []*belief{old.held}, r.actor(p.epoch))
		if !brief {
			again = unsure(r, l, again)
		}
		mine = append(mine, again...)
		a, is = whose(mine, old.held)
	}
	carries := slices.Contains(r.words, now.token)
	to := p.waiter(r, l, now.token)
	if p.refused(r, l, old) {
		p.refuses(r, l, old, now)
		return
	}
	switch {
	case old.held == nil:
	case is && now.deadline > 0 && now.deadline <= r.Time:
		a.sure, a.why = false, saying(r, l, doubtsPast)
		l.drop([]part{old})
		p.ends(r, l, old.held, holders.EndUnclear)
		p.givesUp(r, l, []author{a}, nil)
		l.parts = append(l.parts, now) // until it expires
		return
	case is && a.sure && (to != nil || !carries): // the holder hands the lock over
		l.drop([]part{old})
		p.ends(r, l, old.held, holders.EndReleased)
		old.held.gone = true
		p.grant(r, l, now, to, saying(r, l, doubtsGiven))
		return
	case is && a.sure && (brief || p.rotates(r, l, old) && !p.triedWith(r, l, a.belief, now.token)):
		q := l.find(old.name)
		q.name, q.token, q.deadline = now.name, now.token, now.deadline
		if brief {
			p.givesUp(r, l, mine, a.belief)
		} else {
			q.held.token = now.token
		}
		p.extends(r, l, a, now.deadline)
		return
	case is:
		l.drop([]part{old})
		p.ends(r, l, old.held, holders.EndUnclear)
		why := saying(r, l, doubtsWriter)
		for i := range mine {
			mine[i].sure, mine[i].why = false, why
		}
		p.givesUp(r, l, mine, nil)
		p.grant(r, l, now, nil, why)
		return
	}
	l.drop([]part{old})
	if old.held != nil {
		p.ends(r, l, old.held, holders.EndOverwritten)
	}
	if p.renewsIntoPast(r, l, mine, now) {
		return
	}
	doubt := ""
	if brief && !is {
		me := r.actor(p.epoch)
		p.givesUp(r, l, p.byClient(r, l, l.pending(r.Time), me), nil)
		doubt = saying(r, l, doubtsWriter)
	}
	_, own := whose(mine, old.held)
	switch before := slices.ContainsFunc(mine, func(a author) bool { return a.token == now.token && a.sure }); {
	case !r.isScript() && r.Reply == old.token && !own, !before && !p.overwrites(r, l, now):
		doubt = saying(r, l, doubtsWriter) // the reply may tell that it was not free
	case !r.isScript() && r.Reply == "OK" && doubt == "" && !before && p.readsBack(r, l):
		doubt = saying(r, l, doubtsWriter)
	}
	p.again(r, l, now, mine, doubt)
}

// renewsIntoPast handles a client that writes its own token over another one, with a time that is over by the server's
// clock. It means to renew, and a client whose clock is behind believes in that.
func (p *prover) renewsIntoPast(r *request, l *lock, mine []author, now part) bool {
	i := slices.IndexFunc(mine, func(a author) bool { return a.token == now.token })
	if i < 0 || r.isScript() || now.deadline == 0 || now.deadline > r.Time {
		return false
	}
	mine[i].sure, mine[i].why = false, saying(r, l, doubtsPast)
	p.mayRenew(r, l, mine[i])
	l.parts = append(l.parts, now) // until it expires
	return true
}

// refuses handles a client that replaces a token, and whose reply shows that it has not got the lock.
func (p *prover) refuses(r *request, l *lock, old, now part) {
	l.drop([]part{old})
	if old.held != nil {
		p.ends(r, l, old.held, holders.EndOverwritten)
	}
	if r.Name == "" {
		now.by = r.Client
	}
	l.parts = append(l.parts, now)
	p.tried(r, l)
}

// rotates reports whether a holder that writes another token gives itself a new one.
func (p *prover) rotates(r *request, l *lock, old part) bool {
	shows := r.isScript() || r.has(3, "xx") || slices.Contains(r.words, old.token)
	return shows || p.sole[r.Name] && l.way != lower(r.Cmd)
}

// overwrites reports whether a client that replaces a token believes that it has the lock now.
func (p *prover) overwrites(r *request, l *lock, now part) bool {
	if r.has(3, "xx") && l.told.As == lab.Unnamed {
		return false
	}
	me := r.actor(p.epoch).id()
	if r.isScript() {
		return answered(r.outer()) == yes && slices.Contains(r.words, now.token)
	}
	return slices.Contains(r.words, now.token) &&
		(l.competes[me] || l.seenAbsent[me] || now.deadline > 0 && holders.IsToken(now.token))
}

// again grants a lock to a client that may have held it before.
func (p *prover) again(r *request, l *lock, now part, mine []author, doubt string) {
	for _, a := range mine {
		if a.token != now.token || !a.sure {
			continue
		}
		if a.ends == 0 || a.ends >= r.Time { // it has not noticed that another client wrote here
			now.held = a.belief
			l.parts = append(l.parts, now)
			p.extends(r, l, a, now.deadline)
			return
		}
		a.gone = true
		p.grant(r, l, now, nil, cmp.Or(doubt, a.doubt))
		l.beliefs[len(l.beliefs)-1].taken = a.taken
		return
	}
	p.grant(r, l, now, nil, doubt)
}

// mostLooked is how many entries are searched for a client that waits.
const mostLooked = 1024

// waiter returns another client that has tried for the lock with a token, or nil.
func (p *prover) waiter(r *request, l *lock, token string) (found *actor) {
	me := r.actor(p.epoch)
	p.earlier(r, func(o *prover, e *request) bool {
		if e.Client == 0 || e.DB != l.DB || !slices.Contains(e.Cmd, token) || !slices.Contains(e.Cmd, l.Name) {
			return false
		}
		a := e.actor(o.epoch)
		if a.id() != me.id() {
			found = &a
		}
		return found != nil
	})
	return found
}

// triedWith reports whether a request before r, outside of it, has tried for the lock with a token. The one that began
// a belief does not count.
func (p *prover) triedWith(r *request, l *lock, b *belief, token string) bool {
	return p.earlier(r, func(o *prover, e *request) bool {
		own := o == p && e.Client == r.Client && (e.Run == r.Run && r.By != "" && e.By == r.By || p.together(e, b))
		return !own && slices.Contains(e.Cmd, token) && slices.Contains(e.Cmd, l.Name) && p.taking[word{l.Key, e.way()}]
	})
}

// earlier reports whether one of the requests before r is as wanted: on its own node, and then on the others that its
// master has, or had.
func (p *prover) earlier(r *request, wanted func(at *prover, e *request) bool) bool {
	for n, o := range append([]*prover{p}, p.group.nodes...) {
		from := r.index
		switch {
		case n == 0:
		case o == p:
			continue
		default:
			from = o.upTo(r.Mono)
		}
		for i := from - 1; i >= max(0, from-mostLooked); i-- {
			if wanted(o, o.request(i)) {
				return true
			}
		}
	}
	return false
}

// counts applies arithmetic to a string, and reports whether that was all.
func (p *prover) counts(r *request, l *lock, c lab.Change) bool {
	if c.Before == nil {
		l.grows = !l.seen || l.grows
		return false
	}
	old := l.find(c.Before.Text)
	if old == nil || l.way != "" && !strings.HasPrefix(l.way, "incr") && !strings.HasPrefix(l.way, "decr") {
		return false
	}
	mine := settled(r, l, p.byClient(r, l, l.pending(r.Time), r.actor(p.epoch))) // the number is no token
	a, is := whose(mine, old.held)
	was, _ := strconv.ParseInt(c.Before.Text, 10, 64)
	n, _ := strconv.ParseInt(c.After.Text, 10, 64)
	l.grows = l.grows && n > was
	old.name, old.deadline = c.After.Text, c.After.Deadline
	switch {
	case n <= 0 && old.held != nil && is && a.sure:
		p.ends(r, l, old.held, holders.EndReleased)
		old.held.gone = true
		old.held = nil
	case n <= 0 && old.held != nil:
		p.ends(r, l, old.held, holders.EndUnclear)
		p.givesUp(r, l, mine, nil)
		old.held = nil
	case old.held == nil && was <= 0 && n > 0:
		l.drop([]part{*old})
		p.grant(r, l, part{name: c.After.Text, token: c.After.Text, deadline: c.After.Deadline}, nil, "")
	case !is && l.told.As == lab.Unnamed:
		l.what = counter
	case n < was: // another client may have counted, too
		p.givesUp(r, l, unsure(r, l, mine), nil)
	}
	return true
}
