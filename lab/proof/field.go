package proof

import (
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// rewrites finds the notes beside a token that stays, such as the end of its lease in a field of its own. A note that
// another one replaces is no release and no grant: its part stays.
func (l *lock) rewrites(removed, added, kept []part) (gone, fresh, stay []part) {
	named := func(q part) bool {
		return q.held != nil && !slices.ContainsFunc(removed, func(o part) bool { return o.name == q.name })
	}
	for _, q := range removed {
		field, _, is := strings.Cut(q.name, "\x00")
		at := slices.IndexFunc(added, func(a part) bool { return strings.HasPrefix(a.name, field+"\x00") })
		stays := slices.ContainsFunc(l.parts, func(o part) bool {
			return named(o) && o.held == q.held && o.token == q.held.token
		})
		if !is || at < 0 || !stays {
			gone = append(gone, q)
			continue
		}
		old := l.find(q.name)
		old.name, old.token = added[at].name, added[at].token
		kept = append(kept, added[at])
		added = slices.Delete(added, at, at+1)
	}
	return gone, added, kept
}

// leases notes what clients do behind a grant: how long the leases are that they give the lock, and whether they look
// how many tokens there are.
func (p *prover) leases() {
	for i := range p.history.Entries {
		for _, c := range p.history.Entries[i].Changes {
			r, k := p.request(i), holders.Key{DB: c.DB, Name: c.Key}
			if c.Cause != lab.ByCommand || c.After == nil || r.Client == 0 || r.By != "" {
				continue
			}
			next, way := p.near(r, k, 1), word{k, r.way()}
			if next == nil {
				continue
			}
			is, _ := counting(lower(next.Cmd))
			p.looking[way] = p.looking[way] || is
			if c.Before == nil && c.After.Deadline == 0 {
				p.behind[way] = max(p.behind[way], next.lease())
			}
		}
	}
}

// lease returns the ms to live that a command gives a key, 0 if it gives none.
func (r *request) lease() int64 {
	if len(r.Cmd) < 3 {
		return 0
	}
	n, _ := strconv.ParseInt(r.Cmd[2], 10, 64)
	switch lower(r.Cmd) {
	case "pexpire":
		return n
	case "expire":
		return n * 1000
	}
	return 0
}

// mayBeLess handles a reader whose script gives the key a longer lease than it was asked for, as it leaves the lease of
// another reader there: the client counts its own one.
func (p *prover) mayBeLess(r *request, l *lock, b *belief, until int64) {
	if !b.shared || r.around == nil || until == 0 {
		return
	}
	longest, least := until-r.Time, int64(0)
	for _, text := range (&request{Entry: r.around}).scriptArgs() {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil || n < 1:
		case n == longest:
			return
		case n < longest && (least == 0 || n < least):
			least = n
		}
	}
	if least > 0 {
		p.Ledger.Extended(p.node, l.Key, holders.Renewal{Order: b.order, Time: r.Time, Until: r.Time + least,
			Doubted: b.doubt != "", Why: holders.Doubt{Why: saying(r, l, doubtsLonger), Step: r.step()}})
	}
}

// mayEnd handles a grant whose client does not give the lock the lease that others give it next: it may count that
// lease all the same.
func (p *prover) mayEnd(r *request, l *lock, b *belief) {
	lease := p.behind[word{l.Key, r.way()}]
	if !b.endless || r.By != "" || lease == 0 {
		return
	}
	if next := p.near(r, l.Key, 1); next != nil && next.lease() != 0 {
		return
	}
	p.Ledger.Extended(p.node, l.Key, holders.Renewal{Order: b.order, Time: r.Time, Until: r.Time + lease,
		Doubted: b.doubt != "", Why: holders.Doubt{Why: saying(r, l, doubtsLease), Step: r.step()}})
}
