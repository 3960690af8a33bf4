package proof

import (
	"cmp"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// take applies a part that a client has added to a key.
func (p *prover) take(r *request, l *lock, a part, c lab.Change) {
	for i := range l.parts {
		if b := l.parts[i].held; b != nil && p.together(r, b) {
			a.held = b // two fields of one holder
			l.parts = append(l.parts, a)
			return
		}
	}
	past := ""
	if c.After.Type == "zset" && a.deadline <= r.Time {
		const near = 1000 // ms
		if a.deadline > 0 && (a.deadline < r.Time-near || p.scores[l.Key]) {
			past = saying(r, l, doubtsClock)
		}
		a.deadline, a.scored = c.After.Deadline, false // the score is the time of the grant
	}
	older := c.Before != nil && c.Before.Deadline == a.deadline // it is the key's, and the request may move it next
	if a.deadline > 0 && a.deadline <= r.Time && !older {
		p.wasOver(r, l)
		l.parts = append(l.parts, a) // until it expires
		return
	}
	if past == "" && p.looking[word{l.Key, r.way()}] && p.dropsOut(r, l, a.token) {
		l.parts = append(l.parts, a) // nobody believes in it
		return
	}
	if past == "" && p.looksLater(r, l, a.token) {
		l.asking[asker{r.Client, r.Name}] = append(l.asking[asker{r.Client, r.Name}], a)
		l.parts = append(l.parts, a)
		return
	}
	doubt := cmp.Or(past, p.doubtOf(r, l, c))
	if a.deadline == r.Time+1 {
		doubt = saying(r, l, doubtsBrief)
	}
	if r.brings() {
		for _, b := range l.pending(r.Time) {
			if b.token != a.token || b.ends > 0 && r.Time > b.ends {
				continue
			}
			if !slices.Contains(r.words, l.Name) { // SWAPDB
				p.returns(l, a)
				return
			}
			doubt = saying(r, l, doubtsWriter) // it may have brought the token of the holder back
		}
		if !slices.Contains(r.words, l.Name) { // SWAPDB brings it from another database
			doubt = cmp.Or(doubt, saying(r, l, doubtsWriter))
		}
	}
	if p.cluster && isRestore(r.Entry) {
		doubt = saying(r, l, doubtsCame)
	}
	full := len(l.parts) >= l.told.Holders || p.replicated() && len(l.pending(r.Time)) >= l.told.Holders
	if l.told.As == lab.Semaphore && p.looking[word{l.Key, r.way()}] {
		doubt = cmp.Or(doubt, saying(r, l, doubtsWriter)) // others look first
	}
	if l.told.As == lab.Semaphore && full && !r.isScript() {
		doubt = cmp.Or(doubt, saying(r, l, doubtsFull))
	}
	p.triesAgain(r, l)
	p.permit(r, l, a, doubt)
}

// together reports whether r, or an entry before it of the same request, began a belief.
func (p *prover) together(r *request, b *belief) bool {
	if b.on != p.node {
		return false
	}
	e := &p.history.Entries[b.index]
	return b.index == r.index || r.By != "" && e.By == r.By && e.Client == r.Client && e.Run == r.Run
}

// doubtOf returns why a client that has made a key may not believe that it has the lock, "" if it does.
func (p *prover) doubtOf(r *request, l *lock, c lab.Change) string {
	name, me := lower(r.Cmd), r.actor(p.epoch).id()
	stores := strings.HasSuffix(name, "store") || name == "bitop" || name == "sort" || strings.HasPrefix(name, "geo")
	way := name
	if r.isScript() && !isCounter(c, r) {
		way = "script"
	}
	switch result := answered(r.outer()); {
	case r.isScript() && r.around == nil && !tries(r):
		l.asked = true
		return saying(r, l, doubtsScript)
	case r.isScript() && (result == no || result == empty && c.After.Type != "hash"):
		l.asked = true
		return saying(r, l, doubtsScript)
	case r.isScript():
	case stores, name == "append", name == "setrange": // a length tells nobody that it has a lock
		return saying(r, l, doubtsWriter)
	case l.told.As == lab.Mutex && len(l.parts) > 0 && (r.Reply != "1" || p.looking[word{l.Key, r.way()}]):
		return saying(r, l, doubtsWriter) // beside another token: its client has read how many there are
	case c.Before != nil && result == no && !l.seenAbsent[me]: // HSET tells that the field was there
		return saying(r, l, doubtsWriter)
	case !tries(r) && r.Reply == "OK" && p.readsBack(r, l):
		l.asked = l.asked || l.seenAbsent[me]
		return saying(r, l, doubtsWriter)
	case tries(r), l.seenAbsent[me], r.Reply != "OK":
	case l.told.As != lab.Unnamed:
	default:
		if holders.LooksRandom(strings.Join(r.Cmd[min(2, len(r.Cmd)):min(3, len(r.Cmd))], "")) {
			l.asked = true
		}
		return saying(r, l, doubtsWriter)
	}
	l.asked = true
	if l.way == "" {
		l.way = way
	}
	if strange(l.way, way) && !tries(r) && !l.seenAbsent[me] {
		return saying(r, l, doubtsWriter)
	}
	return ""
}

// readsBack reports whether a client that wrote its token without asking reads another one next: it may have looked
// before it began.
func (p *prover) readsBack(r *request, l *lock) bool {
	next := p.near(r, l.Key, 1)
	return next != nil && (lower(next.Cmd) == "get" || lower(next.Cmd) == "hget") && !slices.Contains(r.words, next.Reply)
}

// strange reports whether a lock that is taken in one way is hardly taken in another.
func strange(first, way string) bool {
	takes := func(w string) bool {
		return strings.HasPrefix(w, "set") || w == "script" || strings.HasPrefix(w, "mset")
	}
	return takes(first) && !takes(way)
}
