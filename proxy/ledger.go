package proxy

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/lab"
)

// What happens to the watched keys, whatever command does it. The proxy looks at them before and after each request
// that may touch them, while no other one is under way:
//
//	known ── differs ──> seen before the request    expired, evicted, or a stranger: see unmade
//	                             │ differs
//	                             v
//	                     seen after it              a change that the request has made: see made

// ledger is what the proxy knows of the watched keys of an upstream.
type ledger struct {
	known     map[keyAt]*lab.Value // those that exist
	complete  bool                 // what is watched and not known does not exist
	evicted   int64
	restarted bool  // another process answers than before
	follows   bool  // the upstream is a replica: its keys change without requests
	skew      int64 // ms that the clock of the upstream is ahead of this one
	ahead     int64 // ms that LAB CLOCK ADVANCE has moved the deadlines
	last      int64 // the time of the newest entry
	run       int64 // the number of the newest script or EXEC
	runs      int64 // requests that have been sent while keys were watched
}

// now returns the time of the lab in unix ms.
func (g *ledger) now() int64 { return time.Now().UnixMilli() + g.skew + g.ahead }

// keys returns the known keys.
func (g *ledger) keys() []keyAt {
	return slices.SortedFunc(maps.Keys(g.known), func(a, b keyAt) int {
		return cmp.Or(cmp.Compare(a.db, b.db), cmp.Compare(a.key, b.key))
	})
}

// learn keeps what a key is now.
func (g *ledger) learn(k keyAt, v *lab.Value) {
	if v == nil {
		delete(g.known, k)
		return
	}
	g.known[k] = v
}

// isWatching reports whether the log watches keys.
func (l *labState) isWatching() bool { return len(l.log.Globs()) > 0 }

// monotonic is real time in us, the same for all processes of this machine.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return t.Nano() / 1000
}

// changeOf returns the change of a key between two values, nil for none. wrote says whether somebody may have written
// it meanwhile.
func changeOf(k keyAt, was, is *lab.Value, wrote bool) *lab.Change {
	c := &lab.Change{DB: k.db, Key: lab.Printable(k.key), Before: copyOf(was), After: copyOf(is)}
	if !c.Reduce(wrote) {
		return nil
	}
	return c
}

// copyOf copies a value, because Reduce takes parts out of it.
func copyOf(v *lab.Value) *lab.Value {
	if v == nil {
		return nil
	}
	c := *v
	c.Parts = slices.Clone(v.Parts)
	return &c
}

// unreadable is a value that nobody could read. Its type is that of the value before.
func unreadable(was *lab.Value) *lab.Value {
	v := &lab.Value{Type: "string", Unread: true}
	if was != nil {
		v.Type = was.Type
	}
	return v
}

// unmade logs the changes that no request has made, and notes what the keys are.
func (l *labState) unmade(keys []keyAt, s *sight) {
	g := &l.ledger
	for _, k := range keys {
		was, is := g.known[k], s.values[k]
		c := changeOf(k, was, is, false)
		g.learn(k, is)
		if c == nil {
			continue
		}
		over := was != nil && was.Deadline > 0 && was.Deadline <= s.at
		switch {
		case s.moved[k] && was != nil:
			l.gone(lab.EventChanged, k, s.at, changeOf(k, was, unreadable(was), true))
		case l.mayBeWritten(k): // by a request that has no reply yet
			l.gone(lab.EventChanged, k, s.at, changeOf(k, unreadable(is), is, true))
		case was == nil && !g.complete:
			l.gone(lab.EventWatched, k, s.at, c)
		case over && is == nil:
			c.Cause = lab.ByExpiry
			l.gone(lab.EventExpired, k, was.Deadline+1, c)
		case over:
			gone := changeOf(k, was, nil, false)
			gone.Cause = lab.ByExpiry
			l.gone(lab.EventExpired, k, was.Deadline+1, gone)
			l.gone(lab.EventStranger, k, s.at, changeOf(k, nil, is, false))
		case fieldsExpired(c, s.at):
			c.Cause = lab.ByExpiry
			l.gone(lab.EventFields, k, s.at, c)
		case is == nil && s.evicted > g.evicted:
			c.Cause = lab.ByEviction
			l.gone(lab.EventEvicted, k, s.at, c)
		default:
			l.gone(lab.EventStranger, k, s.at, c)
		}
	}
	g.evicted = s.evicted
}

// fieldsExpired reports whether a hash has lost fields whose time was over, and nothing else happened to it.
func fieldsExpired(c *lab.Change, at int64) bool {
	if c.Before == nil || c.Before.Type != "hash" || len(c.Before.Parts) == 0 {
		return false
	}
	if c.After != nil && (len(c.After.Parts) > 0 || c.After.Deadline != c.Before.Deadline) {
		return false
	}
	return !slices.ContainsFunc(c.Before.Parts, func(p lab.Part) bool { return p.Deadline == 0 || p.Deadline > at })
}

// gone logs a change without a request.
func (l *labState) gone(event string, k keyAt, at int64, c *lab.Change) {
	if l.ledger.follows {
		return // its master has done it
	}
	l.addAt(at, lab.Entry{Event: event, Key: lab.Printable(k.key), DB: k.db, Outcome: lab.Executed,
		Changes: []lab.Change{*c}})
}

// addAt adds an entry with a time, which is never before that of the newest one.
func (l *labState) addAt(at int64, e lab.Entry) {
	l.ledger.last = max(l.ledger.last, at)
	e.Time, e.Mono = l.ledger.last, monotonic()
	l.log.Add(e)
}

// mayBeWritten reports whether a request without a reply may have written a key, beside that of the turn.
func (l *labState) mayBeWritten(k keyAt) bool {
	for _, u := range l.left {
		if u != l.turn.now && u.mayWrite(k) {
			return true
		}
	}
	return false
}

// blurs makes keys undecided, because a request may have changed them and nobody has seen that.
func (l *labState) blurs(e lab.Entry, keys []keyAt) {
	for _, k := range keys {
		was := l.ledger.known[k]
		is := unreadable(was)
		e.Changes = append(e.Changes, *changeOf(k, was, is, true))
		l.ledger.learn(k, is)
	}
	if len(e.Changes) > 0 {
		e.Key = cmp.Or(e.Key, e.Changes[0].Key)
		l.addAt(l.ledger.now(), e)
	}
}
