// Package proof proves from the changes of the keys that locks had one holder at a time.
//
// It reads the logs of one or several masters, and asks what happened to the keys, whatever command did it:
//
//	lab.Entry.Changes ──> Prove ──┬─> holders.Ledger: who believed in which lock, and how long
//	                              └─> Rulings: the keys that are no lock of one holder, or were not read
//
// The value of a key, or its field, member or element, is a token. Who adds a token believes in the lock. A change
// that keeps the token prolongs. A change that removes it is a release by its holder, or a theft, an expiry, an
// eviction, a loss. A holder that does not know of that believes in its lock until the lease is over that it asked
// for.
//
// What remains a question of commands is belief: does this reply tell its client that it has the lock? Where the log
// cannot tell, the belief is in doubt, and the doubt names the entry.
//
// The package has no state. Any goroutine may call it.
package proof

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/store"
)

// Proof is what the changes of a history say of its keys.
type Proof struct {
	Ledger  *holders.Ledger
	At      []int // the entry of each order of the ledger, in the order of lab.InOrder
	Rulings []Ruling

	manners   map[int64]manner // how others ended a grant
	deadlines map[int64]int64  // unix ms: of the keys; 0 is never
	renewed   map[int64]int64  // of a grant that renewed a lease that was over: the grant before
	doubted   map[int64]bool   // the grants whose clients may not believe in them
	masters   int
	tables    map[holders.Key][][]holders.Holding // at the end
}

// Doubted reports whether a client may not believe that it has a lock, although it knows what its command did.
func (p *Proof) Doubted(order int64) bool { return p.doubted[order] }

// Kind says what a ruling is.
type Kind string

// The kinds.
const (
	NotJudged Kind = "not-judged" // the key is no lock of one holder, as far as the log shows
	Unread    Kind = "undecided"  // a change of the key was not read
	TooMany   Kind = "two-holders"
	Within    Kind = "safe"   // no more clients held the semaphore than may
	Beside    Kind = "beside" // the key belongs to a lock: a fencing counter, a queue of waiters
)

// Ruling is about a key that the ledger alone does not decide.
type Ruling struct {
	holders.Key
	Is       Kind
	Why, Fix string
	Steps    []holders.Step
	Grants   int // of a semaphore
}

// Of returns the ruling on a key, or nil.
func (p *Proof) Of(k holders.Key) *Ruling {
	i := slices.IndexFunc(p.Rulings, func(r Ruling) bool { return r.Key == k })
	if i < 0 {
		return nil
	}
	return &p.Rulings[i]
}

// CanRead reports whether a history has the changes of its keys. Older servers did not write them.
func CanRead(h lab.History) bool {
	return h.Format == lab.Format
}

// prover reads the history of a master.
type prover struct {
	*Proof
	master  int // from 0
	number  int // of the entry under way, in the order of lab.InOrder
	history lab.History
	among   func(key string) bool
	locks   map[holders.Key]*lock
	all     []*lock // in the order in which they were seen
	epoch   int     // how often the server has started again
	moves   int64   // unix ms: to where the clock was moved last
	uses    map[use]bool
	takers  map[word][]string  // the clients that have tried for a lock with a token
	sole    map[string]bool    // the names that one worker uses
	taking  map[word]bool      // how each lock is taken, in the words of request.way
	scripts map[string]*script // of all masters
	tokens  map[word]bool      // those with which a client has tried for a lock, at any master
}

// script is what the log shows of a script.
type script struct {
	text                string // "" if the log does not have it
	frees, adds, writes bool   // it has removed a token, added one, changed a key and removed none
}

// releases reports whether a script may give locks up, and keeps whether it certainly does not.
func (s *script) releases() bool {
	return s.frees || strings.Contains(s.text, "'del'") || strings.Contains(s.text, `"del"`) ||
		strings.Contains(s.text, "unlink")
}

func (s *script) keeps() bool { return !s.releases() && (s.writes || s.adds || s.text != "") }

