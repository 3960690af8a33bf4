package doctor

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// script is the doctor's memory of a script.
type script struct {
	known   bool  // its commands show what it does, or an event had its whole text
	whole   bool  // an event had its whole text
	deletes bool  // its text or its commands delete keys: it releases locks
	leaves  bool  // its commands make the count of a re-entrant lock smaller: it releases locks, too
	creates bool  // its text or its commands write values
	extends bool  // its text or its commands change TTLs
	tells   []int // see op
	took    bool  // it has taken a lock
	renewed bool  // it has renewed a lock
	missed  int   // NOSCRIPT replies without an EVAL since
}

// releases reports whether the script releases locks.
func (s *script) releases() bool { return s.deletes || s.leaves }

// writes reports whether the script writes keys in another way than by deleting them.
func (s *script) writes() bool { return s.creates || s.extends }

// onlyRenews reports whether all that the script can do to a lock is to renew it.
func (s *script) onlyRenews() bool {
	return !s.releases() && !s.took && (s.renewed || s.extends && !s.creates)
}

const (
	maxMissed   = 1024
	fullEnough  = 3  // so often in full on one connection is a mistake
	shortScript = 41 // bytes: EVALSHA would send as many
)

func (d *Doctor) scriptOf(sha string) *script {
	s := d.scripts.Get(sha)
	if s == nil {
		s = &script{}
		d.scripts.Put(sha, s)
	}
	return s
}

// script handles a script that has run. ops are the commands inside it.
func (d *Doctor) script(o op, ops []op) {
	s := d.scriptOf(o.script)
	if o.reply.failed() && strings.HasPrefix(o.reply.text, "NOSCRIPT") {
		s.missed = min(s.missed+1, maxMissed)
		return
	}
	keys, args := o.scriptArgs()
	c := d.client(o.client)
	for _, a := range args {
		if holders.IsToken(a) {
			c.carried.Add(holders.Family(a), maxTokens)
		}
	}
	in := &run{script: true, args: args}
	for _, inner := range ops {
		inner.lost = o.lost || o.reply.failed()
		s.deletes, s.leaves = s.deletes || inner.does.has(removes), s.leaves || inner.leaves()
		s.creates, s.extends = s.creates || inner.does.has(takes|sets|counts), s.extends || inner.does.has(renews)
		d.apply(inner, in)
	}
	s.deletes, s.creates, s.extends = s.deletes || o.deletes, s.creates || o.creates, s.extends || o.extends
	if o.whole {
		s.whole, s.tells = true, o.tells
	}
	s.known = s.known || o.whole || !o.reply.failed() && (s.deletes || s.writes()) // else it may have found another token
	d.ledger.hears(o.script, s)
	d.made(o, args, in)
	s.took, s.renewed = s.took || in.took, s.renewed || in.renews
	d.sentInFull(o, s, c, keys, in)
	d.wakes(o, in)
	d.stopped(o, ops, keys)
	if o.wasRefused() {
		return // it says nothing about the lock
	}
	for _, key := range keys {
		d.without(o, holders.Key{DB: o.db, Name: key}, s, args, in)
	}
}

// without judges a script that left a lock as it was.
func (d *Doctor) without(o op, k holders.Key, s *script, args []string, in *run) {
	for _, f := range in.freed {
		if f.key == k {
			return
		}
	}
	h := d.holds.Get(k)
	if h == nil || !slices.Contains(args, h.value) {
		d.notFound(o, k, s, args, in)
		if s.onlyRenews() {
			d.renewsNothing(o, k, args)
		} else if s.deletes {
			d.releasesAgain(o, k, args)
		}
	}
	switch {
	case s.deletes:
		d.lateScript(o, k, args)
	case h != nil && h.in != in && !in.tried && len(args) > 0 && !slices.Contains(args, h.value):
		d.waits(o, k, strings.Join(args, "\x00"))
	}
}

// notFound handles a script that carries the token of a holder and has not found it in the lock. A script
// that can only release says that the holder has given up. Any other one may tell the holder that it lost
// the lock.
func (d *Doctor) notFound(o op, k holders.Key, s *script, args []string, in *run) {
	for _, token := range args {
		if !d.granted(k, token) {
			continue
		}
		found := slices.DeleteFunc(d.byToken(o, k, token), func(a author) bool { return a.in == in })
		if s.deletes && !s.writes() {
			d.gaveUp(o, k, found, nil)
		} else {
			d.mayKnow(o, k, found, whyFail)
		}
		return
	}
}

// made records the keys with a TTL that the script created: they are locks.
func (d *Doctor) made(o op, args []string, in *run) {
	for _, f := range in.fresh {
		if f.until == 0 {
			f.until = in.ttl[f.key]
		}
		h := f.hold
		switch {
		case f.until > 0 && f.value != "" && (!f.hash || slices.Contains(args, f.value)):
		case len(d.grants.Get(f.key)) == 0:
			continue
		case slices.Contains(args, f.value) && !f.hash:
		default:
			h.doubt, h.forced = whyUnseen, true
		}
		d.take(f.op, f.key, &h)
		if f.joined != "" {
			d.joins(f.op, f.key, &h, f.joined)
		}
	}
}

// sentInFull judges an EVAL whose SHA1 would do.
func (d *Doctor) sentInFull(o op, s *script, c *client, keys []string, in *run) {
	if o.name != "eval" {
		return
	}
	if s.missed > 0 {
		s.missed--
		return
	}
	if o.size < shortScript {
		return
	}
	lock := len(in.freed) > 0
	for _, key := range keys {
		lock = lock || d.holds.Get(holders.Key{DB: o.db, Name: key}) != nil
	}
	if !lock {
		return
	}
	if len(c.sent) >= maxTokens {
		clear(c.sent)
	}
	c.sent[o.script]++
	if n := c.sent[o.script]; n >= fullEnough {
		key := ""
		if len(keys) > 0 {
			key = keys[0]
		}
		d.report(ScriptInFull, holders.Key{DB: o.db, Name: key}, o, o.step())
	}
}

// wakes judges the waiters of a release that published a message: they should subscribe.
func (d *Doctor) wakes(o op, in *run) {
	if in.heard { // its waiters may listen, and try because of that
		for _, f := range in.freed {
			d.polls.Delete(f.key)
		}
	}
	if len(in.silent) == 0 {
		return
	}
	for _, f := range in.freed {
		for _, w := range f.waiters {
			if w.n >= pollsEnough {
				lazy := op{client: w.client, owner: w.last.Name, time: w.last.Time}
				told := o.step()
				told.Reply = "published to " + in.silent[0] + ", which has no subscriber"
				d.report(Polling, f.key, lazy, f.taken, w.first, w.last, told)
				return
			}
		}
	}
}

// transaction handles an EXEC. ops are the commands inside it.
func (d *Doctor) transaction(o op, ops []op) {
	in, demands := &run{}, o.demanded()
	for _, inner := range ops {
		inner.demands = demands
		d.apply(inner, in)
	}
	if o.reply.kind == '_' {
		d.refused(o, demands)
	}
	d.wakes(o, in)
	d.unwatch(o.client)
}

// refused handles an EXEC that has run nothing. Who demands a token that the lock does not have may learn that it
// lost the lock.
func (d *Doctor) refused(o op, demands []demand) {
	for _, want := range demands {
		if h := d.holds.Get(want.key); want.missing || h != nil && h.value == want.token {
			continue
		}
		d.mayKnow(o, want.key, d.byToken(o, want.key, want.token), whyFail)
	}
}
