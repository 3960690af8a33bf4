package proxy

import (
	"strconv"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/lab"
)

// A request that may touch watched keys goes to the upstream between two looks, and keeps the turn until the log has
// it. Its client gets the reply after that.
//
//	granted ── look ──> unmade        what has changed since the last look?
//	   │ sent, and its reply is whole
//	answered ── look ──> made         what has the request changed?

// near is how long before the end of a lease, in ms, no request is sent: nobody could say whether the key had expired
// before it or after it.
const near = 10

// looksFirst looks at the keys of a request that has the turn. It reports whether the request may be sent now.
func (l *labState) looksFirst(u *underway) bool {
	if u.touch == nil || u.keys == nil || u.looked {
		return true
	}
	u.c.queued = true // it waits for the look
	l.look(u.keys, func(s *sight, err error) {
		if u.c.ended || l.turn.now != u {
			return
		}
		l.first(u, s, err)
	})
	return false
}

// first is what a look before a request has shown.
func (l *labState) first(u *underway, s *sight, err error) {
	wait := time.Duration(0)
	switch {
	case err == errSilent || err == errBusy:
		l.p.loop.After(time.Millisecond, func() time.Duration {
			l.turn.giveUp(u)
			return 0
		})
		return
	case err != nil:
		l.blurs(lab.Entry{Event: lab.EventChanged, Outcome: lab.Executed, DB: u.db}, u.keys)
	default:
		l.saw(u.keys, s)
		u.before = s.at
		for _, v := range s.values {
			if v.Deadline > 0 && v.Deadline-s.at < near {
				wait = max(wait, time.Duration(max(v.Deadline-s.at, 0)+1)*time.Millisecond)
			}
		}
	}
	if wait > 0 {
		l.p.loop.After(wait, func() time.Duration {
			if !u.c.ended && l.turn.now == u {
				l.looksFirst(u)
			}
			return 0
		})
		return
	}
	u.looked, u.c.queued = true, false
	u.c.requests.later()
}

// saw notes what the keys are between two requests.
func (l *labState) saw(keys []keyAt, s *sight) {
	followed := l.ledger.follows
	l.ledger.follows = followed || s.follows
	l.unmade(keys, s)
	l.leads(s, followed)
}

// answered is for a request whose reply is there, or never comes. It looks at the keys again.
func (l *labState) answered(u *underway) {
	u.answered = true
	if u.timer != nil {
		l.p.loop.Cancel(u.timer)
	}
	if u.keys == nil {
		l.logs(u, nil)
		return
	}
	l.look(u.keys, func(s *sight, err error) {
		if err != nil {
			s = nil
		}
		l.logs(u, s)
	})
}

// logs writes a request into the log, and ends its turn. s is nil if the keys could not be read.
func (l *labState) logs(u *underway, s *sight) {
	if u.forgotten {
		l.turn.over(u)
		return
	}
	e := u.entry
	e.Time, e.Mono = l.ledger.now(), monotonic()
	if s != nil {
		e.Time = l.momentOf(u, s)
	}
	l.ledger.last = max(l.ledger.last, e.Time)
	e.Time = l.ledger.last
	e.Outcome = lab.OutcomeOf(u.rule, u.reply, true)
	e.Reply, e.Kind = lab.Reply(u.reply), lab.Kind(u.reply)
	switch {
	case u.lost && !e.Outcome.Unknown():
		e.Outcome = lab.ReplyLost
	case !u.whole && !u.lost:
		e.Reply = "...(more than " + strconv.Itoa(chunk) + " bytes)"
	}
	if u.touch.keys != nil {
		l.changes(u, &e, s)
	} else {
		l.log.Add(e)
	}
	l.turn.over(u)
}

// changes logs a request with what it has changed, and the commands inside of it.
func (l *labState) changes(u *underway, e *lab.Entry, s *sight) {
	var all []lab.Change
	for _, k := range u.keys {
		was := l.ledger.known[k]
		is := unreadable(was)
		if s != nil {
			is = s.values[k]
		}
		late := u.isLate && !u.reads && !u.failed() && lab.Kind(u.reply) != "_"
		doubt := s == nil || s.follows != l.ledger.follows || l.mayBeWritten(k) || late
		if over := was != nil && was.Deadline > 0 && s != nil && was.Deadline <= s.at; over {
			switch {
			case is == nil && (u.reads || !l.deletes(u, k)): // it has expired behind the request
				defer l.gone(lab.EventExpired, k, was.Deadline+1, expiry(k, was))
				l.ledger.learn(k, nil)
				continue
			case !u.reads:
				doubt = true
			}
		}
		c := changeOf(k, was, is, !u.reads && !u.failed())
		l.ledger.learn(k, is)
		switch {
		case c == nil && !late:
		case u.reads && !doubt: // a stranger has written it meanwhile
			l.gone(lab.EventStranger, k, s.at, c)
		case doubt:
			all = append(all, *changeOf(k, unreadable(was), unreadable(is), true))
		default:
			all = append(all, *c)
		}
	}
	l.logInside(u, e, all)
}

