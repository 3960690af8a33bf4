package proof

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// lock is a key as one node has it.
type lock struct {
	*claims
	parts     []part           // what the key has now
	asking    map[asker][]part // of a semaphore: what connections have added, before they look how many there are
	restarted string           // what a restart has found of the key on the disk, since it was granted
	foreign   bool             // of a semaphore: a client that holds no permit has set the deadline
	mode      string
	counted   bool // a hash whose first field is the count of its holder
	numbered  bool // a hash in which a number is its holder's own one
}

// claims are what a master and its replicas know together of a key: who believes that it holds the lock.
type claims struct {
	holders.Key
	told    lab.Watch
	watched bool            // a glob matches it, or the log has a change
	seen    bool            // it has changed
	beliefs []*belief       // of those that have not given up
	vain    []*belief       // those that were given up by a request without a token that found nothing
	known   map[string]bool // the tokens that the key has had

	seenAbsent map[string]bool // clients that have read that the key is absent
	competes   map[string]bool // clients that have tried for the lock in vain
	took       map[string]bool // clients that have taken it
	way        string          // how it was taken first

	what   crowd // what the key seems to be, if it is no lock of one holder
	asked  bool  // somebody took it in a way that tells whether it was free
	beside bool  // each change came from the holder of another lock
	grows  bool  // it is a counter, and only grew
	moved  bool  // another client than its holder has changed the deadline
	unread *Ruling
}

// crowd is a way in which a key has several holders, or none.
type crowd string

const (
	several crowd = "several"
	counter crowd = "counter"
	queue   crowd = "queue"
	other   crowd = "other"
)

// part is a token in a key.
type part struct {
	name, value, token string
	deadline           int64
	held               *belief // nil if nobody believes that it is its own
	was                *belief // that its client has given up, although the token is here
	down               bool    // the change under way has lowered its count
	scored             bool    // its deadline is its score, and the clock alone ends it
	by                 int64   // the connection without a name that has written it, although it was refused
}

// belief is a client that believes that it holds a lock.
type belief struct {
	actor
	token   string
	order   int64 // in the ledger
	ends    int64 // unix ms of the end that it asked for; 0 is never
	lease   int64 // ms that it asked for
	unknown bool
	doubt   string // why its client may not believe in it, "" if it does
	gone    bool
	vain    bool // given up by a request without a token that found nothing
	told    bool // a request with its token came when the key did not have it
	shared  bool
	looked  bool   // it read the key before it took the lock
	cut     string // what has given it another deadline
	recount bool   // its client may know of less entries than the lock counts
	anew    bool   // its client has entered once more, over another connection
	sole    bool   // only one worker uses the name
	marred  string // a failover has lost an entry of it: why its client may not know
	revived bool   // its client has renewed it when it was over, and has a newer belief
	endless bool   // it has no lease so far
	index   int    // of the entry that began it
	on      int    // the node of this entry
	before  int    // the number of vain tries over its connection with other tokens
	taken   holders.Step
}

// partsOf returns the parts of a value. The field of a hash that has no count names nobody: its value does.
func (l *lock) partsOf(v *lab.Value) (all []part) {
	switch {
	case v == nil:
		return nil
	case v.Type == "string" && v.Text != "" && strings.ReplaceAll(v.Text, `\x00`, "") == "": // bits, and none is set
		return nil
	case v.Type == "string":
		return []part{{name: v.Text, token: v.Text, deadline: v.Deadline}}
	}
	for _, q := range v.Parts {
		one := part{name: q.Name, value: q.Value, token: q.Name, deadline: v.Deadline}
		if q.Deadline != 0 {
			one.deadline = q.Deadline
		}
		if at := scoredTime(q.Value); v.Type == "zset" && at > 0 {
			one.deadline, one.scored = at, true
		}
		if v.Type == "hash" {
			switch _, err := strconv.ParseInt(q.Value, 10, 64); {
			case q.Name == "mode" && (q.Value == "read" || q.Value == "write"):
				l.mode = q.Value
				continue
			case err != nil && l.counted:
				continue // a note beside the count of the holder
			case err != nil, l.numbered && l.told.As != lab.Semaphore && !holders.LooksRandom(q.Name):
				one.name, one.token = q.Name+"\x00"+q.Value, q.Value
			}
		}
		all = append(all, one)
	}
	return all
}

