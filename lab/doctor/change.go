package doctor

import (
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
)

// The commands that change a lock: its value, its TTL, its name.

// moved handles a lock that gets another name: its holder will not find it. The lock that had the new
// name is replaced.
func (d *Doctor) moved(o op, in *run) {
	if o.reply.kind == ':' && o.reply.n == 0 || o.reply.text == "NOKEY" {
		return
	}
	keys := o.keys()
	if o.name == "rename" && len(keys) == 2 && keys[0] == keys[1] {
		return
	}
	for i, k := range keys {
		h := d.holds.Get(k)
		switch {
		case i == 0 || o.name == "migrate": // its holder gives the lock up in this way
			d.deleted(o, k, h, d.authors(o, k, in.carried(), in.compared(k)), in)
		case h == nil:
			d.unseen(o, k, in)
		default:
			h.ended = o.step()
			d.drop(k, h, holders.EndStolen, o.time)
		}
	}
}

// damage handles a command that changes the value of a lock and names no owner. The holder still
// believes in the lock.
func (d *Doctor) damage(o op, in *run) {
	empty := o.reply.kind == ':' && o.reply.n == 0
	if empty && o.name == "copy" {
		return
	}
	d.judgeScores(o)
	stores := strings.HasSuffix(o.name, "store") || o.name == "bitop" || o.name == "sort" || o.first == 0
	for _, k := range o.keys() {
		if h := d.holds.Get(k); h != nil && (in == nil || h.in != in) {
			h.ended = o.step()
			d.drop(k, h, holders.EndOverwritten, o.time)
		} else if h == nil && !in.creates(k) && !(empty && stores) {
			d.unseen(o, k, in)
		}
	}
}

// unseen handles a command that creates the key of a known lock in a way that the doctor does not know: its
// client may have taken the lock.
func (d *Doctor) unseen(o op, k holders.Key, in *run) {
	if len(d.grants.Get(k)) > 0 {
		d.take(o, k, &hold{value: noToken, in: in, forced: true, doubt: whyUnseen})
	}
}

// assign handles a command that gives keys values.
func (d *Doctor) assign(o op, in *run) {
	for _, i := range o.keysOf(nil, o.name, len(o.args), func(i int) string { return o.args[i] }) {
		value := i + 1
		if o.unit != "" { // SETEX key seconds value
			value = i + 2
		}
		if value < len(o.args) {
			d.set(o, holders.Key{DB: o.db, Name: o.args[i]}, o.args[value], in)
		}
	}
}

func (d *Doctor) set(o op, k holders.Key, value string, in *run) {
	d.client(o.client).carried.Add(holders.Family(value), maxTokens)
	nx, done := o.outcome()
	nx = nx || o.wasMissing(k)
	d.learns(o, k)
	switch {
	case nx && !done:
		if in != nil {
			in.tried = true
		}
		d.waits(o, k, value)
	case !done:
		d.mayKnow(o, k, d.authors(o, k, in.carried(o.words(k, value)...), false), whyFail)
		if in == nil || !in.script {
			d.renewsNothing(o, k, o.words(k, value))
		}
	case nx && o.until() > 0 && o.until() <= o.time: // the lease is over before it begins
		d.judgeTime(o, k, o.until(), value)
	case nx:
		d.take(o, k, &hold{value: value, until: o.until(), in: in})
	case in != nil && in.script && has(in.absent, k) && d.holds.Get(k) == nil:
		if holders.IsToken(value) || len(d.grants.Get(k)) > 0 || d.coming[k] != nil { // not a mere flag
			in.fresh = append(in.fresh, fresh{key: k, op: o, hold: hold{value: value, until: o.until(), in: in}})
		}
	default:
		d.overwrite(o, k, value, in)
	}
}

// outcome reports whether a command sets absent keys only, and whether it has set its keys.
func (o op) outcome() (nx, done bool) {
	switch o.name {
	case "msetex":
		_, nx = o.option("nx")
		return nx, o.reply.n == 1
	case "set":
	default:
		return o.does.has(takes), o.does.has(sets) || o.reply.n == 1
	}
	_, nx = o.option("nx")
	_, xx := o.option("xx")
	_, get := o.option("get")
	switch {
	case get && nx:
		return true, o.reply.kind == '_'
	case get && xx:
		return false, o.reply.kind != '_'
	}
	if met, known := o.wasEqual(); get && known && o.conditioned() {
		return false, met
	}
	return nx, get || o.reply.kind == '+'
}

