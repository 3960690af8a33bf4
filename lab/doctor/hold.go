package doctor

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/bounded"
	"github.com/miniredisd/miniredisd/lab/holders"
)

// hold is a lock that a client holds now.
type hold struct {
	value  string
	client int64  // the connection that took it
	name   string // of the client that took it
	epoch  int64  // of the server, when it was taken
	taken  holders.Step
	order  int64        // in the ledger
	ended  holders.Step // the event that took it from its holder
	lease  int64        // of the key, in ms; 0 means for ever
	since  int64        // unix ms of the lease's begin
	gap    int64        // ms between the last two renewals, or the grant and the only one; 0 without a renewal
	thin   int          // so many of the last gaps were too long for the lease
	last   holders.Step // the last renewal
	until  int64        // unix ms of the key's end; 0 means never
	ends   int64        // unix ms of the end that the holder asked for; 0 means never

	unknown  bool   // its client did not get the reply to the grant
	gone     bool   // its holder gave it up
	vain     bool   // by a command without a token that found nothing
	thief    bool   // a client that competes for the lock deleted it
	doubt    string // why its client may not believe in it
	renews   int64  // the order of the grant whose holder certainly renewed it, 0 for none
	forced   bool   // it was taken from another holder, or without NX
	readonly bool   // a replica that takes writes granted it
	loose    bool   // it is not the present hold of the key: the clock alone ends it

	hash    bool   // the key is a hash, and value is one of its fields
	shared  bool   // it has several owners at once
	counted bool   // the field is a count that grows when its owner enters again
	mode    string // of a read-write lock: read or write
	marred  string // why the count in the hash is not the one that its holder knows
	in      *run   // the script or transaction that took it, or nil
	wanted  bool   // another client tries for it again and again
	twin    *use   // another client that uses the same token: it tried meanwhile, or its hold was not released
	alike   bool   // and that is reported
	warned  bool   // the server may evict it, and that is reported
	dropped bool   // it has no TTL, and that is reported
	waiters []*waiter
}

// waiter is a client that tried for a lock while another one held it.
type waiter struct {
	client      int64
	token       string
	n           int // attempts
	first, last holders.Step
	mono        int64 // ns, of the first attempt
}

// ended is a hold whose lease ended, or whose holder released it.
type ended struct {
	*hold
	at      int64        // unix ms
	release holders.Step // none if the lease ended
	renews  int          // renewals since the release
}

// client is the doctor's memory of a connection.
type client struct {
	carried bounded.Ring[string] // families of the tokens it has sent
	tried   bounded.Ring[holders.Key]
	reads   []reading
	watched []holders.Key
	sent    map[string]int            // how often it sent a script in full, by SHA1
	loose   bounded.Ring[holders.Key] // locks that it took without a TTL
	name    string                    // when it asked for the time
	asked   bool                      // it has asked for the time
}

// reading is a GET of a lock.
type reading struct {
	key     holders.Key
	value   string
	step    holders.Step
	guarded bool // a WATCH came before it
}

const (
	maxTokens   = 32
	maxReads    = 8
	maxWatched  = 64
	maxWaiters  = 32
	maxEnded    = 4    // holds of a lock that are over
	patience    = 1000 // ms that a lock may have no TTL before that counts as a mistake
	triesEnough = 3    // so many attempts show that a client waits for a lock
	pollsEnough = 5    // so many attempts are not chance
	busyPolls   = 100  // so many attempts are a loop without a pause, if busyGap apart at most
	busyGap     = 2e6  // ns
)

func (d *Doctor) client(id int64) *client {
	c := d.clients.Get(id)
	if c == nil {
		c = &client{sent: map[string]int{}}
		d.clients.Put(id, c)
	}
	return c
}

// owns reports whether o probably comes from the owner of h.
func (d *Doctor) owns(o op, h *hold) bool {
	if h.shared || o.client == h.client {
		return true
	}
	c := d.clients.Get(o.client)
	return c != nil && holders.IsToken(h.value) && c.carried.Has(holders.Family(h.value))
}

// isLock reports whether k is a lock. Other keys are set only once, too: defaults, counters, unique
// names, cached values.
func (d *Doctor) isLock(k holders.Key, h *hold) bool {
	switch {
	case h.hash, d.locks.Get(holders.Class(k.Name)), holders.SoundsLikeLock(k.Name):
		return true
	}
	return holders.LooksRandom(h.value) && (h.until > 0 || h.wanted && !holders.IsNumber(h.value))
}

