package proof

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// A token in a key may mean that the lock is free: a client takes the token out, and puts it back when it does not need
// the lock any more. It is no token of a holder then, and who adds it believes in nothing.

// pool is who has put a token into a key last, and who has taken out what another client had put there.
type pool struct {
	put   map[word]string
	taken map[use]bool
}

// foreseePool notes the keys into which clients put back what they have taken out. A client that takes a lock only if
// it is free puts nothing back. One that renames the key away and back has not used what is in it.
func (p *prover) foreseePool(in pool, r *request, c lab.Change, who string) {
	if c.Cause != lab.ByCommand || !slices.Contains(r.words, c.Key) { // SWAPDB and FLUSHALL name no key
		return
	}
	k := holders.Key{DB: c.DB, Name: c.Key}
	for _, token := range asChanged(c).added(lab.Change{Before: c.After, After: c.Before}) {
		from := in.put[word{k, token}]
		if from != "" && from != who && answered(r.outer()) == yes {
			in.taken[use{word{k, token}, who}] = true
		}
	}
	for _, token := range asChanged(c).added(c) {
		in.put[word{k, token}] = who
		if in.taken[use{word{k, token}, who}] && !tries(r) && !r.brings() {
			p.pools[k] = true
		}
	}
}

// takesOut notes a client that takes out of a key what another one has put there, and that may believe in the lock now:
// the reply gives it the token, or it puts the token back later.
func (p *prover) takesOut(r *request, l *lock, removed []part) {
	if r.Client == 0 || l.beside {
		return
	}
	name := lower(r.Cmd)
	pops := strings.Contains(name, "pop") || strings.Contains(name, "move") && name != "move"
	mine := p.authors(r, l, true)
	others := slices.ContainsFunc(removed, func(q part) bool {
		a, own := whose(mine, q.held)
		return (!own || !a.sure) && (q.held != nil || pops)
	})
	switch {
	case !others || !pops && !p.pools[l.Key]:
	case l.told.As == lab.Unnamed:
		l.what = queue
	default:
		p.leavesUnread(r, l, doubtsTaken)
	}
}

// leaves notes a part of a collection that another client than its holder removed by itself: queues do so.
func (p *prover) leaves(r *request, l *lock, q part, own bool) {
	if l.told.As != lab.Unnamed || own || q.value == "" && q.token == q.name && len(l.parts) == 0 {
		return
	}
	switch lower(r.Cmd) {
	case "zrem", "srem":
		l.what = queue
	}
}