// overwrite handles an unconditional SET of a lock. An owner may renew its lease in this way, even a
// lease that it has lost. Any other client takes the lock without asking.
func (d *Doctor) overwrite(o op, k holders.Key, value string, in *run) {
	if len(d.grants.Get(k)) == 0 {
		return // no lock, as far as the doctor knows
	}
	h, until := d.holds.Get(k), o.until()
	if _, keep := o.option("keepttl"); keep && h != nil {
		until = h.until
	}
	mine := d.authors(o, k, in.carried(o.words(k, value)...), false)
	switch {
	case until > 0 && until <= o.time: // that deletes the key
		d.judgeRelease(o, k, h, len(mine) > 0)
		d.deleted(o, k, h, mine, in)
		return
	case h != nil && h.value == value && len(mine) > 0:
		d.dropsTTL(o, k, h, until)
		in.renewed()
		d.extend(o, k, h, mine, until)
		return
	}
	_, xx := o.option("xx")
	if _, compares := o.compared(k); compares {
		xx = true // the key was there
	}
	if h != nil && xx && !d.granted(k, value) && len(mine) == 1 && mine[0].sure && mine[0].hold == h {
		d.used(o, k, value, true)
		h.value = value // its holder changes its token
		d.extend(o, k, h, mine, until)
		return
	}
	if h != nil {
		if _, compares := o.compared(k); !compares && d.isLock(k, h) {
			d.renewsNothing(o, k, []string{value})
		}
		h.ended = o.step()
		d.drop(k, h, holders.EndOverwritten, o.time)
	}
	claim := &hold{value: value, until: until, in: in, forced: true}
	looksTaken := until > 0 && holders.IsToken(value)
	if !d.granted(k, value) && (xx || !d.competes(o, k) && !looksTaken) {
		claim.doubt = whySet
	}
	for _, a := range mine {
		switch {
		case a.value != value: // perhaps a holder that changes its token
			claim.doubt, a.sure, a.why = whySet, false, whySet
			d.prolong(o, k, a, until)
			d.gaveUp(o, k, []author{a}, nil)
		case a.sure:
			a.gone = true
		default:
			claim.doubt = a.why
		}
	}
	d.take(o, k, claim)
}

// dropsTTL looks for a renewal by SET that has no expiry: the lock had a TTL, and has none any more.
func (d *Doctor) dropsTTL(o op, k holders.Key, h *hold, until int64) {
	_, compares := o.compared(k)
	if until == 0 && h.until > 0 && (compares || d.isLock(k, h)) {
		d.report(RenewalDropsTTL, k, o, h.taken, o.step())
		h.dropped = true
	}
}

// deleted handles a key that a command has deleted by a TTL in the past.
func (d *Doctor) deleted(o op, k holders.Key, h *hold, mine []author, in *run) {
	if h != nil {
		d.free(o, k, h, mine, in)
	} else {
		d.gaveUp(o, k, mine, nil)
	}
}

// granted reports whether a lock was ever granted with a token, as far as the doctor remembers.
func (d *Doctor) granted(k holders.Key, token string) bool {
	return slices.ContainsFunc(d.given(k), func(g *hold) bool { return g.value == token })
}

// renew handles a command that changes the TTL of a lock.
func (d *Doctor) renew(o op, in *run) {
	k, until := o.key(), o.until()
	h := d.holds.Get(k)
	if o.name == "getex" && (until == 0 || until > o.time) { // else it deletes the lock, and nobody has read it
		d.read(o, in)
		if _, persist := o.option("persist"); until == 0 && !persist {
			return
		}
	}
	if h == nil && in.creates(k) {
		in.expires(k, until)
		return
	}
	mine := d.authors(o, k, in.carried(o.words(k)...), in.compared(k))
	switch {
	case o.reply.kind == '_' || o.reply.kind == ':' && o.reply.n != 1:
		if _, is := whose(mine, h); is && len(o.args) > 3 {
			return // GT, LT, NX or XX refused it: the lock is there
		}
		if until > 0 && until <= o.time { // a release
			d.inVain(o, k, mine, in)
			return
		}
		d.mayKnow(o, k, mine, whyFail)
		if in == nil || !in.script {
			d.renewsNothing(o, k, nil)
		}
		return
	case until > 0 && until <= o.time:
		d.judgeRelease(o, k, h, len(mine) > 0 || h != nil && (in.compared(k) || d.owns(o, h)))
		d.remove(o, in)
		return
	}
	if h != nil {
		d.judgeRenewal(o, k, h, in)
	}
	if h != nil && in != nil && h.in == in {
		mine = []author{{h, true, ""}}
	}
	in.renewed()
	d.intrudes(o, k, h, mine, in, until)
	mine = d.orPool(o, k, mine)
	d.extend(o, k, h, mine, until)
}

// orPool adds the holders without a name to the authors of a renewal without a token that comes from a connection
// without a name: both connections may be of one pool.
func (d *Doctor) orPool(o op, k holders.Key, mine []author) []author {
	if len(mine) > 0 {
		return mine
	}
	for _, g := range d.pending(k, o.time) {
		if o.owner == "" && g.name == "" {
			mine = append(mine, author{g, false, whyPool})
		}
	}
	return mine
}

// intrudes handles a script that renews a lock with the holder's token and comes from another client: that client
// believes that it holds the lock.
func (d *Doctor) intrudes(o op, k holders.Key, h *hold, mine []author, in *run, until int64) {
	if h == nil || len(mine) > 0 || in == nil || !in.script || h.in == in || !slices.Contains(in.args, h.value) {
		return
	}
	d.believe(o, k, &hold{value: h.value, until: until, hash: h.hash, in: in, forced: true, loose: true})
}

// judgeRenewal looks for mistakes in a command that changes the TTL of a lock.
func (d *Doctor) judgeRenewal(o op, k holders.Key, h *hold, in *run) {
	_, compares := o.compared(k)
	switch {
	case o.name == "persist" || o.name == "getex" || h.forced:
	case in != nil && h.in == in || in.compared(k) || compares:
	case h.until == 0 && h.client == o.client && (o.time-h.taken.Time < patience || d.isLock(k, h)):
		d.report(SetnxExpire, k, o, h.taken, o.step())
	case !d.owns(o, h) && d.isLock(k, h) && (!h.hash || d.triedItself(o, k)):
		d.notOwner(o, k, h.taken, o.step())
		d.renewsNothing(o, k, nil)
	}
}
