package doctor

import (
	"slices"
	"strings"
)

// script is the doctor's memory of a script.
type script struct {
	deletes bool // its text or its commands delete keys: it releases locks
	missed  int  // NOSCRIPT replies without an EVAL since
}

const (
	maxMissed   = 1024
	fullEnough  = 3  // so often in full on one connection is a mistake
	shortScript = 41 // bytes: EVALSHA would send as many
)

func (d *Doctor) scriptOf(sha string) *script {
	s := d.scripts.m[sha]
	if s == nil {
		s = &script{}
		d.scripts.put(sha, s)
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
		if isToken(a) {
			c.carried.add(family(a), maxTokens)
		}
	}
	in := &run{script: true}
	for _, inner := range ops {
		s.deletes = s.deletes || inner.name == "del" || inner.name == "unlink"
		d.apply(inner, in)
	}
	s.deletes = s.deletes || o.deletes
	d.made(o, args, in)
	d.sentInFull(o, s, c, keys, in)
	d.wakes(o, in)
	for _, key := range keys {
		d.without(o, lockKey{o.db, key}, s, args, in)
	}
}

// without judges a script that left a lock as it was.
func (d *Doctor) without(o op, k lockKey, s *script, args []string, in *run) {
	for _, f := range in.freed {
		if f.key == k {
			return
		}
	}
	h := d.holds.m[k]
	switch {
	case s.deletes:
		d.lateScript(o, k, args)
	case h != nil && h.in != in && !in.tried && len(args) > 0 && !slices.Contains(args, h.value):
		d.waits(o, k, strings.Join(args, "\x00"))
	}
}

// made records the keys with a TTL that the script created: they are locks.
func (d *Doctor) made(o op, args []string, in *run) {
	for _, f := range in.fresh {
		if f.until == 0 {
			f.until = in.ttl[f.key]
		}
		if f.until > 0 && (!f.hash || slices.Contains(args, f.value)) {
			h := f.hold
			d.take(f.op, f.key, &h)
		}
	}
}

// hashWrite handles a write to a field of a hash: a re-entrant lock counts in one.
func (d *Doctor) hashWrite(o op, in *run) {
	if in == nil || !in.script || len(o.args) < 4 {
		return
	}
	k, field := o.key(), o.args[2]
	h := d.holds.m[k]
	for i := range in.fresh {
		if f := &in.fresh[i]; f.key == k {
			h = &f.hold
		}
	}
	switch {
	case field == "mode" && h == nil && has(in.absent, k):
		in.fresh = append(in.fresh, fresh{key: k, op: o, hold: hold{hash: true, shared: o.args[3] == "read", in: in}})
	case h == nil && has(in.absent, k):
		in.fresh = append(in.fresh, fresh{key: k, op: o, hold: hold{hash: true, value: field, in: in}})
	case h == nil || field == "mode" || field == h.value:
	case h.value == "":
		h.value = field
	default:
		h.shared = true
	}
}

func (d *Doctor) hashDelete(o op, in *run) {
	k := o.key()
	h := d.holds.m[k]
	if h != nil && h.hash && !h.shared && o.reply.n > 0 && slices.Contains(o.args[2:], h.value) {
		d.free(o, k, h, in, EndReleased)
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
		lock = lock || d.holds.m[lockKey{o.db, key}] != nil
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
		d.report(ScriptInFull, lockKey{o.db, key}, o, o.step())
	}
}

// wakes judges the waiters of a release that published a message: they should subscribe.
func (d *Doctor) wakes(o op, in *run) {
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
	in := &run{}
	for _, inner := range ops {
		d.apply(inner, in)
	}
	d.wakes(o, in)
	d.unwatch(o.client)
}
