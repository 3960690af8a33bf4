package proof

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// The nodes of a cluster are one voter, because only one of them serves a slot. A slot that moves takes its keys with
// it:
//
//	node 7001: MIGRATE ... lock:x             the key is gone here
//	node 7002: RESTORE-ASKING lock:x 9974     the same value, with the rest of its lease
//
// A passage is proved by the same value, the same rest, and a node that did nothing else meanwhile. Then it is no
// change of the lock: what a client believes at one node is true at the other one.

// passage is a key that a node has sent to another one.
type passage struct {
	holders.Key
	from, to   *prover
	sent, came *request
	left       lab.Change // of from
	here       lab.Change // of to
	over       bool
}

// shipment is a MIGRATE that has deleted a key, and its place in the history of a node.
type shipment struct {
	from   *prover
	index  int
	change lab.Change
}

// findPassages finds the keys that went from one node of a cluster to another one, and takes their changes out of the
// entries.
func (p *Proof) findPassages(provers []*prover) {
	sent := map[holders.Key][]shipment{}
	for _, from := range provers {
		from.history.Entries = slices.Clone(from.history.Entries)
		for i, e := range from.history.Entries {
			for _, c := range e.Changes {
				if k := (holders.Key{DB: c.DB, Name: c.Key}); isMigrate(&e) && c.After == nil && c.Cause == lab.ByCommand {
					sent[k] = append(sent[k], shipment{from, i, c})
				}
			}
		}
	}
	for _, to := range provers {
		for i := range to.history.Entries {
			e := &to.history.Entries[i]
			if !isRestore(e) {
				continue
			}
			k := holders.Key{DB: e.DB, Name: e.Cmd[1]}
			all := sent[k]
			at := slices.IndexFunc(all, func(s shipment) bool { return s.from != to && s.is(e) })
			if at < 0 {
				continue
			}
			p.ships(k, all[at], to, i)
			sent[k] = slices.Delete(slices.Clone(all), at, at+1)
		}
	}
}

func isMigrate(e *lab.Entry) bool { return lower(e.Cmd) == "migrate" }

func isRestore(e *lab.Entry) bool {
	name := lower(e.Cmd)
	return (name == "restore" || name == "restore-asking") && len(e.Cmd) > 3 && e.Outcome != lab.Failed && e.Reply == "OK"
}

// is reports whether a RESTORE on another node is the arrival of a shipment.
func (s *shipment) is(e *lab.Entry) bool {
	all := s.from.history.Entries
	m, was := &all[s.index], s.change.Before
	began := cmp.Or(s.change.At, m.Time)
	rest := int64(0)
	if was.Deadline != 0 {
		rest = max(was.Deadline-began, 1)
	}
	alone := m.Mono >= e.Mono && (s.index == 0 || all[s.index-1].Mono <= e.Mono)
	if !alone || was.Unread || e.Cmd[2] != strconv.FormatInt(rest, 10) {
		return false
	}
	c := changeOf(e, s.change.Key)
	return c == nil || c.After != nil && isSame(was, c.After) &&
		(rest == 0) == (c.After.Deadline == 0) && (rest == 0 || c.After.Deadline == cmp.Or(c.At, e.Time)+rest)
}

// isSame compares two values, but for their deadlines.
func isSame(a, b *lab.Value) bool {
	sorted := func(v *lab.Value) []lab.Part {
		return slices.SortedFunc(slices.Values(v.Parts), func(a, b lab.Part) int {
			return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
		})
	}
	return a.Type == b.Type && a.Text == b.Text && a.Len == b.Len && !a.Unread && !b.Unread &&
		slices.Equal(sorted(a), sorted(b))
}

func changeOf(e *lab.Entry, key string) *lab.Change {
	for i := range e.Changes {
		if e.Changes[i].Key == key && e.Changes[i].DB == e.DB {
			return &e.Changes[i]
		}
	}
	return nil
}

// ships notes a passage at both of its entries. They have no changes of their own then.
func (p *Proof) ships(k holders.Key, s shipment, to *prover, index int) {
	way := &passage{Key: k, from: s.from, to: to, left: s.change}
	way.sent, way.came = s.from.request(s.index), to.request(index)
	rest := *s.change.Before
	if rest.Deadline != 0 {
		ms, _ := strconv.ParseInt(way.came.Cmd[2], 10, 64)
		rest.Deadline = way.came.Time + ms
	}
	way.here = lab.Change{DB: k.DB, Key: k.Name, Before: &rest, After: &rest}
	if c := changeOf(way.came.Entry, k.Name); c != nil {
		way.here = *c
	}
	for _, r := range []*request{way.sent, way.came} {
		p.passages[r.Entry] = append(p.passages[r.Entry], way)
		r.Changes = slices.DeleteFunc(slices.Clone(r.Changes), func(c lab.Change) bool {
			return c.DB == k.DB && c.Key == k.Name
		})
	}
}

// passes lets the passages of an entry happen. It reports whether the entry tells nothing else about the locks.
func (p *prover) passes(r *request) bool {
	for _, way := range p.passages[r.Entry] {
		if !way.over && p.among(way.Name) {
			way.over = true
			way.happens()
		}
	}
	return p.cluster && isMigrate(r.Entry) || p.passages[r.Entry] != nil
}

