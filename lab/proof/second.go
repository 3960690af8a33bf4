package proof

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// A client may believe in a lock that the key gives to another one.

// takesAgain reports whether a request may take a lock for another client, although it looks like a renewal: a script
// that takes locks ran over another connection, while the connection of the holder stays in use. A script that renews
// takes a lock, too, for a client that mistakes the token of another one for its own.
func (p *prover) takesAgain(r *request, a author, is kinship) bool {
	if !r.isScript() || holders.LooksRandom(a.token) || is != noNames && is != sameName {
		return false
	}
	if !p.script(r).adds {
		return !a.sure
	}
	return is == noNames || slices.ContainsFunc(p.history.Entries[r.index:], func(e lab.Entry) bool {
		return e.Client == a.client && len(e.Cmd) > 0
	})
}

// revive records that a client whose lease is over has renewed the lock of another one: it believes in it again.
func (p *prover) revive(r *request, l *lock, a author, until int64) *belief {
	b := &belief{actor: a.actor, token: a.token, ends: until, index: r.index, on: p.node, taken: a.taken, doubt: a.doubt,
		sole: a.sole, shared: a.shared}
	var renews int64
	if a.sure {
		renews, a.gone = a.order, true
	}
	doubt := cmp.Or(a.why, a.doubt)
	if p.isLost(r) {
		doubt = saying(r, l, doubtsReply)
	}
	b.order, _, _ = p.Ledger.Granted(p.node, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: a.token, Client: a.client, Name: a.name, Granted: r.step(), Event: int64(p.number),
			Lease: holders.LeaseOf(r.Time, until), Until: until, Renews: renews, Sole: a.sole,
			Shared: a.shared,
		},
		Doubt: doubt, Loose: true,
	})
	p.renewed[b.order], a.revived = a.order, true
	l.beliefs = append(l.beliefs, b)
	return b
}

// intrudes handles a script that shows the token of a holder and comes from another client: it believes in the lock,
// too.
func (p *prover) intrudes(r *request, l *lock, q *part, mine []author, entered bool) {
	blind := l.seenAbsent[r.actor(p.epoch).id()] && !renews(lower(r.Cmd)) && !r.isScript()
	own := entered && r.carries(q.value) || r.brings() || blind // it does not count or renew: the value is its own
	own = own && l.told.As != lab.Semaphore
	switch left := q.held == nil || q.held.gone; { // its holder has released it at another node
	case own && !slices.ContainsFunc(mine, isSure):
		other := *q
		other.token = "" // it is not in the key
		p.joins(r, l, &other, saying(r, l, doubtsWriter))
	case len(mine) > 0:
	case r.isScript() && r.around != nil && slices.Contains(r.around.Cmd, q.token):
		p.joins(r, l, q, "")
	case left && !r.isScript() && slices.Contains(r.words, q.token):
		p.joins(r, l, q, saying(r, l, doubtsTwice))
	}
}

// carries reports whether a request has a number among its words.
func (r *request) carries(number string) bool {
	n, bad := strconv.ParseFloat(number, 64)
	return bad == nil && slices.ContainsFunc(r.words, func(w string) bool {
		m, err := strconv.ParseFloat(w, 64)
		return err == nil && m == n
	})
}

// notes handles a client that changes what stands beside the count of a holder: it may have put its own name there.
func (p *prover) notes(r *request, l *lock, c lab.Change) {
	looked := l.seenAbsent[r.actor(p.epoch).id()] && !r.isScript()
	if r.Client == 0 || len(c.Before.Parts) == 0 && !tries(r) && !looked { // a new note is nobody's name
		return
	}
	mine := p.authors(r, l, true)
	for _, q := range slices.Clone(l.parts) {
		if a, is := whose(mine, q.held); q.held != nil && (!is || !a.sure) {
			q.token = "" // its own one is the note
			p.joins(r, l, &q, saying(r, l, doubtsWriter))
		}
	}
}

// joins records that a client believes in a lock that the key gives to another one.
func (p *prover) joins(r *request, l *lock, q *part, doubt string) {
	me := r.actor(p.epoch)
	if doubt == "" && p.isLost(r) {
		doubt = saying(r, l, doubtsReply)
	}
	b := &belief{actor: me, token: q.token, ends: q.deadline, index: r.index, on: p.node, taken: r.step(),
		shared:  q.held != nil && q.held.shared || q.held == nil && l.shares(q.token),
		unknown: doubt != "", doubt: doubt, sole: p.sole[me.name]}
	b.order, _, _ = p.Ledger.Granted(p.node, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: q.token, Client: me.client, Name: me.name, Granted: r.step(), Hash: q.value != "",
			Event: int64(p.number), Lease: holders.LeaseOf(r.Time, q.deadline), Until: q.deadline, Shared: b.shared,
			Sole: b.sole,
		},
		Doubt: doubt, Request: r.Request, Loose: true,
	})
	l.beliefs = append(l.beliefs, b)
	if q.held == nil || q.held.gone {
		q.held, b.marred = b, saying(r, l, doubtsEntry)
	}
}

