package explore

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// mostQuiet is how long a pause waits at most for a client that polls rarely. Requests that wait longer than that meet
// the timeout of their client.
const mostQuiet = 1500 * time.Millisecond

// GoneOn reports whether another client holds a lock since a rule has held the client of a trial.
func (e *Explorer) GoneOn(rule string, s Scene) bool {
	held, ok := heldBy(rule, s.Histories)
	if !ok {
		return false
	}
	return slices.ContainsFunc(e.rivals(held, s.Histories), func(g holders.Vote) bool { return g.End == "" })
}

// rivals returns the grants to others since a request has come.
func (e *Explorer) rivals(held entry, histories []lab.History) []holders.Vote {
	grants, _ := e.grants(histories) // without grants nobody has gone on
	return slices.DeleteFunc(grants, func(g holders.Vote) bool {
		return g.Granted.Time < held.Time || belongs(g, held)
	})
}

// unmet notes a pause after which another client took the lock, while none took it during the pause: that client
// asked too late to meet the request that waited.
func (j *judgement) unmet() {
	if len(j.t.Strikes) != 1 || j.e.passed[heldAt{j.t.ID, 0}] == 0 || j.e.faults[j.t.Strikes[0].Fault].deed != pause {
		return
	}
	held, _ := heldBy(ruleName(0), j.o.Histories)
	rivals := j.e.rivals(held, j.o.Histories)
	since := false
	for _, en := range merged(j.o.Histories) {
		switch {
		case en.master == held.master && en.Seq <= held.Seq:
		case en.master == held.master && en.Client == held.Client && slices.Equal(en.Cmd, held.Cmd):
			since = true
		case slices.ContainsFunc(rivals, func(g holders.Vote) bool { return grantedTo(g, en) && g.Granted.Time == en.Time }):
			if since {
				j.e.unmet[j.t.Strikes[0].Point] = true
			}
			return
		}
	}
}

// noteUnmet says at which requests no other client came during a pause.
func (e *Explorer) noteUnmet(r *Report) {
	var all []string
	for _, at := range slices.Sorted(maps.Keys(e.unmet)) {
		all = append(all, e.requestOf(at))
	}
	if len(all) > 0 {
		r.Notes = append(slices.Clone(r.Notes), "nobody took the lock while these requests waited, only afterwards, so a "+
			"client that asks earlier was not tried: "+strings.Join(all, ", "))
	}
}
