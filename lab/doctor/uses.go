package doctor

import "github.com/miniredisd/miniredisd/lab/holders"

// use is a client that took a lock with a token, or tried to.
type use struct {
	client  int64
	name    string
	granted bool
	step    holders.Step
}

// uses are all uses of one lock.
type uses struct {
	tokens  map[string][]use
	clients map[int64]bool
	names   map[string]bool
}

const (
	maxUses    = 8  // tokens of a lock, and clients of a token
	maxClaimed = 64 // clients of a lock
)

// used records a token that a client takes a lock with, or tries to.
func (d *Doctor) used(o op, k holders.Key, token string, granted bool) {
	of := d.uses.Get(k)
	if of == nil || len(of.tokens) >= d.most(maxUses) || len(of.clients) >= d.most(maxClaimed) {
		of = &uses{map[string][]use{}, map[int64]bool{}, map[string]bool{}}
		d.uses.Put(k, of)
	}
	of.clients[o.client] = true
	if o.owner != "" {
		of.names[o.owner] = true
	}
	all := of.tokens[token]
	for i := range all {
		if u := &all[i]; u.client == o.client && u.name == o.owner {
			u.granted = u.granted || granted
			return
		}
	}
	if len(all) < d.most(maxUses) {
		of.tokens[token] = append(all, use{o.client, o.owner, granted, o.step()})
	}
}

// usesOf returns the clients that use a token for a lock.
func (d *Doctor) usesOf(k holders.Key, token string) []use {
	if of := d.uses.Get(k); of != nil {
		return of.tokens[token]
	}
	return nil
}

// competes reports whether the client of o has taken the lock before or tried to.
func (d *Doctor) competes(o op, k holders.Key) bool {
	of := d.uses.Get(k)
	return of != nil && (of.clients[o.client] || of.names[o.owner])
}

// unique reports whether one client alone uses a token for a lock, as far as the log shows.
func (d *Doctor) unique(k holders.Key, token string) bool {
	all := d.usesOf(k, token)
	for _, u := range all {
		first := all[0]
		switch {
		case u.name != "" && first.name != "" && u.name != first.name:
			return false
		case u.client != first.client && !holders.LooksRandom(token):
			return false
		}
	}
	return true
}

// learns records that a client whose grant had no reply finds its token in the lock.
func (d *Doctor) learns(o op, k holders.Key) {
	for _, g := range d.grants.Get(k) {
		who := d.kinship(o, g)
		if g.unknown && o.shows(g) && (who == holders.SameClient || who == holders.SameName || holders.LooksRandom(g.value)) {
			g.unknown = false
			if d.ledger != nil {
				d.ledger.Holders.Learned(d.master, k, g.order)
			}
		}
	}
}

// Comes tells the doctor of a history that a client will try for a lock with a token.
func (d *Doctor) Comes(db int, key, token string) {
	k := holders.Key{DB: db, Name: key}
	if d.coming[k] == nil {
		d.coming[k] = coming{}
	}
	d.coming[k][token] = true
}

// shows reports whether the reply to o shows a token in the lock.
func (o op) shows(g *hold) bool {
	if !g.hash {
		return g.value == o.reply.text
	}
	found := o.reply.kind == '$' || o.reply.n > 0
	return found && len(o.args) > 2 && o.args[2] == g.value && o.does.has(reads)
}

// coming are the tokens of a lock in a history, from its begin.
type coming map[string]bool

// other reports whether words have a second token of the lock, of now or later.
func (c coming) other(token string, words []string) bool {
	for _, w := range words {
		if w != token && c[w] {
			return true
		}
	}
	return false
}

// A history may begin while somebody holds a lock. Its first command on the key shows that: it finds the key.

// awaits reports whether e may be the first command on a lock of a history.
func (d *Doctor) awaits(e *Event) bool {
	if len(d.coming) == len(d.seen) || d.means[e.Command].does == 0 {
		return false
	}
	for _, k := range newOp(*e, d.means[e.Command]).keys() {
		if d.coming[k] != nil && !d.seen[k] {
			return true
		}
	}
	return false
}

// firstSight handles the first command of a history on each of its locks.
func (d *Doctor) firstSight(o op) {
	if len(d.coming) == len(d.seen) || o.reply.failed() || d.replica {
		return
	}
	for i, k := range o.keys() {
		if o.findsKey() && (i == 0 || !o.does.has(moves)) {
			d.heldBefore(o, k)
		}
		if d.coming[k] != nil {
			d.seen[k] = true
		}
	}
}

// heldBefore records that an unknown client holds a lock from before the history.
func (d *Doctor) heldBefore(o op, k holders.Key) {
	if d.coming[k] == nil || d.seen[k] || d.replica {
		return
	}
	d.seen[k] = true
	unknown := op{time: o.time, mono: o.mono, db: o.db, args: []string{"(a client took the lock before the log began)"}}
	d.believe(unknown, k, &hold{value: noToken, forced: true, loose: true, doubt: whyBefore})
}

// findsKey reports whether the reply to o shows that its key was there.
func (o op) findsKey() bool {
	nx, done := o.outcome()
	switch {
	case o.does.has(takes | sets):
		_, xx := o.option("xx")
		if _, compares := o.compared(o.key()); compares {
			xx = true // the key was there
		}
		return nx && !done || xx && done
	case o.does.has(removes|renews|looks|uncounts) && o.reply.kind == ':':
		return o.reply.n > 0 || o.reply.n == -1 // a TTL may be -1
	case o.does.has(reads):
		return o.reply.kind == '$'
	}
	return o.does.has(moves)
}
