package doctor

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Most scripts have nothing to do with a lock. Only their ends show that: a read of an absent key means something if
// a write follows. So the commands of a script wait, as bytes:
//
//	redis.call ──> later ──> the script ends ──> isIdle: all of it is forgotten
//	                 └────> it may concern a lock: the doctor is told what waits, and then the rest
type later struct {
	events []Event
	words  [][]byte // of all events
	bytes  []byte   // of all words and replies
	does   effect   // what the events mean together
}

// mostLater bounds the bytes that wait.
const mostLater = 1 << 16

// hasRoom reports whether an event may wait.
func (l *later) hasRoom(e *Event) bool {
	n := len(l.bytes) + len(l.words) + len(e.Reply)
	for _, a := range e.Args {
		n += len(a) + 1
	}
	return n <= mostLater
}

// add copies an event.
func (l *later) add(e *Event, does effect) {
	from := len(l.words)
	for _, a := range e.Args {
		l.words = append(l.words, l.keep(a))
	}
	l.events = append(l.events, *e)
	own := &l.events[len(l.events)-1]
	own.Args, own.Reply = l.words[from:len(l.words):len(l.words)], l.keep(e.Reply)
	l.does |= does
}

func (l *later) keep(b []byte) []byte {
	from := len(l.bytes)
	l.bytes = append(l.bytes, b...)
	return l.bytes[from:len(l.bytes):len(l.bytes)]
}

func (l *later) forget() {
	l.events, l.words, l.bytes, l.does = l.events[:0], l.words[:0], l.bytes[:0], 0
}

// passes reports whether the doctor need not look at a command of a script now, or at a script that has ended.
func (d *Doctor) passes(e *Event, m *meaning) bool {
	const harmless = reads | looks | removes | renews | uncounts | leases | publishes
	switch {
	case len(d.run) > 0 || e.failed() || !d.isPlain():
	case e.By == "" || e.By == Exec:
		if m.does.has(runs) && d.isIdle(e) {
			d.later.forget()
			return true
		}
	case m.does&^harmless == 0 && d.later.hasRoom(e) && !d.remembers(e.DB, e.Args[1:]):
		if len(d.later.events) < maxRun {
			d.later.add(e, m.does)
		}
		return true
	}
	for _, waits := range d.later.events {
		d.command(waits)
	}
	d.later.forget()
	return false
}

// failed reports whether the command has no reply or an error. One that did not run has no other reply.
func (e *Event) failed() bool { return len(e.Reply) == 0 || e.Reply[0] == '-' }

// isPlain reports whether the doctor watches a running server without replicas.
func (d *Doctor) isPlain() bool {
	return d.least == 0 && d.stream == nil && !d.replica &&
		(d.ledger == nil || d.ledger.groups == nil && !d.ledger.astray.Load())
}

// isIdle reports whether a script that has ended concerns no lock, and shows nothing new about itself. It notes the
// words that its client has sent.
func (d *Doctor) isIdle(e *Event) bool {
	s, does := d.scripts.Get(e.Script), d.later.does
	switch {
	case s == nil || e.Script == "" || len(e.Args) < 3:
		return false
	case !s.known && (s.deletes || s.writes()):
		return false
	case does.has(removes) && !s.deletes || does.has(renews) && !(s.extends && s.renewed):
		return false
	case textAt(e.Command) > 0 && (s.missed > 0 || !s.whole):
		return false
	}
	n, err := strconv.Atoi(string(e.Args[2]))
	if err != nil || n < 0 || n > len(e.Args)-3 {
		return false
	}
	if d.remembers(e.DB, e.Args[3:3+n]) {
		return false
	}
	c := d.client(e.Client)
	for _, word := range e.Args[3+n:] {
		c.carries(word)
	}
	return true
}

// remembers reports whether one of the words is a key about which a command could change or show something.
func (d *Doctor) remembers(db int, words [][]byte) bool {
	return d.names.hasAny(words) && slices.ContainsFunc(words, func(word []byte) bool {
		k := holders.Key{DB: db, Name: cut(word)}
		return d.knowsKey(k) || d.holds.Get(k) != nil || d.alike.Get(k).hold != nil
	})
}

// carries notes a word that a connection has sent, if it may be a token.
func (c *client) carries(word []byte) {
	if len(word) <= maxArg {
		family := word
		if i := bytes.LastIndexByte(word, ':'); i >= 16 {
			family = word[:i]
		}
		is := func(known string) bool { return known == string(family) }
		if slices.ContainsFunc(c.carried.Items(), is) || !holders.IsToken(string(word)) {
			return
		}
	}
	c.carried.Add(holders.Family(cut(word)), maxTokens)
}