// use is a word that a client has sent together with a key, and word is the same of any client.
type use struct {
	word
	client string
}

type word struct {
	holders.Key
	text string
}

// Prove reads the histories of masters without replicas, each with a number of its own. It rules on the wanted keys.
func Prove(histories []lab.History, among func(key string) bool) *Proof {
	entries := lab.InOrder(histories)
	masters := 0
	for _, h := range histories {
		masters = max(masters, h.Masters)
	}
	all := &Proof{Ledger: holders.NewLedger(masters, len(entries)+1), renewed: map[int64]int64{},
		manners: map[int64]manner{}, deadlines: map[int64]int64{},
		doubted: map[int64]bool{}, masters: masters}
	scripts, tokens, provers := map[string]*script{}, map[word]bool{}, make([]*prover, len(histories))
	for i, h := range histories {
		provers[i] = &prover{
			Proof: all, master: h.Master - 1, history: h, among: among, scripts: scripts,
			tokens: tokens, locks: map[holders.Key]*lock{}, uses: map[use]bool{}, takers: map[word][]string{},
			sole: map[string]bool{},
		}
		provers[i].foresee()
		provers[i].meets()
	}
	for master := range masters {
		if !slices.ContainsFunc(histories, func(h lab.History) bool { return h.Master == master+1 }) {
			all.Ledger.Absent(master)
		}
	}
	for n, e := range entries {
		p := provers[e.History]
		p.number = n
		p.read(e.Index)
		for int64(len(all.At)) <= all.Ledger.Order() {
			all.At = append(all.At, n)
		}
	}
	all.rules(provers)
	return all
}

// foresee notes who sends which words with which key, and what the scripts do.
func (p *prover) foresee() {
	epoch := 0
	for i := range p.history.Entries {
		e := &p.history.Entries[i]
		if e.Event == lab.EventCrash {
			epoch++
		}
		if len(e.Cmd) == 0 {
			continue
		}
		r := p.request(i)
		who := r.actor(epoch).id()
		s := p.script(r)
		if strings.HasPrefix(lower(e.Cmd), "eval") && len(e.Cmd) > 1 {
			if _, whole := shaOf(e.Cmd[1]); whole && !strings.HasPrefix(lower(e.Cmd), "evalsha") {
				s.text = strings.ToLower(e.Cmd[1])
			}
		}
		for _, c := range e.Changes {
			k := holders.Key{DB: c.DB, Name: c.Key}
			s.frees, s.adds = s.frees || c.After == nil || lowers(c), s.adds || c.Before == nil
			s.writes = s.writes || c.After != nil
			p.sends(k, r.words, who)
			for _, token := range (&lock{}).added(c) {
				if c.After.Deadline == 0 || c.After.Deadline > e.Time+1 {
					p.takes(word{k, token}, who)
				}
			}
		}
		k := holders.Key{DB: e.DB, Name: e.Key}
		p.sends(k, r.words, who)
		if token := triesWith(r); token != "" {
			p.takes(word{k, token}, who)
		}
	}
	p.taking = p.ways()
	for i := range p.history.Entries { // the tries that were refused, or that have found the same token
		e := &p.history.Entries[i]
		r := p.request(i)
		adds := p.taking[word{holders.Key{DB: e.DB, Name: e.Key}, r.way()}] && !r.has(3, "xx")
		if len(e.Cmd) > 0 && r.By == "" && (adds || r.runs() && p.script(r).adds) {
			for _, text := range r.words {
				if w := (word{holders.Key{DB: e.DB, Name: e.Key}, text}); len(p.takers[w]) > 0 {
					p.takes(w, r.actor(0).id())
				}
			}
		}
	}
}

// script returns what the log shows of the script that a request runs, or in which it ran.
func (p *prover) script(r *request) *script {
	name := r.script()
	if name == "" {
		return &script{text: "none"}
	}
	if p.scripts[name] == nil {
		p.scripts[name] = &script{}
	}
	return p.scripts[name]
}