// take records that o took a lock.
func (d *Doctor) take(o op, k holders.Key, h *hold) {
	if old := d.holds.Get(k); old != nil { // it ended by a command that the doctor ignores
		d.drop(k, old, holders.EndOverwritten, o.time)
	}
	d.believe(o, k, h)
	d.holds.Put(k, h)
	if h.in != nil {
		h.in.took = true
	}
	d.judgeEviction(o, k, h)
	d.judgeTime(o, k, h.until, h.value)
	c := d.client(o.client)
	c.tried.Add(k, maxReads)
	if h.until == 0 && !h.forced {
		c.loose.Add(k, maxTokens)
	}
	d.forgive(k, o.client)
}

// believe records that o makes its client believe that it holds a lock.
func (d *Doctor) believe(o op, k holders.Key, h *hold) {
	h.client, h.name, h.epoch, h.taken, h.unknown = o.client, o.owner, d.epoch, o.step(), o.lost
	h.lease, h.ends, h.since = holders.LeaseOf(o.time, h.until), h.until, o.time
	d.sharesToken(o, k, h)
	d.succeeds(o, k, h)
	d.used(o, k, h.value, true)
	d.regrets(o, k, h)
	d.remember(k, h, o.time)
	switch {
	case d.again != nil:
		h.order = d.orderAgain(k, h.value)
	case d.ledger != nil:
		h.readonly = d.replica
		order, second, late := d.ledger.Holders.Granted(d.master, h.grant(o, k))
		h.order = order
		d.noted(k, h, granted)
		d.ledger.gives(d.master, k, *h)
		if second != nil {
			f := Explain(*second)
			d.add(&f)
		}
		if late != nil {
			d.add(withoutQuorum(late))
		}
	}
}

// grant returns what the ledger has to know of a hold that o has begun.
func (h *hold) grant(o op, k holders.Key) holders.Grant {
	return holders.Grant{
		Holding: holders.Holding{
			DB: k.DB, Key: k.Name, Token: h.value, Client: h.client, Name: h.name, Hash: h.hash, Shared: h.shared,
			Granted: h.taken, Event: o.mono, Lease: h.lease, Until: h.until, Unknown: h.unknown, Renews: h.renews,
			Readonly: h.readonly,
		},
		Request: o.request, Doubt: h.doubt, Loose: h.loose,
	}
}

// remember adds a grant to those that their holders may give up later. It forgets leases that are long over.
func (d *Doctor) remember(k holders.Key, h *hold, now int64) {
	grants := slices.DeleteFunc(slices.Clone(d.grants.Get(k)), func(g *hold) bool { return g.gone })
	if len(grants) >= maxGrants {
		over := slices.IndexFunc(grants, func(g *hold) bool { return g.ends > 0 && g.ends < now })
		grants = slices.Delete(grants, max(over, 0), max(over, 0)+1)
	}
	d.grants.Put(k, append(grants, h))
	d.names.add(k.Name)
}

// sharesToken judges a token with which another client has been granted the same lock.
func (d *Doctor) sharesToken(o op, k holders.Key, h *hold) {
	for _, u := range d.usesOf(k, h.value) {
		if u.granted && u.name != "" && o.owner != "" && u.name != o.owner && d.isLock(k, h) {
			d.report(TokenNotUnique, k, o, u.step, o.step())
			h.alike = true
			return
		}
	}
}

// forgive drops the ended leases of a client, because it has taken the lock again.
func (d *Doctor) forgive(k holders.Key, client int64) {
	past := d.past.Get(k)
	if past == nil {
		return
	}
	kept := past[:0]
	for _, e := range past {
		if e.client != client {
			kept = append(kept, e)
		}
	}
	if len(kept) == 0 {
		d.past.Delete(k)
		return
	}
	d.past.Put(k, kept)
}

// extend moves the end of a lease to until (unix ms, 0 means never), for the holders that o comes from.
// h is the present hold, whose key has the TTL now.
func (d *Doctor) extend(o op, k holders.Key, h *hold, found []author, until int64) {
	d.judgeSlack(o, k, h, found, until)
	for _, a := range found {
		if o.lost && a.sure {
			a.sure, a.why = false, holders.WhyLost
		}
		if a.ends > 0 && o.time > a.ends {
			d.revive(o, k, a, until)
		} else {
			d.prolong(o, k, a, until)
		}
	}
	if h == nil {
		return
	}
	h.until, h.lease, h.ended = until, holders.LeaseOf(o.time, until), holders.Step{}
	d.judgeEviction(o, k, h)
	d.judgeTime(o, k, h.until, h.value)
	if _, is := whose(found, h); !is && d.ledger != nil {
		d.ledger.Holders.Apart(d.master, k, h.order)
	}
}

