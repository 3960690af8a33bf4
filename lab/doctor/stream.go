package doctor

import (
	"bytes"
	"math"
	"slices"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// A replica has what its master had at an offset of the stream. So the doctor of a replica is not shown what the stream
// brings: when the replica is promoted, its doctor is shown again what its master's doctor saw, up to that offset.
//
//	master's doctor ──> stream: events, each with its offset ──> a replica is promoted at offset 240
//	                       │                                          │
//	                       ├── offset <= 240 ────────────────────────>│ shown again, without the ledger
//	                       └── offset >  240: grants and renewals ───>│ lost: the ledger is told

// stream has the events of one replication ID, oldest first.
type stream struct {
	parent  *stream // the stream that it goes on from; nil for none
	from    int     // so many events of the parent belong to it
	anew    bool    // its offsets are not those of the parent
	events  []told
	dropped int // so many events were older
}

// told is an event that a doctor was told.
type told struct {
	offset int64 // a replica that has it has the event
	again  func(d *Doctor)
	grants []gave // that the event made
	renews []gave // that it renewed
	enters []gave // that their holder entered again
}

// gave is a grant of the ledger.
type gave struct {
	key   holders.Key
	token string
	order int64
}

// mostTold bounds the events of a stream of a running server.
const mostTold = 1 << 14

// At tells the doctor of a node that has replicas which offset the events have that follow.
func (d *Doctor) At(offset int64) { d.offset = offset }

// keeps reports whether the events of a doctor are noted: those of a master that may have replicas.
func (d *Doctor) keeps() bool { return d.stream != nil && d.again == nil && !d.replica }

// tell notes an event, and calls again with it.
func (d *Doctor) tell(again func(d *Doctor)) {
	l, s := d.ledger, d.stream
	l.mu.Lock()
	if old := len(s.events) / 2; old >= d.most(mostTold)/2 {
		s.events, s.dropped = slices.Clone(s.events[old:]), s.dropped+old
	}
	s.events = append(s.events, told{offset: d.offset, again: again})
	l.mu.Unlock()
	again(d)
}

// note says what an event did with a grant.
type note int

const (
	granted note = iota
	renewed
	entered
)

// noted adds a grant to the event that the doctor is being told.
func (d *Doctor) noted(k holders.Key, h *hold, what note) {
	if !d.keeps() {
		return
	}
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	if len(d.stream.events) == 0 {
		return
	}
	last, g := &d.stream.events[len(d.stream.events)-1], gave{k, h.value, h.order}
	switch what {
	case granted:
		last.grants = append(last.grants, g)
	case renewed:
		last.renews = append(last.renews, g)
	case entered:
		last.enters = append(last.enters, g)
	}
}

// orderAgain returns the order that a grant got when the event was told first.
func (d *Doctor) orderAgain(k holders.Key, token string) int64 {
	for i, g := range d.again.grants {
		if g.key == k && g.token == token {
			d.again.grants = slices.Delete(slices.Clone(d.again.grants), i, i+1)
			return g.order
		}
	}
	return 0
}

// split returns the events of a stream and of those that it goes on from: those that a replica at an offset has, and
// those that it lacks. at and n say where the first ones end. Of the stream itself most events count, at most.
func (s *stream) split(offset int64, most int) (has, lacks []told, at *stream, n int) {
	if s.parent != nil {
		limit := offset
		if s.anew { // its offsets begin again
			limit = math.MaxInt64
		}
		has, lacks, at, n = s.parent.split(limit, s.from)
	}
	own, i := s.events[:max(min(most-s.dropped, len(s.events)), 0)], 0
	if len(lacks) == 0 {
		for i < len(own) && own[i].offset <= offset {
			i++
		}
		at, n = s, s.dropped+i
	}
	return append(has, own[:i]...), append(lacks, own[i:]...), at, n
}

// begins gives a master a stream.
func (d *Doctor) begins(s *stream) {
	d.stream, d.follows, d.replica = s, nil, false
	d.ledger.current[d.master], d.ledger.leads[d.master] = s, true
	delete(d.ledger.old, d.master)
	if d.ledger.first[d.master] == nil {
		d.ledger.first[d.master] = s
	}
}

// Leads says that a node is a master when its history begins.
func (d *Doctor) Leads() {
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	d.begins(&stream{})
}

// Follows says that a node is a replica when its history begins.
func (d *Doctor) Follows() { d.replica = true }

// Restreams says that a master has begun a new history of replication, with another ID, as after a restart.
func (d *Doctor) Restreams() {
	if d.stream == nil || d.replica {
		return
	}
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	d.begins(&stream{parent: d.stream, from: d.stream.dropped + len(d.stream.events), anew: true})
}

// began returns the stream that a node has followed since the history began: that of peer, or that of the master whose
// replica peer was then.
func (l *Ledger) began(node, peer int) *stream {
	if s := l.first[peer]; s != nil {
		return s
	}
	var top []int
	for other := range l.first {
		if l.group(other) == l.group(node) && l.first[other].parent == nil {
			top = append(top, other)
		}
	}
	if len(top) == 1 {
		return l.first[top[0]]
	}
	return &stream{}
}

// Promoted says that a replica has become a master. Until then it followed the node peer, from 0 or -1 if it is not
// known, and had its stream up to an offset. time is unix ms.
func (d *Doctor) Promoted(peer int, offset, time int64) {
	l := d.ledger
	l.mu.Lock()
	from := d.follows
	if from == nil {
		from = l.began(d.master, peer)
	}
	has, lacks, at, n := from.split(offset, math.MaxInt)
	l.mu.Unlock()
	d.replica = false
	d.rebuild(has)
	d.restarted()
	l.mu.Lock()
	defer l.mu.Unlock()
	d.begins(&stream{parent: at, from: n})
	how := holders.Failover{From: l.Holders.NameOf(peer), To: l.Holders.NameOf(d.master), Time: time}
	var deposed []int
	for other, leads := range l.leads { // the node that it followed may be a replica itself
		if leads && other != d.master && l.group(other) == l.group(d.master) {
			deposed, l.old[other] = append(deposed, other), true
		}
	}
	l.Holders.Promoted(d.master, deposed, &how)
	l.lacks(d, lacks, how)
}

// Demoted says that a master has become a replica.
func (d *Doctor) Demoted() {
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	d.replica, d.ledger.leads[d.master] = true, false
	delete(d.ledger.old, d.master)
	d.ledger.Holders.Demoted(d.master)
}

// Synced says that a replica follows the node peer now, and its stream id. full means that it has exactly the keys that
// the node has: what it had itself is lost. time is unix ms.
func (d *Doctor) Synced(peer int, id string, time int64, full bool) {
	l := d.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	d.follows = l.streams[id]
	if d.follows == nil {
		d.follows = l.current[peer]
	}
	if d.follows == nil {
		d.follows = &stream{}
	}
	l.streams[id] = d.follows
	own := d.follows.lacksOf(d.stream)
	d.replica, d.stream, l.leads[d.master] = true, nil, false
	delete(l.old, d.master)
	l.Holders.Demoted(d.master)
	l.current[d.master] = d.follows // for its own replicas
	d.forgetLocks()
	if full {
		from, to := l.Holders.NameOf(d.master), l.Holders.NameOf(peer)
		l.lacks(d, own, holders.Failover{What: holders.HistoryLost, From: from, To: to, Time: time})
	}
}

// lacksOf returns the events of another stream that s does not go on from.
func (s *stream) lacksOf(other *stream) []told {
	if other == nil {
		return nil
	}
	for ; s != nil; s = s.parent {
		switch {
		case s == other:
			return nil
		case s.parent == other:
			return other.events[max(min(s.from-other.dropped, len(other.events)), 0):]
		}
	}
	return other.events
}

// rebuild gives the doctor the state of one that was told some events.
func (d *Doctor) rebuild(all []told) {
	ledger := d.ledger
	d.ledger = nil
	d.forgetLocks()
	for _, e := range all {
		d.again = &e
		e.again(d)
	}
	d.again, d.ledger = nil, ledger
}

// lacks notes the grants and renewals that a promotion or a synchronization has lost. The holder of such a grant does
// not know of that.
func (l *Ledger) lacks(d *Doctor, all []told, how holders.Failover) {
	for _, e := range all {
		for _, g := range e.grants {
			what := how
			if what.What == holders.NoLoss {
				what.What = holders.GrantLost
			}
			l.Holders.Loses(d.master, g.key, g.order, &what)
		}
		for _, g := range e.renews {
			what := how
			if what.What == holders.NoLoss {
				what.What = holders.RenewalLost
			}
			if h := d.holds.Get(g.key); h != nil && h.order == g.order {
				l.Holders.LosesRenewal(d.master, g.key, g.order, &what)
			}
		}
		for _, g := range e.enters {
			if h := d.holds.Get(g.key); h != nil && h.order == g.order {
				h.marred = whyEntry
			}
		}
	}
}

// forgetStream drops the events so far.
func (d *Doctor) forgetStream() {
	if d.stream != nil {
		d.ledger.mu.Lock()
		defer d.ledger.mu.Unlock()
		d.stream.dropped, d.stream.events = d.stream.dropped+len(d.stream.events), nil
	}
}

// keep copies an event: its bytes belong to the caller.
func (e *Event) keep() Event {
	args := make([][]byte, len(e.Args))
	for i, a := range e.Args {
		args[i] = bytes.Clone(a)
	}
	kept := *e
	kept.Args, kept.Reply = args, bytes.Clone(e.Reply)
	return kept
}
