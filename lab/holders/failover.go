package holders

// Failover is a promotion, and what it lost.
type Failover struct {
	What Loss
	From string // the node that was the master; "" if it is not known
	To   string // the node that became one
	Time int64  // unix ms of the clock of To
}

// Loss is what a failover lost.
type Loss int

// The losses.
const (
	NoLoss      Loss = iota
	GrantLost        // the grant was never replicated
	RenewalLost      // the renewal was never replicated, so the lease of To is an older one
	HistoryLost      // From became a replica of To, and To does not have the grant
)

// step is the event as a step of a finding.
func (f *Failover) step() string {
	if f.What == HistoryLost {
		return f.From + " became a replica of " + f.To + ", which does not have the lock"
	}
	return f.To + " was promoted without the lock: the grant was never replicated"
}

// Loses notes that the node which is the master now lacks the grant with this order.
func (l *Ledger) Loses(node int, k Key, order int64, how *Failover) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.find(node, k, order)
	if t == nil || t.Lost != nil {
		return
	}
	t.Lost = how
	if t.End == "" {
		l.order++
		t.End, t.Ended, t.EndOrder, t.EndedAt = EndLost, how.Time, l.order, how.To
		t.EndedBy = Step{Time: how.Time, Command: how.step()}
	}
	if t.GaveUp == 0 && t.RanOut == 0 {
		l.opens(node, openLease{k, order})
	}
}

// LosesRenewal notes that the node which is the master now has an older lease of a lock.
func (l *Ledger) LosesRenewal(node int, k Key, order int64, how *Failover) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.find(node, k, order); t != nil && t.Lost == nil {
		t.Lost = how
		l.opens(node, openLease{k, order})
	}
}

// Promoted notes that a node has become a master. deposed are the nodes that do not know of that: how says what they
// miss.
func (l *Ledger) Promoted(node int, deposed []int, how *Failover) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.deposed, node)
	for _, other := range deposed {
		l.deposed[other] = how
	}
}

// Demoted notes that a node has become a replica, so it is no deposed master any more.
func (l *Ledger) Demoted(node int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.deposed, node)
}
