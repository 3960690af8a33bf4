package proof

import (
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// ownClock records that a client counts a lease by its own clock, until that shows a time. The client may have shown
// its clock: then it believes until then at most, and else for ever.
func (p *prover) ownClock(r *request, l *lock, b *belief, until int64) {
	switch c := p.clockOf(r, l); {
	case c == nil:
		until = 0
	case c.ahead == 0:
		return
	default:
		until = max(until-c.ahead, r.Time+1)
	}
	p.Ledger.Extended(p.node, l.Key, holders.Renewal{Order: b.order, Time: r.Time, Until: until, Doubted: b.doubt != "",
		Why: holders.Doubt{Why: saying(r, l, doubtsOwnClock), Step: r.step()}})
}

// clock is what a client has shown of its clock.
type clock struct {
	ahead int64 // ms, at least: its requests may have come late
	mixed bool  // it has shown two clocks
}

// foreseeClock notes what a client shows of its clock when it drops the members of a lock that are over by it.
func (p *prover) foreseeClock(r *request, who string) {
	p.jumps = p.jumps || r.Event == lab.EventClock
	if len(r.Cmd) != 4 || r.By != "" || lower(r.Cmd) != "zremrangebyscore" || r.Cmd[2] != "-inf" && r.Cmd[2] != "0" {
		return
	}
	const near = 1000 // ms: clocks further apart are two, behind one connection
	key := use{word{holders.Key{DB: r.DB, Name: r.Key}, ""}, who}
	now, old := scoredTime(r.Cmd[3]), p.clocks[key]
	by := now - r.Time
	if old == nil {
		old = &clock{ahead: by}
		p.clocks[key] = old
	}
	old.mixed = old.mixed || now == 0 || max(by-old.ahead, old.ahead-by) > near
	old.ahead = min(old.ahead, by)
}

// clockOf returns the clock of a client, nil if it has shown none, or two.
func (p *prover) clockOf(r *request, l *lock) *clock {
	c := p.clocks[use{word{l.Key, ""}, r.actor(p.epoch).id()}]
	if c == nil || c.mixed || p.jumps {
		return nil
	}
	return c
}