// momentOf returns when the upstream has executed a request: between both looks. If a number in it and a new deadline
// agree on a moment, it is that one.
func (l *labState) momentOf(u *underway, s *sight) int64 {
	for _, k := range u.keys {
		v := s.values[k]
		if v == nil || v.Deadline == 0 || l.ledger.known[k] != nil && l.ledger.known[k].Deadline == v.Deadline {
			continue
		}
		for _, arg := range append(u.args, []byte(u.call.Body)) {
			for _, word := range strings.FieldsFunc(string(arg), func(r rune) bool { return r < '0' || r > '9' }) {
				n, err := strconv.ParseInt(word, 10, 64)
				for _, at := range []int64{v.Deadline - n, v.Deadline - 1000*n} {
					if err == nil && at >= u.before && at <= s.at {
						return at
					}
				}
			}
		}
	}
	return s.at
}

func expiry(k keyAt, was *lab.Value) *lab.Change {
	c := changeOf(k, was, nil, false)
	c.Cause = lab.ByExpiry
	return c
}

// failed reports whether the reply is an error.
func (u *underway) failed() bool { return len(u.reply) > 0 && u.reply[0] == '-' }

// deletes reports whether a request may have deleted a key itself: a command that says it did nothing has not.
func (l *labState) deletes(u *underway, k keyAt) bool {
	return !u.failed() && string(u.reply) != ":0\r\n" && lab.Kind(u.reply) != "_"
}

// giveUp lets others go first, because the upstream does not show the keys of the request that has the turn.
func (t *turn) giveUp(u *underway) {
	if t.now != u || u.c.ended {
		return
	}
	u.c.granted, u.c.queued = false, true
	t.queue = append(t.queue, claim{c: u.c})
	t.next()
}

// prepares describes a request to its turn, and looks at its keys. It reports whether the request may be sent now.
func (l *labState) prepares(c *pair, args [][]byte, r *lab.Rule, key string) bool {
	u := l.turn.now
	if u.touch == nil {
		u.touch = l.touches(c, args, r, key)
	}
	return l.looksFirst(u)
}

// looksAtAll is prepares for a request that is too large to be read.
func (c *pair) looksAtAll() bool {
	l := &c.up.lab
	u := l.turn.now
	if l.isWatching() && u.touch == nil {
		u.touch = &touch{db: c.db, keys: l.ledger.keys(), entry: l.entry(c, lab.EventCommand, nil, "")}
		u.entry.Cmd = []string{"...(more than " + strconv.Itoa(longestFront) + " bytes)"}
	}
	return l.looksFirst(u)
}

// passesBy is for a request that goes past without a turn. Nobody sees what it does to the watched keys.
func (c *pair) passesBy(args [][]byte) {
	l := &c.up.lab
	if !l.isWatching() || !c.unpaired {
		return
	}
	if t := l.touches(c, args, nil, ""); t != nil && !t.reads {
		t.entry.Outcome = lab.ReplyLost
		l.blurs(t.entry, t.keys)
	}
}

// keep keeps what comes from the upstream while the log does not have the request. It returns what may go on.
func (c *pair) keep(buf []byte) []byte {
	u := c.under
	if u == nil {
		return buf
	}
	whole := u.took(buf)
	switch {
	case u.touch == nil && whole:
		c.up.turn.over(u)
		return buf
	case u.touch == nil:
		return buf
	}
	c.kept = append(c.kept, buf...)
	if u.whole = whole; whole || u.size > chunk {
		c.up.lab.replied(u)
	}
	return nil
}

// replied is for a reply that the log needs. If its request has left the turn, it needs the turn again.
func (l *labState) replied(u *underway) {
	u.answered = true
	u.isLate = u.left && u.others != l.turn.count
	if !u.left {
		l.answered(u)
		return
	}
	l.turn.does(func(job *underway) {
		l.turn.now = u
		l.answered(u)
	})
}

// ends is for a request whose connection ends before its reply. A command that waits has done nothing then.
func (l *labState) ends(u *underway) {
	switch {
	case u.touch == nil || u.keys == nil && u.rule == nil, u.left && u.blocks:
		l.turn.over(u)
	case u.left:
		u.entry.Outcome = lab.ReplyLost
		if !u.reads {
			l.blurs(u.entry, u.keys)
		}
		l.turn.over(u)
	default:
		u.lost = true
		l.answered(u)
	}
}
