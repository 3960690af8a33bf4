package doctor

import (
	"slices"
	"strconv"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// run collects what one script or one transaction does. All of it happens in one step.
type run struct {
	script bool
	args   []string      // of the script: one of them may be the token
	read   []holders.Key // keys whose values it read
	absent []holders.Key // keys that it found absent
	fresh  []fresh       // keys that it created: locks if they get a TTL
	ttl    map[holders.Key]int64
	freed  []freed
	silent []string // channels it published to, without a subscriber
	heard  bool     // it published to a channel with a subscriber
	tried  bool     // it tried for a lock in vain
	took   bool     // it took a lock
	renews bool     // it renewed a lock
}

type fresh struct {
	key    holders.Key
	op     op
	joined string // why the hash may have several holders; "" for one
	hold
}

type freed struct {
	key holders.Key
	*hold
}

func has(keys []holders.Key, k holders.Key) bool {
	for _, other := range keys {
		if other == k {
			return true
		}
	}
	return false
}

// request handles a command that a client sent.
func (d *Doctor) request(o op) {
	switch o.name {
	case "watch":
		c := d.client(o.client)
		for _, key := range o.args[1:] {
			if len(c.watched) < maxWatched {
				c.watched = append(c.watched, holders.Key{DB: o.db, Name: key})
			}
		}
	case "time":
		d.asksTime(o)
	case "unwatch", "discard":
		d.unwatch(o.client)
	case "script|load":
		s := d.scriptOf(o.script)
		s.deletes, s.creates, s.extends, s.tells, s.known = o.deletes, o.creates, o.extends, o.tells, o.whole
		d.ledger.hears(o.script, s)
	case "script|flush":
		for _, c := range d.clients.All() { // every client must send its scripts again
			clear(c.sent)
		}
	default:
		d.apply(o, nil)
	}
}

func (d *Doctor) unwatch(id int64) {
	c := d.clients.Get(id)
	if c == nil {
		return
	}
	c.watched = nil
	for i := range c.reads {
		c.reads[i].guarded = false
	}
}

// apply handles one command. in is the script or transaction around it, or nil.
func (d *Doctor) apply(o op, in *run) {
	switch {
	case o.reply.failed():
		return
	case o.does.has(clears):
		d.flush(o)
		return
	case o.name == "time":
		d.asksTime(o)
		return
	case len(o.args) < 2:
		return
	}
	switch {
	case o.does.has(takes | sets):
		d.assign(o, in)
	case o.does.has(damages):
		d.damage(o, in)
	case o.does.has(renews):
		d.renew(o, in)
	case o.does.has(removes):
		d.remove(o, in)
	case o.does.has(moves):
		d.moved(o, in)
	case o.does.has(reads):
		d.read(o, in)
	case o.does.has(looks):
		d.vanished(o)
		in.sawAbsent(o)
	case o.does.has(counts):
		d.hashWrite(o, in)
	case o.does.has(uncounts):
		d.hashDelete(o, in)
	case o.does.has(leases):
		d.leased(o, in)
	case o.does.has(publishes):
		if in != nil && o.reply.n == 0 {
			in.silent = append(in.silent, o.args[1])
		}
		if in != nil && o.reply.n > 0 {
			in.heard = true
		}
	}
}

// carried returns the words that may be the token of the holder: the arguments of the script around a
// command, or the command's own.
func (in *run) carried(own ...string) []string {
	if in == nil || !in.script {
		return own
	}
	return append(own, in.args...)
}

// compared reports whether a script has read k.
func (in *run) compared(k holders.Key) bool { return in != nil && in.script && has(in.read, k) }

// creates reports whether a script has created k.
func (in *run) creates(k holders.Key) bool {
	return in != nil && slices.ContainsFunc(in.fresh, func(f fresh) bool { return f.key == k })
}

func (d *Doctor) flush(o op) {
	if o.name == "swapdb" {
		d.swapped(o)
	}
	for k, h := range d.holds.All() {
		if o.name == "flushall" || o.name == "flushdb" && k.DB == o.db || o.name == "swapdb" && o.names(k.DB) {
			h.ended = o.step()
			d.mayKnow(o, k, d.authors(o, k, nil, false), whyFlush)
			d.drop(k, h, holders.EndLost, o.time)
		}
	}
}

// swapped notes that the keys of two databases come from elsewhere.
func (d *Doctor) swapped(o op) {
	for k := range d.coming {
		if o.names(k.DB) {
			d.seen[k] = true
		}
	}
}

// names reports whether a word of SWAPDB is a database.
func (o op) names(db int) bool {
	return slices.ContainsFunc(o.args[1:], func(word string) bool {
		n, err := strconv.Atoi(word)
		return err == nil && n == db
	})
}

// triedItself reports whether the connection tried for this lock with another token. Redisson's
// multi-locks renew by a plain PEXPIRE on any connection of the pool. So only such a try shows a
// stranger.
func (d *Doctor) triedItself(o op, k holders.Key) bool {
	c := d.clients.Get(o.client)
	return c != nil && c.tried.Has(k)
}

func (in *run) expires(k holders.Key, until int64) {
	if in.ttl == nil {
		in.ttl = map[holders.Key]int64{}
	}
	in.ttl[k] = until
}

// read records that a client or a script has seen the owner of a lock.
func (d *Doctor) read(o op, in *run) {
	k := o.key()
	d.vanished(o)
	if in != nil {
		in.read = append(in.read, k)
		in.sawAbsent(o)
		return
	}
	if d.holds.Get(k) == nil {
		return
	}
	d.learns(o, k)
	c := d.client(o.client)
	c.unread(k)
	if len(c.reads) >= maxReads {
		c.reads = c.reads[1:]
	}
	c.reads = append(c.reads, reading{key: k, value: o.reply.text, step: o.step(), guarded: has(c.watched, k)})
}

func (c *client) unread(k holders.Key) (last reading, was bool) {
	for i, r := range c.reads {
		if r.key == k {
			c.reads = append(c.reads[:i], c.reads[i+1:]...)
			return r, true
		}
	}
	return reading{}, false
}

// vanished ends the holds of keys that o shows to be absent although no command has deleted them.
func (d *Doctor) vanished(o op) {
	if !o.showsAbsent() {
		return
	}
	for _, k := range o.keys() {
		if h := d.holds.Get(k); h != nil {
			d.drop(k, h, holders.EndOverwritten, o.time)
		}
	}
}

// showsAbsent reports whether the reply shows that all keys are absent.
func (o op) showsAbsent() bool {
	switch o.name {
	case "pttl", "ttl":
		return o.reply.n == -2
	case "type":
		return o.reply.text == "none"
	case "exists":
		return o.reply.kind == ':' && o.reply.n == 0
	}
	return o.name == "get" && o.reply.kind == '_'
}

// sawAbsent records that a script knows from o that the key is absent.
func (in *run) sawAbsent(o op) {
	if in == nil {
		return
	}
	field := o.name == "hexists" && o.reply.n == 0 || o.reply.kind == '_' // or the whole hash
	if !o.showsAbsent() && !(o.does.has(reads) && field) {
		return
	}
	in.absent = append(in.absent, o.keys()...)
}
