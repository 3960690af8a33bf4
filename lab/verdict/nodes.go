package verdict

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/proof"
)

// A process with replicas has several nodes for each master. They vote as one: a lock is granted by whichever of them
// is the master then. What a replica has when it is promoted is what its master did up to an offset.

// node is a server of the process.
type node struct {
	master int // that it belongs to, from 0
	name   string
	role   string // at the end of its history
	seen   bool   // it has a history
}

// findNodes finds the nodes of the histories.
func (r *replay) findNodes(histories []lab.History) error {
	for _, h := range histories {
		r.servers = max(r.servers, h.Masters)
		all := h.Masters
		if h.Node != nil {
			all = max(all, h.Nodes)
		}
		for len(r.nodes) < all {
			r.nodes = append(r.nodes, node{master: len(r.nodes)})
		}
	}
	r.masters = r.servers
	if !slices.ContainsFunc(histories, func(h lab.History) bool { return !h.IsVoter() || !proof.CanRead(h) }) {
		r.masters = 1
	}
	for i := range r.nodes {
		r.nodes[i].master %= r.masters // of nodes without a history
	}
	for _, h := range histories {
		n := &r.nodes[h.Number()-1]
		if n.seen {
			return fmt.Errorf("there are two histories of %s", nameOf(h))
		}
		*n = node{master: (h.Master - 1) % r.masters, seen: true}
		if h.Node != nil {
			n.name, n.role = strconv.Itoa(h.Port), h.Role
		}
	}
	return nil
}

func nameOf(h lab.History) string {
	if h.Node != nil {
		return fmt.Sprintf("node %d", h.Node.Node)
	}
	return fmt.Sprintf("master %d", h.Master)
}

// replicated reports whether the masters have replicas.
func (r *replay) replicated() bool { return len(r.nodes) > r.masters }

// replicate tells the ledger of the nodes.
func (r *replay) replicate() {
	if !r.replicated() {
		return
	}
	var groups []int
	var names []string
	for i, n := range r.nodes {
		if !n.seen {
			n.name = fmt.Sprintf("node %d", i+1)
		}
		groups, names = append(groups, n.master), append(names, n.name)
	}
	r.ledger.Replicated(groups, names)
}

// roles gives the doctors the roles that the nodes have when the histories begin.
func (r *replay) roles() {
	if !r.replicated() {
		return
	}
	first := make([]string, len(r.nodes)) // the first event of each node that shows its role
	for _, e := range r.entries {
		switch e.Event {
		case lab.EventPromoted, lab.EventDemoted, lab.EventSynced:
			if first[e.master] == "" {
				first[e.master] = e.Event
			}
		}
	}
	for i, d := range r.doctors {
		role := r.nodes[i].role
		switch first[i] {
		case lab.EventPromoted, lab.EventSynced:
			role = replica
		case lab.EventDemoted:
			role = ""
		}
		if role == replica {
			d.Follows()
		} else {
			d.Leads()
		}
	}
}

const replica = "replica" // lab.History.Role

// isRole reports whether e says something about the role of its node, or about its link.
func (e entry) isRole() bool { return e.changesRole() || e.Event == lab.EventLink }

// changesRole reports whether the node of e has another role or another master from now on.
func (e entry) changesRole() bool {
	return e.Event == lab.EventPromoted || e.Event == lab.EventDemoted || e.Event == lab.EventSynced
}

// showRole tells a doctor what an entry says about the role of its node. It returns false for other entries.
func (r *replay) showRole(e entry) bool {
	d := r.doctors[e.master]
	if !r.replicated() {
		if e.Event == lab.EventSynced && e.Reply == lab.SyncedFull {
			d.Lost(e.Time) // its keys are those of a server outside of the process
		}
		return e.isRole()
	}
	switch e.Event {
	case lab.EventPromoted:
		d.Promoted(e.Peer-1, e.Offset, e.Time)
	case lab.EventDemoted:
		d.Demoted()
	case lab.EventSynced:
		d.Synced(e.Peer-1, e.ReplID, e.Time, e.Reply == lab.SyncedFull)
	case lab.EventLink:
	case lab.EventCrash, lab.EventRestore:
		d.Restreams()
		return false
	default:
		return false
	}
	return true
}

const (
	whyNoLog = "a server of this lock has no history here, and may have granted the lock, too"
	fixNoLog = "export the logs of all servers: LAB ALL LOG EXPORT"

	whyOutside = "a server of this lock was a replica of a server outside of the process, " +
		"which may have granted the lock, too"
	fixOutside = "let all servers that grant a lock run in one process: --replicas"

	whyFailover = "a server of this lock has been a replica, and a proxy does not see " +
		"which grants of its master it had then"
	fixFailover = "play the failover at miniredisd --replicas 1: its verdict reads what each replica had"

	whySlots = "several masters of a cluster had the lock, and these logs do not show how it moved"
	fixSlots = "let the lock stay in one slot of one master, and look at its commands with LAB ALL LOG"
)

// unseen asks about the locks that a server without a history may have granted: a node of the process, or a server that
// one of the nodes followed. It also asks about those that several masters of a cluster granted.
func (r *replay) unseen(locks []holdings) []holders.Question {
	missing, outside := make([]bool, r.masters), make([]bool, r.masters)
	for _, n := range r.nodes {
		missing[n.master] = missing[n.master] || r.replicated() && !n.seen
	}
	for _, e := range r.entries {
		if e.changesRole() && (e.Peer < 1 || e.Peer > len(r.nodes)) {
			outside[r.nodes[e.master].master] = true
		}
	}
	var all []holders.Question
	for _, l := range locks {
		q := holders.Question{DB: l.DB, Key: l.Key}
		switch {
		case r.grantedBy(l, missing):
			q.Why, q.Fix = whyNoLog, fixNoLog
		case r.grantedBy(l, outside) && r.proxied:
			q.Why, q.Fix = whyFailover, fixFailover
		case r.grantedBy(l, outside):
			q.Why, q.Fix = whyOutside, fixOutside
		case r.cluster && len(l.tables) > 1: // they do not vote
			q.Why, q.Fix = whySlots, fixSlots
		default:
			continue
		}
		all = append(all, q)
	}
	return all
}

// grantedBy reports whether one of these masters granted a lock.
func (r *replay) grantedBy(l holdings, masters []bool) bool {
	for _, table := range l.tables {
		if len(table) > 0 && masters[r.nodes[r.entries[table[0].Event].master].master] {
			return true
		}
	}
	return false
}