// happens takes the parts of a key to its new node, with their holders.
func (w *passage) happens() {
	from, to := w.from.lock(w.Key), w.to.lock(w.Key)
	if from.what == queue || from.what == other || from.told.As == lab.Queue {
		return
	}
	for _, b := range from.partsOf(w.left.Before) {
		if from.find(b.name) == nil && !from.isCount(w.left) {
			w.from.adopt(w.sent, from, b)
		}
	}
	to.mode, to.counted, to.numbered = from.mode, from.counted, from.numbered
	old := to.parts
	to.parts, from.parts = slices.Clone(from.parts), nil
	for _, q := range old {
		if q.held != nil && !q.held.gone && !to.has(q.held) {
			w.to.ends(w.came, to, q.held, holders.EndOverwritten)
		}
	}
	for i := range to.parts {
		q := &to.parts[i]
		if q.deadline == w.left.Before.Deadline {
			q.deadline = w.here.After.Deadline
		}
		if q.held != nil {
			w.to.Ledger.Apart(w.to.node, w.Key, q.held.order)
		}
	}
	to.seen = true
}

// strays handles a MIGRATE that deletes a key, although no node shows that it arrived. Its holder does not know.
func (p *prover) strays(r *request, l *lock, removed []part) bool {
	if !p.cluster || !isMigrate(r.Entry) {
		return false
	}
	l.drop(removed)
	if p.arrives(r, l) {
		p.leavesUnread(r, l, doubtsValue)
		return true
	}
	for _, q := range removed {
		if q.held != nil && !q.held.gone {
			by := r.step()
			by.Command = onMove + by.Command
			p.Ledger.Ended(p.node, l.Key, holders.Ending{Order: q.held.order, How: holders.EndLost, Time: r.Time, By: by})
		}
	}
	return true
}

// arrives reports whether another node has restored the key during a MIGRATE, although that proves no passage.
func (p *prover) arrives(r *request, l *lock) bool {
	began := int64(0)
	if r.index > 0 {
		began = p.history.Entries[r.index-1].Mono
	}
	return slices.ContainsFunc(p.group.nodes, func(o *prover) bool {
		return o != p && slices.ContainsFunc(o.since(began), func(e lab.Entry) bool {
			return e.Mono <= r.Mono && isRestore(&e) && e.Cmd[1] == l.Name
		})
	})
}

// isElsewhere reports whether a master of other slots has the part of a belief.
func (p *prover) isElsewhere(l *lock, b *belief) bool {
	return slices.ContainsFunc(p.group.nodes, func(o *prover) bool {
		other := o.locks[l.Key]
		return o.shard != p.shard && !o.follows && other != nil && other.has(b)
	})
}

// isRedirected reports whether a node has sent a client to another one, and a node has executed the same request then.
// A name, or a token among its words, shows that it is the same.
func (p *prover) isRedirected(r *request) bool {
	own := r.Name != "" || p.carriesToken(r)
	return p.cluster && r.isSentOn() && own && slices.ContainsFunc(p.group.nodes, func(o *prover) bool {
		return slices.ContainsFunc(o.since(r.Mono), func(e lab.Entry) bool {
			return e.Outcome != lab.NotExecuted && e.Name == r.Name && slices.Equal(e.Cmd, r.Cmd)
		})
	})
}

// isSentOn reports whether a node has not executed a request, and its reply names another one or asks for a further
// try.
func (r *request) isSentOn() bool {
	word, _, _ := strings.Cut(r.Reply, " ")
	return r.Outcome == lab.NotExecuted && slices.Contains([]string{"MOVED", "ASK", "TRYAGAIN"}, word)
}

// carriesToken reports whether a client has tried for the lock with a word of a request.
func (p *prover) carriesToken(r *request) bool {
	return slices.ContainsFunc(r.words, func(text string) bool {
		return text != r.Key && p.tokens[word{holders.Key{DB: r.DB, Name: r.Key}, text}]
	})
}

// since returns the entries of a node from a moment on.
func (p *prover) since(mono int64) []lab.Entry {
	all := p.history.Entries
	from, _ := slices.BinarySearchFunc(all, mono, func(e lab.Entry, mono int64) int { return cmp.Compare(e.Mono, mono) })
	return all[from:min(len(all), from+mostLooked)]
}

// mayBeOne reports whether a connection without a name may belong to a holder that has another one to another node of
// the cluster. A request that a node has sent on shows two connections of one client, while that node lives on.
func (p *prover) mayBeOne(r *request, b *belief) bool {
	if !p.cluster || b.on == p.node {
		return false
	}
	for _, o := range p.group.nodes {
		if o.node == b.on {
			own := o.sentOn(p, r.Client)
			return own == 0 || own == b.client || o.epoch != b.epoch
		}
	}
	return true
}

// sentOn returns the connection to p of the client that has a connection without a name to another node, 0 if the log
// does not show it.
func (p *prover) sentOn(to *prover, client int64) int64 {
	for i := range p.history.Entries {
		r := p.request(i)
		if r.Name != "" || !r.isSentOn() || !p.carriesToken(r) {
			continue
		}
		for _, e := range to.since(r.Mono) {
			if e.Client == client && slices.Equal(e.Cmd, r.Cmd) {
				return r.Client
			}
		}
	}
	return 0
}

// looksElsewhere handles a client of a semaphore that has added its token, and looks how many there are at a node that
// does not tell.
func (p *prover) looksElsewhere(r *request, l *lock) {
	if is, _ := counting(lower(r.Cmd)); !is || !p.cluster || r.Outcome != lab.NotExecuted {
		return
	}
	for _, q := range l.asking[asker{r.Client, r.Name}] {
		is := l.find(q.name) != nil
		l.drop([]part{q})
		if p.grant(r, l, q, nil, saying(r, l, doubtsPermits)); !is {
			p.ends(r, l, l.beliefs[len(l.beliefs)-1], holders.EndLost)
			l.drop([]part{q})
		}
	}
	delete(l.asking, asker{r.Client, r.Name})
}
