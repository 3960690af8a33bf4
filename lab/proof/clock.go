package proof

import (
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// ownClock records that a client counts a lease by its own clock, until that shows a time. The client may have shown
// its clock: then it believes until then at most, and else for ever.
func (p *prover) ownClock(r *request, l *lock, b *belief, until int64) {
	switch ahead, shown := p.clockOf(r, l.Key); {
	case shown && ahead == 0:
		return
	case shown:
		until = max(until-ahead, r.Time+1)
	default:
		until = 0
	}
	p.Ledger.Extended(p.node, l.Key, holders.Renewal{Order: b.order, Time: r.Time, Until: until, Doubted: b.doubt != "",
		Why: holders.Doubt{Why: saying(r, l, doubtsOwnClock), Step: r.step()}})
}

// clockOf returns by how many ms the clock of a client is ahead of the server's, at least, and whether it has shown it:
// it has dropped the members that were over by its clock. A request may come late, and then the clock is further ahead.
func (p *prover) clockOf(r *request, k holders.Key) (ahead int64, shown bool) {
	for i := r.index - 1; i >= max(0, r.index-mostLooked); i-- {
		e := p.request(i)
		switch {
		case e.Event == lab.EventClock:
			return 0, false
		case e.Client != r.Client || e.By != "" || e.DB != k.DB || e.Key != k.Name || lower(e.Cmd) != "zremrangebyscore":
		case len(e.Cmd) == 4 && (e.Cmd[2] == "-inf" || e.Cmd[2] == "0"):
			now := scoredTime(e.Cmd[3])
			return now - e.Time, now > 0
		}
	}
	return 0, false
}
