package proof

import (
	"cmp"
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// isLost reports whether a client does not know the reply to a request. The reply never came, or it came too late:
// somebody had changed the key, or given it up, by then.
func (p *prover) isLost(r *request) bool {
	if r.outer().Outcome != lab.ReplyLate {
		return r.lost()
	}
	all := p.history.Entries
	next := slices.IndexFunc(all[r.index+1:], func(e lab.Entry) bool {
		return e.Client == r.Client && e.By == "" && len(e.Cmd) > 0 && e.Mono > r.outer().Mono
	})
	if next < 0 {
		return true
	}
	for _, o := range p.group.nodes {
		if o.moves(r, p, all[r.index+1+next].Mono) {
			return true
		}
	}
	return false
}

// lateGrant is a grant whose reply came late. Its client knows of it, at the latest, when it sends something else.
type lateGrant struct {
	holders.Key
	order int64
	by    *lab.Entry
}

// delivers notes that the replies which came late have come to the client of an entry.
func (p *prover) delivers(e *lab.Entry) {
	p.late = slices.DeleteFunc(p.late, func(g lateGrant) bool {
		next := e.Client == g.by.Client && e.By == "" && len(e.Cmd) > 0 && e.Mono > g.by.Mono
		if next {
			p.Ledger.Learned(p.node, g.Key, g.order)
		}
		return next
	})
}

// upTo returns how many entries a node has before a time, in us.
func (p *prover) upTo(mono int64) int {
	n, _ := slices.BinarySearchFunc(p.history.Entries, mono, func(e lab.Entry, mono int64) int {
		return cmp.Compare(e.Mono, mono)
	})
	return n
}

// moves reports whether a node shows, between a request to a node and a time, a change of its keys or a request of
// another client that may tell it that it has lost a lock.
func (p *prover) moves(r *request, to *prover, until int64) bool {
	for i := p.upTo(r.outer().Mono); i < len(p.history.Entries) && p.history.Entries[i].Mono <= until; i++ {
		e := &p.history.Entries[i]
		if p == to && (i <= r.index || e.Client == r.Client) || p != to && e.Client == 0 {
			continue
		}
		changes := slices.ContainsFunc(e.Changes, func(c lab.Change) bool { return slices.Contains(r.words, c.Key) })
		if changes || len(e.Cmd) > 0 && slices.Contains(r.words, e.Key) && !tries(p.request(i)) {
			return true
		}
	}
	return false
}
