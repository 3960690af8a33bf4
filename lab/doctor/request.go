package doctor

import (
	"slices"
	"strconv"
)

// run collects what one script or one transaction does. All of it happens in one step.
type run struct {
	script bool
	read   []lockKey // keys whose values it read
	absent []lockKey // keys that it found absent
	fresh  []fresh   // keys that it created: locks if they get a TTL
	ttl    map[lockKey]int64
	freed  []freed
	silent []string // channels it published to, without a subscriber
	tried  bool     // it tried for a lock in vain
}

type fresh struct {
	key lockKey
	op  op
	hold
}

type freed struct {
	key lockKey
	*hold
}

func has(keys []lockKey, k lockKey) bool {
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
				c.watched = append(c.watched, lockKey{o.db, key})
			}
		}
	case "unwatch", "discard":
		d.unwatch(o.client)
	case "script|load":
		d.scriptOf(o.script).deletes = o.deletes
	case "script|flush":
		for _, c := range d.clients.m { // every client must send its scripts again
			clear(c.sent)
		}
	default:
		d.apply(o, nil)
	}
}

func (d *Doctor) unwatch(id int64) {
	c := d.clients.m[id]
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
	case o.losesAll():
		d.flush(o)
		return
	case len(o.args) < 2:
		return
	}
	switch o.name {
	case "set", "setnx":
		d.set(o, in)
	case "setex", "psetex", "getset":
		d.overwrite(o, o.args[len(o.args)-1])
	case "expire", "pexpire", "expireat", "pexpireat":
		d.expire(o, in)
	case "persist":
		if h := d.holds.m[o.key()]; h != nil && o.reply.n == 1 {
			d.extend(o, o.key(), h, 0)
		}
	case "del", "unlink", "getdel":
		d.remove(o, in)
	case "rename", "renamenx", "move":
		d.moved(o)
	case "get", "getrange", "hget", "hexists":
		d.read(o, in)
	case "exists", "pttl", "ttl", "type":
		in.sawAbsent(o)
	case "hset", "hmset", "hsetnx", "hincrby":
		d.hashWrite(o, in)
	case "hdel":
		d.hashDelete(o, in)
	case "publish", "spublish":
		if in != nil && o.reply.n == 0 {
			in.silent = append(in.silent, o.args[1])
		}
	}
}

// losesAll reports whether the command removes keys without naming them.
func (o op) losesAll() bool { return o.name == "flushall" || o.name == "flushdb" || o.name == "swapdb" }

func (d *Doctor) flush(o op) {
	for k, h := range d.holds.all() {
		swapped := o.name == "swapdb" && slices.Contains(o.args[1:], strconv.Itoa(k.db))
		if o.name == "flushall" || o.name == "flushdb" && k.db == o.db || swapped {
			h.ended = o.step()
			d.drop(k, h, EndLost, o.time)
		}
	}
}

// moved handles a lock that gets another name: its holder will not find it.
func (d *Doctor) moved(o op) {
	keys := []lockKey{o.key()}
	if o.name == "rename" && len(o.args) > 2 {
		keys = append(keys, lockKey{o.db, o.args[2]})
	}
	if o.reply.kind == ':' && o.reply.n == 0 {
		return
	}
	for _, k := range keys {
		if h := d.holds.m[k]; h != nil {
			h.ended = o.step()
			d.drop(k, h, EndStolen, o.time)
		}
	}
}

func (d *Doctor) set(o op, in *run) {
	if len(o.args) < 3 {
		return
	}
	k, value := o.key(), o.args[2]
	d.client(o.client).carried.add(family(value), maxTokens)
	_, nx := o.option("nx")
	_, get := o.option("get")
	done := o.reply.kind == '+'
	if o.name == "setnx" {
		nx, done = true, o.reply.n == 1
	} else if get {
		done = !nx || o.reply.kind == '_'
	}
	switch {
	case nx && !done:
		if in != nil {
			in.tried = true
		}
		d.waits(o, k, value)
	case !done:
	case nx:
		d.take(o, k, &hold{value: value, until: o.until(), in: in})
	case d.holds.m[k] != nil:
		d.overwrite(o, value)
	case in != nil && in.script && has(in.absent, k) && isToken(value): // not a mere flag
		in.fresh = append(in.fresh, fresh{key: k, op: o, hold: hold{value: value, until: o.until(), in: in}})
	}
}

// overwrite handles an unconditional SET of a lock. An owner may renew its lease in this way.
func (d *Doctor) overwrite(o op, value string) {
	k := o.key()
	h := d.holds.m[k]
	if h == nil {
		return
	}
	if h.value != value {
		h.ended = o.step()
		d.drop(k, h, EndOverwritten, o.time)
		return
	}
	if _, keep := o.option("keepttl"); !keep {
		d.extend(o, k, h, o.until())
	}
}

func (d *Doctor) expire(o op, in *run) {
	k, until := o.key(), o.until()
	h := d.holds.m[k]
	if o.reply.n != 1 {
		return
	}
	if h == nil {
		if in != nil {
			in.expires(k, until)
		}
		return
	}
	if until <= o.time {
		d.remove(o, in)
		return
	}
	trusted := in != nil && (h.in == in || in.script && has(in.read, k))
	switch {
	case trusted:
	case h.until == 0 && h.client == o.client && (o.time-h.taken.Time < patience || d.isLock(k, h)):
		d.report(SetnxExpire, k, o, h.taken, o.step())
	case !d.owns(o, h) && d.isLock(k, h) && (!h.hash || d.triedItself(o, k)):
		d.report(NotOwner, k, o, h.taken, o.step())
	}
	d.extend(o, k, h, until)
}

// triedItself reports whether the connection tried for this lock with another token. Redisson's
// multi-locks renew by a plain PEXPIRE on any connection of the pool. So only such a try shows a
// stranger.
func (d *Doctor) triedItself(o op, k lockKey) bool {
	c := d.clients.m[o.client]
	return c != nil && c.tried.has(k)
}

func (in *run) expires(k lockKey, until int64) {
	if in.ttl == nil {
		in.ttl = map[lockKey]int64{}
	}
	in.ttl[k] = until
}

// read records that a client or a script has seen the owner of a lock.
func (d *Doctor) read(o op, in *run) {
	k := o.key()
	if in != nil {
		in.read = append(in.read, k)
		in.sawAbsent(o)
		return
	}
	if d.holds.m[k] == nil {
		return
	}
	c := d.client(o.client)
	c.unread(k)
	if len(c.reads) >= maxReads {
		c.reads = c.reads[1:]
	}
	c.reads = append(c.reads, reading{key: k, value: o.reply.text, step: o.step(), guarded: has(c.watched, k)})
}

func (c *client) unread(k lockKey) (last reading, was bool) {
	for i, r := range c.reads {
		if r.key == k {
			c.reads = append(c.reads[:i], c.reads[i+1:]...)
			return r, true
		}
	}
	return reading{}, false
}

// sawAbsent records that a script knows from o that the key is absent.
func (in *run) sawAbsent(o op) {
	if in == nil {
		return
	}
	r := o.reply
	switch o.name {
	case "pttl", "ttl":
		if r.n != -2 {
			return
		}
	case "type":
		if r.text != "none" {
			return
		}
	case "exists", "hexists":
		if r.n != 0 {
			return
		}
	default:
		if r.kind != '_' {
			return
		}
	}
	in.absent = append(in.absent, o.key())
}
