package doctor

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/miniredisd/miniredisd/internal/bounded"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// Ledger is what the doctors of several nodes share. Any goroutine may call its methods.
type Ledger struct {
	Holders *holders.Ledger // who holds which lock, on all nodes

	mu     sync.Mutex
	keep   int
	groups []int // of the nodes, with replicas: the master that each belongs to

	foreseen map[string]bool            // of a finished history: its scripts, by SHA1, and whether they release locks
	scripts  *bounded.Map[string, bool] // with replicas: those that a node has run, and whether they release locks
	given    map[place][]hold           // with replicas: the newest grants

	streams map[string]*stream // by replication ID
	leads   map[int]bool       // with replicas: the nodes that are masters
	old     map[int]bool       // with replicas: masters that another one has replaced, and that do not know it
	first   map[int]*stream    // of the nodes, when their histories began
	current map[int]*stream    // of the nodes, their own or that of their master

	strays *bounded.Map[int64, *stray] // by the order of the grant
	astray atomic.Bool                 // strays is not empty, or was not
}

// NewLedger returns a ledger for a number of masters. It keeps the newest holdings of each key and
// master: keep of them.
func NewLedger(masters, keep int) *Ledger {
	return &Ledger{
		Holders: holders.NewLedger(masters, keep), keep: keep, strays: bounded.NewMap[int64, *stray](mostStrays),
	}
}

// Replicated says that the masters have replicas. groups says for each node which master it belongs to, from 0, and
// names has the names of the nodes for people.
func (l *Ledger) Replicated(groups []int, names []string) {
	l.Holders.Replicated(groups, names)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.groups = groups
	l.given, l.scripts = map[place][]hold{}, bounded.NewMap[string, bool](max(maxScripts, l.keep))
	l.leads, l.old = map[int]bool{}, map[int]bool{}
	l.streams, l.first, l.current = map[string]*stream{}, map[int]*stream{}, map[int]*stream{}
}

// Begin says that a finished history is shown, and when it begins, in unix ms.
func (l *Ledger) Begin(time int64) {
	l.Holders.Begin(time)
	l.foreseen = map[string]bool{}
}

// forget drops everything about a node.
func (l *Ledger) forget(node int) {
	l.Holders.Forget(node)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strays = bounded.NewMap[int64, *stray](mostStrays)
	l.astray.Store(false)
	if l.groups != nil {
		l.scripts = bounded.NewMap[string, bool](max(maxScripts, l.keep))
	}
}

// group returns the master that a node belongs to. Only nodes with replicas ask.
func (l *Ledger) group(node int) int { return l.groups[node] }

// isFinished reports whether the doctors see a history that is over.
func (l *Ledger) isFinished() bool { return l != nil && l.foreseen != nil }

// gives notes a grant of a node with replicas, for the doctors of the other nodes.
func (l *Ledger) gives(node int, k holders.Key, h hold) {
	if l.groups == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h.epoch, h.waiters, h.in = -1, nil, nil // its connection is none of another node
	h.taken.Node = l.Holders.NameOf(node)
	at := place{l.group(node), k}
	all := append(l.given[at], h)
	l.given[at] = all[max(0, len(all)-maxGrants):]
}

// knows reports whether a script releases locks, and whether one knows it: any node has run it, or will.
func (l *Ledger) knows(sha string) (releases, known bool) {
	if l == nil {
		return false, false
	}
	if releases, known = l.foreseen[sha]; known || l.groups == nil {
		return releases, known
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	releases, known = l.scripts.Find(sha)
	return releases, known
}

// hears remembers for the other nodes what a node knows of a script.
func (l *Ledger) hears(sha string, s *script) {
	if l == nil || l.groups == nil || !s.known && !s.releases() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scripts.Put(sha, s.releases() || l.scripts.Get(sha))
}

// place is a lock of a master.
type place struct {
	group int
	holders.Key
}

// given returns the grants of a lock that their holders may give up: those that the doctor knows, and those of the
// other nodes. A client that has lost its lock in a failover tries to release it at the new master.
func (d *Doctor) given(k holders.Key) []*hold {
	own := slices.Clone(d.grants.Get(k))
	l := d.ledger
	if l == nil || l.groups == nil {
		return own
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*hold
	for _, h := range l.given[place{l.group(d.master), k}] {
		known := slices.ContainsFunc(own, func(o *hold) bool { return o.order == h.order })
		if !known && l.Holders.Believes(d.master, k, h.order) {
			all = append(all, &h)
		}
	}
	return append(all, own...)
}