// added returns the tokens that a change adds.
func (l *lock) added(c lab.Change) (all []string) {
	before := l.partsOf(c.Before)
	for _, a := range l.partsOf(c.After) {
		if !slices.ContainsFunc(before, func(b part) bool { return b.name == a.name }) {
			all = append(all, a.token)
		}
	}
	return all
}

func (p *prover) sends(k holders.Key, words []string, who string) {
	for _, text := range words {
		p.uses[use{word{k, text}, who}] = true
	}
}

func (p *prover) takes(w word, who string) {
	p.tokens[w] = true
	if !slices.Contains(p.takers[w], who) {
		p.takers[w] = append(p.takers[w], who)
	}
}

// read reads an entry.
func (p *prover) read(i int) {
	e := &p.history.Entries[i]
	p.Ledger.At(e.Mono)
	if e.Event == lab.EventClock {
		p.Ledger.Moved(p.master, e.From, e.To, e.Together || p.masters == 1)
		p.moves = e.To
	} else {
		p.Ledger.Passed(p.master, e.Time)
	}
	switch e.Event {
	case lab.EventCrash:
		p.epoch++
		p.restarts(i)
	}
	r := p.request(i)
	for _, c := range e.Changes {
		if p.among(c.Key) {
			p.change(r, c)
		}
	}
	if len(e.Cmd) == 0 {
		return
	}
	for _, l := range p.named(r) {
		p.heard(r, l)
	}
}

// restarts notes what a restart finds of the keys on the disk. The log says so behind the restart.
func (p *prover) restarts(i int) {
	for _, e := range p.history.Entries[i+1:] {
		switch {
		case e.Event == lab.EventDisk && p.among(e.Key):
			p.lock(holders.Key{DB: e.DB, Name: e.Key}).restarted = e.Reply
		case e.Event == lab.EventDisk || e.Event == lab.EventChanged:
		default:
			return
		}
	}
}

// named returns the locks that a request names and that it did not change.
func (p *prover) named(r *request) []*lock {
	var all []*lock
	names := append([]string{r.Key}, r.Keys...)
	for _, name := range append(names, r.Cmd[1:]...) {
		k := holders.Key{DB: r.DB, Name: name}
		l := p.locks[k]
		if l == nil && name == r.Key && name != "" && p.among(name) {
			l = p.lock(k)
		}
		if l != nil && !slices.Contains(all, l) && !p.changes(r, k) {
			all = append(all, l)
		}
	}
	return all
}

// changes reports whether a request, or a command inside of it, has changed a key.
func (p *prover) changes(r *request, k holders.Key) bool {
	does := func(e *lab.Entry) bool {
		return slices.ContainsFunc(e.Changes, func(c lab.Change) bool { return c.DB == k.DB && c.Key == k.Name })
	}
	if does(r.Entry) {
		return true
	}
	for i := r.index - 1; i >= 0; i-- {
		e := &p.history.Entries[i]
		if !r.encloses(e) {
			return false
		}
		if does(e) {
			return true
		}
	}
	return false
}

// lock returns what is known of a key.
func (p *prover) lock(k holders.Key) *lock {
	l := p.locks[k]
	if l == nil {
		l = &lock{Key: k, seenAbsent: map[string]bool{}, competes: map[string]bool{}, took: map[string]bool{}, beside: true,
			asking: map[int64][]part{}}
		for _, w := range p.history.Watched {
			if w.As != lab.Unnamed && store.MatchPattern(w.Pattern, []byte(k.Name)) {
				l.told = w
			}
		}
		p.locks[k] = l
		p.all = append(p.all, l)
	}
	return l
}

// lower returns the name of a command, "" without one.
func lower(cmd []string) string {
	if len(cmd) == 0 {
		return ""
	}
	return strings.ToLower(cmd[0])
}
