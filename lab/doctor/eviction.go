package doctor

import (
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// evictionAdvice is advice for MayBeEvicted and Evicted.
func evictionAdvice(p Pattern) (why, fix string) {
	const apart = "keep locks on a server of their own, with maxmemory-policy noeviction: no policy spares only locks"
	if p == Evicted {
		return "the server evicted the lock while a client held it: another client may have taken it since", apart
	}
	return "maxmemory is set, and its policy evicts keys like this lock: when memory is short, " +
		"the lock is gone while a client holds it", apart
}

// judgeEviction looks at whether the server may evict a lock. That is no mistake of its client.
func (d *Doctor) judgeEviction(o op, k holders.Key, h *hold) {
	spared := o.evicts == "" || strings.HasPrefix(o.evicts, "volatile-") && h.until == 0
	if spared || h.warned || !d.isLock(k, h) {
		return
	}
	h.warned = true
	policy := holders.Step{Time: o.time, Command: "maxmemory is set, and maxmemory-policy is " + o.evicts}
	d.report(MayBeEvicted, k, op{time: o.time}, h.taken, policy)
}

func (d *Doctor) evicted(db int, key string, time int64) {
	k := holders.Key{DB: db, Name: key}
	h := d.holds.Get(k)
	if h == nil {
		d.heldBefore(op{time: time, db: db, args: []string{"", key}}, k)
		return
	}
	h.ended = holders.Step{Time: time, Command: evictedIt}
	if d.isLock(k, h) {
		d.report(Evicted, k, op{time: time}, h.taken, h.ended)
	}
	d.drop(k, h, holders.EndLost, time)
}
