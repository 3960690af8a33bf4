package adversary

import (
	"slices"
	"time"
)

// A client believes in its lock from the moment at which it reads the reply that says so. It stops when it releases
// the lock, when a reply says that the lock is lost, and when the lease is over. It counts the lease from the moment at
// which it sent the request, because the server may have begun at once.
//
// The log does not show these moments. It shows when the server executed the requests. So each belief has a second
// begin, the reply to the request that took the lock, although the client sends more before it begins. And it has a
// second end, for a client that counts its lease from the reply. If beliefs overlap only so, any verdict is right.

// span is a belief. Its times are since the begin of the program.
type span struct {
	client           int
	from, until      time.Duration
	earliest, latest time.Duration // the second begin and end
	reads            bool          // it shares the lock with other readers
}

const (
	forever = time.Duration(1 << 61)
	grain   = time.Millisecond // of the server's clock
)

// What the beliefs say.
const (
	truthOne    = "one"    // at no time did more clients believe than the lock admits
	truthTwo    = "two"    // at one time they did
	truthEither = "either" // only between the second begins and ends, or for nobody who reads the log
)

// truthOf compares the beliefs of a program.
func truthOf(all []span, admits int) string {
	wide := make([]span, len(all))
	for i, s := range all {
		wide[i] = span{client: s.client, from: s.earliest, until: s.latest + grain, reads: s.reads}
		if admits > 1 { // a client may leave a place of a semaphore, and take another one
			wide[i].client = i
		}
	}
	switch {
	case most(all) > admits:
		return truthTwo
	case most(wide) > admits:
		return truthEither
	}
	return truthOne
}

// truthOf is the truth that a log can show. Clients with one token, and with one name or one connection, are one client
// for a reader of it.
func (p program) truthOf(all []span) string {
	is := truthOf(all, p.way.holders())
	if is != truthTwo || p.tokens != "one" && !p.way.blind() {
		return is
	}
	logged := slices.Clone(all)
	for i := range logged {
		switch p.names {
		case oneName, oneLink:
			logged[i].client = 0
		case noPool:
			logged[i].client %= 2
		}
	}
	if most(logged) <= p.way.holders() {
		return truthEither
	}
	return is
}

// most returns how many clients believed at one time, at most. Readers count as one.
func most(all []span) (count int) {
	for _, at := range all {
		who := []int{at.client}
		for _, s := range all {
			meet := at.from < at.until && s.from <= at.from && at.from < s.until && !(at.reads && s.reads)
			if meet && !slices.Contains(who, s.client) {
				who = append(who, s.client)
			}
		}
		count = max(count, len(who))
	}
	return count
}

// believes begins a belief, or continues one. sent is when the request left. It reports whether the client has the
// lock by its own clock.
func (c *actor) believes(sent, lease time.Duration) bool {
	now, w := c.world.now(), c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	s := span{c.number, now, sent + lease, min(c.took, now), now + lease + max(0, c.skew), c.reads()}
	if lease == forever {
		s.until, s.latest = forever, forever
	}
	if c.belief >= 0 && w.spans[c.belief].until > now { // a renewal
		w.spans[c.belief].until, w.spans[c.belief].latest = s.until, s.latest
		return true
	}
	c.belief = len(w.spans)
	w.spans = append(w.spans, s)
	return s.until > now
}

// mayBelieve is for a client that gives up, although the log looks as if it had the lock until some time. And it is for
// a stranger that writes as a client does.
func (c *actor) mayBelieve(until time.Duration) {
	now, w := c.world.now(), c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.took <= now {
		w.spans = append(w.spans, span{client: c.number, from: now, until: now, earliest: c.took, latest: until})
	}
}

// leaves ends the belief. With seen, the log shows that the client has given the lock up.
func (c *actor) leaves(seen bool) {
	now, w := c.world.now(), c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.belief < 0 {
		return
	}
	s := &w.spans[c.belief]
	s.until = min(s.until, now)
	if seen {
		s.latest = min(s.latest, now)
	}
}
