package doctor

import (
	"fmt"
	"slices"
)

// remove handles a command that deletes keys.
func (d *Doctor) remove(o op, in *run) {
	for _, k := range o.keys() {
		h := d.holds.m[k]
		if h == nil {
			if in == nil || !in.script {
				d.lateDelete(o, k)
				d.givesUp(o, k, nil)
			}
			continue
		}
		if o.reply.kind == '_' || o.reply.kind == ':' && o.reply.n == 0 {
			continue
		}
		compared := in != nil && in.script && has(in.read, k)
		if !compared {
			d.blindDelete(o, k, h)
		}
		how := EndStolen
		h.ended = o.step()
		if compared || d.owns(o, h) {
			if compared || d.isLock(k, h) {
				d.released(o, k, h)
			}
			how = EndReleased
		} else if o.owner != "" && o.owner == h.taken.Name {
			how = EndReleased // perhaps by another connection of the owner's pool
		}
		d.free(o, k, h, in, how)
	}
}

// released judges a lock that its owner released.
func (d *Doctor) released(o op, k lockKey, h *hold) {
	if h.until == 0 && !h.hash {
		d.withoutTTL(k, h, o.step())
	}
	d.locks.put(class(k.name), true)
}

func (d *Doctor) free(o op, k lockKey, h *hold, in *run, how End) {
	if in != nil {
		in.freed = append(in.freed, freed{k, h})
	}
	d.drop(k, h, how, o.time)
}

// blindDelete judges a DEL that does not compare the token itself.
func (d *Doctor) blindDelete(o op, k lockKey, h *hold) {
	if !d.isLock(k, h) || h.shared {
		return
	}
	var seen reading
	was := false
	if c := d.clients.m[o.client]; c != nil {
		seen, was = c.unread(k)
	}
	if was && seen.guarded && o.by == Exec {
		return
	}
	if was && o.by != "" && o.by != Exec {
		was = false // nothing shows that the script got the result of GET
	}
	if was {
		d.report(GetDel, k, o, h.taken, seen.step, o.step())
	}
	if d.owns(o, h) || was && seen.value == h.value {
		return
	}
	steps := []Step{h.taken, o.step()}
	if late := d.past.m[k]; late != nil {
		steps = slices.Concat(d.leaseOf(k, late, o.client), steps)
	}
	d.report(NotOwner, k, o, steps...)
	d.lateDelete(o, k)
}

// leaseOf returns the steps of the last lease of a client that ended.
func (d *Doctor) leaseOf(k lockKey, past []ended, client int64) []Step {
	for _, e := range slices.Backward(past) {
		if e.client == client && d.isLock(k, e.hold) {
			return e.steps()
		}
	}
	return nil
}

func (e ended) steps() []Step {
	return []Step{e.taken, {Time: e.at, Command: fmt.Sprintf("the lease of %d ms ended", e.lease)}}
}

// lateDelete judges a DEL of a lock that its client no longer holds.
func (d *Doctor) lateDelete(o op, k lockKey) {
	past := d.past.m[k]
	if steps := d.leaseOf(k, past, o.client); steps != nil {
		d.report(LateUnlock, k, o, append(steps, o.step())...)
		d.forgive(k, o.client)
	}
}

// lateScript judges a script that releases locks and did not find this one.
func (d *Doctor) lateScript(o op, k lockKey, args []string) {
	d.givesUp(o, k, args)
	if h := d.holds.m[k]; h != nil && slices.Contains(args, h.value) {
		return
	}
	for _, e := range slices.Backward(d.past.m[k]) {
		if slices.Contains(args, e.value) && (isToken(e.value) || d.isLock(k, e.hold)) {
			d.report(LateUnlock, k, o, append(e.steps(), o.step())...)
			d.forgive(k, e.client)
			return
		}
	}
}

// givesUp records that a client no longer believes in its lock.
func (d *Doctor) givesUp(o op, k lockKey, args []string) {
	if d.ledger != nil {
		d.ledger.gaveUp(d.master, k, o.client, args)
	}
}
