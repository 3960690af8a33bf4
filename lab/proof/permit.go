package proof

import (
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// A semaphore may be a counter: INCR takes a permit, if the reply is not above the number of holders, and DECR gives it
// back. The counter has no tokens, so each permit is a part of its own.

// isCount reports whether a change is that of a semaphore that counts.
func (l *lock) isCount(c lab.Change) bool {
	if l.told.As != lab.Semaphore {
		return false
	}
	return c.Before != nil && c.Before.Type == "string" || c.After != nil && c.After.Type == "string"
}

// countsPermits applies a change of a semaphore that counts.
func (p *prover) countsPermits(r *request, l *lock, c lab.Change) {
	l.asked = true
	switch {
	case c.Cause != lab.ByCommand || r.Client == 0:
		if c.After == nil {
			p.vanish(r, l, c, append([]part{}, l.parts...))
		}
	case c.After == nil:
		p.remove(r, l, append([]part{}, l.parts...), c)
	case isCounter(c, r):
		was := int64(0)
		if c.Before != nil {
			was, _ = strconv.ParseInt(c.Before.Text, 10, 64)
		}
		n, _ := strconv.ParseInt(c.After.Text, 10, 64)
		full, doubt := n > int64(l.told.Holders), ""
		if full {
			doubt = saying(r, l, doubtsFull)
		}
		switch {
		case n > was && (!full || p.hasLooked(r, l)):
			p.triesAgain(r, l)
			p.permit(r, l, part{name: strconv.Itoa(r.index), token: strconv.Itoa(r.index), deadline: c.After.Deadline}, doubt)
		case n < was:
			p.givesBack(r, l)
		}
	case c.Before != nil && c.Before.Text == c.After.Text:
		for i := range l.parts {
			l.parts[i].deadline = c.After.Deadline
			p.prolong(r, l, &l.parts[i], false, false)
		}
	default:
		p.leavesUnread(r, l, doubtsWriter)
	}
}

// hasLooked reports whether a client that counts too far has read a lower number before: it may not look again.
func (p *prover) hasLooked(r *request, l *lock) bool {
	last := p.near(r, l.Key, -1)
	if last == nil || r.By != "" || len(last.Changes) > 0 || last.runs() {
		return false
	}
	n, err := strconv.Atoi(last.Reply)
	return isNil(last.Entry) || err == nil && n < l.told.Holders
}

// notesForeign notes whether a stranger sets the deadline of a semaphore.
func (p *prover) notesForeign(r *request, l *lock, c lab.Change) {
	switch {
	case l.told.As != lab.Semaphore:
	case c.Before == nil || c.After == nil:
		l.foreign = false
	case c.Before.Deadline != c.After.Deadline:
		me := r.actor(p.epoch)
		own := func(a author) bool { return a.sure || a.kin(me) == sameClient }
		took := l.took[me.id()] && (me.name == "" || p.sole[me.name])
		l.foreign = r.Client == 0 || !took && !slices.ContainsFunc(p.authors(r, l, false), own)
	}
}

// permit grants a permit. A client that sets no deadline does not know of one that a stranger has set.
func (p *prover) permit(r *request, l *lock, q part, doubt string) {
	now := q.deadline
	if l.foreign && !q.scored {
		q.deadline = 0
	}
	p.grant(r, l, q, nil, doubt)
	if now != q.deadline {
		l.find(q.name).deadline = now
		p.apart(r, l, l.beliefs[len(l.beliefs)-1])
	}
}

// givesBack ends the permit of a client that counts down. One that has none takes a vain try back.
func (p *prover) givesBack(r *request, l *lock) {
	me := r.actor(p.epoch)
	var mine *belief
	for _, q := range l.parts {
		if q.held == nil {
			continue
		}
		kin := q.held.kin(me)
		newest := mine == nil || mine.unknown || !q.held.unknown // it may have given up the others
		if !q.held.gone && (kin == sameClient || kin == sameName) && newest {
			mine = q.held
		}
	}
	if mine != nil {
		p.ends(r, l, mine, holders.EndReleased)
		mine.gone = true
		l.parts = slices.DeleteFunc(l.parts, func(q part) bool { return q.held == mine })
		return
	}
	var perhaps []author
	for _, b := range l.pending(r.Time) { // its permit was lost with the counter
		switch kin := b.kin(me); {
		case kin == sameClient || kin == sameName:
			p.givesUp(r, l, []author{{b, true, ""}}, nil)
			return
		case kin == noNames && (p.isNew(r, l, b) || b.on != p.node):
			perhaps = append(perhaps, author{b, false, saying(r, l, doubtsAuthor)})
		}
	}
	p.givesUp(r, l, perhaps, nil)
}

// A semaphore of separate commands has a token for each client: a client adds its token, looks how many there are, and
// takes it back if there are too many. It believes in its permit once it has looked.

// asker is a connection, with its name.
type asker struct {
	client int64
	name   string
}

// counting are the commands that show how many tokens there are, or how many are before one's own.
func counting(name string) (is, before bool) {
	switch name {
	case "scard", "zcard", "llen", "hlen":
		return true, false
	case "zrank":
		return true, true
	}
	return false, false
}

// looksLater reports whether a client that has added a token looks how many there are.
func (p *prover) looksLater(r *request, l *lock, token string) bool {
	if l.told.As != lab.Semaphore || r.isScript() {
		return false
	}
	for i := r.index + 1; i < min(len(p.history.Entries), r.index+mostLooked); i++ {
		e := &p.history.Entries[i]
		if e.Client != r.Client || !slices.Contains(e.Cmd, l.Name) {
			continue
		}
		is, before := counting(lower(e.Cmd))
		if shown := slices.Contains(e.Cmd, token); shown || is && !before {
			return is
		}
	}
	return false
}

// dropsOut reports whether a client has no reply to what it has added, or to its look how many tokens there are, and
// neither looks once more nor shows that token again: it does not believe in it.
func (p *prover) dropsOut(r *request, l *lock, token string) bool {
	if l.told.As != lab.Semaphore || r.isScript() || r.Name == "" || !r.lost() {
		return false
	}
	if next := p.near(r, l.Key, 1); next != nil {
		if is, _ := counting(lower(next.Cmd)); is {
			return false
		}
	}
	return !slices.ContainsFunc(p.history.Entries[r.index+1:], func(e lab.Entry) bool {
		return slices.Contains(e.Cmd, token)
	})
}

// askedElsewhere reports whether a client that looks how many tokens there are may have added its own one at another
// node of the master, which tells this one later.
func (p *prover) askedElsewhere(r *request, l *lock) bool {
	for _, o := range p.group.nodes {
		other := o.locks[l.Key]
		if o == p || o.shard != p.shard || other == nil {
			continue
		}
		for a, parts := range other.asking {
			if len(parts) > 0 && a.name == r.Name {
				return true
			}
		}
	}
	return false
}

// looks handles a client that looks whether it may hold a semaphore, and reports whether r does so.
func (p *prover) looks(r *request, l *lock) bool {
	is, before := counting(lower(r.Cmd))
	if is && p.askedElsewhere(r, l) {
		p.leavesUnread(r, l, doubtsReplica)
	}
	added := l.asking[asker{r.Client, r.Name}]
	at := slices.IndexFunc(added, func(q part) bool { return !before || slices.Contains(r.words, q.token) })
	if !is || at < 0 || r.isScript() {
		return false
	}
	if !before && len(added) > 1 { // several workers share the connection, and each may have looked
		p.leavesUnread(r, l, doubtsAuthor)
	}
	q := added[at]
	l.asking[asker{r.Client, r.Name}] = slices.Delete(added, at, at+1)
	n, err := strconv.Atoi(r.Reply)
	if before {
		n++
	}
	if n > l.told.Holders || err != nil || p.dropsOut(r, l, q.token) {
		p.tried(r, l)
		return true
	}
	doubt := ""
	if q.deadline > 0 && q.deadline <= r.Time {
		doubt, q.deadline = saying(r, l, doubtsClock), 0
	}
	there := l.find(q.name)
	now := int64(0) // the deadline of the key, which another client may have changed
	if there != nil {
		now = there.deadline
		l.drop([]part{q})
	}
	if l.foreign && !q.scored {
		q.deadline = 0
	}
	p.triesAgain(r, l)
	p.grant(r, l, q, nil, doubt)
	b := l.beliefs[len(l.beliefs)-1]
	if q.scored {
		p.ownClock(r, l, b, q.deadline)
	}
	if there != nil && now != q.deadline {
		l.find(q.name).deadline = now
		p.apart(r, l, b)
	}
	if there == nil { // somebody has removed it by now
		p.ends(r, l, b, holders.EndLost)
		l.drop([]part{q})
	}
	return true
}
