package doctor

import (
	"slices"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// One token for two clients. Connections without a name may be a pool of one client, and a request may be sent again
// over another connection. So two connections with one token are two clients only if all of this is so:
//
//	a takes the lock        its reply was not lost, and its connection is open
//	b tries or takes        while a has not released it
//	the one releases        and the reply was not lost
//	the other one releases  and finds nothing, and nobody has taken the lock with the token meanwhile

// twins notes that o tried for a lock with the token of its holder.
func (d *Doctor) twins(o op, h *hold) {
	if d.mayBeTwin(o, h) && h.twin == nil {
		h.twin = &use{o.client, o.owner, false, o.step()}
	}
}

// succeeds notes that o takes a lock with a token that a holder has not released.
func (d *Doctor) succeeds(o op, k holders.Key, h *hold) {
	for _, g := range d.grants.Get(k) {
		if g.value == h.value && !g.gone && d.mayBeTwin(o, g) {
			h.twin = &use{g.client, g.name, true, g.taken}
		}
	}
	if last := d.alike.Get(k); last.hold != nil && last.value == h.value {
		d.alike.Delete(k)
	}
}

// mayBeTwin reports whether o, which uses the token of a hold, may come from another client.
func (d *Doctor) mayBeTwin(o op, h *hold) bool {
	who := d.kinship(o, h)
	other := who == holders.NoNames || who == holders.OtherClient
	return other && !h.hash && !h.unknown && d.clients.Get(h.client) != nil
}

// usedBy reports whether one of the two users of a hold's token has sent o.
func (h *hold) usedBy(client int64) bool { return client == h.client || client == h.twin.client }

// releasesTwin remembers the end of a hold whose token has two users.
func (d *Doctor) releasesTwin(o op, k holders.Key, h *hold, in *run) {
	ours := in == nil || !in.script || slices.Contains(in.args, h.value)
	if h.twin != nil && !h.alike && !o.lost && ours && h.usedBy(o.client) {
		d.alike.Put(k, ended{hold: h.alone(), at: o.time, release: o.step()})
	}
}

// releasesAgain judges a release that has found nothing. words are those that may be its token, if it carries one.
func (d *Doctor) releasesAgain(o op, k holders.Key, words []string) {
	e := d.alike.Get(k)
	if e.hold == nil || o.client == e.release.Client || !e.usedBy(o.client) ||
		len(words) > 0 && !slices.Contains(words, e.value) || !d.isLock(k, e.hold) {
		return
	}
	d.alike.Delete(k)
	d.report(TokenNotUnique, k, o, e.taken, e.twin.step, e.release, o.step())
}
