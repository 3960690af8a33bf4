package doctor

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// A release may go to a node that does not have the lock any more: the node has been demoted, or the slot of the lock
// has moved. That is no mistake if the client sends it again where the lock is. So it is noted, and found if the
// lease ends there:
//
//	old node: EVAL unlock ── READONLY, MOVED ... ──> Ledger.strays[order of the grant]
//	new node: the lease of that grant ends ────────> a finding
type stray struct {
	key       holders.Key
	token     string
	why       strayReason
	step      holders.Step
	forwarded bool // the holder has sent something where the lock is
}

// strayReason says where a release went.
type strayReason int

const (
	toReplica strayReason = iota // to a replica: it was a master, or its client believed so
	toOld                        // to an old master, which executed it
	toOther                      // to a node that sent the client elsewhere, or asked for another try
)

// mostStrays bounds the releases that went astray.
const mostStrays = 256

// strayAdvice is advice for Astray.
func strayAdvice(r strayReason) (why, fix string) {
	switch r {
	case toOld:
		return "the release went to an old master, which executed it: the master that had been promoted kept the lock " +
				"until its lease was over",
			"ask for the master before a release (SENTINEL GET-MASTER-ADDR-BY-NAME), and close the connections to the old " +
				"master when Sentinel announces another one (+switch-master)"
	case toOther:
		return "the node that had the lock sent the release elsewhere or asked for another try, and its client did not " +
				"follow: the lock stayed until its lease was over",
			"follow MOVED and ASK, and try again after TRYAGAIN and CLUSTERDOWN: clients for clusters do that themselves"
	}
	return "the release went to a replica, which refused it, and none came to the master: the lock stayed there until " +
			"its lease was over",
		"treat READONLY as a sign of a failover: look for the master, and release the lock there"
}

// isOld reports whether another master has replaced this one, which does not know it.
func (d *Doctor) isOld() bool {
	if d.ledger == nil || d.ledger.groups == nil {
		return false
	}
	d.ledger.mu.Lock()
	defer d.ledger.mu.Unlock()
	return d.ledger.old[d.master]
}

// refusesRelease notes a release that a node did not execute because the lock is elsewhere.
func (d *Doctor) refusesRelease(o op, k holders.Key, found []author) {
	code, _, _ := strings.Cut(o.reply.text, " ")
	r := toOther
	switch code {
	case "READONLY", "MOVED":
		if d.replica {
			r = toReplica
		} else if code == "READONLY" {
			return
		}
	case "ASK", "TRYAGAIN", "CLUSTERDOWN":
	default:
		return
	}
	if len(found) == 1 && (found[0].sure || found[0].why == whyPool) && d.isLock(k, found[0].hold) {
		d.strays(o, k, found[0].hold, r)
	}
}

// strays notes a release that has not ended the grant of h where the lock is.
func (d *Doctor) strays(o op, k holders.Key, h *hold, r strayReason) {
	l := d.ledger
	if l == nil || h.order == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.strays.Get(h.order) == nil {
		step := o.step()
		step.Node = l.Holders.NameOf(d.master)
		l.strays.Put(h.order, &stray{key: k, token: h.value, why: r, step: step})
		l.astray.Store(true)
	}
}

// follows notes a request that has reached the lock of a release that went astray: its client has followed the lock.
func (l *Ledger) follows(o op) {
	if l == nil || !l.astray.Load() || o.reply.failed() || !o.does.has(runs|removes|uncounts|renews) {
		return
	}
	keys, args := o.scriptArgs()
	if !o.does.has(runs) {
		keys, args = o.args[1:], o.args[1:]
	}
	plain := o.does.has(removes) && len(o.args) == 2 // it carries no token
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.strays.All() {
		if s.key.DB == o.db && slices.Contains(keys, s.key.Name) && (plain || slices.Contains(args, s.token)) {
			s.forwarded = true
		}
	}
}

// outlives judges a grant whose lease has ended.
func (d *Doctor) outlives(k holders.Key, h *hold, time int64) {
	if d.ledger == nil || !d.ledger.astray.Load() {
		return
	}
	d.ledger.mu.Lock()
	s := d.ledger.strays.Get(h.order)
	d.ledger.strays.Delete(h.order)
	taken := d.ledger.takenAt(d.master, k, h)
	d.ledger.mu.Unlock()
	if s == nil || s.forwarded {
		return
	}
	why, fix := strayAdvice(s.why)
	culprit := op{client: s.step.Client, owner: s.step.Name, time: s.step.Time}
	end := holders.Step{Node: d.ledger.Holders.NameOf(d.master), Time: time, Command: "the lease of the lock ended"}
	d.because(why, fix, Astray, k, culprit, taken, s.step, end)
}

// takenAt returns the step of a grant, with the node that granted it: a promoted node has the lock from another one.
func (l *Ledger) takenAt(node int, k holders.Key, h *hold) holders.Step {
	if l.groups != nil {
		for _, g := range l.given[place{l.group(node), k}] {
			if g.order == h.order {
				return g.taken
			}
		}
	}
	return h.taken
}
