// Package proof proves from the changes of the keys that locks had one holder at a time.
//
// It reads the logs of one or several masters and their replicas, and asks what happened to the keys, whatever command
// did it:
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
	nodes     int
	cluster   bool                                // its nodes are one voter
	passages  map[*lab.Entry][]*passage           // of a cluster, at both ends
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

// prover reads the history of a node.
type prover struct {
	*Proof
	*group
	node    int    // from 0
	shard   int    // of a cluster: the master that it belongs to
	name    string // "" without replicas
	follows bool   // it is a replica now
	peer    int    // that it follows, or followed last; from 0
	number  int    // of the entry under way, in the order of lab.InOrder
	history lab.History
	among   func(key string) bool
	locks   map[holders.Key]*lock
	epoch   int   // which life of which node it is: each restart begins another one
	movedTo int64 // unix ms: to where the clock was moved last
	late    []lateGrant
	clocks  map[use]*clock     // of each lock, by the clients that have shown them
	jumps   bool               // the clock of the server does
	scripts map[string]*script // of all masters
	tokens  map[word]bool      // those with which a client has tried for a lock, at any master
}

// group is what a master and its replicas know together.
type group struct {
	master   int       // from 0
	nodes    []*prover // those that have a history
	claims   map[holders.Key]*claims
	all      []*claims // in the order in which they were seen
	uses     map[use]bool
	takers   map[word][]string    // the clients that have tried for a lock with a token
	senders  map[word]int         // how many clients have sent a word with a key
	distinct map[holders.Key]int  // with how many tokens clients have tried for a lock, at all masters
	sole     map[string]bool      // the names that one worker uses
	taking   map[word]bool        // how each lock is taken, in the words of request.way
	scores   map[holders.Key]bool // the sorted sets whose scores are the ends of leases
	looking  map[word]bool        // clients look how many tokens there are behind this way to take a lock
	told     map[said]bool        // the replies with which each lock was taken
	pools    map[holders.Key]bool // clients put back what they have taken out
	renewers map[use]bool         // of each lock: the names of those who give it a longer lease
	behind   map[word]int64       // ms: the lease that clients give a lock behind its grant, by the way of the grant
}

// Node is a server of the process.
type Node struct {
	Master int    // that it belongs to, from 0
	Name   string // for people
}

// Prove reads the histories of some nodes of a process. It rules on the wanted keys.
func Prove(histories []lab.History, nodes []Node, among func(key string) bool) *Proof {
	entries := lab.InOrder(histories)
	all := &Proof{renewed: map[int64]int64{}, doubted: map[int64]bool{}, manners: map[int64]manner{},
		deadlines: map[int64]int64{}, nodes: len(nodes),
		passages: map[*lab.Entry][]*passage{}}
	distinct := map[holders.Key]int{}
	var groups []*group
	for _, n := range nodes {
		for len(groups) <= n.Master {
			groups = append(groups, &group{master: len(groups), claims: map[holders.Key]*claims{}, uses: map[use]bool{},
				takers: map[word][]string{}, sole: map[string]bool{}, taking: map[word]bool{}, scores: map[holders.Key]bool{},
				told: map[said]bool{}, looking: map[word]bool{}, behind: map[word]int64{}, pools: map[holders.Key]bool{},
				renewers: map[use]bool{},
				senders:  map[word]int{}, distinct: distinct})
		}
	}
	all.masters = len(groups)
	all.Ledger = holders.NewLedger(all.masters, len(entries)+1)
	all.Ledger.Quiet()
	scripts, tokens, provers := map[string]*script{}, map[word]bool{}, make([]*prover, len(histories))
	for i, h := range histories {
		g := groups[nodes[h.Number()-1].Master]
		all.cluster = all.cluster || h.IsVoter()
		provers[i] = &prover{
			Proof: all, group: g, node: h.Number() - 1, shard: h.Master - 1, history: h, among: among,
			scripts: scripts, tokens: tokens, locks: map[holders.Key]*lock{}, epoch: h.Number() - 1,
			clocks: map[use]*clock{},
		}
		g.nodes = append(g.nodes, provers[i])
	}
	if all.cluster {
		all.findPassages(provers)
	}
	for _, p := range provers {
		p.foresee()
	}
	for _, p := range provers {
		p.foreseeRefused()
	}
	meets(entries, provers)
	if all.replicated() {
		all.replicate(provers, nodes, entries)
	}
	for node := range nodes {
		if !slices.ContainsFunc(histories, func(h lab.History) bool { return h.Number() == node+1 }) {
			all.Ledger.Absent(node)
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
	all.rules(groups)
	return all
}

// read reads an entry.
func (p *prover) read(i int) {
	e := &p.history.Entries[i]
	p.Ledger.At(e.Mono)
	if e.Event == lab.EventClock {
		p.Ledger.Moved(p.node, e.From, e.To, e.Together || p.Proof.nodes == 1)
		p.movedTo = e.To
	} else {
		p.Ledger.Passed(p.node, e.Time)
	}
	if e.Event == lab.EventCrash {
		p.epoch += p.Proof.nodes
		p.restarts(i)
	}
	p.delivers(e)
	r := p.request(i)
	p.leads(r)
	for _, c := range e.Changes {
		if !p.among(c.Key) {
			continue
		}
		p.lock(holders.Key{DB: c.DB, Name: c.Key}).watched = true
		switch {
		case p.follows && r.Client == 0:
			p.mirror(r, c)
		default:
			p.change(r, c)
		}
	}
	if p.passes(r) || len(e.Cmd) == 0 {
		return
	}
	p.waits(r)
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
	if l != nil {
		return l
	}
	known := p.claims[k]
	if known == nil {
		known = &claims{Key: k, seenAbsent: map[string]bool{}, competes: map[string]bool{}, took: map[string]bool{},
			known: map[string]bool{}, beside: true}
		p.claims[k] = known
		p.all = append(p.all, known)
	}
	for _, w := range p.history.Watched {
		if !store.MatchPattern(w.Pattern, []byte(k.Name)) {
			continue
		}
		if known.watched = true; w.As != lab.Unnamed {
			known.told = w
		}
	}
	l = &lock{claims: known, asking: map[asker][]part{}}
	p.locks[k] = l
	return l
}

// lower returns the name of a command, "" without one.
func lower(cmd []string) string {
	if len(cmd) == 0 {
		return ""
	}
	return strings.ToLower(cmd[0])
}