// scoredTime returns the unix ms that the score of a member is, 0 if it is no time of these decades.
func scoredTime(score string) int64 {
	const first, last = 5e8, 5e9 // unix seconds
	n, err := strconv.ParseFloat(score, 64)
	switch {
	case err != nil:
	case n > first*1000 && n < last*1000:
		return int64(n)
	case n > first && n < last:
		return int64(n * 1000)
	}
	return 0
}

// startsCount reports whether a new hash has the count of a holder. A count begins with 1: another number is the
// holder's own one, such as the id of its thread, or a time.
func startsCount(v *lab.Value) (counted, numbered bool) {
	if v == nil || v.Type != "hash" {
		return false, false
	}
	for _, q := range v.Parts {
		_, err := strconv.ParseInt(q.Value, 10, 64)
		counted, numbered = counted || q.Value == "1", numbered || err == nil
	}
	return counted, numbered && !counted
}

// starts notes what the fields of a new hash are.
func (l *lock) starts(c lab.Change) {
	counted, numbered := startsCount(c.After)
	l.counted = l.counted && c.Before != nil || c.Before == nil && counted
	l.numbered = l.numbered && c.Before != nil || c.Before == nil && numbered
}

// find returns the part with a name, or nil.
func (l *lock) find(name string) *part {
	i := slices.IndexFunc(l.parts, func(q part) bool { return q.name == name })
	if i < 0 {
		return nil
	}
	return &l.parts[i]
}

// change applies a change of a key.
func (p *prover) change(r *request, c lab.Change) {
	l := p.lock(holders.Key{DB: c.DB, Name: c.Key})
	l.starts(c)
	before, after := l.partsOf(c.Before), l.partsOf(c.After)
	if c.Before == nil && r.Event == lab.EventWatched {
		p.finds(r, l, after)
		return
	}
	p.watches(r, l, c)
	defer func() { l.seen = true }()
	p.notesForeign(r, l, c)
	if l.what == queue || l.what == other || l.told.As == lab.Queue {
		return
	}
	if r.Event == lab.EventStranger && c.After != nil {
		p.leavesUnread(r, l, doubtsPassed)
		return
	}
	if c.Before != nil && c.Before.Unread || c.After != nil && c.After.Unread {
		p.leavesUnread(r, l, doubtsValue)
		return
	}
	if l.isCount(c) {
		p.countsPermits(r, l, c)
		return
	}
	for _, b := range before {
		if l.find(b.name) == nil {
			p.adopt(r, l, b)
		}
	}
	if isCounter(c, r) && p.counts(r, l, c) {
		return
	}
	var removed, added, kept []part
	for _, b := range before {
		if !slices.ContainsFunc(after, func(a part) bool { return a.name == b.name }) {
			removed = append(removed, *l.find(b.name))
		}
	}
	for _, a := range after {
		if l.find(a.name) == nil {
			added, l.known[a.token] = append(added, a), true
		} else {
			kept = append(kept, a)
		}
	}
	if c.After == nil || c.Cause == lab.ByLoss && c.Before != nil && c.Before.Type != c.After.Type {
		removed = slices.Clone(l.parts)
	}
	removed, added, kept = l.rewrites(removed, added, kept)
	p.takesOut(r, l, removed)
	switch {
	case c.After == nil && p.strays(r, l, removed):
	case c.Cause != lab.ByCommand || r.Client == 0:
		p.vanish(r, l, c, removed)
		for _, a := range added {
			p.returns(l, a)
		}
	case len(removed) == 1 && len(added) == 1 && c.After.Type == "string":
		p.replace(r, l, removed[0], added[0])
	default:
		p.remove(r, l, removed, c)
		slices.SortStableFunc(added, func(a, b part) int { return cmp.Compare(rank(a.token), rank(b.token)) })
		for _, a := range added {
			p.take(r, l, a, c)
		}
	}
	if len(before)+len(after) == 0 && r.Client != 0 && p.releases(r) { // there was no bit to clear
		p.givesUp(r, l, p.ofTheirOwn(r, l), nil)
	}
	p.keep(r, l, c, kept)
	if l.counted && c.Before != nil && c.After != nil && len(removed)+len(added)+len(kept) == 0 {
		p.notes(r, l, c)
	}
	p.crowds(l)
}

// rank says how well a token names a client. The best of those that a request adds is the one by which its client is
// known.
func rank(token string) int {
	switch {
	case holders.LooksRandom(token):
		return 0
	case !holders.IsNumber(token):
		return 1
	}
	return 2
}

