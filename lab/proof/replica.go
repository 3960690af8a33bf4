package proof

import (
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// A master and its replicas are one voter. They share the claims on a key, and each node has parts of its own:
//
//	claims: who believes ──┬── master 7001: parts, which clients change
//	                       └── replica 7002: parts, which follow what its log says of the stream
//
// A replica decides nothing, until it is promoted. Then its parts count. A client whose part is missing there has lost
// its lock, and does not know. A part of a client that has released it stays until it expires, and nobody holds it.

// replicated reports whether the masters have replicas.
func (p *Proof) replicated() bool { return p.nodes > p.masters }

// replicate tells the ledger of the nodes, and gives the nodes the roles that they have when the histories begin.
func (p *Proof) replicate(provers []*prover, nodes []Node, entries []lab.Placed) {
	groups, names := make([]int, len(nodes)), make([]string, len(nodes))
	for i, n := range nodes {
		groups[i], names[i] = n.Master, n.Name
	}
	p.Ledger.Replicated(groups, names)
	if len(entries) > 0 {
		p.Ledger.Begin(provers[entries[0].History].history.Entries[entries[0].Index].Time)
	}
	for _, n := range provers {
		n.name, n.peer, n.follows = names[n.node], -1, n.history.Node != nil && n.history.Role == "replica"
		i := slices.IndexFunc(n.history.Entries, func(e lab.Entry) bool { return isRole(e.Event) })
		if i >= 0 {
			n.follows = n.history.Entries[i].Event != lab.EventDemoted
		}
	}
}

// isRole reports whether a node has another role or another master from an event on.
func isRole(event string) bool {
	return event == lab.EventPromoted || event == lab.EventDemoted || event == lab.EventSynced
}

// leads reads what an entry says of the role of its node.
func (p *prover) leads(r *request) {
	if !p.replicated() || !isRole(r.Event) {
		return
	}
	p.peer = r.Peer - 1
	for _, o := range p.group.nodes {
		if o.node == p.peer {
			p.shard = o.shard
		}
	}
	if r.Event != lab.EventPromoted {
		p.follows = true
		p.Ledger.Demoted(p.node)
		return
	}
	p.follows = false
	var deposed []int
	for _, o := range p.group.nodes {
		if o != p && !o.follows && o.shard == p.shard {
			deposed = append(deposed, o.node)
		}
	}
	how := holders.Failover{From: p.nameOf(p.peer), To: p.name, Time: r.Time}
	p.Ledger.Promoted(p.node, deposed, &how)
	for _, c := range p.all {
		p.inherits(r, p.lock(c.Key), how)
	}
}

// nameOf names a node of the group, "" if it is not known.
func (p *prover) nameOf(node int) string {
	for _, o := range p.group.nodes {
		if o.node == node {
			return o.name
		}
	}
	return ""
}

// inherits compares what a replica has of a key when it is promoted with what the clients believe.
func (p *prover) inherits(r *request, l *lock, how holders.Failover) {
	switch {
	case l.what == queue, l.what == other, l.told.As == lab.Queue:
		return
	case l.told.As == lab.Semaphore && p.inheritsCount(r, l):
		return
	}
	for _, q := range slices.Clone(l.parts) {
		at := l.find(q.name)
		at.held = l.owner(q.token)
		if at.held == nil && !l.known[q.token] {
			l.drop([]part{q})
			p.adopt(r, l, q)
			continue
		}
		p.compares(r, l, at, how)
	}
	for _, b := range l.beliefs {
		if !b.gone && !l.has(b) && p.partOf(l, b) != nil && !p.isElsewhere(l, b) {
			lost := how
			lost.What = holders.GrantLost
			p.Ledger.Loses(p.node, l.Key, b.order, &lost)
		}
	}
}

// compares handles a part of a holder that an earlier state of the master has: with an older lease, or with another
// count.
func (p *prover) compares(r *request, l *lock, q *part, how holders.Failover) {
	if q.held == nil {
		return
	}
	last := q.held.ends
	if o := p.partOf(l, q.held); o != nil {
		last = o.deadline
		if o.value != q.value {
			q.held.marred = saying(r, l, doubtsEntry)
		}
	}
	if q.deadline != last {
		p.apart(r, l, q.held)
	}
	if q.deadline != 0 && (last == 0 || q.deadline < last) {
		how.What = holders.RenewalLost
		p.Ledger.LosesRenewal(p.node, l.Key, q.held.order, &how)
	}
}

// owner returns the newest belief with a token that its client has not given up, or nil.
func (c *claims) owner(token string) *belief {
	for _, b := range slices.Backward(c.beliefs) {
		if b.token == token && !b.gone {
			return b
		}
	}
	return nil
}

// partOf returns the part of a belief on another node of a master, or nil. That of the master comes first.
func (p *prover) partOf(l *lock, b *belief) (found *part) {
	for _, o := range p.group.nodes {
		other := o.locks[l.Key]
		if o == p || o.shard != p.shard || other == nil {
			continue
		}
		for i := range other.parts {
			if other.parts[i].held == b && (found == nil || !o.follows) {
				found = &other.parts[i]
			}
		}
	}
	return found
}

// leftAt returns the parts with a name at other masters of the group in which nobody believes.
func (p *prover) leftAt(l *lock, name string) (all []*part) {
	for _, o := range p.group.nodes {
		other := o.locks[l.Key]
		if o == p || o.shard != p.shard || o.follows || other == nil {
			continue
		}
		if q := other.find(name); q != nil && q.held == nil {
			all = append(all, q)
		}
	}
	return all
}

// mirror applies a change that no client of a replica has made.
func (p *prover) mirror(r *request, c lab.Change) {
	l := p.lock(holders.Key{DB: c.DB, Name: c.Key})
	l.starts(c)
	if c.Before != nil && c.Before.Unread || c.After != nil && c.After.Unread {
		p.leavesUnread(r, l, doubtsValue)
		return
	}
	before, after := l.partsOf(c.Before), l.partsOf(c.After)
	removed := slices.DeleteFunc(before, func(b part) bool {
		return slices.ContainsFunc(after, func(a part) bool { return a.name == b.name })
	})
	if c.After == nil || c.Before != nil && c.Before.Type != c.After.Type {
		removed = slices.Clone(l.parts)
	}
	for i, q := range removed {
		if old := l.find(q.name); old != nil {
			removed[i] = *old
		}
	}
	if len(removed) == 1 && len(after) == 1 && c.After.Type == "string" && l.counts(removed[0], after[0]) {
		l.find(removed[0].name).name = after[0].name
		removed = nil
	}
	l.drop(removed)
	for _, q := range removed {
		p.loses(r, l, q.held)
	}
	for i := range l.parts {
		if q := &l.parts[i]; c.Before != nil && c.After != nil && q.deadline == c.Before.Deadline {
			q.deadline = c.After.Deadline
		}
	}
	for _, a := range after {
		a.held = l.owner(a.token)
		if q := l.find(a.name); q != nil {
			q.value, q.deadline = a.value, a.deadline
			continue
		}
		l.parts = append(l.parts, a)
	}
}

// counts reports whether a string has become another number, which no client has written as its token.
func (l *lock) counts(was, is part) bool {
	return l.find(was.name) != nil && holders.IsNumber(was.name) && holders.IsNumber(is.name) && !l.known[is.token]
}

// loses handles a client whose part a node had alone, as an old master that becomes a replica, or a replica that takes
// writes.
func (p *prover) loses(r *request, l *lock, b *belief) {
	if b == nil || b.gone || p.partOf(l, b) != nil || p.isElsewhere(l, b) {
		return
	}
	p.apart(r, l, b)
	if r.Event == lab.EventSynced {
		p.Ledger.Loses(p.node, l.Key, b.order, &holders.Failover{What: holders.HistoryLost, From: p.name,
			To: p.nameOf(p.peer), Time: r.Time})
	}
}

// inheritsCount compares the counter of a semaphore with the permits of its master. It reports whether it is one.
func (p *prover) inheritsCount(r *request, l *lock) bool {
	var permits []part
	for _, o := range p.group.nodes {
		if other := o.locks[l.Key]; o != p && o.shard == p.shard && other != nil && !o.follows {
			permits = other.parts
		}
	}
	named := func(q part) bool { return q.value != "" || !holders.IsNumber(q.token) }
	if slices.ContainsFunc(l.parts, named) || slices.ContainsFunc(permits, named) {
		return false
	}
	count := 0
	if len(l.parts) == 1 {
		count, _ = strconv.Atoi(l.parts[0].token)
	}
	if count != len(permits) {
		p.leavesUnread(r, l, doubtsPermits)
	}
	l.parts = slices.Clone(permits)
	return true
}

// waits reads a WAIT or a WAITAOF: the client asks whether replicas have its lock.
func (p *prover) waits(r *request) {
	if name := lower(r.Cmd); name != "wait" && name != "waitaof" || !p.replicated() {
		return
	}
	p.Ledger.Awaited(p.node, holders.Wait{
		Client: r.Client, Request: r.Request, Enough: r.confirms(), Late: r.Outcome == lab.ReplyLate, Step: r.step(),
	})
}

// waitBehind returns the WAIT that is the next request of a connection, with its last entry; nil for none.
func (p *prover) waitBehind(r *request) (w *request) {
	if !p.replicated() {
		return nil
	}
	for i := r.index + 1; i < len(p.history.Entries); i++ {
		switch e := &p.history.Entries[i]; {
		case e.Client != r.Client || e.Request <= r.Request:
		case e.Request == r.Request+1 && strings.HasPrefix(lower(e.Cmd), "wait"):
			w = p.request(i)
		default:
			return w
		}
	}
	return w
}

// confirms reports whether a client has the reply to its WAIT, and it tells of as many servers as the client asked for.
func (r *request) confirms() bool {
	return !r.lost() && r.ran() && !r.Failed() && holders.Enough(r.Cmd, r.Reply)
}