// entersAnew handles a worker that enters a lock once more when the connection has ended over which it took it: when it
// leaves, it may not know of its first entry.
func (p *prover) entersAnew(r *request, l *lock, q *part, mine []author, entered bool) {
	for _, a := range mine {
		switch {
		case !entered || p.isLost(r):
		case q.down && a.anew:
			p.givesUp(r, l, []author{{a.belief, false, saying(r, l, doubtsAnew)}}, nil)
		case !q.down && a.on != p.node:
			a.anew = true
		case !q.down && a.client != r.Client:
			a.anew = a.anew || p.isSilent(r, a.client)
		}
	}
}

// isSilent reports whether a connection sends nothing any more from a request on.
func (p *prover) isSilent(r *request, client int64) bool {
	later := p.history.Entries[r.index:min(len(p.history.Entries), r.index+mostLooked)]
	return !slices.ContainsFunc(later, func(e lab.Entry) bool { return e.Client == client })
}

// said is the reply to a command or a script, and way is how a request takes a lock.
type said struct {
	way   word
	reply string
}

// mayTake handles a request that left the lock to another client, and reports whether its client may believe in the
// lock all the same: it got the reply of those that took the lock, or it has read that the key is absent, and does not
// ask again.
func (p *prover) mayTake(r *request, l *lock) bool {
	way := word{l.Key, r.way()}
	blind := p.taking[way] && l.seenAbsent[r.actor(p.epoch).id()] && !tries(r) && !r.runs()
	own := p.readsOwn(r, l)
	may := blind || own || p.told[said{way, r.Reply}] || p.overrules(r)
	names := r.Kind != ":" && l.find(r.Reply) != nil && !slices.Contains(r.words, r.Reply) // the reply is another's token
	if r.isScript() || r.lost() || !may || names && !own || slices.ContainsFunc(p.ofTheirOwn(r, l), isSure) {
		return false
	}
	doubt := doubtsWriter
	if r.runs() {
		doubt = doubtsScript
	}
	for i := range l.parts {
		if q := l.parts[i]; q.held != nil && !q.held.gone {
			if !own {
				q.token = "" // its own one is not in the key
			}
			p.joins(r, l, &q, saying(r, l, doubt))
		}
	}
	return true
}

// readsOwn reports whether a client that was refused reads what a holder reads: its own token, or that there is one
// member. What it asks next shows nothing: it may have worked until then.
func (p *prover) readsOwn(r *request, l *lock) bool {
	own := slices.ContainsFunc(l.parts, func(q part) bool { return q.token == r.Reply })
	if r.runs() {
		return own && slices.Contains(r.scriptArgs(), r.Reply) && r.Reply != "0" && r.Reply != "1"
	}
	me := r.actor(p.epoch)
	is, before := counting(lower(r.Cmd))
	one := is && (before && r.Reply == "0" || !before && r.Reply == "1")
	last := p.near(r, l.Key, -1)
	return (one || own && p.uses[use{word{l.Key, r.Reply}, me.id()}]) && last != nil && answered(last.Entry) != yes &&
		p.taking[word{l.Key, last.way()}]
}

// near returns the request of a client with a key before or behind r, nil for none.
func (p *prover) near(r *request, k holders.Key, step int) *request {
	for i := r.index + step; i >= 0 && i < len(p.history.Entries) && max(i-r.index, r.index-i) < mostLooked; i += step {
		e := &p.history.Entries[i]
		own := e.Client == r.Client || e.Name != "" && e.Name == r.Name
		waits := e.Outcome == lab.Held || e.Outcome == lab.Delayed // it is executed later
		if own && !waits && e.By == "" && e.DB == k.DB && slices.Contains(e.Cmd, k.Name) {
			return p.request(i)
		}
	}
	return nil
}

// overrules reports whether a script answers as if it had taken a lock, although the command in it was refused.
func (p *prover) overrules(r *request) bool {
	if r.Reply != "1" && r.Reply != "OK" {
		return false
	}
	for i := r.index - 1; i >= 0 && r.encloses(&p.history.Entries[i]); i-- {
		if e := p.request(i); tries(e) && answered(e.Entry) != yes {
			return true
		}
	}
	return false
}

// wasOver handles a lock whose lease was over before it began: its client has read OK.
func (p *prover) wasOver(r *request, l *lock) {
	me := r.actor(p.epoch)
	token := ""
	if len(r.Cmd) > 2 {
		token = r.Cmd[2]
	}
	l.seen, l.asked = true, true
	p.Ledger.Granted(p.node, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: token, Client: me.client, Name: me.name, Granted: r.step(), Event: int64(p.number),
		},
		Doubt: saying(r, l, doubtsClock), Loose: true,
	})
}