// finds notes the parts of a key that was there when the log began to watch it.
func (p *prover) finds(r *request, l *lock, after []part) {
	for _, a := range after {
		if l.find(a.name) == nil {
			p.adopt(r, l, a)
		}
	}
}

// keep applies a change of the deadline or of the value to the parts that stay.
func (p *prover) keep(r *request, l *lock, c lab.Change, kept []part) {
	if c.After == nil {
		return
	}
	p.renewsNothing(r, l, c)
	if c.Before != nil && c.Before.Deadline != c.After.Deadline && c.After.Type != "string" {
		for _, q := range l.parts { // a change of the deadline names no part
			if !slices.ContainsFunc(kept, func(k part) bool { return k.name == q.name }) && q.deadline == c.Before.Deadline {
				q.deadline = c.After.Deadline
				kept = append(kept, q)
			}
		}
	}
	for _, k := range kept {
		q := l.find(k.name)
		if q == nil {
			continue
		}
		entered, field := q.value != k.value, k.deadline != c.After.Deadline
		q.down = entered && isLess(k.value, q.value)
		if q.down && q.held != nil && q.held.marred != "" {
			p.givesUp(r, l, []author{{q.held, false, q.held.marred}}, nil)
		}
		q.value, q.deadline = k.value, k.deadline
		if r.Client == 0 || c.Cause != lab.ByCommand {
			p.apart(r, l, q.held)
			continue
		}
		if !p.writesOver(r, l, q) {
			p.prolong(r, l, q, entered, field)
		}
	}
}

// writesOver handles a client that writes the token that the key has, and is not its holder.
func (p *prover) writesOver(r *request, l *lock, q *part) bool {
	if q.value != "" || !slices.Contains(r.words, q.token) {
		return false
	}
	if q.held == nil {
		p.takesUp(r, l, q)
		return true
	}
	if r.isScript() || r.demands() {
		return false
	}
	if a, is := whose(p.authors(r, l, true), q.held); is && (a.sure || a.kin(r.actor(p.epoch)) != noNames) {
		return false
	}
	now := *q
	if p.refused(r, l, now) {
		p.apart(r, l, q.held)
		p.tried(r, l)
		return true
	}
	l.drop([]part{now})
	p.ends(r, l, now.held, holders.EndOverwritten)
	doubt := ""
	if brief := now.deadline > 0 && now.deadline <= r.Time+1; brief || !p.overwrites(r, l, now) {
		doubt = saying(r, l, doubtsWriter)
	}
	p.grant(r, l, now, nil, doubt)
	return true
}

// takesUp handles a client that writes or renews a token in which nobody believes: it was refused with it.
func (p *prover) takesUp(r *request, l *lock, q *part) {
	now, doubt := *q, ""
	if l.told.As == lab.Semaphore || p.refused(r, l, now) {
		return
	}
	if !p.isLost(r) {
		doubt = saying(r, l, doubtsWriter)
	}
	l.drop([]part{now})
	p.grant(r, l, now, nil, doubt)
}

// drop removes parts from the key.
func (l *lock) drop(removed []part) {
	l.parts = slices.DeleteFunc(l.parts, func(q part) bool {
		return slices.ContainsFunc(removed, func(o part) bool { return o.name == q.name })
	})
}

// vanish removes parts that no command of a client removed.
func (p *prover) vanish(r *request, l *lock, c lab.Change, removed []part) {
	l.drop(removed)
	how := holders.EndLost
	switch {
	case r.Event == lab.EventStranger:
		how = holders.EndStolen
	case c.Cause == lab.ByExpiry:
		how = holders.EndExpired
	case c.Cause == lab.ByEviction:
		how = holders.EndEvicted
	}
	for _, q := range removed {
		if q.held != nil {
			p.ends(r, l, q.held, how)
		}
	}
}

// returns handles a part that comes without a client, from a disk or a snapshot.
func (p *prover) returns(l *lock, a part) {
	for _, b := range l.beliefs {
		if b.token == a.token && !b.gone {
			a.held = b
		}
	}
	l.parts = append(l.parts, a)
}

// crowds notes whether the key has several holders now.
func (p *prover) crowds(l *lock) {
	var first *belief
	for _, q := range l.parts {
		switch {
		case q.held == nil || q.held.shared || q.held.doubt != "":
		case first == nil:
			first = q.held
		case q.held != first && l.what == "":
			l.what = several
		}
	}
}
