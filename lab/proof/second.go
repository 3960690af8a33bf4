package proof

import (
	"cmp"
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// A client may believe in a lock that the key gives to another one.

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
func (p *prover) revive(r *request, l *lock, a author, until int64) *belief {
	b := &belief{actor: a.actor, token: a.token, ends: until, index: r.index, on: p.node, taken: a.taken, doubt: a.doubt,
		sole: a.sole}
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
		},
		Doubt: doubt, Loose: true,
	})
	p.renewed[b.order], a.revived = a.order, true
	l.beliefs = append(l.beliefs, b)
	return b
}

// intrudes handles a script that shows the token of a holder and comes from another client: it believes in the lock,
// too.
func (p *prover) intrudes(r *request, l *lock, q *part, mine []author) {
	switch left := q.held == nil || q.held.gone; { // its holder has released it at another node
	case len(mine) > 0:
	case r.isScript() && r.around != nil && slices.Contains(r.around.Cmd, q.token):
		p.joins(r, l, q, "")
	case left && !r.isScript() && slices.Contains(r.words, q.token):
		p.joins(r, l, q, saying(r, l, doubtsTwice))
	}
}

// joins records that a client believes in a lock that the key gives to another one.
func (p *prover) joins(r *request, l *lock, q *part, doubt string) {
	me := r.actor(p.epoch)
	if doubt == "" && p.isLost(r) {
		doubt = saying(r, l, doubtsReply)
	}
	b := &belief{actor: me, token: q.token, ends: q.deadline, index: r.index, on: p.node, taken: r.step(),
		shared: q.held != nil && q.held.shared, unknown: doubt != "", doubt: doubt, sole: p.sole[me.name]}
	b.order, _, _ = p.Ledger.Granted(p.node, holders.Grant{
		Holding: holders.Holding{
			DB: l.DB, Key: l.Name, Token: q.token, Client: me.client, Name: me.name, Granted: r.step(), Hash: q.value != "",
			Event: int64(p.number), Lease: holders.LeaseOf(r.Time, q.deadline), Until: q.deadline, Shared: b.shared,
			Sole: b.sole,
		},
		Doubt: doubt, Loose: true,
	})
	l.beliefs = append(l.beliefs, b)
	if q.held == nil || q.held.gone {
		q.held, b.marred = b, saying(r, l, doubtsEntry)
	}
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
