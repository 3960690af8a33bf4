package doctor

import (
	"slices"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// Whose command was it? A lock is given up or renewed only by its holder, so the answer decides how
// long a holder may believe in its lock.
//
// A holder is a pair of a client and a token, as granted. A client is known by its name, and without
// a name by its connection.
//
//	the command has the token      it is the holder's. If two clients use that token, it is the
//	(a script, SET, HDEL)          holder's only if the client is the holder's, too.
//	the command has no token       it is the holder's if the connection, or the name of the client,
//	(DEL, EXPIRE, RENAME)          belongs to one holder only.
//
// In all other cases the log cannot tell. Then the answer has every possible holder, and none of them
// is sure.

// author is a holder that a command may come from.
type author struct {
	*hold
	sure bool
	why  string // why it is not sure
}

// The reasons why the author of a command is not sure.
const (
	whyShared = "the command carries no token that is unique, and several holders of the lock use its connection " +
		"or the name of its client: it may come from each of them"
	whyPool = "the command carries no token that is unique, and comes from another connection than the grant: " +
		"that may be a pool of one client, or another client"
	whyRenamed = "the connection that took the lock has another name now: that may be another client"
	whyHidden  = "the script reads the lock, and its arguments do not have the holder's token: " +
		"the log does not show which owner it looked for"
	whySent = "the server has not executed the release, or not yet: " +
		"its client may believe that it has given the lock up"
	whyRefused = "the server refused the release: its client may believe that it has given the lock up"
	whyFail    = "the command failed, so its client may know that it lost the lock"
	whySet     = "a command without NX replaced the lock's value: its client may be the holder, or may believe " +
		"that it holds the lock now"
	whyUnseen = "the key was created in a way that takes no lock as the verdict knows it: " +
		"its client may believe that it holds the lock"
	whyFlush = "the holder itself deleted all keys, and may have given the lock up in this way"
	whyVain  = "the release before this command found nothing and carried no token: " +
		"it may have come from another worker on the connection"
	whyBefore = "the log begins while somebody holds the lock: it does not show who, and for how long"
	whyMore   = "another client changed the count of the re-entrant lock"
	whyOlder  = "the hash still had an older count of its holder: " +
		"its client may believe that this release has given the lock up"
	whyEntry = "the holder had entered the re-entrant lock again, and that was never replicated: " +
		"it may believe that it still holds the lock"
)

// noToken is the token of a client that may have taken a lock in an unknown way. No command carries it.
const noToken = "\x00"

// maxGrants is how many grants of a lock the doctor remembers that their holders did not give up. Leases
// that are not over do not count.
const maxGrants = 64

// pending returns the grants of a lock that their holders have not given up, the oldest first. A client
// that never got the reply to its grant gives nothing up after its lease.
func (d *Doctor) pending(k holders.Key, now int64) []*hold {
	return slices.DeleteFunc(d.given(k), func(g *hold) bool {
		return g.gone || g.unknown && g.ends > 0 && now > g.ends
	})
}

// authors returns the holders of a lock that o may come from. words are those that may be the
// holder's token; compared means that o is in a script that has read the lock.
func (d *Doctor) authors(o op, k holders.Key, words []string, compared bool) []author {
	for _, g := range slices.Backward(d.given(k)) {
		if slices.Contains(words, g.value) {
			found := d.byToken(o, k, g.value)
			if d.coming[k].other(g.value, words) {
				found = unsure(found, whyShared)
			}
			return found
		}
	}
	found := d.byClient(o, k)
	if h := d.holds.Get(k); len(found) == 0 && compared && h != nil && d.kinship(o, h) == holders.NoNames {
		return []author{{h, false, whyHidden}}
	}
	return found
}

// unsure leaves no author sure.
func unsure(found []author, why string) []author {
	for i := range found {
		if found[i].sure {
			found[i].sure, found[i].why = false, why
		}
	}
	return found
}

// byToken returns the authors of a command that carries a token.
func (d *Doctor) byToken(o op, k holders.Key, token string) []author {
	var found []author
	unique := d.unique(k, token)
	for _, g := range d.pending(k, o.time) {
		if g.value != token {
			continue
		}
		switch who := d.kinship(o, g); {
		case who == holders.SameClient, who != holders.OtherClient && (unique || holders.LooksRandom(token)):
			found = append(found, author{g, true, ""})
		case who == holders.Renamed:
			found = append(found, author{g, false, whyRenamed})
		case who != holders.OtherClient:
			found = append(found, author{g, false, whyPool})
		}
	}
	return settled(found)
}

// byClient returns the authors of a command without a token.
func (d *Doctor) byClient(o op, k holders.Key) []author {
	c := d.clients.Get(o.client)
	var found []author
	for _, g := range d.pending(k, o.time) {
		who := d.kinship(o, g)
		knows := c != nil && holders.LooksRandom(g.value) && c.carried.Has(holders.Family(g.value))
		switch {
		case who == holders.SameClient && g.rival(o.client):
			found = append(found, author{g, false, whyShared})
		case who == holders.SameClient, who == holders.NoNames && knows:
			found = append(found, author{g, true, ""})
		case who == holders.Renamed:
			found = append(found, author{g, false, whyRenamed})
		case who == holders.SameName:
			found = append(found, author{g, false, whyPool})
		}
	}
	return settled(found)
}

// kinship says how the client of a command and the client of a grant are related. After a restart of the server a name
// is the same client.
func (d *Doctor) kinship(o op, g *hold) holders.Kinship {
	sameEpoch := g.epoch == d.epoch
	return holders.Kin(sameEpoch && o.client == g.client, o.owner, g.name, !sameEpoch)
}

// settled leaves the authors sure only if they are one holder.
func settled(found []author) []author {
	for i := 1; i < len(found); i++ {
		if found[0].value == found[i].value && holders.LooksRandom(found[0].value) {
			continue
		}
		return unsure(found, whyShared)
	}
	return found
}

// rival reports whether another holder tried for the lock over the connection that holds it.
func (h *hold) rival(client int64) bool {
	return slices.ContainsFunc(h.waiters, func(w *waiter) bool { return w.client == client && w.token != h.value })
}

// whose returns how certain it is that a lock's present holder sent o, among its authors.
func whose(found []author, h *hold) (a author, is bool) {
	for _, a := range found {
		if a.hold == h {
			return a, true
		}
	}
	return author{}, false
}

// gaveUp records that the authors of o no longer believe in the lock. It leaves out the present holder
// if the end of its hold says so already.
func (d *Doctor) gaveUp(o op, k holders.Key, found []author, but *hold) {
	for _, a := range found {
		if a.sure {
			a.gone = true
		}
		if d.ledger == nil || a.hold == but && a.sure {
			continue
		}
		d.ledger.Holders.GaveUp(d.master, k, a.hold.order, a.sure, holders.Doubt{Why: a.why, Step: o.step()})
	}
}

// mayKnow records that the authors of o may have learned that they lost the lock on this master.
func (d *Doctor) mayKnow(o op, k holders.Key, found []author, why string) {
	for _, a := range found {
		if d.ledger != nil {
			d.ledger.Holders.MayKnow(d.master, k, a.hold.order, holders.Doubt{Why: why, Step: o.step()})
		}
	}
}
