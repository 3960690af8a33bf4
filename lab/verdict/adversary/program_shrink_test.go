package adversary

import (
	"slices"
	"testing"
	"time"
)

// mostTries bounds how many smaller programs are tried.
const mostTries = 400

// shrink returns a smaller program that fails alike.
func shrink(t *testing.T, p program) program {
	t.Helper()
	is := wrong(play(t, p))
	for tries := 0; tries < mostTries; {
		smaller := slices.IndexFunc(p.smaller(), func(q program) bool {
			tries++
			return wrong(play(t, q)) == is
		})
		if smaller < 0 {
			break
		}
		p = p.smaller()[smaller]
	}
	return p
}

// smaller returns programs that lack one thing of p each, the largest things first.
func (p program) smaller() (all []program) {
	for i := range p.clients {
		if len(p.clients) > 1 {
			q := p
			q.clients = slices.Delete(slices.Clone(p.clients), i, i+1)
			all = append(all, q)
		}
	}
	for i := range p.events {
		q := p
		q.events = slices.Delete(slices.Clone(p.events), i, i+1)
		all = append(all, q)
	}
	for i, c := range p.clients {
		for _, simpler := range c.simpler(p.way) {
			q := p
			q.clients = slices.Clone(p.clients)
			q.clients[i] = simpler
			all = append(all, q)
		}
	}
	for _, change := range []func(*program){
		func(q *program) { q.names = ownName },
		func(q *program) { q.tokens = "new" },
	} {
		q := p
		if change(&q); q.names != p.names || q.tokens != p.tokens {
			all = append(all, q)
		}
	}
	return all
}

// simpler returns plans that lack one thing of c each.
func (c plan) simpler(w way) (all []plan) {
	add := func(differs bool, change func(*plan)) {
		if differs {
			d := c
			d.troubles = slices.Clone(c.troubles)
			change(&d)
			all = append(all, d)
		}
	}
	for i := range c.troubles {
		add(true, func(d *plan) { d.troubles = slices.Delete(d.troubles, i, i+1) })
	}
	add(c.rounds > 1, func(d *plan) { d.rounds-- })
	add(c.tries > 1, func(d *plan) { d.tries-- })
	add(c.renew != nil, func(d *plan) { d.renew = nil })
	add(c.renew != nil && c.renew.name != w.renewals[0].name, func(d *plan) { d.renew = &w.renewals[0] })
	add(c.dies > 0, func(d *plan) { d.dies = 0 })
	add(c.skew != 0, func(d *plan) { d.skew = 0 })
	add(c.again, func(d *plan) { d.again = false })
	add(c.sha, func(d *plan) { d.sha = false })
	add(c.waits > 0, func(d *plan) { d.waits = 0 })
	add(c.looks, func(d *plan) { d.looks = false })
	add(c.slow > 0, func(d *plan) { d.slow = 0 })
	add(c.unheard != givesUp, func(d *plan) { d.unheard = givesUp })
	add(c.release.name != w.releases[0].name, func(d *plan) { d.release = w.releases[0] })
	add(c.work > time.Second, func(d *plan) { d.work /= 2 })
	return all
}
