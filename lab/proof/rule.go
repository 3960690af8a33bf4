package proof

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// rules adds the rulings on all keys.
func (p *Proof) rules(groups []*group) {
	first := map[holders.Key]*claims{}
	var all []*claims
	for _, by := range groups {
		for _, l := range by.all {
			if first[l.Key] != nil {
				first[l.Key].joins(l)
				continue
			}
			first[l.Key] = l
			all = append(all, l)
		}
	}
	for _, l := range all {
		p.rule(l)
	}
}

// joins adds what another master shows of the key.
func (l *claims) joins(o *claims) {
	l.watched = l.watched || o.watched
	if !o.seen && o.unread == nil {
		return
	}
	if !l.seen {
		l.beside, l.grows = o.beside, o.grows
	}
	l.beside, l.grows = l.beside && o.beside, l.grows && o.grows
	l.seen, l.asked, l.moved = l.seen || o.seen, l.asked || o.asked, l.moved || o.moved
	l.what = cmp.Or(l.what, o.what)
	l.unread = cmp.Or(l.unread, o.unread)
}

// rule adds the ruling on a key that the ledger alone does not decide.
func (p *Proof) rule(l *claims) {
	switch {
	case !l.watched && slices.ContainsFunc(p.table(l), func(t []holders.Holding) bool { return len(t) > 0 }):
		p.notJudged(l, "was not watched: the log has only the requests that a rule struck",
			fmt.Sprintf("send LAB LOG WATCH %s before the clients come", l.Name))
	case !l.seen:
	case l.unread != nil:
		p.Rulings = append(p.Rulings, *l.unread)
	case l.beside && (l.grows || l.what == queue || l.what == several) && l.told.As == lab.Unnamed:
		p.Rulings = append(p.Rulings, Ruling{Key: l.Key, Is: Beside})
	case l.told.As == lab.Queue:
		p.notJudged(l, "is a queue, and no client holds it", "look at its elements with LAB LOG")
	case l.told.As == lab.Semaphore && l.what == queue:
		p.notJudged(l, "is a list, and a list does not show who has taken what is not in it",
			"keep a member for each holder in a sorted set")
	case l.told.As == lab.Semaphore:
		p.permits(l)
	case l.told.As == lab.Unnamed && l.what == several:
		p.notJudged(l, "has the tokens of several clients at one time, as a semaphore or a queue has",
			fmt.Sprintf("say how many clients may hold it: LAB LOG WATCH %s AS SEMAPHORE 3", l.Name))
	case l.told.As == lab.Unnamed && l.what == counter:
		p.notJudged(l, "is a counter that several clients change",
			fmt.Sprintf("say what it is: LAB LOG WATCH %s AS MUTEX, or watch the locks alone", l.Name))
	case l.told.As == lab.Unnamed && l.what == queue:
		p.notJudged(l, "is a queue: clients take what others have added",
			fmt.Sprintf("say what it is: LAB LOG WATCH %s AS QUEUE, or watch the locks alone", l.Name))
	case l.told.As == lab.Unnamed && l.what == other:
		p.notJudged(l, "has a type that no lock is made of", "watch the locks alone")
	case l.told.As == lab.Unnamed && !l.asked && (l.moved || len(p.questions(l)) > 0):
		p.notJudged(l, "has values that clients write without asking whether it is free",
			fmt.Sprintf("take a lock with SET key token NX PX milliseconds, or say that it is one: LAB LOG WATCH %s AS "+
				"MUTEX", l.Name))
	}
}

func (p *Proof) notJudged(l *claims, what, fix string) {
	p.Rulings = append(p.Rulings, Ruling{Key: l.Key, Is: NotJudged, Why: nameOf(l.Key) + " " + what, Fix: fix})
}

// table returns the holdings of a key on the masters that vote on it.
func (p *Proof) table(l *claims) [][]holders.Holding {
	if p.tables == nil {
		p.tables = p.Ledger.Tables()
	}
	return holders.Voting(p.tables[l.Key])
}

func (p *Proof) questions(l *claims) []holders.Question { return holders.Questions(p.table(l)) }

// permits looks for more holders of a semaphore than it may have.
func (p *Proof) permits(l *claims) {
	if l.told.Holders < 1 {
		p.notJudged(l, "is a semaphore", fmt.Sprintf("say how many clients may hold it: LAB LOG WATCH %s AS SEMAPHORE 3",
			l.Name))
		return
	}
	table := p.table(l)
	terms := slices.DeleteFunc(holders.Terms(table), func(t holders.Term) bool { return !t.Majority })
	slices.SortStableFunc(terms, func(a, b holders.Term) int { return cmp.Compare(a.From, b.From) })
	ruling := Ruling{Key: l.Key, Is: Within}
	for _, certainly := range []bool{false, true} {
		for _, last := range terms {
			if most := held(terms, last.From, certainly); len(most) > l.told.Holders && (last.Sure || !certainly) {
				ruling = tooMany(l, most, certainly)
				break
			}
		}
	}
	for _, t := range table {
		ruling.Grants += len(t)
	}
	p.Rulings = append(p.Rulings, ruling)
}

// held returns the terms that run at an order: certainly, or perhaps.
func held(terms []holders.Term, at int64, certainly bool) (all []holders.Term) {
	for _, t := range terms {
		end := t.To
		if certainly {
			end = t.Earliest
		}
		if t.From <= at && (end == 0 || end > at) && (t.Sure || !certainly) {
			all = append(all, t)
		}
	}
	return all
}

func tooMany(l *claims, all []holders.Term, certainly bool) Ruling {
	r := Ruling{Key: l.Key, Is: TooMany}
	for _, t := range all {
		r.Steps = append(r.Steps, t.Votes[0].Step())
	}
	last := all[len(all)-1].Votes[0].Granted
	r.Why = fmt.Sprintf("%d clients held %s at %s, and only %d may hold it",
		len(all), nameOf(l.Key), Clock(last.Time), l.told.Holders)
	r.Fix = "count and add in one script, or in one command"
	if !certainly {
		r.Is = Unread
		r.Why = fmt.Sprintf("%d clients may have held %s at %s, and only %d may hold it; "+
			"the log does not show whether all of them believed in it",
			len(all), nameOf(l.Key), Clock(last.Time), l.told.Holders)
	}
	return r
}
