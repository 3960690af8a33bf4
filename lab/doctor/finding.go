package doctor

import "slices"

// Pattern is a kind of mistake.
type Pattern string

// The mistakes that are looked for.
const (
	SetnxExpire  Pattern = "setnx-then-expire"
	NoTTL        Pattern = "lock-without-ttl"
	OwnerGone    Pattern = "owner-gone"
	GetDel       Pattern = "get-then-del"
	NotOwner     Pattern = "not-the-owner"
	LateUnlock   Pattern = "late-unlock"
	ScriptInFull Pattern = "script-in-full"
	Polling      Pattern = "polling"
	TwoHolders   Pattern = "two-holders"
)

// Finding is one mistake, where it was made first.
type Finding struct {
	Pattern Pattern
	Key     string
	DB      int
	Client  int64 // whose mistake it is
	Name    string
	Time    int64  // unix ms, of the step that made it one
	Count   int    // how often it was made with keys of this class
	Steps   []Step // the commands, in order
	Why     string
	Fix     string
}

// Step is a command that a finding is about, or something else that happened: then
// Client is 0.
type Step struct {
	Master  int // from 1, where several are looked at together
	Time    int64
	Client  int64
	Name    string
	Command string
	Reply   string
}

const compareAndDelete = `release with a script that compares and deletes in one step: if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// advice is why a pattern is wrong and what is right.
func advice(p Pattern) (why, fix string) {
	switch p {
	case SetnxExpire:
		return "the lock was taken by one command and given its TTL by another: a client that ends between them leaves a lock that nobody can take ever again",
			"take it and set the TTL in one command: SET key token NX PX milliseconds"
	case NoTTL:
		return "the lock has no TTL: when its owner ends before it has released it, it stays for ever",
			"take it with a TTL: SET key token NX PX milliseconds, and renew it while the work goes on"
	case OwnerGone:
		return "the lock has no TTL, and the connection that took it has ended: unless the same process comes back to release it, it stays for ever",
			"take it with a TTL: SET key token NX PX milliseconds; what is left over now has to be deleted by hand"
	case GetDel:
		return "the owner was compared by GET and the lock deleted by another command: if the lease runs out between them, the DEL removes the lock of somebody else",
			compareAndDelete + "; or WATCH the key before GET and delete it in MULTI"
	case NotOwner:
		return "the lock was changed by a connection that neither took it nor ever sent its token, and without comparing the token: two may now believe they hold it",
			compareAndDelete + "; renew in the same way"
	case LateUnlock:
		return "the lease had run out before the release: since then the work was not protected, and another client may have held the lock meanwhile",
			"renew the lease while the work goes on, or choose a longer one; treat a release that finds nothing as an error, and protect what the lock guards by a fencing token"
	case ScriptInFull:
		return "the same connection sends the text of the same script again and again: bytes and hashing for each lock",
			"send EVALSHA with the script's SHA1, and EVAL only after NOSCRIPT"
	case Polling:
		return "a waiter tries again and again for a lock whose release sends a message, and does not listen to it: needless load, and late by half an interval",
			"SUBSCRIBE to the channel of the release, try once more after subscribing, then wait for the message, at most until the TTL runs out"
	case TwoHolders:
		return "two holders of one lock were each granted it by a majority of the masters, the second before the lease of the first was over: both clients believe they hold it",
			"no clock of a master may jump (slew, do not step), a master that lost its keys must stay away for longer than the longest lease, and what the lock guards should check a fencing token"
	}
	return "", ""
}

// busyLoop is the advice for Polling where there is no message to wait for.
func busyLoop() (why, fix string) {
	return "a waiter tries for a lock again and again without a pause",
		"pause between attempts for some milliseconds and a random part, or have the release PUBLISH and wait for that"
}

// report notes a finding, unless the pattern is known of this class of keys.
func (d *Doctor) report(p Pattern, k lockKey, culprit op, steps ...Step) *Finding {
	f := &Finding{Pattern: p, Key: k.name, DB: k.db, Client: culprit.client, Name: culprit.owner, Time: culprit.time, Count: 1, Steps: steps}
	f.Why, f.Fix = advice(p)
	return d.add(f)
}

// add returns the finding that is kept: f, or the first one of its kind.
func (d *Doctor) add(f *Finding) *Finding {
	id := string(f.Pattern) + "\x00" + class(f.Key) + "\x00" + class(f.Name)
	if first := d.found.m[id]; first != nil {
		first.Count++
		return first
	}
	d.found.put(id, f)
	if !d.logged[f.Pattern] {
		d.logged[f.Pattern] = true
		if d.log != nil {
			d.log(*f)
		}
	}
	return f
}

func (d *Doctor) list() []Finding {
	all := make([]Finding, 0, len(d.found.m))
	for _, f := range d.found.all() {
		c := *f
		c.Steps = slices.Clone(f.Steps)
		all = append(all, c)
	}
	return all
}