// prolong records that a holder has a new lease from now on.
func (d *Doctor) prolong(o op, k holders.Key, a author, until int64) {
	if a.sure {
		a.unknown, a.ends = false, until
	}
	if d.ledger != nil {
		d.noted(k, a.hold, renewed)
		d.ledger.Holders.Extended(d.master, k, holders.Renewal{
			Order: a.order, Time: o.time, Until: until, Sure: a.sure, Doubted: a.doubt != "",
			Why: holders.Doubt{Why: a.why, Step: o.step()},
		})
	}
}

// revive records that a holder whose lock is lost, or another's by now, has renewed it all the same: it
// believes in it again.
func (d *Doctor) revive(o op, k holders.Key, a author, until int64) {
	again := *a.hold
	again.renews = 0
	if a.sure {
		again.renews = a.order
	}
	again.until, again.doubt, again.waiters, again.loose = until, a.why, nil, d.holds.Get(k) != a.hold
	a.gone = a.sure
	if d.holds.Get(k) == a.hold {
		d.holds.Put(k, &again)
	}
	d.believe(o, k, &again)
}

// drop ends a hold.
func (d *Doctor) drop(k holders.Key, h *hold, how holders.End, time int64) {
	d.holds.Delete(k)
	if (d.ledger != nil || d.again != nil) && how != holders.EndReleased && how != holders.EndExpired {
		d.taken.Put(k, true)
	}
	if d.ledger != nil {
		e := holders.Ending{Order: h.order, How: how, Time: time, By: h.ended, Thief: h.thief}
		if m := d.ledger.Holders.Ended(d.master, k, e); m != nil && d.isLock(k, h) {
			d.add(withoutQuorum(m))
		}
	}
}

// waits records an attempt to take a lock that another client holds.
func (d *Doctor) waits(o op, k holders.Key, token string) {
	h := d.holds.Get(k)
	if d.ledger != nil {
		d.ledger.Holders.Vain(d.master, o.client, o.request)
	}
	if d.ledger != nil && (o.other || h != nil && token != h.value && d.isLock(k, h)) {
		d.notGranted(o, k, token, h)
	}
	if h != nil && token == h.value {
		d.twins(o, h)
	}
	if h == nil || token == h.value && holders.IsToken(token) {
		return
	}
	d.polled(o, k, h)
	d.client(o.client).tried.Add(k, maxReads)
	if !strings.Contains(token, "\x00") {
		d.used(o, k, token, false)
	}
	w := h.waiter(o, token)
	if w == nil {
		return
	}
	w.n++
	w.last = o.step()
	h.wanted = h.wanted || o.client != h.client && h.attempts(o.client) >= triesEnough
	if h.until == 0 && !h.forced && (o.time-h.taken.Time >= patience || w.n >= triesEnough) && d.isLock(k, h) {
		d.withoutTTL(k, h, w.last)
	}
	if w.n >= busyPolls && d.isLock(k, h) && o.passed(w.mono, w.first.Time) < int64(w.n)*busyGap {
		why, fix := busyLoop()
		d.because(why, fix, Polling, k, o, h.taken, w.first, w.last)
	}
}

// waiter finds or adds the waiter of o. It returns nil if there are too many.
func (h *hold) waiter(o op, token string) *waiter {
	for _, w := range h.waiters {
		if w.client == o.client && w.token == token {
			return w
		}
	}
	if len(h.waiters) >= maxWaiters {
		return nil
	}
	w := &waiter{client: o.client, token: token, first: o.step(), mono: o.mono}
	h.waiters = append(h.waiters, w)
	return w
}

// attempts counts the attempts of a client, which may use a new token for each.
func (h *hold) attempts(client int64) (n int) {
	for _, w := range h.waiters {
		if w.client == client {
			n += w.n
		}
	}
	return n
}

func (d *Doctor) withoutTTL(k holders.Key, h *hold, then holders.Step) {
	if h.dropped {
		return
	}
	steps := []holders.Step{h.taken}
	if then.Command != "" {
		steps = append(steps, then)
	}
	h.dropped = true
	d.report(NoTTL, k, h.culprit(), steps...)
}

func (d *Doctor) orphaned(k holders.Key, h *hold, time int64) {
	closed := holders.Step{Time: time, Command: "the connection that took it is closed"}
	d.report(OwnerGone, k, h.culprit(), h.taken, closed)
}

// culprit returns the owner, as the client that made the mistake.
func (h *hold) culprit() op {
	return op{client: h.client, owner: h.taken.Name, time: h.taken.Time}
}
