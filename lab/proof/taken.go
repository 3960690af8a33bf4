package proof

import (
	"fmt"
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// manner says how another client came to delete a lock.
type manner struct {
	late  bool   // its own lease was over
	again bool   // it had sent the request before, and the reply was lost
	alike bool   // it showed a token that the holder has, too
	sent  int64  // unix ms: when it sent the request that the server executed later; 0 is then
	cut   string // what had changed the lease, of a lock that expired too early
}

// mannerOf returns how a request came to delete the lock of a belief.
func (p *prover) mannerOf(r *request, l *lock, b *belief) (m manner) {
	if r.Client == 0 {
		return manner{cut: b.cut}
	}
	m.alike = slices.Contains(r.words, b.token)
	for _, own := range l.beliefs {
		m.late = m.late || own != b && own.kin(r.actor(p.epoch)) == sameClient && own.ends > 0 && own.ends < r.Time
	}
	for i := r.index - 1; i >= max(0, r.index-mostLooked); i-- {
		e := &p.history.Entries[i]
		if e.Client != r.Client && (e.Name == "" || e.Name != r.Name) || !slices.Equal(e.Cmd, r.outer().Cmd) {
			continue
		}
		switch {
		case e.Outcome == lab.Held || e.Outcome == lab.Delayed:
			m.sent = e.Time
		case e.Outcome.Unknown():
			m.again = true
		}
		break
	}
	return m
}

// taken says how another client took a lock away, and what helps.
func (p *Proof) taken(v holders.Vote, key string) (why, fix string) {
	thief, verb, at := whoDid(v.EndedBy), verbOf(v.EndedBy), Clock(v.Ended)
	a, lasts := whoDid(v.Granted), p.until(v)
	switch m := p.manners[v.Order]; {
	case m.sent != 0:
		return fmt.Sprintf("%s's %s of %s reached the server at %s, and took %s from %s, which believed in it %s",
			thief, verb, Clock(m.sent), at, key, a, lasts), fixWaited
	case m.again:
		return fmt.Sprintf("%s's %s at %s came again, because the first reply was lost, and took %s from %s, "+
			"which believed in it %s", thief, verb, at, key, a, lasts), fixAgain
	case m.alike:
		return fmt.Sprintf("%s's %s at %s showed the token that %s has, too, and took %s, in which %[4]s believed %[6]s",
			thief, verb, at, a, key, lasts), fixShared
	case m.late:
		return fmt.Sprintf("%s's %s at %s came after its own lease, and took %s from %s, which believed in it %s",
			thief, verb, at, key, a, lasts), fixLate
	}
	fix = fixCompare
	if verb == "DEL" || verb == "UNLINK" {
		fix = fixDelete
	}
	return fmt.Sprintf("%s's %s at %s took %s from %s, which believed in it %s", thief, verb, at, key, a, lasts), fix
}

// until says how long the client of a vote believed in its lock.
func (p *Proof) until(v holders.Vote) string {
	until := v.Until
	if until == 0 {
		until = p.deadlines[v.Order] // of the key: a client's clock may make it longer
	}
	if until == 0 {
		return "without end"
	}
	return "until " + Clock(until)
}
