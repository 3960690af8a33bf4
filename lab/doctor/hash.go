package doctor

import (
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Locks in hashes. The field is the token of the owner, and its value counts how often the owner has
// entered. A read-write lock has a field "mode" as well: readers hold it together.

// hashWrite handles a write to a field of a hash.
func (d *Doctor) hashWrite(o op, in *run) {
	if len(o.args) < 4 {
		return
	}
	k, field := o.key(), o.args[2]
	h := d.holds.Get(k)
	if h == nil {
		if in != nil && in.script {
			d.hashMade(o, k, field, in)
		} else {
			d.unseen(o, k, in)
		}
		return
	}
	if in != nil {
		h.since, in.took = o.time, true // who enters again or leaves begins a lease, and that is no renewal
	}
	switch {
	case !h.hash:
	case field == "mode":
		h.mode = o.args[3]
	case in == nil || !in.script || !slices.Contains(in.args, field): // nobody enters
		if _, mine := whose(d.authors(o, k, []string{field}, false), h); field == h.value && !mine {
			h.marred = whyMore
		}
	case o.leaves():
		if h.marred == whyOlder || h.marred == whyMore {
			d.gaveUp(o, k, unsure(d.authors(o, k, []string{field}, false), h.marred), nil)
		}
	case h.mode != "":
		d.entersMode(o, k, h, field, in)
	case field == h.value:
		_, mine := whose(d.authors(o, k, []string{field}, false), h)
		switch {
		case !mine:
			d.enters(o, k, h, field, in)
		case d.isOver(k, h):
			d.revive(o, k, author{h, true, ""}, h.until)
			d.holds.Get(k).marred = whyOlder
		default:
			d.noted(k, h, entered)
		}
	case h.counted && o.name == "hincrby":
		d.enters(o, k, h, field, in)
	case h.counted: // a note beside the count
	default:
		d.joins(o, k, h, holders.WhySeveral)
	}
}

// isOver reports whether the holder has given its lock up, or its lease is over, although the hash is there: another
// node has shown that.
func (d *Doctor) isOver(k holders.Key, h *hold) bool {
	switch {
	case d.again != nil:
		return slices.ContainsFunc(d.again.grants, func(g gave) bool { return g.key == k && g.token == h.value })
	case d.ledger == nil:
		return false
	}
	return d.ledger.Holders.HasEnded(d.master, k, h.order)
}

// leaves reports whether the command makes the count of a field smaller.
func (o op) leaves() bool {
	if len(o.args) < 4 {
		return false
	}
	n, err := strconv.ParseInt(o.args[3], 10, 64)
	return o.name == "hincrby" && err == nil && n <= 0
}

// hashMade handles a field of a hash that a script has found absent.
func (d *Doctor) hashMade(o op, k holders.Key, field string, in *run) {
	for i := range in.fresh {
		f := &in.fresh[i]
		switch {
		case f.key != k:
			continue
		case f.value == "":
			f.value = field
		case field != f.value:
			f.joined = holders.WhySeveral
		}
		return
	}
	if !has(in.absent, k) {
		d.unseen(o, k, in)
		return
	}
	f := fresh{key: k, op: o, hold: hold{hash: true, value: field, counted: o.name == "hincrby", in: in}}
	if field == "mode" {
		f.value, f.mode, f.shared = "", o.args[3], o.args[3] == "read"
	}
	in.fresh = append(in.fresh, f)
}

// enters records that a second client enters a lock whose hash has its field: it believes that it holds the
// lock, too.
func (d *Doctor) enters(o op, k holders.Key, h *hold, field string, in *run) {
	d.believe(o, k, &hold{hash: true, value: field, until: h.until, in: in, forced: true, loose: true})
}

// entersMode records that a client enters a read-write lock: another reader, or the writer again.
func (d *Doctor) entersMode(o op, k holders.Key, h *hold, field string, in *run) {
	for _, g := range d.pending(k, o.time) {
		if g.value == field && d.kinship(o, g) != holders.OtherClient {
			return
		}
	}
	shared := h.mode == "read" || holders.Within(field, h.value)
	d.believe(o, k, &hold{hash: true, value: field, until: h.until, in: in, shared: shared, loose: true, mode: h.mode})
}

// leased handles a command that gives fields of a hash an expiry of their own, or deletes such fields. The
// holder's field may go before the key does, and other fields may stay: so it is open who holds the lock.
func (d *Doctor) leased(o op, in *run) {
	k := o.key()
	if in != nil {
		for i := range in.fresh {
			if in.fresh[i].key == k {
				in.fresh[i].joined = holders.WhyLeases
				return
			}
		}
	}
	switch h := d.holds.Get(k); {
	case h != nil && h.hash:
		if until := o.until(); until > 0 && until <= o.time {
			d.judgeRelease(o, k, h, slices.Contains(o.args[3:], h.value))
		}
		d.joins(o, k, h, holders.WhyLeases)
	case h == nil && o.name == "hsetex" && o.reply.n != 0:
		d.unseen(o, k, in)
	}
}

// joins records that a lock may have several holders: another client writes its field into the hash, or fields
// have leases of their own.
func (d *Doctor) joins(o op, k holders.Key, h *hold, why string) {
	h.shared = true
	if d.ledger != nil {
		d.ledger.Holders.Joined(d.master, k, h.order, holders.Doubt{Why: why, Step: o.step()})
	}
}

// hashDelete handles HDEL. A field that goes is a holder that leaves, and the last one frees the lock.
func (d *Doctor) hashDelete(o op, in *run) {
	k := o.key()
	h := d.holds.Get(k)
	if len(o.args) < 3 {
		return
	}
	fields := o.args[2:]
	mine := d.authors(o, k, in.carried(fields...), in.compared(k))
	if h == nil || !h.hash || o.reply.n == 0 {
		d.gaveUp(o, k, mine, nil)
		return
	}
	if in != nil && h.in == in {
		mine = []author{{h, true, ""}}
	}
	if slices.Contains(fields, h.value) && h.mode == "" && !h.shared {
		d.free(o, k, h, mine, in)
		return
	}
	d.gaveUp(o, k, mine, nil)
}
