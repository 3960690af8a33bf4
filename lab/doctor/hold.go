package doctor

// hold is a lock that a client holds now.
type hold struct {
	value  string
	client int64 // the connection that took it
	taken  Step
	order  int64 // in the ledger
	ended  Step  // the event that took it from its holder
	lease  int64 // ms; 0 means for ever
	until  int64 // unix ms of its end; 0 means never

	hash    bool // the key is a hash, and value is one of its fields
	shared  bool // it has several owners at once
	in      *run // the script or transaction that took it, or nil
	wanted  bool // another client tries for it again and again
	waiters []*waiter
}

// waiter is a client that tried for a lock while another one held it.
type waiter struct {
	client      int64
	token       string
	n           int // attempts
	first, last Step
	mono        int64 // ns, of the first attempt
}

// ended is a hold whose lease ended.
type ended struct {
	*hold
	at int64 // unix ms
}

// client is the doctor's memory of a connection.
type client struct {
	carried ring[string] // families of the tokens it has sent
	tried   ring[lockKey]
	reads   []reading
	watched []lockKey
	sent    map[string]int // how often it sent a script in full, by SHA1
	loose   ring[lockKey]  // locks that it took without a TTL
}

// reading is a GET of a lock.
type reading struct {
	key     lockKey
	value   string
	step    Step
	guarded bool // a WATCH came before it
}

const (
	maxTokens   = 32
	maxReads    = 8
	maxWatched  = 64
	maxWaiters  = 32
	patience    = 1000 // ms that a lock may have no TTL before that counts as a mistake
	triesEnough = 3    // so many attempts show that a client waits for a lock
	pollsEnough = 5    // so many attempts are not chance
	busyPolls   = 100  // so many attempts are a loop without a pause, if busyGap apart at most
	busyGap     = 2e6  // ns
)

func (d *Doctor) client(id int64) *client {
	c := d.clients.m[id]
	if c == nil {
		c = &client{sent: map[string]int{}}
		d.clients.put(id, c)
	}
	return c
}

// owns reports whether o probably comes from the owner of h.
func (d *Doctor) owns(o op, h *hold) bool {
	if h.shared || o.client == h.client {
		return true
	}
	c := d.clients.m[o.client]
	return c != nil && isToken(h.value) && c.carried.has(family(h.value))
}

// isLock reports whether k is a lock. Other keys are set only once, too: defaults, counters, unique
// names, cached values.
func (d *Doctor) isLock(k lockKey, h *hold) bool {
	switch {
	case h.hash, d.locks.m[class(k.name)], soundsLikeLock(k.name):
		return true
	}
	return looksRandom(h.value) && (h.until > 0 || h.wanted && !isNumber(h.value))
}

// take records that o took a lock.
func (d *Doctor) take(o op, k lockKey, h *hold) {
	if old := d.holds.m[k]; old != nil { // it ended by a command that the doctor ignores
		d.drop(k, old, EndOverwritten, o.time)
	}
	h.client, h.taken = o.client, o.step()
	if h.until > 0 {
		h.lease = h.until - o.time
	}
	d.holds.put(k, h)
	c := d.client(o.client)
	c.tried.add(k, maxReads)
	if h.until == 0 {
		c.loose.add(k, maxTokens)
	}
	d.forgive(k, o.client)
	if d.ledger != nil && !h.shared {
		if f := d.ledger.granted(d.master, k, h, o); f != nil {
			d.add(f)
		}
	}
}

// forgive drops the ended leases of a client, because it has taken the lock again.
func (d *Doctor) forgive(k lockKey, client int64) {
	past := d.past.m[k]
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
		d.past.delete(k)
		return
	}
	d.past.put(k, kept)
}

// extend moves the end of a lease to until (unix ms, 0 means never).
func (d *Doctor) extend(o op, k lockKey, h *hold, until int64) {
	h.until, h.lease = until, 0
	if until > 0 {
		h.lease = until - o.time
	}
	if d.ledger != nil {
		d.ledger.extended(d.master, k, h, o.time)
	}
}

// drop ends a hold.
func (d *Doctor) drop(k lockKey, h *hold, how End, time int64) {
	d.holds.delete(k)
	if d.ledger != nil {
		if how != EndReleased && how != EndExpired {
			d.taken.put(k, true)
		}
		d.ledger.ended(d.master, k, h, how, time)
	}
}

// waits records an attempt to take a lock that another client holds.
func (d *Doctor) waits(o op, k lockKey, token string) {
	h := d.holds.m[k]
	if h == nil || token == h.value && isToken(token) {
		return
	}
	d.client(o.client).tried.add(k, maxReads)
	w := h.waiter(o, token)
	if w == nil {
		return
	}
	w.n++
	w.last = o.step()
	h.wanted = h.wanted || o.client != h.client && h.attempts(o.client) >= triesEnough
	if h.until == 0 && (o.time-h.taken.Time >= patience || w.n >= triesEnough) && d.isLock(k, h) {
		d.withoutTTL(k, h, w.last)
	}
	if w.n >= busyPolls && d.isLock(k, h) && o.mono-w.mono < int64(w.n)*busyGap {
		f := d.report(Polling, k, o, h.taken, w.first, w.last)
		if f.Count == 1 {
			f.Why, f.Fix = busyLoop()
		}
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

func (d *Doctor) withoutTTL(k lockKey, h *hold, then Step) {
	steps := []Step{h.taken}
	if then.Command != "" {
		steps = append(steps, then)
	}
	d.report(NoTTL, k, h.culprit(), steps...)
}

func (d *Doctor) orphaned(k lockKey, h *hold, time int64) {
	d.report(OwnerGone, k, h.culprit(), h.taken, Step{Time: time, Command: "the connection that took it is closed"})
}

// culprit returns the owner, as the client that made the mistake.
func (h *hold) culprit() op {
	return op{client: h.client, owner: h.taken.Name, time: h.taken.Time}
}
